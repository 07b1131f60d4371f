/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Courses of a core drawn at random and recorded without noise: what is found is what was drawn, phase by phase, as
 * exactly as the sampler can tell it.
 */
#include "analysis/phases/phases.h"
#include "tests/support/recorder.h"
#include "tests/support/test.h"

enum { STATES_MAX = 12 };

struct course {
    struct core_state state[STATES_MAX];
    enum phase_kind kind[STATES_MAX];
    size_t n;
    double end;
    struct recorder rec;
    unsigned runs;
};

static void add(struct course *c, enum phase_kind kind, double us, struct core_state s)
{
    s.begin = c->end;
    s.halt = kind == PHASE_HALT;
    c->kind[c->n] = kind;
    c->state[c->n++] = s;
    c->end += us;
}

static void draw(uint64_t seed, struct course *c)
{
    static const double rates[] = {0.25, 0.4, 0.5, 0.75};
    struct rng r;
    rng_init(&r, seed, 7);
    memset(c, 0, sizeof *c);
    c->runs = (unsigned)rng_int(&r, 8, 24);
    c->rec.period_us = rng_chance(&r, 0.5) ? 1 : 0.5;
    c->rec.sampler = rng_chance(&r, 0.5) ? SAMPLER_PROMPT : SAMPLER_GRID;
    for (int k = TRACE_FREQ; k <= TRACE_THROTTLE; k++)
        c->rec.has[k] = k <= TRACE_IPC || seed % 3;
    struct core_state s = {.freq = rng_range(&r, 2, 4), .ipc = rng_range(&r, 1, 4), .share = {1}}, before = s;
    before.ipc = rng_range(&r, 1, 4);
    c->end = -60;
    add(c, PHASE_STEADY, 60, before);
    for (int level = 1; level <= 2; level++) {
        struct core_state slow = s;
        slow.ipc *= rng_one_of(&r, rates, 4);
        slow.share[3] = 1;
        if (rng_chance(&r, 0.6))
            add(c, PHASE_THROTTLE, rng_range(&r, 10, 40), slow);
        else
            add(c, PHASE_STEADY, rng_range(&r, 20, 60), s);
        if (rng_chance(&r, 0.6))
            add(c, PHASE_HALT, rng_range(&r, 6, 15), (struct core_state){0});
        s.freq *= rng_range(&r, 0.75, 0.95);
        s.share[level - 1] = 0;
        s.share[level] = 1;
    }
    add(c, PHASE_STEADY, 100, s);
}

/* What happens to one repetition in five, and is to make no difference. */
enum trouble { NONE, INTERRUPTED, SLOW };

static void record(const struct course *c, uint64_t seed, enum trouble trouble, struct trace *t)
{
    struct rng r;
    rng_init(&r, seed, 8);
    trace_init(t);
    for (int k = TRACE_FREQ; k <= TRACE_THROTTLE; k++)
        if (c->rec.has[k])
            assert_int_equal(trace_add_channel(t, (enum trace_channel)k), 0);
    assert_int_equal(trace_add_run(t) | trace_set(t, "from", "128fma") | trace_set(t, "to", "512fma"), 0);
    for (unsigned run = 0; run < c->runs; run++) {
        struct core_state state[STATES_MAX];
        struct interruption in = {INFINITY, INFINITY};
        const bool troubled = run % 5 == 2;
        memcpy(state, c->state, sizeof state);
        state[0].begin -= 100;
        if (troubled && trouble == INTERRUPTED) {
            in.begin = rng_range(&r, 10, c->end - 30);
            in.end = in.begin + rng_range(&r, 30, 300);
        }
        for (size_t k = 0; k < c->n && troubled && trouble == SLOW; k++)
            state[k].freq *= 0.9;
        assert_int_equal(record_run(&r, &c->rec, state, c->n, c->state[0].begin, c->end,
                                    c->rec.period_us * rng_unit(&r), in, run, t),
                         0);
    }
}

/* How far what was found is from what was drawn, over all courses. */
struct sums {
    size_t n;
    double edges, half; /* us */
};

static void check_phase(const struct course *c, size_t k, const struct phase *f, struct sums *sums)
{
    const struct core_state *s = &c->state[k], *last = &c->state[c->n - 1];
    const double begin = k ? s->begin : c->state[0].begin + c->rec.period_us / 10;
    const double end = k + 1 < c->n ? s[1].begin : c->end + c->rec.period_us;
    const double edge = fabs(f->start_us - begin), us = f->duration_us.value;
    assert_int_equal(f->kind, c->kind[k]);
    assert_int_equal(f->agreeing_runs, c->runs);
    assert_int_equal(f->n_modes > 1, false);
    assert_close(edge, 0, (k ? 0.14 : 0.5) * c->rec.period_us);
    assert_close(us, end - begin, (k && k + 1 < c->n ? 0.2 : 0.5) * c->rec.period_us);
    assert_close((f->duration_us.hi + f->duration_us.lo) / 2, us, 1e-9);
    if (k && k + 1 < c->n) {
        sums->n++;
        sums->edges += edge;
        sums->half += f->duration_us.hi - us;
    }
    if (s->halt) {
        assert_true(isnan(f->freq_ghz.value) && isnan(f->ipc) && isnan(f->ipc_ratio) && isnan(f->share[0]));
        assert_int_equal(f->level, -1);
        return;
    }
    assert_close(f->freq_ghz.value / s->freq, 1, 1e-5);
    assert_close(f->freq_ghz.hi / s->freq, 1.0001, 1e-5); /* known to so much, whatever the noise */
    assert_close(f->freq_ghz.lo / s->freq, 0.9999, 1e-5);
    assert_close(f->ipc / s->ipc, 1, 1e-5);
    assert_close(f->ipc_ratio, k ? s->ipc / last->ipc : 1, 1e-5);
    for (int i = 0; i < 4 && c->rec.has[TRACE_LVL0]; i++)
        assert_close(f->share[i], s->share[i], 1e-5);
    assert_int_equal(isnan(f->share[0]), !c->rec.has[TRACE_LVL0]);
}

/* The levels in falling order; each change of them, or throttling, is a transition. */
static void check_levels(const struct course *c, const struct phases *p)
{
    size_t transitions = 0;
    assert_int_equal(p->n_levels, 3);
    for (size_t k = 0; k < c->n; k++) {
        size_t level = 0;
        while (level < 3 && !(fabs(p->levels_ghz[level] / c->state[k].freq - 1) < 1e-4))
            level++;
        assert_int_equal(p->phases[k].level, level < 3 ? (int)level : -1);
    }
    assert_true(p->levels_ghz[0] > p->levels_ghz[1] && p->levels_ghz[1] > p->levels_ghz[2]);
    for (size_t k = 0; k + 1 < c->n; k++) {
        size_t to = k + 1;
        unsigned halts = 0;
        for (; c->kind[to] != PHASE_STEADY; to++)
            halts += c->kind[to] == PHASE_HALT;
        if (to == k + 1 && c->state[k].freq == c->state[to].freq)
            continue;
        assert_true(transitions < p->n_transitions);
        const struct transition *t = &p->transitions[transitions++];
        assert_close(t->at_us, p->phases[k + 1].start_us, 1e-6);
        assert_close(t->latency_us.value, p->phases[to].start_us - t->at_us, 1e-6);
        if (to == k + 1)
            assert_close(t->latency_us.hi, 1.5 * c->rec.period_us, 1e-6);
        assert_close(t->from_ghz / c->state[k].freq, 1, 1e-5);
        assert_close(t->to_ghz / c->state[to].freq, 1, 1e-5);
        assert_int_equal(t->halts, halts);
        k = to - 1;
    }
    assert_int_equal(p->n_transitions, transitions);
}

static void find(const struct course *c, uint64_t seed, enum trouble trouble, struct phases *p)
{
    struct trace t;
    char why[300];
    record(c, seed, trouble, &t);
    assert_int_equal(phases_find(&t, p, why, sizeof why), 0);
    assert_int_equal(p->samples, t.n);
    trace_free(&t);
}

TEST(what_was_drawn_is_found)
{
    struct sums sums = {0, 0, 0};
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct course c;
        struct phases p;
        draw(seed, &c);
        find(&c, seed, NONE, &p);
        assert_int_equal(p.n_phases, c.n);
        for (size_t k = 0; k < c.n; k++)
            check_phase(&c, k, &p.phases[k], &sums);
        check_levels(&c, &p);
        assert_int_equal(p.runs, c.runs);
        assert_int_equal(p.runs_used, c.runs);
        assert_int_equal(p.n_warnings + p.n_discarded + p.n_volt_steps + p.samples_discarded + p.samples_lost, 0);
        /* where there is no noise */
        assert_close(p.detectable_freq, 0.004, 1e-6);
        assert_close(p.detectable_freq_us, 20 * c.rec.period_us, 1e-6);
        assert_close(p.detectable_throttle, 0.941765, 1e-6);
        assert_close(p.detectable_throttle_us, 5 * c.rec.period_us, 1e-6);
        assert_close(p.detectable_halt_us, 1.5 * c.rec.period_us, 1e-6);
        phases_free(&p);
    }
    assert_close(sums.edges / (double)sums.n, 0.0044, 0.0004);
    assert_close(sums.half / (double)sums.n, 0.0433, 0.002);
}

/* Those that were interrupted are left out where enough are left, those at another clock count but for frequencies. */
TEST(a_few_repetitions_in_trouble_make_no_difference)
{
    size_t discarded = 0, disagree = 0, warned = 0, troubled = 0;
    for (enum trouble trouble = INTERRUPTED; trouble <= SLOW; trouble++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct course c;
            struct phases p;
            draw(seed, &c);
            find(&c, seed, trouble, &p);
            assert_int_equal(p.n_phases, c.n);
            for (size_t k = 0; k < c.n; k++) {
                const double ghz = c.state[k].freq;
                assert_int_equal(p.phases[k].kind, c.kind[k]);
                assert_close(p.phases[k].start_us, k ? c.state[k].begin : -60 + c.rec.period_us / 2,
                             (k ? 0.14 : 0.5) * c.rec.period_us);
                if (c.kind[k] == PHASE_HALT)
                    continue;
                assert_close(p.phases[k].freq_ghz.value / ghz, 1, 1e-5);
                if (trouble == SLOW && p.n_warnings) /* their clock is within the limits */
                    assert_true(p.phases[k].freq_ghz.lo < 0.9001 * ghz && p.phases[k].freq_ghz.lo > 0.88 * ghz);
                disagree += c.runs - p.n_discarded - p.phases[k].agreeing_runs;
            }
            troubled += trouble == INTERRUPTED ? (c.runs + 2) / 5 : 0;
            discarded += p.n_discarded;
            warned += p.n_warnings;
            assert_int_equal(p.runs_used + p.n_discarded, c.runs);
            phases_free(&p);
        }
    assert_in_range(discarded, 0.7 * (double)troubled, troubled); /* else fewer than eight would be left */
    assert_in_range(disagree, 90, 105);
    assert_in_range(warned, 56, 62);
}

/* Slow for 150 us, and in three of eight repetitions for twice as long; then a halt and the way up. */
TEST(a_wait_that_is_sometimes_twice_as_long_has_two_modes)
{
    struct course c = {.runs = 24, .rec = {.period_us = 1, .has = {[TRACE_FREQ] = true, [TRACE_IPC] = true}}};
    const struct core_state slow = {.freq = 2, .ipc = 2}, fast = {.freq = 3, .ipc = 2};
    struct phases p;
    struct trace t;
    struct rng r;
    char why[300];
    rng_init(&r, 1, 9);
    trace_init(&t);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC) | trace_add_run(&t), 0);
    assert_int_equal(trace_set(&t, "from", "512fma") | trace_set(&t, "to", "128fma"), 0);
    for (unsigned run = 0; run < c.runs; run++) {
        c.n = 0;
        c.end = -60;
        add(&c, PHASE_STEADY, 60, slow);
        add(&c, PHASE_STEADY, run % 8 < 3 ? 300 : 150, slow);
        add(&c, PHASE_HALT, 10, (struct core_state){0});
        add(&c, PHASE_STEADY, 100, fast);
        c.state[0].begin -= 100;
        assert_int_equal(record_run(&r, &c.rec, c.state, c.n, -60, 400, rng_unit(&r),
                                    (struct interruption){INFINITY, INFINITY}, run, &t),
                         0);
    }
    assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
    assert_int_equal(p.n_phases, 4);
    assert_int_equal(p.phases[1].kind, PHASE_SLOW);
    assert_int_equal(p.phases[1].n_modes, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_close(p.phases[1].modes[i].duration_us, i ? 300 : 150, 0.05);
        assert_close(p.phases[1].modes[i].share, i ? 0.375 : 0.625, 1e-6);
    }
    assert_close(p.phases[2].duration_us.value, 10, 0.02);
    assert_int_equal(p.phases[2].agreeing_runs, 24);
    assert_close(p.phases[3].freq_ghz.value, 3, 1e-5);
    phases_free(&p);
    trace_free(&t);
}
