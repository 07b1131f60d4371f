/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a repetition left the low frequency, and what interrupted it before: of repetitions that were made by hand, at
 * limits and beside them. Held in tests/golden/rises.made; after an intended change `make golden` rewrites it, and the
 * diff shows what changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/relaxation/relaxation.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

/* The levels that all repetitions are taken to have, and the window in which they are looked at. */
#define SLOW_GHZ 2.4
#define FAST_GHZ 2.8
#define FROM_US 10.0

/*
 * "50x2@2.4 1x2@2.4-1.5": fifty samples of 2 us at 2.4 GHz, then one of which 1.5 us were lost to something else. The
 * noise is the standard deviation of a sample's frequency, relative; the window ends at to_us of the trace.
 */
struct made {
    const char *samples;
    double noise, to_us;
};

static void append(struct trace *t, double time_us, double ghz, double ipc)
{
    assert_int_equal(trace_append(t, 0, time_us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
}

static void make_trace(const struct made *m, struct trace *t)
{
    struct rng r;
    double time = FROM_US, us, ghz;
    unsigned n;
    int length;
    rng_init(&r, 4, 0);
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    append(t, time - 3, 1.1, 2); /* before the window */
    append(t, time, 1.2, 2);
    for (const char *p = m->samples; *p; p += length) {
        double lost = 0;
        if (sscanf(p, " %ux%lf@%lf%n", &n, &us, &ghz, &length) < 3)
            fail_msg("what is this? %s", p);
        p += length;
        length = 0;
        if (*p == '-' && sscanf(p, "-%lf%n", &lost, &length) != 1)
            fail_msg("what is this? %s", p);
        for (unsigned i = 0; i < n; i++) {
            time += us;
            append(t, time, ghz * (1 + m->noise * rng_normal(&r)), 2 * (1 - lost / us));
        }
    }
}

static void write_number(FILE *out, const char *name, double x)
{
    if (!isnan(x))
        fprintf(out, "%s %.6g", name, x);
}

static void write_rise(FILE *out, const struct made *m)
{
    const struct relaxation_levels levels = {.slow = SLOW_GHZ, .fast = FAST_GHZ};
    struct relaxation_rise rise;
    struct trace t;
    make_trace(m, &t);
    assert_int_equal(relaxation_find(&t, sights_span(&t, 0), FROM_US, m->to_us > 0 ? m->to_us : 1e4, &levels, &rise),
                     0);
    fprintf(out, "%s", m->samples);
    write_number(out, "; noise", m->noise > 0 ? m->noise : NAN);
    write_number(out, "; until", m->to_us > 0 ? m->to_us - FROM_US : NAN);
    fprintf(out, isnan(rise.at_us) ? "\n  does not rise" : "\n  ");
    write_number(out, "rises at", rise.at_us);
    if (rise.interruptions)
        fprintf(out, ", %zu interrupted", rise.interruptions);
    write_number(out, ", first", rise.first_us);
    write_number(out, ", last", rise.last_us);
    write_number(out, ", noise", rise.noise > 0 ? rise.noise : NAN);
    fprintf(out, "\n");
    trace_free(&t);
}

static const struct made made_rises[] = {
    {"100x2@2.4 100x2@2.8", 0, 0},
    {"100x2@2.4 100x2@2.8", 0, 410},
    /* something in the sample of the rise; a level between; two of them */
    {"100x2@2.4 1x2@2.5 100x2@2.8", 0, 0},
    {"100x2@2.4 1x2@2.7 100x2@2.8", 0, 0},
    {"100x2@2.4 50x2@2.6 100x2@2.8", 0, 0},
    {"100x2@2.4 10x2@2.5 100x2@2.8", 0, 0},
    /* it rises by so much of the way, and by less */
    {"100x2@2.4 100x2@2.53", 0, 0},
    {"100x2@2.4 100x2@2.515", 0, 0},
    {"100x2@2.4 100x2@2.46", 0, 0},
    {"100x2@2.4 100x2@2.44", 0, 0},
    /* never; from the beginning on; at the very end; at the beginning */
    {"200x2@2.4", 0, 410},
    {"200x2@2.8", 0, 410},
    {"199x2@2.4 1x2@2.8", 0, 410},
    {"1x2@2.4 199x2@2.8", 0, 410},
    {"2x2@2.4 198x2@2.8", 0, 410},
    {"1x2@2.4", 0, 12},
    /* wild ones do not decide */
    {"50x2@2.4 1x2@9 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x2@9 50x2@2.4 100x2@2.8", 0.01, 0},
    {"100x2@2.4 20x2@2.8 1x2@0.1 100x2@2.8", 0.01, 0},
    {"100x2@2.4 5x2@2.8 40x2@2.4 100x2@2.8", 0, 0},
    {"100x2@2.4 45x2@2.8 40x2@2.4 100x2@2.8", 0, 0},
    /* short samples count for less */
    {"100x2@2.4 20x0.1@2.8 10x2@2.4 100x2@2.8", 0.01, 0},
    {"100x2@2.4 5x4@2.8 8x2@2.4 100x2@2.8", 0.01, 0},
    /* halts: in the sample of the rise, beside it, so short that they are none */
    {"100x2@2.4 1x12@2.4-10 100x2@2.8", 0, 0},
    {"100x2@2.4 1x12@2.8-10 100x2@2.8", 0, 0},
    {"99x2@2.4 1x12@2.4-10 2x2@2.4 100x2@2.8", 0, 0},
    {"100x2@2.4 2x2@2.8 1x12@2.8-10 100x2@2.8", 0, 0},
    {"100x2@2.4 1x3@2.4-0.39 100x2@2.8", 0, 0},
    {"100x2@2.4 1x3@2.4-0.42 100x2@2.8", 0, 0},
    {"100x2@2.4 1x12@2.4-10 1x15@2.8-12 100x2@2.8", 0, 0},
    /* noise: the halt may lie some samples away, by as much as noise makes the split unsure */
    {"97x2@2.4 1x12@2.4-10 3x2@2.4 100x2@2.8", 0.1, 0},
    {"94x2@2.4 1x12@2.4-10 6x2@2.4 100x2@2.8", 0.15, 0},
    {"100x2@2.4 4x2@2.8 1x12@2.8-10 100x2@2.8", 0.15, 0},
    {"85x2@2.4 1x12@2.4-10 15x2@2.4 100x2@2.8", 0.4, 0},
    {"100x2@2.4 100x2@2.8", 0.02, 0},
    {"100x2@2.4 100x2@2.8", 0.05, 0},
    {"100x2@2.4 100x2@2.8", 0.1, 0},
    {"300x2@2.4 100x2@2.8", 0.2, 0},
    {"300x2@2.4 10x2@2.8", 0.1, 0},
    {"300x2@2.4 3x2@2.8", 0.1, 0},
    {"300x2@2.4", 0.1, 0},
    /* interruptions: of 0.6 us, or two in a row of which neither is; in the first 5 us there are none */
    {"50x2@2.4 1x2@2.4-0.61 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x2@2.4-0.59 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x2@2.4-0.4 1x2@2.4-0.3 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x2@2.4-0.3 1x2@2.4-0.25 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x2@2.4-0.4 1x2@2.4 1x2@2.4-0.4 50x2@2.4 100x2@2.8", 0, 0},
    {"50x2@2.4 1x9@2.4-7 30x2@2.4 1x5@2.4-3 10x2@2.4 100x2@2.8", 0, 0},
    {"1x2@2.4 1x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    {"2x2@2.4 1x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    /* a code that has not got going, without a break, until 20 us */
    {"8x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    {"12x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    {"5x2@2.4-1 1x2@2.4 2x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    {"5x2@2.4-1 1x2@2.4-0.2 2x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    {"5x2@2.4-1 1x2@2.4-0.17 2x2@2.4-1 100x2@2.4 100x2@2.8", 0, 0},
    /* the one right before the rise is its halt; behind the rise they do not matter */
    {"99x2@2.4 1x4@2.4-2 100x2@2.8", 0, 0},
    {"97x2@2.4 1x4@2.4-2 3x2@2.4 100x2@2.8", 0, 0},
    {"100x2@2.4 10x2@2.8 1x9@2.8-7 100x2@2.8", 0, 0},
    /* interrupted so long that the window was over: 20 us */
    {"100x2@2.4", 0, 229},
    {"100x2@2.4", 0, 231},
    {"50x2@2.4 1x3@2.4-1 50x2@2.4", 0, 260},
    {"100x2@2.4 20x2@2.8", 0, 300},
    /* rates that scatter: an interruption takes six standard deviations */
    {"50x5@2.4 1x5@2.4-1.2 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 1x5@2.4-1.6 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 1x5@2.4-2 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 2x5@2.4-0.9 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 2x5@2.4-1.1 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 2x5@2.4-1.3 50x5@2.4 100x2@2.8", 0.05, 0},
    {"50x5@2.4 2x5@2.4-1.6 50x5@2.4 100x2@2.8", 0.05, 0},
    {"5x5@2.4 20x2@2.4-0.3 10x2@2.4 1x9@2.4-5 50x5@2.4 100x2@2.8", 0.03, 0},
    /* a repetition that runs lower or higher from the beginning on: 0.2 % do not matter, nor does the faster level */
    {"100x2@2.35 100x2@2.45", 0, 0},
    {"100x2@2.35 100x2@2.742", 0, 0},
    {"100x2@2.5 100x2@2.6", 0, 0},
    {"100x2@2.515 100x2@2.62", 0, 0},
    {"100x2@2.53 100x2@2.62", 0, 0},
    {"100x2@2.404 100x2@2.5245", 0, 0},
    {"100x2@2.405 100x2@2.5245", 0, 0},
    {"100x2@2.406 100x2@2.5245", 0, 0},
    {"3x2@2.4 100x2@2.3 100x2@2.45", 0.005, 0},
    {"9x3.5@2.3 2x3.5@2.3 100x2@2.4 100x2@2.45", 0, 0},
    {"100x5@2.3 100x2@2.45", 0, 0},
    {"100x4.1@2.3 100x2@2.45", 0, 0},
    {"200x0.2@2.3 20x2@2.3 100x2@2.45", 0, 0},
    {"100x2@2.3 100x2@2.5", 0.02, 0},
    {"100x2@2.38 100x2@2.5", 0.02, 0},
};

static void rises_of_made_repetitions(void **state)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof made_rises / sizeof *made_rises; i++)
        write_rise(out, &made_rises[i]);
    golden_expect(&g, "rises", "made", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rises_of_made_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
