/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels and groups from frequencies: made-up tables with and without noise, disturbed ones, and ones without steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/frequency/frequency.h"
#include "analysis/phases/repetitions/steady.h"
#include "tests/support/random_numbers.h"

enum { KERNELS = 6, CORES_MAX = 24 };

/* The frequencies of some kernels, by number of active cores from 1. */
struct made {
    unsigned cores;
    size_t kernels;
    double ghz[KERNELS][CORES_MAX];
    size_t n;
    struct frequency_point points[KERNELS * CORES_MAX];
};

static void make_points(struct made *m, struct rng *r, double noise)
{
    m->n = 0;
    for (unsigned c = 0; c < m->cores; c++)
        for (size_t k = 0; k < m->kernels; k++) {
            const double ratio = m->ghz[k][c] / m->ghz[0][c] * (1 + (r ? noise * rng_normal(r) : 0));
            m->points[m->n++] = (struct frequency_point){.kernel = k,
                                                         .cores = c + 1,
                                                         .ghz = m->ghz[k][c] * (1 + (r ? noise * rng_normal(r) : 0)),
                                                         .half_width = noise * m->ghz[k][c],
                                                         .ratio = ratio,
                                                         .ratio_half = 2 * noise * ratio,
                                                         .row = c * m->kernels + k,
                                                         .share = {NAN, NAN, NAN}};
        }
}

static const struct frequency_point *find(const struct made *m, size_t kernel, unsigned cores)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->points[i].kernel == kernel && m->points[i].cores == cores)
            return &m->points[i];
    fail_msg("no such point");
    return NULL;
}

/* Xeon Gold 6130 (G table 3.1): two kernels at L0, one at L1, one at L2. */
static void make_published(struct made *m)
{
    static const double level[3][5] = {{3.7, 3.5, 3.4, 3.1, 2.8}, {3.6, 3.4, 3.1, 2.6, 2.4}, {3.5, 3.1, 2.4, 2.1, 1.9}};
    static const unsigned last[5] = {2, 4, 8, 12, 16};
    static const unsigned level_of[4] = {2, 0, 1, 0};
    memset(m, 0, sizeof *m);
    m->cores = 16;
    m->kernels = 4;
    for (size_t k = 0; k < 4; k++)
        for (unsigned c = 0; c < 16; c++) {
            unsigned row = 0;
            while (last[row] < c + 1)
                row++;
            m->ghz[k][c] = level[level_of[k]][row];
        }
}

static void expect_groups(const struct frequency_levels *l, const char *expected)
{
    char got[300] = "";
    for (size_t i = 0; i < l->n_groups; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u-%u", i ? " " : "", l->groups[i].first,
                 l->groups[i].last);
    assert_string_equal(got, expected);
}

static void test_the_published_table(void **state)
{
    (void)state;
    static const int level_of[4] = {2, 0, 1, 0};
    struct made m;
    struct frequency_levels l;
    make_published(&m);
    make_points(&m, NULL, 0);
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_int_equal(l.verdict, FREQUENCY_STEPS);
    assert_false(l.counted);
    assert_int_equal(l.n_levels, 3);
    expect_groups(&l, "1-2 3-4 5-8 9-12 13-16");
    for (size_t k = 0; k < 4; k++)
        for (unsigned c = 1; c <= 16; c++)
            assert_int_equal(find(&m, k, c)->level, level_of[k]);
    assert_int_equal(find(&m, 0, 7)->first, 5);
    assert_int_equal(find(&m, 0, 7)->last, 8);
    assert_int_equal(find(&m, 0, 7)->row, 6 * 4);
    frequency_levels_free(&l);
}

static void test_counted_levels_are_believed(void **state)
{
    (void)state;
    struct made m;
    struct frequency_levels l;
    make_published(&m);
    make_points(&m, NULL, 0);
    for (size_t i = 0; i < m.n; i++)
        for (int level = 0; level < 3; level++)
            m.points[i].share[level] = level == 1 ? 0.97 : 0.01;
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_true(l.counted);
    assert_int_equal(l.n_levels, 2);
    for (size_t i = 0; i < m.n; i++)
        assert_int_equal(m.points[i].level, 1);
    frequency_levels_free(&l);
    /* one without a majority: then all are from the frequencies, so that the numbers mean one thing */
    m.points[3].share[1] = 0.4;
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_false(l.counted);
    assert_int_equal(l.n_levels, 3);
    frequency_levels_free(&l);
}

static void test_one_frequency_for_everything(void **state)
{
    (void)state;
    struct made m;
    struct frequency_levels l;
    memset(&m, 0, sizeof m);
    m.cores = 5;
    m.kernels = 3;
    for (size_t k = 0; k < 3; k++)
        for (unsigned c = 0; c < 5; c++)
            m.ghz[k][c] = 2.6 + 0.001 * (double)k;
    make_points(&m, NULL, 0);
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_int_equal(l.verdict, FREQUENCY_ALIKE);
    assert_int_equal(l.n_levels, 1);
    expect_groups(&l, "1-5");
    frequency_levels_free(&l);
    assert_int_equal(frequency_analyse(m.points, 0, NULL, 0, &l), 0);
    assert_int_equal(l.verdict, FREQUENCY_NOTHING);
    frequency_levels_free(&l);
}

/* Rows of a turbo table with falling multiples of 100 MHz, and kernels with a level each. */
static void make_random(struct made *m, struct rng *r, unsigned level_of[KERNELS])
{
    memset(m, 0, sizeof *m);
    m->cores = (unsigned)rng_int(r, 1, CORES_MAX);
    m->kernels = (size_t)rng_int(r, 1, KERNELS);
    for (size_t k = 0; k < m->kernels; k++)
        level_of[k] = (unsigned)rng_int(r, 0, 2);
    int ratio[3] = {rng_int(r, 38, 48), 0, 0};
    ratio[1] = ratio[0] - rng_int(r, 0, 4);
    ratio[2] = ratio[1] - rng_int(r, 0, 4);
    for (unsigned c = 0; c < m->cores; c++) {
        for (int level = 0; level < 3; level++)
            ratio[level] -= rng_chance(r, 0.2) && ratio[level] > 12 ? rng_int(r, 1, 3) : 0;
        for (int level = 1; level < 3; level++)
            ratio[level] = ratio[level] > ratio[level - 1] ? ratio[level - 1] : ratio[level];
        for (size_t k = 0; k < m->kernels; k++)
            m->ghz[k][c] = ratio[level_of[k]] * 0.1;
    }
}

static bool ever_differ(const struct made *m, size_t a, size_t b)
{
    for (unsigned c = 0; c < m->cores; c++)
        if (m->ghz[a][c] != m->ghz[b][c])
            return true;
    return false;
}

/* What must come out, found another way: levels by counting the different kinds that are ever faster. */
static int expected_level(const struct made *m, size_t kernel)
{
    int level = 0;
    for (size_t k = 0; k < m->kernels; k++) {
        bool faster = false, first = true;
        for (unsigned c = 0; c < m->cores; c++)
            faster |= m->ghz[k][c] > m->ghz[kernel][c];
        for (size_t before = 0; before < k; before++)
            first &= ever_differ(m, before, k);
        level += faster && first;
    }
    return level;
}

static void check_random(struct made *m, const struct frequency_levels *l)
{
    size_t groups = 1;
    for (unsigned c = 1; c < m->cores; c++) {
        bool changes = false;
        for (size_t k = 0; k < m->kernels; k++)
            changes |= m->ghz[k][c] != m->ghz[k][c - 1];
        groups += changes;
        for (size_t k = 0; k < m->kernels; k++)
            assert_int_equal(find(m, k, c)->first != find(m, k, c + 1)->first, m->ghz[k][c] != m->ghz[k][c - 1]);
    }
    assert_int_equal(l->n_groups, groups);
    assert_int_equal(l->groups[0].first, 1);
    assert_int_equal(l->groups[groups - 1].last, m->cores);
    for (size_t k = 0; k < m->kernels; k++)
        for (unsigned c = 1; c <= m->cores; c++)
            assert_int_equal(find(m, k, c)->level, expected_level(m, k));
}

static void test_random_tables_with_noise(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 1000; seed++) {
        static struct made m;
        struct rng r;
        struct frequency_levels l;
        unsigned level_of[KERNELS];
        rng_init(&r, 1, seed);
        make_random(&m, &r, level_of);
        make_points(&m, &r, 0.0004);
        assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
        assert_true(l.verdict == FREQUENCY_STEPS || l.verdict == FREQUENCY_ALIKE);
        check_random(&m, &l);
        frequency_levels_free(&l);
    }
}

/* One frequency of a hundred is far off: it is shown as it is, but does not make the others doubtful. */
static void test_one_disturbed_frequency(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 50; seed++) {
        struct made m;
        struct rng r;
        struct frequency_levels l;
        struct frequency_again again[16];
        make_published(&m);
        rng_init(&r, 2, seed);
        make_points(&m, &r, 0.0003);
        m.points[rng_int(&r, 0, (int)m.n - 1)].ghz *= rng_range(&r, 0.7, 1.2);
        for (size_t i = 0; i < 16; i++)
            again[i] = (struct frequency_again){3, 3 + (i == 5 ? 0.2 : 0), 0.001, 0.001};
        assert_int_equal(frequency_analyse(m.points, m.n, again, 16, &l), 0);
        assert_int_equal(l.verdict, FREQUENCY_STEPS);
        frequency_levels_free(&l);
    }
}

/* Each number of cores is hardly slower than the one before: many such steps do not make one group. */
static void test_small_differences_add_up(void **state)
{
    (void)state;
    static struct made m;
    struct frequency_levels l;
    memset(&m, 0, sizeof m);
    m.cores = 20;
    m.kernels = 1;
    for (unsigned c = 0; c < 20; c++)
        m.ghz[0][c] = 3 * (1 - 0.004 * c);
    make_points(&m, NULL, 0);
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_true(l.n_groups >= 7);
    for (size_t i = 0; i < l.n_groups; i++)
        assert_true(l.groups[i].last - l.groups[i].first <= 2);
    frequency_levels_free(&l);
}

/* Frequencies that wander by themselves, in fine or in whole steps of 100 MHz: no steps are made of them, but what the
 * brackets say holds. */
static void test_what_floats_has_no_steps(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        static struct made m;
        struct rng r;
        struct frequency_levels l;
        struct frequency_again again[8];
        unsigned level_of[KERNELS];
        rng_init(&r, 3, seed);
        make_random(&m, &r, level_of);
        bool whole = rng_chance(&r, 0.5);
        for (size_t i = 0; i < 8; i++)
            again[i] = (struct frequency_again){rng_range(&r, 2.2, 3.0), rng_range(&r, 2.2, 3.0), 0.002, 0.002};
        make_points(&m, &r, 0.0004);
        for (size_t i = 0; i < m.n; i++)
            m.points[i].ghz = whole ? rng_int(&r, 22, 30) * 0.1 : rng_range(&r, 2.2, 3.0);
        assert_int_equal(frequency_analyse(m.points, m.n, again, 8, &l), 0);
        assert_int_equal(l.verdict, FREQUENCY_FLOATS);
        assert_true(l.why[0] != '\0');
        assert_int_equal(l.n_groups, 0);
        for (size_t i = 0; i < m.n; i++) {
            assert_int_equal(m.points[i].level, expected_level(&m, m.points[i].kernel));
            assert_int_equal(m.points[i].first, 0);
        }
        frequency_levels_free(&l);
    }
}

/* A step of 1 % is told by ratios of 0.25 %; one of 0.3 % is none, and one that may be either is not told. */
static void test_what_brackets_decide(void **state)
{
    (void)state;
    static const struct {
        double step, half;
        int level;
    } cases[] = {{0.01, 0.0025, 1}, {0.003, 0.0015, 0}, {0.01, 0.01, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frequency_levels l;
        struct frequency_point p[2];
        for (size_t k = 0; k < 2; k++)
            p[k] = (struct frequency_point){.kernel = k,
                                            .cores = 1,
                                            .ghz = k ? 3.3 : 3,
                                            .half_width = 0.1,
                                            .ratio = 1 - (double)k * cases[i].step,
                                            .ratio_half = cases[i].half,
                                            .share = {NAN, NAN, NAN}};
        assert_int_equal(frequency_analyse(p, 2, NULL, 0, &l), 0);
        assert_int_equal(l.verdict, FREQUENCY_FLOATS);
        assert_int_equal(p[1].level, cases[i].level);
        frequency_levels_free(&l);
    }
}

static void test_what_is_not_steady_has_no_steps(void **state)
{
    (void)state;
    struct made m;
    struct frequency_levels l;
    make_published(&m);
    make_points(&m, NULL, 0);
    for (size_t i = 0; i < m.n; i++)
        m.points[i].half_width = i % 4 ? 0.001 : 0.05; /* a quarter */
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_int_equal(l.verdict, FREQUENCY_STEPS);
    frequency_levels_free(&l);
    for (size_t i = 0; i < m.n; i++)
        m.points[i].half_width = i % 3 ? 0.001 : 0.05;
    assert_int_equal(frequency_analyse(m.points, m.n, NULL, 0, &l), 0);
    assert_int_equal(l.verdict, FREQUENCY_FLOATS);
    assert_string_equal(
        l.why,
        "the frequency floats, or its readings are noisy: the limits of 22 of 64 frequencies are wider than 0.9 %");
    frequency_levels_free(&l);
}

static void test_same(void **state)
{
    (void)state;
    assert_true(estimates_frequency_same(2.8, NAN, 2.81, NAN));
    assert_false(estimates_frequency_same(2.8, NAN, 2.82, NAN));
    assert_false(estimates_frequency_same(5.5, NAN, 5.4, NAN)); /* the smallest step */
    assert_true(estimates_frequency_same(2.8, 0.03, 2.83, 0.02));
    assert_false(estimates_frequency_same(2.8, 0.02, 2.83, 0.02));
}

/* ---- the mean of a steady state ---- */

static struct trace make_trace(const double *means, size_t runs)
{
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t), 0);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    for (size_t run = 0; run < runs; run++)
        for (int i = 0; i < 40; i++) {
            assert_int_equal(trace_append(&t, (uint32_t)run, i), 0);
            /* one sample in 20 holds something else, one is missing */
            double ghz = means[run] + (i % 2 ? 1e-3 : -1e-3);
            t.channel[TRACE_FREQ][t.n - 1] = (float)(i % 20 == 7 ? 0.3 : i == 3 ? NAN : ghz);
        }
    return t;
}

static void test_steady_mean(void **state)
{
    (void)state;
    static const double five[5] = {2.8, 2.801, 2.799, 2.8, 1.7}, moving[5] = {2.8, 2.8, 2.6, 2.4, 2.8};
    struct steady_value v;
    struct trace t = make_trace(five, 5);
    assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.005, &v), 0);
    assert_int_equal(v.runs, 5);
    assert_int_equal(v.used, 4);
    assert_true(fabs(v.mean.value - 2.8) < 1e-4);
    /* t(3, 0.975) = 3.182, s = 0.000816 of four: 0.0013 */
    assert_true(fabs(v.mean.hi - v.mean.value - 0.0013) < 2e-4);
    assert_int_equal(steady_mean(&t, TRACE_LVL0, 0.005, &v), 0);
    assert_int_equal(v.runs, 0);
    assert_true(isnan(v.mean.value));
    trace_free(&t);
    t = make_trace(moving, 5); /* two of five are no exception */
    assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.005, &v), 0);
    assert_int_equal(v.used, 5);
    assert_true(fabs(v.mean.value - 2.68) < 1e-3);
    trace_free(&t);
}

/* Another thread on the core takes a third of the IPC of nine samples in twenty, and 5 % of the chains in them. */
static void test_slowed_samples_are_left_out(void **state)
{
    (void)state;
    static const double five[5] = {2.8, 2.801, 2.799, 2.8, 2.8};
    struct steady_value v;
    for (int chains = 0; chains < 2; chains++) {
        struct trace t = make_trace(five, 5);
        size_t left = 0;
        assert_int_equal(trace_add_channel(&t, TRACE_IPC), 0);
        assert_int_equal(trace_set(&t, "frequency", chains ? "instantaneous" : "mean"), 0);
        for (size_t i = 0; i < t.n; i++) {
            const bool slowed = i % 20 > 10;
            t.channel[TRACE_IPC][i] = slowed ? 1.4F : 2.0F - 0.02F * (float)(i % 5);
            t.channel[TRACE_FREQ][i] *= slowed ? 0.95F : 1;
        }
        assert_int_equal(steady_leave_out_slowed(&t), 0);
        for (size_t i = 0; i < t.n; i++)
            left += isfinite(t.channel[TRACE_IPC][i]);
        assert_int_equal(left, chains ? 110 : 200); /* counted cycles are right beside anybody */
        assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.01, &v), 0);
        assert_true(!chains || fabs(v.mean.value - 2.8) < 1e-3);
        trace_free(&t);
    }
    struct trace none;
    trace_init(&none);
    assert_int_equal(steady_leave_out_slowed(&none), 0);
    trace_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_table),
        cmocka_unit_test(test_counted_levels_are_believed),
        cmocka_unit_test(test_one_frequency_for_everything),
        cmocka_unit_test(test_random_tables_with_noise),
        cmocka_unit_test(test_one_disturbed_frequency),
        cmocka_unit_test(test_small_differences_add_up),
        cmocka_unit_test(test_what_floats_has_no_steps),
        cmocka_unit_test(test_what_brackets_decide),
        cmocka_unit_test(test_what_is_not_steady_has_no_steps),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_steady_mean),
        cmocka_unit_test(test_slowed_samples_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
