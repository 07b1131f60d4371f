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

static void record(const struct ramp *w, double noise, uint64_t seed, struct trace *t)
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
            t->channel[TRACE_FREQ][t->n - 1] = (float)(noise > 0 ? ghz * (1 + noise * rng_normal(&r)) : ghz);
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
        record(&w, 0, seed, &t);
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

/* With noise the limits of its time constant hold, and are not much wider than its errors. */
TEST(limits_of_an_approach_hold)
{
    double squares = 0, half = 0;
    size_t n = 0, held = 0;
    skip_where_sanitized("the same code runs in the other test");
    for (uint64_t seed = 101; seed <= 148; seed++) {
        const struct ramp w = draw(seed);
        struct trace t;
        struct phases p;
        char why[300];
        record(&w, 0.008, seed, &t);
        assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
        for (size_t k = 0; k < p.n_phases; k++) {
            const struct estimate *tau = &p.phases[k].tau_us;
            if (p.phases[k].kind != PHASE_RAMP)
                continue;
            n++;
            held += tau->lo <= w.tau_us && w.tau_us <= tau->hi;
            squares += (tau->value / w.tau_us - 1) * (tau->value / w.tau_us - 1);
            half += (tau->hi - tau->lo) / 2 / w.tau_us;
        }
        phases_free(&p);
        trace_free(&t);
    }
    assert_in_range(n, 45, 48);
    assert_in_range(held, n - 3, n);
    assert_close(sqrt(squares / (double)n), 0.0235, 0.003);
    assert_close(half / (double)n, 0.030, 0.003);
}
