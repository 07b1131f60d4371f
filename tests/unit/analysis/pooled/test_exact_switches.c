/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Switches drawn at random and recorded without noise: what is found is what was drawn, phase by phase, as exactly as
 * either sampler can tell it.
 */
#include "analysis/phases/phases.h"
#include "tests/support/random_numbers.h"
#include "tests/support/switch_traces.h"
#include "tests/support/test.h"

struct drawn {
    struct switch_plan plan;
    size_t n; /* pieces */
    enum phase_kind kind[SWITCH_PIECES_MAX];
};

static void add(struct drawn *d, enum phase_kind kind, double us, double rate, double clock)
{
    const double begin = d->n ? d->plan.piece[d->n - 1].until_us : 0;
    d->kind[d->n] = kind;
    d->plan.piece[d->n++] = (struct switch_piece){begin + us, rate, clock};
}

static void draw(uint64_t seed, bool grid, struct drawn *d)
{
    static const double rates[] = {0.25, 0.4, 0.5, 0.7}, clocks[] = {0.7, 0.8, 0.9, 0.95, 1.1};
    struct rng r;
    rng_init(&r, seed, 1);
    memset(d, 0, sizeof *d);
    d->plan = (struct switch_plan){.repetitions = 9, .before_us = 40, .after_us = 400, .seed = seed};
    d->plan.grid = grid;
    d->plan.work_us = grid ? 1 : 0.25;
    const double clock = rng_one_of(&r, clocks, 5);
    if (rng_chance(&r, 0.6))
        add(d, PHASE_THROTTLE, rng_int(&r, 6, 40), rng_one_of(&r, rates, 4), 1);
    if (rng_chance(&r, 0.7)) {
        if (!d->n && rng_chance(&r, 0.5))
            add(d, PHASE_STEADY, rng_int(&r, 20, 60), 1, 1);
        add(d, PHASE_HALT, rng_int(&r, 6, 20), 0, clock);
        if (rng_chance(&r, 0.5)) {
            add(d, PHASE_STEADY, rng_int(&r, 40, 90), 1, clock);
            add(d, PHASE_HALT, rng_int(&r, 6, 20), 0, clock * 0.9);
        }
        /* the clock in the end is that of the last piece, which is none of its own */
        d->plan.piece[d->n] = d->plan.piece[d->n - 1];
        d->plan.piece[d->n].until_us += 0.1;
        d->plan.piece[d->n].rate = 1;
    }
}

static double clock_at(const struct drawn *d, size_t piece)
{
    return piece < d->n || !d->n ? d->plan.piece[piece].clock + !d->n : d->plan.piece[d->n - 1].clock;
}

/* Of the first kernel (piece -1), of a piece, and of what follows. */
static void check_phase(const struct drawn *d, const struct phase *f, int piece)
{
    const bool grid = d->plan.grid, last = piece == (int)d->n,
               halt = !last && piece >= 0 && d->kind[piece] == PHASE_HALT;
    const double clock = piece < 0 ? 1 : clock_at(d, (size_t)piece), within = grid ? 1e-4 : 0.5;
    const double begin = piece > 0 ? d->plan.piece[piece - 1].until_us : 0;
    assert_in_range(f->agreeing_runs, grid ? 9 : 5, 9);
    if (piece < 0)
        assert_close(f->start_us, grid ? -39 : -39.875, 0.125);
    else
        assert_close(f->start_us, begin, within);
    if (piece >= 0 && !last) {
        assert_close(f->duration_us.value, d->plan.piece[piece].until_us - begin, within);
        if (grid) /* where all samples last equally long, the others take halts for the step of the time stamps */
            assert_close(f->duration_us.hi - f->duration_us.lo, 0.1, 1e-4);
    } else
        assert_true(isnan(f->duration_us.lo));
    if (halt) {
        assert_int_equal(f->kind, PHASE_HALT);
        assert_int_equal(f->level, -1);
        assert_true(isnan(f->freq_ghz.value) && isnan(f->ipc_ratio));
        return;
    }
    const double rate = last || piece < 0 ? 1 : d->plan.piece[piece].rate;
    assert_close(f->freq_ghz.value, 3 * clock, 1e-4);
    assert_close(f->freq_ghz.hi - f->freq_ghz.lo, 0, 1e-4);
    assert_close(f->ipc_ratio, rate, grid ? 1e-4 : 1e-3);
    assert_close(f->ipc, 2 * rate, grid ? 1e-3 : 3e-3);
    if (rate < 1)
        assert_int_equal(f->kind, PHASE_THROTTLE);
    else /* until the clock rises, what it comes from is slow */
        assert_int_equal(f->kind, piece == 0 && !last && clock < d->plan.piece[1].clock ? PHASE_SLOW : PHASE_STEADY);
}

/* The levels in falling order, and which phase is at which; a transition leads from one to another, or is throttled. */
static void check_levels(const struct drawn *d, const struct phases *p)
{
    size_t transitions = 0;
    for (size_t i = 1; i < p->n_levels; i++)
        assert_true(p->levels_ghz[i] < p->levels_ghz[i - 1]);
    for (size_t k = 0; k < p->n_phases; k++)
        if (p->phases[k].kind != PHASE_HALT)
            assert_close(p->levels_ghz[p->phases[k].level], p->phases[k].freq_ghz.value, 1e-4);
    for (size_t k = 0; k < d->n; k++) {
        size_t to = k;
        double half = 0;
        if (d->kind[k] == PHASE_STEADY)
            continue;
        assert_true(transitions < p->n_transitions);
        const struct transition *t = &p->transitions[transitions++];
        for (; to < d->n && d->kind[to] != PHASE_STEADY; to++)
            half = hypot(half, (p->phases[to + 1].duration_us.hi - p->phases[to + 1].duration_us.lo) / 2);
        assert_close(t->at_us, p->phases[k + 1].start_us, 1e-6);
        assert_close(t->latency_us.value, p->phases[to + 1].start_us - t->at_us, 1e-6);
        assert_close((t->latency_us.hi - t->latency_us.lo) / 2, half, 1e-3);
        assert_close(t->from_ghz, p->phases[k].freq_ghz.value, 1e-4);
        assert_close(t->to_ghz, p->phases[to + 1].freq_ghz.value, 1e-4);
        assert_int_equal(t->halts, d->kind[to - 1] == PHASE_HALT);
        k = to;
    }
    assert_int_equal(p->n_transitions, transitions);
}

static void check(uint64_t seed, bool grid)
{
    struct drawn d;
    struct trace t;
    struct phases p;
    char why[300];
    draw(seed, grid, &d);
    assert_int_equal(switch_trace(&d.plan, &t), 0);
    assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
    assert_int_equal(p.n_phases, d.n + 2);
    for (size_t k = 0; k < p.n_phases; k++)
        check_phase(&d, &p.phases[k], (int)k - 1);
    check_levels(&d, &p);
    assert_int_equal(p.runs, 9);
    assert_int_equal(p.runs_used, 9);
    assert_int_equal(p.samples, t.n);
    assert_int_equal(p.n_warnings + p.n_discarded, 0);
    /* what noise there is not does not limit */
    assert_close(p.detectable_freq, 0.01, 1e-6);
    assert_close(p.detectable_freq_us, 100, 0.2);
    assert_true(isnan(p.null_lost_us));
    if (grid) {
        assert_close(p.detectable_throttle, 0.88, 1e-3);
        assert_close(p.detectable_throttle_us, 5, 1e-3);
        assert_close(p.detectable_halt_us, 1 / 0.07, 1e-3);
    }
    phases_free(&p);
    trace_free(&t);
}

TEST(samples_on_a_grid_tell_all_exactly)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        check(seed, true);
}

TEST(samples_of_fixed_work_tell_it_to_two_of_them)
{
    for (uint64_t seed = 1; seed <= 36; seed++)
        check(seed, false);
}

/* ---- throttling that fades ---- */

struct fade {
    double wait_us, from, tau_us; /* at 0.3 of the full rate until then; from there on it approaches that */
};

static double rate_at(const struct fade *f, double us)
{
    if (us < 0)
        return 1;
    return us < f->wait_us ? 0.3 : 1 + (f->from - 1) * exp(-(us - f->wait_us) / f->tau_us);
}

static void record_fade(const struct fade *f, double noise, struct rng *r, struct trace *t)
{
    enum { PARTS = 32 };
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    assert_int_equal(trace_set(t, "from", "a") | trace_set(t, "to", "b") | trace_set(t, "frequency", "instantaneous"),
                     0);
    for (uint32_t run = 0; run < 12; run++)
        for (double us = -40 + rng_unit(r); us < 500; us += 1) {
            double done = 0;
            for (int i = 0; i < PARTS; i++)
                done += rate_at(f, us - (i + 0.5) / PARTS) / PARTS;
            assert_int_equal(trace_append(t, run, us), 0);
            t->channel[TRACE_FREQ][t->n - 1] = 3;
            t->channel[TRACE_IPC][t->n - 1] = (float)(2 * done * (noise > 0 ? 1 + noise * rng_normal(r) : 1));
        }
}

TEST(throttling_that_fades_is_one_approach)
{
    double off = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct rng r;
        struct trace t;
        struct phases p;
        char why[300];
        rng_init(&r, seed, 6);
        const bool waits = seed % 2;
        const struct fade f = {waits ? rng_range(&r, 8, 30) : 0, rng_range(&r, 0.4, 0.7), rng_range(&r, 8, 40)};
        record_fade(&f, 0, &r, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        assert_int_equal(p.n_phases, 3 + waits);
        const struct phase *ramp = &p.phases[1 + waits], *end = ramp + 1;
        const double us = ramp->duration_us.value, tau_us = ramp->rate_ramp.tau_us.value;
        if (waits) {
            assert_int_equal(p.phases[1].kind, PHASE_THROTTLE);
            assert_close(p.phases[1].ipc_ratio, 0.3, 1e-3);
        }
        assert_int_equal(ramp->kind, PHASE_RAMP);
        assert_close(ramp->start_us, f.wait_us, 0.5);
        assert_close(ramp->rate_ramp.begin_us.value, ramp->start_us, 1e-6);
        assert_close(ramp->rate_ramp.end_us.value, end->start_us, 1e-6);
        assert_close(ramp->rate_ramp.from.value, f.from, 0.03);
        assert_close(ramp->rate_ramp.to.value, 1, 1e-4);
        assert_close(tau_us / f.tau_us, 1, 0.04);
        off += fabs(tau_us / f.tau_us - 1);
        assert_close(ramp->rate_ramp.tau_us.lo / tau_us, 0.97, 0.02);
        assert_close(us / f.tau_us / log((1 - f.from) / 0.001), 1, 0.04); /* within 0.1 % of its end */
        assert_close(ramp->ipc_ratio, 1 + (f.from - 1) * f.tau_us / us, 6e-3);
        assert_close(ramp->freq_ghz.value, 3, 1e-4);
        assert_int_equal(end->kind, PHASE_STEADY);
        assert_int_equal(p.n_levels, 1);
        phases_free(&p);
        trace_free(&t);
    }
    assert_true(off < 30 * 0.0025);
}

/* The limits of its time constant hold, and are not much wider than its errors. */
TEST(limits_of_an_approach_hold)
{
    double squares = 0, half = 0;
    size_t n = 0, held = 0;
    for (uint64_t seed = 101; seed <= 160; seed++) {
        struct rng r;
        struct trace t;
        struct phases p;
        char why[300];
        rng_init(&r, seed, 6);
        const struct fade f = {0, rng_range(&r, 0.4, 0.6), rng_range(&r, 15, 30)};
        record_fade(&f, 0.03, &r, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        for (size_t k = 0; k < p.n_phases; k++) {
            const struct estimate *tau = &p.phases[k].rate_ramp.tau_us;
            if (p.phases[k].kind != PHASE_RAMP)
                continue;
            n++;
            held += tau->lo <= f.tau_us && f.tau_us <= tau->hi;
            squares += (tau->value / f.tau_us - 1) * (tau->value / f.tau_us - 1);
            half += (tau->hi - tau->lo) / 2 / f.tau_us;
        }
        phases_free(&p);
        trace_free(&t);
    }
    assert_in_range(n, 58, 60);
    assert_in_range(held, 56, n);
    assert_close(sqrt(squares / (double)n), 0.012, 0.0006);
    assert_close(half / (double)n, 0.0456, 0.0008);
}
