/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential approaches of the frequency, recorded without noise: what is found is what was drawn. */
#include "analysis/phases/phases.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

struct ramp {
    double throttle_us, begin_us; /* throttled until then; then steady until then */
    double scatter_us;            /* of the beginning, from repetition to repetition */
    double from, to, tau_us;
    double period_us, end_us;
    unsigned runs;
};

/* The integral of the frequency from the beginning of the ramp on. */
static double cycles(const struct ramp *w, double begin, double t)
{
    const double x = t - begin;
    return x <= 0 ? w->from * x : w->to * x + (w->from - w->to) * w->tau_us * -expm1(-x / w->tau_us);
}

static void record(const struct ramp *w, uint64_t seed, struct trace *t)
{
    struct rng r;
    rng_init(&r, seed, 3);
    trace_init(t);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC) | trace_add_run(t), 0);
    assert_int_equal(trace_set(t, "from", "128fma") | trace_set(t, "to", "512fma"), 0);
    for (unsigned run = 0; run < w->runs; run++) {
        const double begin = w->begin_us + w->scatter_us * rng_normal(&r);
        double end = -60 + w->period_us * rng_unit(&r);
        for (; end < w->end_us; end += w->period_us) {
            const double last = end - w->period_us,
                         ghz = (cycles(w, begin, end) - cycles(w, begin, last)) / w->period_us;
            const double slow = fmax(0, fmin(end, w->throttle_us) - fmax(last, 0)) / w->period_us;
            assert_int_equal(trace_append(t, run, end), 0);
            t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
            t->channel[TRACE_IPC][t->n - 1] = (float)(2 - 1.5 * slow);
        }
    }
}

static struct ramp draw(uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed, 4);
    const double by = rng_range(&r, 0.02, 0.3), up = seed % 4 < 2 ? 1 : -1;
    struct ramp w = {.from = 3, .to = 3 * (1 + by * up), .tau_us = rng_log(&r, 3, 200), .period_us = 1, .runs = 16};
    w.begin_us = seed % 2 ? rng_range(&r, 10, 30) : rng_range(&r, 30, 100);
    w.throttle_us = seed % 2 ? w.begin_us : 0;
    w.scatter_us = seed % 6 ? 0 : rng_range(&r, 1, 5);
    w.end_us = w.begin_us + 15 * w.tau_us + 50;
    return w;
}

static void check_ramp(const struct ramp *w, const struct phase *f)
{
    const double rough = w->scatter_us > 0 ? 10 : 1, step = w->from - w->to, us = f->duration_us.value;
    const double arrives = w->tau_us * log(fabs(step) / w->to / 0.001); /* within 0.1 % of its end */
    assert_int_equal(f->kind, PHASE_RAMP);
    assert_int_equal(f->level, -1);
    assert_close(f->start_us, w->begin_us, w->scatter_us > 0 ? w->scatter_us : 0.2);
    assert_close(f->from_ghz.value / w->from, 1, rough * 1e-4);
    assert_close(f->to_ghz.value / w->to, 1, rough * 1e-5);
    assert_close(f->tau_us.value / w->tau_us, 1, rough * 1e-3);
    assert_close(f->tau_us.lo / f->tau_us.value, 0.99, 1e-3); /* what samples leave of doubt in any case */
    assert_close(f->tau_us.hi / f->tau_us.value, 1.01, 1e-3);
    assert_close(us / arrives, 1, rough * 2e-3);
    assert_close(f->duration_us.lo / us, 0.99, 2e-3);
    assert_close(f->freq_ghz.value, w->to + step * w->tau_us * -expm1(-us / w->tau_us) / us, rough * 3e-4);
    assert_close(f->ipc_ratio, 1, 1e-3);
}

TEST(approaches_are_found_as_they_were_drawn)
{
    for (uint64_t seed = 1; seed <= rng_fewer_sanitized(48); seed++) {
        const struct ramp w = draw(seed);
        struct trace t;
        struct phases p;
        char why[300];
        record(&w, seed, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        assert_int_equal(p.n_phases, 4);
        const bool up = w.to > w.from;
        const struct phase *before = &p.phases[1], *end = &p.phases[3];
        assert_int_equal(p.phases[0].kind, PHASE_STEADY);
        assert_int_equal(before->kind, w.throttle_us > 0 ? PHASE_THROTTLE : up ? PHASE_SLOW : PHASE_STEADY);
        assert_close(before->ipc_ratio, w.throttle_us > 0 ? 0.25 : 1, 1e-4);
        assert_close(before->freq_ghz.value, 3, 1e-4);
        assert_int_equal(before->level, up);
        check_ramp(&w, &p.phases[2]);
        assert_int_equal(end->kind, PHASE_STEADY);
        assert_int_equal(end->level, !up);
        assert_close(end->freq_ghz.value / w.to, 1, 1e-4);
        assert_int_equal(p.n_levels, 2);
        assert_in_range(end->agreeing_runs, 9, 16);
        phases_free(&p);
        trace_free(&t);
    }
}
