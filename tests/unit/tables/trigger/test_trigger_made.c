/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When bursts settle, when the plain code behind them is back, and whether they are throttled at first: of repetitions
 * that were made by hand, at limits and beside them. Held in tests/golden/trigger.made-*; after an intended change
 * `make golden` rewrites these, and the diff shows what changed.
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

#include "tables/trigger/trigger_fit.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

/*
 * "20x2@2.8,0.5 380x2@2.4,2": samples of 2 us at 2.8 GHz and half an instruction a cycle, ..., of which the last ends
 * at time `end`; "@2.4,2,1" also at license level 1. Noise: relative standard deviation of the frequency and of the
 * instructions per cycle of a sample.
 */
static void add_samples(struct trace *t, unsigned run, const char *samples, double begin, double noise, struct rng *r)
{
    double time = begin, us, ghz, ipc, level;
    unsigned n;
    int length;
    int bad = trace_append(t, run, time);
    t->channel[TRACE_FREQ][t->n - 1] = t->channel[TRACE_IPC][t->n - 1] = 1;
    for (const char *p = samples; *p; p += length) {
        if (sscanf(p, " %ux%lf@%lf,%lf%n", &n, &us, &ghz, &ipc, &length) < 4)
            fail_msg("what is this? %s", p);
        p += length;
        length = 0;
        level = 0;
        if (*p == ',' && sscanf(p, ",%lf%n", &level, &length) != 1)
            fail_msg("what is this? %s", p);
        for (unsigned i = 0; i < n; i++) {
            time += us;
            bad |= trace_append(t, run, time);
            t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * (1 + noise * rng_normal(r)));
            t->channel[TRACE_IPC][t->n - 1] = (float)(ipc * (1 + noise * rng_normal(r)));
            if (t->channel[TRACE_LVL1]) {
                t->channel[TRACE_LVL1][t->n - 1] = (float)(level <= 1 ? level : 2 - level);
                t->channel[TRACE_LVL2][t->n - 1] = (float)(level <= 1 ? 0 : level - 1);
            }
        }
    }
    assert_int_equal(bad, 0);
}

static void start_trace(struct trace *t, unsigned runs, bool counted)
{
    int bad = 0;
    trace_init(t);
    for (unsigned i = 0; i < runs; i++)
        bad |= trace_add_run(t);
    bad |= trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC);
    if (counted)
        bad |= trace_add_channel(t, TRACE_LVL1) | trace_add_channel(t, TRACE_LVL2);
    assert_int_equal(bad, 0);
}

/* ---- the course of a burst ---- */

/* A burst that begins at begin_us, and the plain code behind it, which alone runs at 2.8 GHz and 4 a cycle. */
struct course {
    double begin_us, bin_us;
    const char *samples;
    double noise;
    bool counted;
};

static void write_course(FILE *out, const struct course *m)
{
    const struct sight plain = {2.8, 4, m->counted ? 0 : NAN, 0};
    struct trigger_course c = {.after_us = NAN};
    struct trace t;
    struct rng r;
    rng_init(&r, 6, 0);
    start_trace(&t, 1, m->counted);
    add_samples(&t, 0, m->samples, m->begin_us, m->noise, &r);
    const char *why = trigger_course(&t, sights_span(&t, 0), m->begin_us, m->bin_us, &plain, &c);
    fprintf(out, "from %g in bins of %g: %s", m->begin_us, m->bin_us, m->samples);
    if (m->noise > 0)
        fprintf(out, "; noise %g", m->noise);
    if (why)
        fprintf(out, "\n  %s\n", why);
    else
        fprintf(out, "\n  %.6g GHz, ipc %.6g, level %g, bins of %g; settled %.6g, after %.6g, back %.6g\n",
                c.steady.freq, c.steady.ipc, c.steady.level, c.bin_us, c.settled_us, c.after_us, c.back_us);
    trace_free(&t);
}

static const struct course courses[] = {
    {-800, 8, "400x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "20x2@2.8,0.5 380x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 4, "20x2@2.8,0.5 380x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 2, "20x2@2.8,0.5 380x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    /* nothing is lower; not back within what was seen; back at once; lower though the plain code behind is not */
    {-800, 8, "400x2@2.8,2 160x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 160x2@2.4,4", 0, false},
    {-800, 8, "400x2@2.4,2 160x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 4x2@2.4,4 156x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 8x2@2.4,4 152x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 9x2@2.4,4 151x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.9,2 60x2@2.9,4 100x2@2.8,4", 0, false},
    /* 1 % of the frequency, 85 % of the rate */
    {-800, 8, "40x2@2.424,2 360x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "40x2@2.4245,2 360x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "40x2@2.4,1.71 360x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "40x2@2.4,1.69 360x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 10x2@2.4,3.39 50x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 10x2@2.4,3.41 50x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 60x2@2.774,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 60x2@2.77,4 100x2@2.8,4", 0, false},
    /* one bin is an accident, two are not; what begins with the burst is none; the halt behind it */
    {-800, 8, "100x2@2.4,2 4x2@2.4,1 296x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "100x2@2.4,2 8x2@2.4,1 292x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "4x2@2.4,1 396x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "4x2@2.4,2 4x2@2.4,1 392x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "20x2@2.8,0.5 1x20@2.8,0.5 370x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "20x2@2.8,0.5 20x2@2.4,2 1x20@2.4,2 350x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "1x20@2.4,0.5 390x2@2.4,2 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 20x2@2.4,4 4x2@2.8,4 36x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 20x2@2.4,4 1x20@2.4,4 40x2@2.8,4 60x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 1x20@2.4,1 40x2@2.4,4 60x2@2.8,4", 0, false},
    /* a lower level that plain code reaches by steps, for at least two bins */
    {-800, 8, "400x2@2.4,2 20x2@2.6,4 60x2@2.4,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 20x2@2.6,4 4x2@2.4,4 20x2@2.6,4 100x2@2.8,4", 0, false},
    {-800, 8, "400x2@2.4,2 20x2@2.6,4 8x2@2.4,4 20x2@2.6,4 100x2@2.8,4", 0, false},
    /* levels by the counters decide where there are such: half a level is none */
    {-800, 8, "20x2@2.4,2,0 380x2@2.4,2,1 60x2@2.4,4,1 100x2@2.4,4,0", 0, true},
    {-800, 8, "20x2@2.8,2,0 380x2@2.4,2,0.4 60x2@2.4,4,0.4 100x2@2.8,4,0", 0, true},
    {-800, 8, "20x2@2.8,2,0 380x2@2.4,2,2 60x2@2.6,4,1 60x2@2.4,4,2 100x2@2.8,4,0", 0, true},
    {-800, 8, "20x2@2.8,2,1 380x2@2.4,2,1.6 60x2@2.6,4,0.6 100x2@2.8,4,0", 0, true},
    {-800, 8, "400x2@2.4,2,0 160x2@2.8,4,0", 0, true},
    /* noise makes bins longer, unless levels are counted: up to 70 us, up to a fortieth of the burst */
    {-3000, 4, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.004, false},
    {-3000, 4, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.01, false},
    {-3000, 4, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.03, false},
    {-3000, 4, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.1, false},
    {-3000, 4, "20x2@2.8,0.5,0 1480x2@2.4,2,1 100x2@2.4,4,1 200x2@2.8,4,0", 0.1, true},
    {-800, 4, "20x2@2.8,0.5 380x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.05, false},
    {-600, 4, "20x2@2.8,0.5 280x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.05, false},
    {-800, 35, "20x2@2.8,0.5 380x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.05, false},
    {-3000, 17, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.05, false},
    {-3000, 18, "20x2@2.8,0.5 1480x2@2.4,2 100x2@2.4,4 200x2@2.8,4", 0.05, false},
    /* it tells nothing */
    {-800, 8, "4x200@2.4,2 2x200@2.4,4", 0, false},
};

static void courses_of_bursts(void **state)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
        write_course(out, &courses[i]);
    golden_expect(&g, "trigger", "made-courses", true);
}

/* ---- several of them ---- */

static void pilots_of_several_courses(void **state)
{
    static const struct {
        size_t n;
        double settled[5], after[5], back[5];
    } cases[] = {
        {1, {40}, {0}, {120}},
        {1, {40}, {8}, {NAN}},
        {1, {40}, {8}, {INFINITY}},
        {2, {40, 50}, {0, 8}, {120, NAN}},
        {3, {40, 50, 60}, {0, 8, 9}, {120, NAN, 130}},
        {3, {40, 50, 149}, {0, 49, 10}, {120, 130, INFINITY}},
        {3, {40, 50, 150}, {0, 10, 70}, {120, INFINITY, INFINITY}},
        {3, {40, 50, 151}, {0, 10, 71}, {NAN, INFINITY, INFINITY}},
        {5, {10, 20, 30, 40, 111}, {1, 2, 3, 4, 5}, {35, 120, 120, 130, 125}},
        {5, {10, 20, 30, 40, 110}, {1, 2, 3, 4, 500}, {34, 119, 120, 130, 500}},
        {4, {10, 20, 30, 40}, {1, 2, 3, 4}, {100, 120, NAN, INFINITY}},
        {4, {0, 0, 0, 0}, {0, 0, 0, 0}, {NAN, NAN, NAN, NAN}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trigger_course c[5];
        struct trigger_pilot p;
        const struct sight plain = {2.8, 4, i % 2 ? 0 : (double)NAN, 0};
        for (size_t k = 0; k < cases[i].n; k++)
            c[k] = (struct trigger_course){{2.4 + 0.01 * (double)k, 2 - 0.1 * (double)k, 1 + 0.1 * (double)k, 0},
                                           8 - (double)k,
                                           cases[i].settled[k],
                                           cases[i].after[k],
                                           cases[i].back[k]};
        trigger_pilot(c, cases[i].n, &plain, &p);
        fprintf(out, "%zu: plain %g, %g GHz %g %g%s%s%s, bins of %g, settled %g, after %g, back %g, %g, %g\n", i,
                p.plain.freq, p.steady.freq, p.steady.ipc, p.steady.level, p.counted ? ", counted" : "",
                p.lower ? ", lower" : "", p.stays ? ", stays" : "", p.bin_us, p.settled_us, p.after_us, p.back_us,
                p.back_usual_us, p.back_most_us);
    }
    golden_expect(&g, "trigger", "made-pilots", true);
}

/* ---- throttling ---- */

/* So many repetitions, of which those from number `other` on do as `others` says; samples every period_us. */
struct throttled {
    const char *samples;
    unsigned repetitions, other;
    const char *others;
    double begin_us, period_us, noise;
};

static void write_throttled(FILE *out, const struct throttled *m)
{
    enum { MOST = 12 };
    struct sights_span span[MOST];
    double begin[MOST];
    struct trigger_throttle found;
    struct trace t;
    struct rng r;
    rng_init(&r, 8, 0);
    start_trace(&t, m->repetitions, false);
    for (unsigned i = 0; i < m->repetitions; i++)
        add_samples(&t, i, i < m->other ? m->samples : m->others, m->begin_us, m->noise, &r);
    for (unsigned i = 0; i < m->repetitions; i++) {
        span[i] = sights_span(&t, i);
        span[i].first++; /* the origin of the first sample is none */
        begin[i] = m->begin_us;
    }
    assert_int_equal(trigger_throttled(&t, span, begin, m->repetitions, m->period_us, &found), 0);
    fprintf(out, "%s by %g, %u of %u", m->samples, m->period_us, m->other, m->repetitions);
    if (m->noise > 0)
        fprintf(out, "; noise %g", m->noise);
    fprintf(out, "\n  ipc %.6g, below %.6g for %.6g us: ", found.full_ipc, found.below, found.lasts_us);
    if (found.throttled)
        fprintf(out, "%.6g from %.6g us, after %.6g [%.6g, %.6g]\n", found.ratio, found.onset_us,
                found.instructions.value, found.instructions.lo, found.instructions.hi);
    else
        fprintf(out, "none\n");
    trace_free(&t);
}

static const struct throttled throttled[] = {
    {"300x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"10x1@2.8,0.5 290x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"7x1@2.8,2 10x1@2.8,0.5 283x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"7x1@2.8,2 5x1@2.8,0.6 5x1@2.8,0.4 5x1@2.8,0.7 278x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    /* four microseconds; less than 95 % of the rate */
    {"4x1@2.8,0.5 296x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"3x1@2.8,0.5 297x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"2x3@2.8,0.5 98x3@2.5,2 10x3@2.5,2", 3, 3, "", -300, 3, 0},
    {"1x3@2.8,0.5 99x3@2.5,2 10x3@2.5,2", 3, 3, "", -300, 3, 0},
    {"3x2@2.8,0.5 147x2@2.5,2 10x2@2.5,2", 3, 3, "", -300, 2, 0},
    {"5x1@2.8,1.89 295x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"5x1@2.8,1.91 295x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    /* what is slow for a moment before it, or again; in the second half it is not looked for */
    {"3x1@2.8,0.3 3x1@2.8,2 9x1@2.8,0.5 285x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"9x1@2.8,0.5 3x1@2.8,2 9x1@2.8,0.3 279x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"140x1@2.8,2 9x1@2.8,0.5 151x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"147x1@2.8,2 9x1@2.8,0.5 144x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"146x1@2.8,2 9x1@2.8,0.5 145x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"200x1@2.8,2 9x1@2.8,0.5 91x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"190x1@2.8,0.5 110x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    /* four in five must agree */
    {"9x1@2.8,0.5 291x1@2.5,2 10x1@2.5,2", 5, 4, "300x1@2.5,2 10x1@2.5,2", -300, 1, 0},
    {"9x1@2.8,0.5 291x1@2.5,2 10x1@2.5,2", 5, 3, "300x1@2.5,2 10x1@2.5,2", -300, 1, 0},
    {"9x1@2.8,0.5 291x1@2.5,2 10x1@2.5,2", 10, 8, "300x1@2.5,2 10x1@2.5,2", -300, 1, 0},
    {"9x1@2.8,0.5 291x1@2.5,2 10x1@2.5,2", 10, 7, "300x1@2.5,2 10x1@2.5,2", -300, 1, 0},
    {"9x1@2.8,0.5 291x1@2.5,2 10x1@2.5,2", 5, 3, "9x1@2.8,0.5 291x1@2.5,0.5 10x1@2.5,2", -300, 1, 0},
    /* a halt in which there are no samples */
    {"5x1@2.8,2 6x1@2.8,0.5 1x10@2.8,0.5 279x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    {"5x1@2.8,2 2x1@2.8,0.5 1x10@2.8,0.5 283x1@2.5,2 10x1@2.5,2", 3, 3, "", -300, 1, 0},
    /* noise: five standard deviations of the medians, 70 % at least */
    {"9x1@2.8,1.7 291x1@2.5,2 10x1@2.5,2", 5, 5, "", -300, 1, 0.02},
    {"9x1@2.8,1.7 291x1@2.5,2 10x1@2.5,2", 5, 5, "", -300, 1, 0.05},
    {"9x1@2.8,1.2 291x1@2.5,2 10x1@2.5,2", 5, 5, "", -300, 1, 0.1},
    {"20x1@2.8,0.4 280x1@2.5,2 10x1@2.5,2", 7, 7, "", -300, 1, 0.2},
    {"9x1@2.8,1.5 291x1@2.5,2 10x1@2.5,2", 1, 1, "", -300, 1, 0.01},
    /* short bursts, of which hardly any bins tell what noise is */
    {"4x1@2.8,0.5 5x1@2.5,2 5x1@2.5,2", 3, 3, "", -9, 1, 0},
    {"4x1@2.8,0.5 4x1@2.5,2 5x1@2.5,2", 3, 3, "", -8, 1, 0},
    {"4x1@2.8,0.5 3x1@2.5,2 5x1@2.5,2", 3, 3, "", -7, 1, 0},
    {"12x1@2.8,0 5x1@2.5,2", 3, 3, "", -12, 1, 0},
};

static void bursts_that_are_throttled_at_first(void **state)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof throttled / sizeof *throttled; i++)
        write_throttled(out, &throttled[i]);
    golden_expect(&g, "trigger", "made-throttling", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(courses_of_bursts),
        cmocka_unit_test(pilots_of_several_courses),
        cmocka_unit_test(bursts_that_are_throttled_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
