/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a core does long after a switch, in long recordings without noise: it is found as it was drawn. */
#include "analysis/phases/phases.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { RUNS = 10, FINE_US = 300 };

/* The clock (GHz) and the rate (instructions a cycle) from 0 on; both change at begin_us, at once or with tau_us. */
struct course {
    double ghz[2], ipc[2], begin_us, tau_us, end_us;
};

static double at(const double x[2], const struct course *c, double us)
{
    const double since = us - c->begin_us;
    if (since < 0)
        return x[0];
    return c->tau_us > 0 ? x[1] + (x[0] - x[1]) * exp(-since / c->tau_us) : x[1];
}

static void record(const struct course *c, uint64_t seed, struct trace *t)
{
    struct rng r;
    rng_init(&r, seed, 5);
    trace_init(t);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC) | trace_add_run(t), 0);
    assert_int_equal(trace_set(t, "from", "128fma") | trace_set(t, "to", "512fma") | trace_set(t, "fine_us", "300") |
                         trace_set(t, "period_us", "1"),
                     0);
    for (uint32_t run = 0; run < RUNS; run++) {
        double us = -60 + rng_unit(&r), period = 1;
        while (us < c->end_us) {
            /* the middle of a sample has its mean, nearly */
            const double middle = us - period / 2;
            assert_int_equal(trace_append(t, run, us), 0);
            t->channel[TRACE_FREQ][t->n - 1] = (float)(middle < 0 ? 3 : at(c->ghz, c, middle));
            t->channel[TRACE_IPC][t->n - 1] = (float)(middle < 0 ? 2 : at(c->ipc, c, middle));
            period = us < FINE_US ? 1 : fmin(500, us / 50);
            us += period;
        }
    }
}

/* One of the two changes: the clock by a tenth or so, or throttling ends. */
static struct course draw(uint64_t seed, bool *clock)
{
    struct rng r;
    rng_init(&r, seed, 4);
    struct course c = {.ghz = {3, 3}, .ipc = {2, 2}, .end_us = 60000};
    *clock = seed % 4 < 2;
    c.begin_us = seed % 2 ? 0 : rng_log(&r, 600, 4000);
    c.tau_us = seed % 2 || seed % 3 ? rng_log(&r, 500, 6000) : 0;
    if (*clock)
        c.ghz[1] = 3 * rng_range(&r, 0.75, 0.95);
    else
        c.ipc[0] = 2 * rng_range(&r, 0.4, 0.8);
    return c;
}

static void check_ramp(const struct course *c, bool clock, const struct phase *f)
{
    const struct ramp_side *side = clock ? &f->clock_ramp : &f->rate_ramp;
    const double from = clock ? 3 : c->ipc[0] / 2, to = clock ? c->ghz[1] : 1, us = f->duration_us.value;
    const double mean = to + (from - to) * c->tau_us * -expm1(-us / c->tau_us) / us;
    assert_int_equal(f->kind, PHASE_RAMP);
    assert_int_equal(f->level, -1);
    assert_close(f->start_us, c->begin_us, 1e-3 * c->begin_us);
    assert_close(us / (c->tau_us * log(fabs(from / to - 1) / 0.001)), 1, 0.01);
    assert_close(f->duration_us.hi - us, us - f->duration_us.lo, 0.02 * us);
    assert_close(side->begin_us.value, f->start_us, 1e-6);
    assert_close(side->end_us.value, f->start_us + us, 1e-6);
    assert_close(side->from.value / from, 1, 2e-4);
    assert_close(side->to.value / to, 1, 2e-5);
    assert_close(side->tau_us.value / c->tau_us, 1, 6e-3);
    assert_close(side->tau_us.lo / side->tau_us.value, 0.99, 1e-3);
    assert_close((clock ? &f->rate_ramp : &f->clock_ramp)->tau_us.value, 0, 0);
    assert_close((clock ? f->freq_ghz.value : f->ipc_ratio) / mean, 1, 4e-3);
    assert_close(clock ? f->ipc_ratio : f->freq_ghz.value / 3, 1, 1e-5);
    assert_close(clock ? f->tau_us.value : side->tau_us.value, side->tau_us.value, 0);
}

TEST(what_is_long_after_a_switch_is_found_as_it_was_drawn)
{
    for (uint64_t seed = 1; seed <= rng_fewer_sanitized(48); seed++) {
        bool clock;
        const struct course c = draw(seed, &clock);
        struct trace t;
        struct phases p;
        char why[300];
        record(&c, seed, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        const bool waits = c.begin_us > 0, ramp = c.tau_us > 0;
        assert_int_equal(p.n_phases, 2 + waits + ramp);
        const struct phase *before = &p.phases[waits], *last = &p.phases[p.n_phases - 1];
        assert_int_equal(before->kind, waits && !clock ? PHASE_THROTTLE : PHASE_STEADY);
        assert_close(before->freq_ghz.value, 3, 1e-5);
        assert_close(before->ipc_ratio, waits ? c.ipc[0] / 2 : 1, 1e-4);
        if (ramp)
            check_ramp(&c, clock, last - 1);
        else /* within one of the long samples */
            assert_close(last->start_us, c.begin_us, 0.02 * c.begin_us);
        assert_int_equal(last->kind, PHASE_STEADY);
        assert_close(last->freq_ghz.value / c.ghz[1], 1, 2e-5);
        assert_close(last->ipc_ratio, 1, 1e-5);
        assert_close(last->start_us + last->duration_us.value, c.end_us, 500);
        for (size_t k = 0; k < p.n_phases; k++) {
            assert_int_equal(p.phases[k].agreeing_runs, RUNS);
            if (p.phases[k].kind != PHASE_RAMP)
                assert_int_equal(p.phases[k].level, clock && &p.phases[k] == last);
        }
        assert_int_equal(p.n_transitions, 1);
        assert_int_equal(p.n_discarded, 0);
        assert_in_range(p.samples_lost, 0, p.samples / 50);
        phases_free(&p);
        trace_free(&t);
    }
}
