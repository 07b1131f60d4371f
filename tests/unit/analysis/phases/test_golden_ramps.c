/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No answer about ramps changes unnoticed: what is found where the frequency falls or rises by and by, at once or in a
 * few steps, is tests/golden/phases.ramps.txt. After an intended change `make golden` rewrites it, and the diff shows
 * what changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/phases/phases.h"
#include "tests/support/golden.h"
#include "tests/support/phases_lines.h"
#include "tests/support/random_numbers.h"
#include "tests/support/sanitized.h"

enum { RUNS = 12, BEFORE_US = 80, BEHIND_US = 200 };

/* From 0 us on, or later in each repetition by up to `late` us, from one frequency to another with a time constant, or
 * in so many steps, each of which lasts that long; throttled meanwhile or not. */
struct slope {
    double from, to, tau, period, noise, late;
    unsigned steps;
    bool throttled, instant;
};

static const struct slope slopes[] = {
    {2.8, 2.1, 30, 1, 0.002, 0, 0, false, false}, {2.8, 2.1, 8, 1, 0.002, 0, 0, false, false},
    {2.8, 2.1, 2, 1, 0.002, 0, 0, false, false},  {2.1, 2.8, 12, 1, 0.002, 20, 0, false, false},
    {2.8, 2.5, 60, 1, 0.004, 0, 0, false, false}, {2.8, 2.1, 4, 1, 0.002, 0, 3, false, false},
    {2.8, 2.1, 15, 1, 0.002, 0, 2, false, false}, {2.8, 2.1, 1.5, 1, 0.002, 15, 4, false, false},
    {2.8, 2.1, 6, 1, 0.002, 0, 0, true, false},   {2.8, 2.1, 20, 2, 0.003, 5, 0, true, false},
    {2.8, 2.1, 10, 1, 0.003, 0, 0, false, true},  {2.8, 2.0, 3, 0.5, 0.002, 3, 0, false, false},
    {2.1, 2.8, 3, 1, 0.003, 40, 5, false, true},  {2.8, 2.1, 45, 2, 0.002, 0, 6, false, false},
};

static double ghz_at(const struct slope *s, double us)
{
    if (us < 0)
        return s->from;
    double left = s->steps ? 1 - fmin(s->steps, 1 + floor(us / s->tau)) / s->steps : exp(-us / s->tau);
    return s->to + (s->from - s->to) * left;
}

static void make_slope(const struct slope *s, uint64_t seed, struct trace *t)
{
    struct rng rng;
    rng_init(&rng, seed, 77);
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    if (s->instant)
        assert_int_equal(trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "clock_step_ns", 1) |
                             trace_set_number(t, "chain_cycles", 500) | trace_set_number(t, "reading_us", 0.2),
                         0);
    for (uint32_t run = 0; run < RUNS; run++) {
        double begin = s->late * rng_unit(&rng), end = -BEFORE_US + s->period * rng_unit(&rng);
        for (; end < BEHIND_US; end += s->period) {
            double us = end - begin, ghz = 0;
            for (int i = 0; i < 8; i++)
                ghz += ghz_at(s, s->instant ? us : us - s->period * (i + 0.5) / 8) / 8;
            bool slow = s->throttled && us > 0 && us < 2 * s->tau;
            assert_int_equal(trace_append(t, run, end), 0);
            t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * (1 + s->noise * rng_normal(&rng)));
            t->channel[TRACE_IPC][t->n - 1] = (float)((slow ? 0.25 : 1) * (1 + s->noise * rng_normal(&rng)));
        }
    }
}

static void slopes_are_told_as_they_were(void **state)
{
    (void)state;
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        struct trace t;
        struct phases p;
        char why[300];
        make_slope(&slopes[i], i + 1, &t);
        fprintf(out, "# %zu\n", i + 1);
        if (phases_find(&t, &p, why, sizeof why))
            fail_msg("%s", why);
        phases_lines_write(out, &p);
        phases_free(&p);
        trace_free(&t);
    }
    golden_expect(&g, "phases", "ramps.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_are_told_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
