/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changes of the frequency cost, by curves of work against time that were made by hand, at limits and beside them.
 * Held in tests/golden/overhead.made-*; after an intended change `make golden` rewrites these, and the diff shows what
 * changed.
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

#include "tables/overhead/overhead_fit.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

enum { READINGS_MAX = 1000 };

/* Six readings of 2 us at 3 GHz come before the switch, the first two of them wild. */
enum { BEFORE = 6 };

struct curve {
    struct work_curve c;
    double numbers[6 * READINGS_MAX];
};

static void add(struct curve *m, double time_us, double work, double ghz)
{
    assert_true(m->c.n < READINGS_MAX);
    m->c.time_us[m->c.n] = time_us;
    m->c.work[m->c.n] = work;
    m->c.ghz[m->c.n++] = ghz;
}

/*
 * "10x2@2.4 1x12@2.4-10 50x2@2.8": ten sections of 2 us at 2.4 GHz, one of 12 us of which 10 were lost, ...; 1000
 * instructions a microsecond and GHz, give or take `noise`.
 */
static void make_curve(const char *sections, double noise, struct curve *m)
{
    struct rng r;
    double time = 0, work = 0, us, ghz;
    unsigned n;
    int length;
    rng_init(&r, 9, 0);
    m->c = (struct work_curve){.time_us = m->numbers,
                               .work = m->numbers + READINGS_MAX,
                               .ghz = m->numbers + 2 * READINGS_MAX,
                               .scratch = m->numbers + (size_t)3 * READINGS_MAX};
    for (int i = 0; i < BEFORE; i++)
        add(m, 2 * (i - BEFORE), 777 * (i - BEFORE), i == 0 ? (double)NAN : i == 1 ? 9 : 3);
    m->c.zero = m->c.n;
    add(m, 0, 0, 3);
    for (const char *p = sections; *p; p += length) {
        double lost = 0;
        if (sscanf(p, " %ux%lf@%lf%n", &n, &us, &ghz, &length) < 3)
            fail_msg("what is this? %s", p);
        p += length;
        length = 0;
        if (*p == '-' && sscanf(p, "-%lf%n", &lost, &length) != 1)
            fail_msg("what is this? %s", p);
        for (unsigned i = 0; i < n; i++) {
            time += us;
            work += 1000 * ghz * (us - lost) * (1 + noise * rng_normal(&r));
            add(m, time, work, ghz);
        }
    }
}

static void write_case(FILE *out, const char *sections, double noise)
{
    fprintf(out, "%s", sections);
    if (noise > 0)
        fprintf(out, "; noise %g", noise);
    fprintf(out, "\n  ");
}

/* What is 0 but for rounding. */
static double exact(double us)
{
    return fabs(us) < 1e-9 ? 0 : us;
}

struct made {
    const char *sections;
    double noise;
};

/* ---- down ---- */

static void costs_down(void **state)
{
    static const struct made cases[] = {
        {"6x2@2.4", 0},
        {"7x2@2.4", 0},
        {"20x2@0", 0},
        {"20x2@2.4", 0},
        {"1x1@2.4 20x2@2.4", 0},
        {"1x12@3-10 40x2@2.4", 0},
        {"1x12@3-10 1x7@3 40x2@2.4", 0},
        {"5x2@3 5x2@2.7 40x2@2.4", 0},
        {"5x2@3 1x12@2.7-10 5x2@2.7 2x2@2.4 40x2@2.4", 0},
        /* not settled in the second half */
        {"10x2@3 20x2@2.4 5x2@2", 0},
        {"20x2@3 20x2@2.4", 0},
        /* sections that are alike by 1 % */
        {"3x2@2.423 1x2@2.43 40x2@2.4", 0},
        {"2x2@2.423 1x2@2.43 40x2@2.4", 0},
        {"3x2@2.425 1x2@2.43 40x2@2.4", 0},
        {"3x2@2.377 1x2@2.37 40x2@2.4", 0},
        {"3x2@2.375 1x2@2.37 40x2@2.4", 0},
        {"5x2@3 2x2@2.4 1x2@3 3x2@2.4 1x2@3 40x2@2.4", 0},
        /* interruptions in the first half and in the second; across its middle, too early in either */
        {"5x2@3 20x2@2.4 1x9@2.4-7 60x2@2.4", 0},
        {"5x2@3 60x2@2.4 1x9@2.4-7 20x2@2.4", 0},
        {"5x2@3 40x2@2.4 1x30@2.4-7 40x2@2.4", 0},
        {"5x2@3 8x2@2.4 1x9@2.4-7 60x2@2.4", 0},
        {"5x2@3 45x2@2.4 1x9@2.4-7 40x2@2.4", 0},
        {"15x2@2.4 1x4@2.4-1 60x2@2.4", 0},
        {"14x2@2.4 1x4@2.4-1 60x2@2.4", 0},
        {"50x2@2.4 1x4@2.4-1 30x2@2.4", 0},
        {"40x2@2.4", 0.02},
        {"4x3@3 2x9@2.4-7 40x2@2.4", 0.01},
    };
    static struct curve m;
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct overhead_down d;
        make_curve(cases[i].sections, cases[i].noise, &m);
        write_case(out, cases[i].sections, cases[i].noise);
        const char *why = overhead_down(&m.c, 30, &d);
        if (why)
            fprintf(out, "%s\n", why);
        else
            fprintf(out, "%.6g us, drift %.6g, quarter %.6g, settled at %.6g, lost %.6g, %.6g to %.6g GHz\n",
                    exact(d.us), exact(d.drift_us), d.quarter_us, exact(d.settled_us), exact(d.lost_us), d.high_ghz,
                    d.low_ghz);
    }
    golden_expect(&g, "overhead", "made-down", true);
}

/* ---- up ---- */

static void costs_up(void **state)
{
    static const struct made cases[] = {
        {"6x2@2.4", 0},
        {"7x2@2.4", 0},
        {"100x2@2.4", 0},
        {"100x2@2.4", 0.02},
        /* without a halt: between two sections, in the midst of one; by just so much, and by less */
        {"50x2@2.4 50x2@2.8", 0},
        {"50x2@2.4 1x2@2.6 50x2@2.8", 0},
        {"50x2@2.4 50x2@2.521", 0},
        {"50x2@2.4 50x2@2.519", 0},
        {"50x2@2.4 50x2@2.8", 0.01},
        {"50x2@2.4 1x2@2.5 50x2@2.8", 0.02},
        /* with a halt: of a section that is late, of one that is cut short */
        {"50x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"50x2@2.4 1x12@2.8-10 50x2@2.8", 0},
        {"50x2@2.4 1x11@2.4-10 50x2@2.8", 0},
        {"50x2@2.4 1x12.5@2.4-10 50x2@2.8", 0},
        {"50x2@2.4 1x2@2.4-1 50x2@2.8", 0},
        {"50x2@2.4 1x2@2.4-0.6 50x2@2.8", 0},
        {"50x2@2.4 1x2@2.4-0.7 50x2@2.8", 0},
        {"40x2@2.4 9x3@2.4 1x1@2.4 1x12@2.4-10 50x2@2.8", 0},
        /* near the beginning, near the end: five microseconds and four sections are left out */
        {"2x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"6x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"7x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"8x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"50x2@2.4 1x12@2.4-10 3x2@2.8", 0},
        {"50x2@2.4 1x12@2.4-10 4x2@2.8", 0},
        {"50x2@2.4 1x12@2.4-10 5x2@2.8", 0},
        {"3x2@1 50x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        /* an interruption is none, nor is one beside it; the slower of two; the one that gains most */
        {"30x2@2.4 1x22@2.4-20 70x2@2.4", 0},
        {"30x2@2.4 1x22@2.4-20 20x2@2.4 1x12@2.4-10 50x2@2.8", 0},
        {"50x2@2.4 1x12@2.4-10 20x2@2.8 1x22@2.8-20 30x2@2.8", 0},
        {"40x2@2.4 1x12@2.4-10 40x2@2.6 1x15@2.6-13 40x2@2.9", 0},
        {"40x2@2.4 1x15@2.4-13 40x2@2.6 1x12@2.6-10 40x2@2.9", 0},
        {"40x2@2.4 40x2@2.6 40x2@2.9", 0},
        {"40x2@2.4 40x2@2.8 40x2@2.95", 0},
        {"45x2@2.4 1x22@2.4-20 4x2@2.4 1x5@2.4-3 50x2@2.8", 0},
        {"45x2@2.4 1x5@2.4-3 4x2@2.8 1x22@2.8-20 50x2@2.8", 0},
        /* gradually, and by too little */
        {"20x2@2.4 20x2@2.45 20x2@2.5 20x2@2.55 20x2@2.6 20x2@2.65 20x2@2.7", 0},
        {"20x2@2.4 20x2@2.41 20x2@2.42 20x2@2.43 20x2@2.44 20x2@2.45", 0},
        {"4x2@2.4 3x2@2.45 3x2@2.5 3x2@2.55 3x2@2.6", 0},
        {"10x2@2.4 6x2@2.45 6x2@2.5 10x2@2.55", 0},
        {"12x2@2.4 6x2@2.45 6x2@2.5 12x2@2.53", 0},
        /* nothing was done in a section; a while that is slow without a halt */
        {"50x2@2.4 1x2@0 50x2@2.8", 0},
        {"40x2@2.4 8x2@2 50x2@2.8", 0},
        {"40x2@2.4 3x2@1.2 50x2@2.8", 0},
        {"40x2@2.4 1x2@1.2 1x12@2.4-10 50x2@2.8", 0.01},
        {"30x1@2.4 1x9@2.4-8 20x1@2.4 1x30@2.4-25 1x5@2.8-3 40x3@2.8", 0.01},
    };
    static struct curve m;
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct overhead_up u;
        make_curve(cases[i].sections, cases[i].noise, &m);
        write_case(out, cases[i].sections, cases[i].noise);
        const char *why = overhead_up(&m.c, 0.05, &u);
        if (why)
            fprintf(out, "%s\n", why);
        else
            fprintf(out, "%.6g us (%.6g) at %.6g, gains %.6g%s%s\n", exact(u.us), exact(u.low_us), u.at_us, u.gain,
                    u.late ? ", late" : "", u.cut ? ", cut" : "");
    }
    golden_expect(&g, "overhead", "made-up", true);
}

/* Of those that are late more than half must be cut short, for the lower bound to be the truth of the late ones. */
static void what_most_repetitions_do_is_chosen(void **state)
{
    static const struct {
        const char *what; /* l: late, c: late and cut, -: neither */
        double us[5];
    } cases[] = {
        {"-----", {10, 11, 12, 13, 14}}, {"ccc--", {5, 6, 7, 13, 14}},    {"ccl--", {5, 6, 7, 13, 14}},
        {"cl---", {10, 11, 12, 13, 14}}, {"ccll-", {10, 11, 12, 13, 14}}, {"lcccl", {5, 6, 7, 8, 9}},
        {"c----", {5, 11, 12, 13, 14}},  {"lcl--", {10, 11, 12, 13, 14}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct overhead_up up[5];
        double us[5];
        for (size_t k = 0; k < 5; k++)
            up[k] = (struct overhead_up){.us = 10 + (double)k,
                                         .low_us = 5 + (double)k,
                                         .late = cases[i].what[k] != '-',
                                         .cut = cases[i].what[k] == 'c'};
        overhead_up_choose(up, 5, us);
        for (size_t k = 0; k < 5; k++)
            if (us[k] != cases[i].us[k])
                fail_msg("%s: repetition %zu takes %g us", cases[i].what, k, us[k]);
    }
}

/* ---- over the repetitions ---- */

static void spreads_of_repetitions(void **state)
{
    static const struct {
        size_t n;
        double x[8];
    } cases[] = {
        {0, {0}},
        {1, {5}},
        {2, {5, 7}},
        {2, {5, 405}},
        {5, {9, 1, 4, 2, 8}},
        {5, {1, -99, 3, 101, 102}},
        {5, {0, -100, 100, 4, -3}},
        {6, {0, -100.1, 100.1, 4, -3, 50}},
        {8, {-700, -500, 3, 5, 9, 12, 900, 700}},
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int told = 0; told < 2; told++) {
            double x[8];
            size_t first = 77;
            struct overhead_spread s;
            memcpy(x, cases[i].x, sizeof x);
            overhead_spread(x, cases[i].n, OVERHEAD_FAR_US, &s, told ? &first : NULL);
            for (size_t k = 0; k < cases[i].n; k++)
                fprintf(out, "%g ", x[k]);
            fprintf(out, "from %zu: %zu, %zu far: %.6g [%.6g, %.6g], %.6g [%.6g, %.6g]\n", first, s.n, s.far,
                    s.mean.value, s.mean.lo, s.mean.hi, s.median, s.p5, s.p95);
        }
    golden_expect(&g, "overhead", "made-spread", true);
}

/* What lies 0.3 us below 0 is lost in the resolution. */
static void costs_at_the_limits_of_the_method(void **state)
{
    static const struct {
        struct estimate e;
        bool cost;
        double hi;
    } cases[] = {
        {{-0.3, NAN, NAN}, true, NAN}, {{-0.31, NAN, NAN}, false, NAN},    {{-5, -10, 0}, true, 0},
        {{-0.3, -0.4, -0.2}, true, 0}, {{-0.31, -0.4, -0.2}, false, -0.2}, {{2, 1, 3}, true, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct estimate e = cases[i].e;
        if (overhead_is_cost(&e) != cases[i].cost || !(isnan(cases[i].hi) ? isnan(e.hi) : e.hi == cases[i].hi))
            fail_msg("%g [%g, %g]", cases[i].e.value, cases[i].e.lo, e.hi);
    }
    const struct estimate high = {2, 2, 2}, cost = {10, 9, 11}, unknown = {10, NAN, NAN}, half = {10, NAN, 11};
    const struct estimate low = {1.6, 1.6, 1.6}, *const unsure[] = {&unknown, &half};
    assert_false(overhead_levels_differ(&high, &(struct estimate){0.1, 0.02, 0.2}));
    assert_true(overhead_levels_differ(&high, &(struct estimate){0.1, 0.0201, 0.2}));
    /* without the limits of either cost nothing follows */
    assert_true(isfinite(overhead_breakeven(&cost, &cost, &high, &low).value));
    for (size_t i = 0; i < 2; i++) {
        assert_true(isnan(overhead_breakeven(unsure[i], &cost, &high, &low).value));
        assert_true(isnan(overhead_breakeven(&cost, unsure[i], &high, &low).value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_down),
        cmocka_unit_test(costs_up),
        cmocka_unit_test(what_most_repetitions_do_is_chosen),
        cmocka_unit_test(spreads_of_repetitions),
        cmocka_unit_test(costs_at_the_limits_of_the_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
