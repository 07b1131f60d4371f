/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/stats/robust.c against sorting, tables of Student's t, and intervals that must hold as often as they say. */
#include "analysis/stats/robust.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { MOST = 300 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double sorted_median(const double *x, size_t n)
{
    double copy[MOST];
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            copy[m++] = x[i];
    if (!m)
        return NAN;
    qsort(copy, m, sizeof *copy, ascending);
    return m % 2 ? copy[m / 2] : 0.5 * (copy[m / 2] + copy[m / 2 - 1]);
}

/* Normal, few distinct values, or in order; some missing. */
static size_t random_values(struct rng *r, double *x)
{
    size_t n = (size_t)rng_int(r, 1, MOST);
    int form = rng_int(r, 0, 3), distinct = rng_int(r, 1, 8);
    double missing = rng_chance(r, 0.5) ? 0 : 0.2;
    for (size_t i = 0; i < n; i++) {
        size_t ordered = form == 2 ? i : n - i;
        x[i] = form == 0 ? rng_normal(r) : form == 1 ? (double)rng_int(r, 0, distinct) : (double)ordered;
        if (rng_chance(r, missing))
            x[i] = NAN;
    }
    return n;
}

static void same(double a, double b)
{
    if (isnan(a) ? !isnan(b) : !(fabs(a - b) <= 1e-9 * (1 + fabs(b))))
        fail_msg("%.12g instead of %.12g", a, b);
}

TEST(medians_are_those_of_sorting)
{
    struct rng r;
    double x[MOST], copy[MOST], scratch[MOST];
    rng_init(&r, 1, 1);
    for (int k = 0; k < 20000; k++) {
        size_t n = random_values(&r, x);
        memcpy(copy, x, sizeof copy);
        double middle = sorted_median(x, n), deviation[MOST];
        same(order_median(copy, n), middle);
        for (size_t i = 0; i < n; i++)
            deviation[i] = fabs(x[i] - 0.3);
        same(order_mad_sigma(x, n, 0.3, scratch), MAD_TO_SIGMA * sorted_median(deviation, n));
    }
}

TEST(medians_of_nothing_and_little)
{
    double none[] = {NAN, NAN}, one[] = {NAN, 7, NAN}, two[] = {9, 5};
    assert_true(isnan(order_median(none, 0)));
    assert_true(isnan(order_median(none, 2)));
    assert_true(order_median(one, 3) == 7);
    assert_true(order_median(two, 2) == 7);
}

/* Ranks (from 1) in tables of the sign test; values that are their ranks, the other way round. */
TEST(limits_of_medians_are_those_of_the_sign_test)
{
    static const struct {
        size_t n;
        double lo, hi;
    } known[] = {{0, NAN, NAN}, {5, NAN, NAN}, {6, 1, 6},   {8, 1, 8},
                 {9, 2, 8},     {15, 4, 12},   {20, 6, 15}, {100, 40, 61}};
    double x[100];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (size_t i = 0; i < known[k].n; i++)
            x[i] = (double)(known[k].n - i);
        struct estimate e = robust_median(x, known[k].n);
        same(e.value, known[k].n ? 0.5 * (double)(known[k].n + 1) : NAN);
        same(e.lo, known[k].lo);
        same(e.hi, known[k].hi);
    }
}

/* Noise of 0.5 about a level that steps up a hundred times as far, with a gap; in place. */
TEST(steps_are_no_noise)
{
    double x[MOST];
    struct rng r;
    rng_init(&r, 3, 1);
    for (size_t i = 0; i < MOST; i++)
        x[i] = 0.5 * rng_normal(&r) + (double)(i / 50) * 50;
    x[100] = NAN;
    double noise = robust_step_noise(x, MOST, x);
    assert_true(noise > 0.4 && noise < 0.6);
    assert_true(isnan(robust_step_noise(x, 1, x)) && isnan(robust_step_noise(x, 0, x)));
}

TEST(mad_of_normal_noise_is_its_sigma)
{
    enum { MANY = 40000 };
    double *x = malloc(2 * MANY * sizeof *x);
    struct rng r;
    assert_non_null(x);
    rng_init(&r, 2, 1);
    for (size_t i = 0; i < MANY; i++)
        x[i] = 5 + 0.25 * rng_normal(&r);
    double sigma = order_mad_sigma(x, MANY, 5, x + MANY); /* standard error 1.17 sigma / sqrt(n) */
    assert_true(fabs(sigma / 0.25 - 1) < 0.025);
    free(x);
}

/* Time stamps come in steps: the centre is their mean, not the nearest step. Wild values do not count. */
TEST(centre_of_stepped_values)
{
    double x[MOST], scratch[MOST];
    for (int k = 1; k < 10; k++) {
        size_t n = 0;
        for (int i = 0; i < 200; i++)
            x[n++] = i % 10 < k ? 2.0 : 2.02;
        x[n++] = 3.5;
        x[n++] = 0.1;
        x[n++] = NAN;
        double centre = robust_centre(x, n, scratch), mean = (2.0 * k + 2.02 * (10 - k)) / 10;
        if (!(fabs(centre - mean) < 1e-9))
            fail_msg("%d of 10 at 2.0, the others at 2.02: centre %.6f instead of %.6f", k, centre, mean);
    }
    double none[] = {NAN};
    assert_true(isnan(robust_centre(none, 1, scratch)));
}

/* Four scaled MADs: 151 for the whole numbers from -50 to 50 and one more. */
TEST(centre_knows_what_is_wild)
{
    double x[102], scratch[102];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 101; i++)
            x[i] = i - 50;
        x[101] = k ? 160 : 140;
        same(robust_centre(x, 102, scratch), k ? 0 : 140.0 / 102);
    }
}

TEST(centre_of_noise)
{
    struct rng r;
    double sum = 0, squares = 0;
    enum { SETS = 4000, EACH = 100 };
    rng_init(&r, 3, 1);
    for (int k = 0; k < SETS; k++) {
        double x[EACH + 3], scratch[EACH + 3];
        for (size_t i = 0; i < EACH; i++)
            x[i] = 3 + 0.1 * rng_normal(&r);
        for (size_t i = EACH; i < EACH + 3; i++)
            x[i] = 3 + rng_range(&r, 1, 5); /* wild to one side only */
        double c = robust_centre(x, EACH + 3, scratch) - 3;
        sum += c;
        squares += c * c;
    }
    /* unbiased, and as exact as a mean: 0.1 / sqrt(100), 3 % for what is cut off */
    assert_true(fabs(sum / SETS) < 4 * 0.01 / sqrt(SETS));
    assert_true(sqrt(squares / SETS) < 0.0103);
}

/* Two-sided 95 % points of Student's t, from any table. */
TEST(half_widths_are_students)
{
    static const struct {
        size_t n;
        double t;
    } table[] = {{2, 12.7062}, {3, 4.3027}, {4, 3.1824}, {5, 2.7764}, {10, 2.2622}, {31, 2.0423}, {121, 1.9799}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double h = robust_half_width95(2, table[i].n), expected = table[i].t * 2 / sqrt((double)table[i].n);
        assert_true(fabs(h / expected - 1) < 1e-4);
    }
    assert_true(isnan(robust_half_width95(1, 0)) && isnan(robust_half_width95(1, 1)));
}

TEST(means_with_limits)
{
    const double x[] = {4, 5, 6, NAN, 500, 5}, one[] = {3, NAN}, none[] = {NAN};
    size_t used = 99;
    struct estimate e = robust_mean(x, 6, 5, 2, &used);
    assert_int_equal(used, 4); /* 500 is far; 4 and 6 lie within the slack */
    same(e.value, 5);
    same(e.hi - e.value, robust_half_width95(sqrt(2.0 / 3), 4));
    same(e.value - e.lo, e.hi - e.value);
    e = robust_mean(x, 6, 5, 0, NULL); /* half of what deviates deviates by 0.5: 5 scaled MADs are 3.7 */
    same(e.value, 5);
    e = robust_mean(one, 2, 5, 0, &used);
    assert_true(e.value == 3 && isnan(e.lo) && isnan(e.hi) && used == 1);
    e = robust_mean(none, 1, 5, 0, &used);
    assert_true(isnan(e.value) && isnan(e.lo) && used == 0);
    e = robust_mean(none, 0, 5, 0, &used);
    assert_true(isnan(e.value) && used == 0);
}

TEST(limits_hold_as_often_as_they_say)
{
    struct rng r;
    enum { SETS = 20000 };
    rng_init(&r, 4, 1);
    for (size_t n = 8; n <= 200; n *= 5) {
        size_t inside = 0;
        double x[MOST];
        for (int k = 0; k < SETS; k++) {
            for (size_t i = 0; i < n; i++)
                x[i] = 1 + rng_normal(&r);
            struct estimate e = robust_mean(x, n, 6, 0, NULL);
            inside += e.lo <= 1 && 1 <= e.hi;
        }
        double share = (double)inside / SETS;
        /* 95 % +- 5 standard errors; with few values the rejection costs a little: 94 % of 8 */
        if (share < (n < 20 ? 0.935 : 0.942) || share > 0.958)
            fail_msg("%zu values: %.2f %% of the limits hold", n, 100 * share);
    }
}

TEST(modes_are_groups)
{
    const double x[] = {10, 20.2, 10.4, NAN, 20, 9.8, 35, 10.2, 19.8};
    struct value_mode m[4];
    assert_int_equal(robust_modes(x, 9, 1, 2, m, 4), 2);
    assert_int_equal(m[0].n, 4);
    same(m[0].mean, 10.1);
    same(m[0].lo, 9.8);
    same(m[0].hi, 10.4);
    assert_int_equal(m[1].n, 3);
    same(m[1].mean, 20);
    assert_int_equal(robust_modes(x, 9, 1, 1, m, 4), 3);
    assert_int_equal(m[2].n, 1);
    same(m[2].mean, 35);
    assert_int_equal(robust_modes(x, 9, 1, 1, m, 2), 2);
    assert_int_equal(robust_modes(x, 9, 12, 1, m, 4), 2); /* 20 belongs to 10, 35 does not */
    assert_int_equal(robust_modes(x, 9, 1, 5, m, 4), 0);
    assert_int_equal(robust_modes(x, 0, 1, 1, m, 4), 0);
}

/* Normal clusters six standard deviations apart touch, and are two; a normal or a uniform distribution is one. */
TEST(two_modes_without_a_gap_are_two)
{
    struct rng r;
    rng_init(&r, 9, 1);
    for (int k = 0; k < 1000; k++) {
        enum { N = 100 };
        double x[N], normal[N], uniform[N], share = rng_range(&r, 0.2, 0.8);
        size_t high = 0;
        for (size_t i = 0; i < N; i++) {
            bool is_high = rng_chance(&r, share);
            high += is_high;
            x[i] = 1000 + (is_high ? 6.5 : 0) + rng_normal(&r);
            normal[i] = rng_normal(&r);
            uniform[i] = rng_range(&r, 0, 1);
        }
        struct value_mode m[2];
        assert_int_equal(robust_two_modes(x, N, 1, 5, m), 2);
        size_t upper = m[0].mean > m[1].mean ? 0 : 1;
        assert_true(m[0].n >= m[1].n && m[0].n + m[1].n == N);
        assert_true(fabs((double)m[upper].n - (double)high) <= 2);
        assert_true(fabs(m[upper].mean - 1006.5) < 1.2 && fabs(m[1 - upper].mean - 1000) < 1.2);
        assert_int_equal(robust_two_modes(x, N, 8, 5, m), 0);
        assert_int_equal(robust_two_modes(normal, N, 0, 5, m), 0);
        assert_int_equal(robust_two_modes(uniform, N, 0, 5, m), 0);
    }
    struct value_mode m[2];
    const double few[] = {1, NAN, 9};
    assert_int_equal(robust_two_modes(few, 0, 0, 1, m), 0);
    assert_int_equal(robust_two_modes(few, 3, 1, 1, m), 2);
    assert_int_equal(robust_two_modes(few, 3, 1, 2, m), 0);
}

TEST(modes_of_random_groups)
{
    struct rng r;
    rng_init(&r, 5, 1);
    for (int k = 0; k < 5000; k++) {
        double x[MOST];
        size_t size[4], n = 0, groups = (size_t)rng_int(&r, 1, 4);
        for (size_t g = 0; g < groups; g++) {
            size[g] = (size_t)rng_int(&r, 1, 40);
            for (size_t i = 0; i < size[g]; i++) /* steps of at most 0.1 within 10 g .. 10 g + 4 */
                x[n++] = 10 * (double)g + 0.1 * (double)i * rng_range(&r, 0.999, 1);
        }
        for (size_t i = n; i > 1; i--) {
            size_t j = (size_t)rng_int(&r, 0, (int)i - 1);
            double swap = x[j];
            x[j] = x[i - 1];
            x[i - 1] = swap;
        }
        struct value_mode m[4];
        size_t found = robust_modes(x, n, 0.2, 3, m, 4), expected = 0, total = 0, in_modes = 0;
        for (size_t g = 0; g < groups; g++) {
            expected += size[g] >= 3;
            total += size[g] >= 3 ? size[g] : 0;
        }
        assert_int_equal(found, expected);
        for (size_t g = 0; g < found; g++) {
            in_modes += m[g].n;
            assert_true(!g || m[g].n <= m[g - 1].n);
            assert_true(m[g].lo <= m[g].mean && m[g].mean <= m[g].hi && m[g].hi - m[g].lo < 4.1);
        }
        assert_int_equal(in_modes, total);
    }
}
