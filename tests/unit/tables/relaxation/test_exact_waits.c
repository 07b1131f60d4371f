/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of repetitions recorded without noise: each is found as it was drawn, and so is the ramp that ends it. */
#include "tables/relaxation/relaxation_fit.h"
#include "tests/support/recorder.h"
#include "tests/support/test.h"

#define SLOW_GHZ 2.0
#define FAST_GHZ 3.0
enum { RUNS = 24, WINDOW_US = 2000 };

struct waits {
    struct trace t;
    struct sights_span span[RUNS];
    double wait[RUNS]; /* us; NaN: it does not end */
    struct interruption in[RUNS];
};

static void begin(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC) | trace_add_run(t), 0);
}

static void record(struct waits *w, uint64_t seed, double halt_us, double noise)
{
    const struct recorder rec = {
        .period_us = seed % 4 < 2 ? 2 : 1, .freq_noise = noise, .has = {[TRACE_FREQ] = true, [TRACE_IPC] = true}};
    struct rng r;
    rng_init(&r, seed, 11);
    begin(&w->t);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct core_state s[4] = {
            {-500, false, 1, 1, {0}}, {0, false, SLOW_GHZ, 2, {0}}, {0, true, 0, 0, {0}}, {0, false, FAST_GHZ, 2, {0}}};
        w->wait[run] = run % 8 == 7 ? NAN : rng_range(&r, 60, 1800);
        s[2].begin = isnan(w->wait[run]) ? 1e9 : w->wait[run];
        s[3].begin = s[2].begin + halt_us;
        w->in[run] = (struct interruption){INFINITY, INFINITY};
        if (run % 5 == 3 && !(w->wait[run] < 50)) {
            const double begin = rng_range(&r, 20, (isnan(w->wait[run]) ? 1500 : w->wait[run]) - 30);
            w->in[run] = (struct interruption){begin, begin + rng_range(&r, 5, 20)};
        }
        w->span[run].first = w->t.n;
        assert_int_equal(
            record_run(&r, &rec, s, 4, -20, WINDOW_US, rec.period_us * rng_unit(&r), w->in[run], run, &w->t), 0);
        w->span[run].last = w->t.n;
    }
}

static void find(struct waits *w, double within, struct relaxation_levels *l, struct relaxation_rise *rise)
{
    assert_null(relaxation_levels(&w->t, w->span, RUNS, 0, WINDOW_US, l));
    assert_close(l->slow, SLOW_GHZ, within);
    assert_close(l->fast, FAST_GHZ, within);
    assert_int_equal(l->slight, false);
    for (size_t i = 0; i < RUNS; i++)
        assert_int_equal(relaxation_find(&w->t, w->span[i], 0, WINDOW_US, l, &rise[i]), 0);
}

static void check(uint64_t seed, double halt_us, double noise)
{
    struct waits w;
    struct relaxation_levels l;
    struct relaxation_rise rise[RUNS];
    record(&w, seed, halt_us, noise);
    find(&w, noise > 0 ? 4e-3 : 1e-6, &l, rise);
    assert_int_equal(l.rose, 21);
    for (size_t i = 0; i < RUNS; i++) {
        const bool interrupted = w.in[i].begin < INFINITY;
        assert_close(isnan(rise[i].at_us) ? -1 : rise[i].at_us, isnan(w.wait[i]) ? -1 : w.wait[i],
                     noise > 0 ? 1 : 0.02);
        assert_int_equal(rise[i].interruptions, interrupted);
        assert_close(interrupted ? rise[i].first_us - w.in[i].begin : 0, 0, noise > 0 ? 1 : 0.02);
        assert_close(interrupted ? rise[i].last_us - rise[i].first_us : 0, 0, 0);
        assert_close(rise[i].noise, noise * 2.2, noise);
        assert_true(isnan(rise[i].left));
    }
    assert_int_equal(relaxation_ramp(&w.t, w.span, RUNS, WINDOW_US, &l, rise), 0);
    assert_close(l.ramp.tau_us.value, 0, halt_us > 0 ? 0 : 1.5); /* less than a sample */
    assert_int_equal(l.halts, halt_us > 0);
    trace_free(&w.t);
}

TEST(waits_are_found_in_each_repetition)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int halt = 0; halt < 2; halt++) {
            check(seed, 10 * halt, 0);
            check(seed, 10 * halt, 0.01);
        }
}

/* The mean of an approach with tau_us that begins at `at`, from..to, from SLOW_GHZ to FAST_GHZ. */
static double mean(double at, double tau_us, double from, double to)
{
    const double a = fmax(0, from - at), b = fmax(0, to - at);
    return FAST_GHZ - (FAST_GHZ - SLOW_GHZ) *
                          (fmin(to, fmax(from, at)) - from + tau_us * (exp(-a / tau_us) - exp(-b / tau_us))) /
                          (to - from);
}

TEST(waits_that_end_in_a_ramp_are_found_with_its_time_constant)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct waits w;
        struct relaxation_levels l;
        struct relaxation_rise rise[RUNS];
        struct rng r;
        rng_init(&r, seed, 12);
        const double tau_us = rng_log(&r, 5, 60);
        begin(&w.t);
        for (uint32_t run = 0; run < RUNS; run++) {
            w.wait[run] = rng_range(&r, 100, 1500);
            w.span[run].first = w.t.n;
            for (double us = -20 + 2 * rng_unit(&r); us < WINDOW_US; us += 2) {
                assert_int_equal(trace_append(&w.t, run, us), 0);
                w.t.channel[TRACE_FREQ][w.t.n - 1] = (float)(mean(w.wait[run], tau_us, us - 2, us) *
                                                             (1 + 0.002 * rng_normal(&r)));
                w.t.channel[TRACE_IPC][w.t.n - 1] = 2;
            }
            w.span[run].last = w.t.n;
        }
        find(&w, 1e-3, &l, rise);
        assert_int_equal(relaxation_ramp(&w.t, w.span, RUNS, WINDOW_US, &l, rise), 0);
        assert_close(l.ramp.tau_us.value / tau_us, 1, 5e-3);
        assert_close(l.ramp.tau_us.hi / l.ramp.tau_us.lo, 1, 0.02);
        assert_close(l.ramp.gain, FAST_GHZ / SLOW_GHZ - 1, 1e-3);
        assert_close(l.ramp.noise, 0.002, 2e-4);
        assert_close(l.ramp.left, 1.6, 0.4);
        assert_close(l.ramp.begin_half_us, 0.04, 0.02);
        assert_close(l.fast, FAST_GHZ, 2e-3);
        assert_int_equal(l.halts, false);
        for (size_t i = 0; i < RUNS; i++)
            assert_close(rise[i].at_us, w.wait[i], 0.3);
        trace_free(&w.t);
    }
}
