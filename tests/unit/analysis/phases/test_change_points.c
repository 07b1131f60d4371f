/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/phases/segments/change_points.c: change points of one channel, exact where nothing is random, counted where
 * something is. */
#include "analysis/phases/segments/change_points.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { MOST = 4000 };

static const struct change_rule plain = {.logarithm = false, .min_effect = 0.05, .min_z = 6, .min_length = 3};

/* Fills x[from..to) with a value and normal noise. */
static void fill(struct rng *r, float *x, size_t from, size_t to, double value, double sigma)
{
    for (size_t i = from; i < to; i++)
        x[i] = (float)(value + (sigma > 0 ? sigma * rng_normal(r) : 0));
}

static size_t cuts_of(const float *x, size_t n, const struct change_rule *rule, struct cut **cuts)
{
    double sigma = NAN;
    size_t found = change_points_find(x, NULL, 0, n, rule, cuts, &sigma);
    assert_true(found != SIZE_MAX);
    assert_true(sigma >= 0);
    return found;
}

static void expect(const float *x, size_t n, const struct change_rule *rule, const size_t *at, size_t expected)
{
    struct cut *cut;
    size_t found = cuts_of(x, n, rule, &cut);
    if (found != expected)
        fail_msg("%zu cuts instead of %zu", found, expected);
    for (size_t i = 0; i < found; i++)
        if (cut[i].at != at[i])
            fail_msg("cut %zu at %zu instead of %zu", i, cut[i].at, at[i]);
    free(cut);
}

TEST(steps_without_noise)
{
    float x[100];
    fill(NULL, x, 0, 40, 1, 0);
    fill(NULL, x, 40, 46, 2, 0);
    fill(NULL, x, 46, 100, 1.2, 0);
    expect(x, 100, &plain, (const size_t[]){40, 46}, 2);
    struct cut *cut;
    assert_int_equal(cuts_of(x, 100, &plain, &cut), 2);
    assert_true(fabs(cut[0].effect - 1) < 1e-6 && fabs(cut[1].effect + 0.8) < 1e-6);
    assert_true(cut[0].z > 6 && cut[1].z > 6);
    free(cut);
    fill(NULL, x, 0, 100, 3, 0);
    expect(x, 100, &plain, NULL, 0);
}

TEST(steps_of_a_logarithm)
{
    const struct change_rule rule = {.logarithm = true, .min_effect = 0.01, .min_z = 6, .min_length = 3};
    float x[60];
    struct cut *cut;
    fill(NULL, x, 0, 30, 3.2, 0);
    fill(NULL, x, 30, 60, 2.8, 0);
    assert_int_equal(cuts_of(x, 60, &rule, &cut), 1);
    assert_int_equal(cut[0].at, 30);
    assert_true(fabs(cut[0].effect - log(2.8 / 3.2)) < 1e-6);
    free(cut);
}

TEST(a_part_of_the_series)
{
    float x[200];
    uint8_t skip[200] = {0};
    struct cut *cut;
    double sigma;
    fill(NULL, x, 0, 50, 9, 0); /* outside */
    fill(NULL, x, 50, 90, 1, 0);
    fill(NULL, x, 90, 150, 2, 0);
    fill(NULL, x, 150, 200, 9, 0); /* outside */
    for (size_t i = 50; i < 150; i += 7)
        x[i] = NAN;
    for (size_t i = 85; i < 95; i++) { /* wild, but told to be left out */
        x[i] = i % 2 ? 100.0f : -100.0f;
        skip[i] = 1;
    }
    assert_int_equal(change_points_find(x, skip, 50, 150, &plain, &cut, &sigma), 1);
    assert_int_equal(cut[0].at, 95); /* the first sample of the new state that is left in */
    assert_true(fabs(cut[0].effect - 1) < 1e-6);
    free(cut);
}

TEST(too_small_or_too_short)
{
    struct change_rule rule = plain;
    float x[100];
    fill(NULL, x, 0, 50, 1, 0);
    fill(NULL, x, 50, 100, 1.04, 0);
    expect(x, 100, &rule, NULL, 0); /* below min_effect */
    rule.min_effect = 0.03;
    expect(x, 100, &rule, (const size_t[]){50}, 1);
    fill(NULL, x, 0, 100, 1, 0);
    fill(NULL, x, 50, 52, 2, 0);
    expect(x, 100, &plain, NULL, 0); /* shorter than min_length */
    fill(NULL, x, 50, 53, 2, 0);
    expect(x, 100, &plain, (const size_t[]){50, 53}, 2);
}

TEST(little_or_nothing)
{
    float x[10] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
    for (size_t n = 0; n <= 5; n++)
        expect(x, n, &plain, NULL, 0);
    expect(x, 10, &plain, (const size_t[]){5}, 1);
    for (size_t i = 0; i < 10; i++)
        x[i] = NAN;
    expect(x, 10, &plain, NULL, 0);
}

/* One or two wild samples are no state. */
TEST(wild_samples)
{
    struct rng r;
    rng_init(&r, 1, 2);
    for (int k = 0; k < 2000; k++) {
        float x[300];
        size_t at = (size_t)rng_int(&r, 2, 296), width = (size_t)rng_int(&r, 1, 2);
        fill(&r, x, 0, 300, 1, 0.01);
        fill(&r, x, at, at + width, 1 + (rng_chance(&r, 0.5) ? 1 : -1) * rng_log(&r, 0.2, 20), 0);
        struct cut *cut;
        size_t found = cuts_of(x, 300, &plain, &cut);
        free(cut);
        if (found)
            fail_msg("round %d: %zu cuts from %zu wild samples at %zu", k, found, width, at);
    }
}

TEST(noise_is_no_step)
{
    struct rng r;
    size_t wrong = 0;
    enum { SETS = 10000 };
    rng_init(&r, 2, 2);
    for (int k = 0; k < SETS; k++) {
        float x[400];
        struct change_rule rule = {.logarithm = rng_chance(&r, 0.5), .min_effect = 0.002, .min_z = 6, .min_length = 3};
        size_t n = (size_t)rng_int(&r, 20, 400);
        double sigma = rng_log(&r, 1e-4, 0.06);
        bool heavy = rng_chance(&r, 0.3);
        for (size_t i = 0; i < n; i++)
            x[i] = (float)(2 * (1 + sigma * (heavy ? fmax(-5, fmin(5, rng_student3(&r))) : rng_normal(&r))));
        struct cut *cut;
        wrong += cuts_of(x, n, &rule, &cut) > 0;
        free(cut);
    }
    if (wrong > SETS / 1000)
        fail_msg("%zu of %d series of noise are cut", wrong, SETS);
}

/* Three states, steps of 5.6 to 75 sigma: all found, at the sample or next to it. */
TEST(steps_in_noise)
{
    struct rng r;
    size_t off = 0, cuts = 0;
    enum { SETS = 5000 };
    rng_init(&r, 3, 2);
    for (int k = 0; k < SETS; k++) {
        float x[MOST];
        size_t first = (size_t)rng_int(&r, 10, 200), second = first + (size_t)rng_int(&r, 8, 300);
        size_t n = second + (size_t)rng_int(&r, 10, 300);
        double step = rng_log(&r, 0.1, 1), sigma = step / rng_log(&r, 8, 50), other = rng_chance(&r, 0.5) ? 1.5 : -0.7;
        fill(&r, x, 0, first, 2, sigma);
        fill(&r, x, first, second, 2 + step, sigma);
        fill(&r, x, second, n, 2 + step + other * step, sigma);
        struct cut *cut;
        size_t found = cuts_of(x, n, &plain, &cut);
        if (found != 2)
            fail_msg("round %d: %zu cuts, not 2 (at %zu and %zu of %zu, %.1f sigma)", k, found, first, second, n,
                     step / sigma);
        const size_t truth[] = {first, second};
        for (size_t i = 0; i < 2; i++) {
            size_t away = cut[i].at > truth[i] ? cut[i].at - truth[i] : truth[i] - cut[i].at;
            if (away > 2)
                fail_msg("round %d: cut at %zu, not %zu", k, cut[i].at, truth[i]);
            off += away > 0;
            cuts++;
        }
        assert_true(fabs(cut[0].effect - step) < 6 * sigma * sqrt(2.0 / 8) + 0.2 * step);
        free(cut);
    }
    if ((double)off > 0.05 * (double)cuts)
        fail_msg("%zu of %zu cuts are not at the very sample", off, cuts);
}

/* Steps far below the noise of a sample are found where there is enough of both states. */
TEST(small_steps_of_long_states)
{
    struct rng r;
    size_t missed = 0;
    const struct change_rule rule = {.logarithm = true, .min_effect = 0.004, .min_z = 6, .min_length = 3};
    rng_init(&r, 4, 2);
    for (int k = 0; k < 500; k++) {
        float x[MOST];
        fill(&r, x, 0, 1500, 3, 0.03);
        fill(&r, x, 1500, 3000, 2.97, 0.03); /* one sigma: 27 standard errors */
        struct cut *cut;
        size_t found = cuts_of(x, 3000, &rule, &cut);
        missed += found != 1 || cut[0].at < 1460 || cut[0].at > 1540;
        free(cut);
    }
    /* the price of not taking a drift for a step: noise may hide that one is sharp */
    if (missed > 25)
        fail_msg("%zu of 500 steps of one sigma are missed", missed);
}

/* A drift is no step. */
TEST(drift_is_no_step)
{
    struct rng r;
    rng_init(&r, 5, 2);
    const struct change_rule rule = {.logarithm = true, .min_effect = 0.002, .min_z = 6, .min_length = 3};
    for (int k = 0; k < 500; k++) {
        float x[1000];
        double sigma = rng_log(&r, 2e-4, 0.002), drift = rng_range(&r, -0.003, 0.003);
        for (size_t i = 0; i < 1000; i++)
            x[i] = (float)(3 * (1 + drift * (double)i / 1000 + sigma * rng_normal(&r)));
        struct cut *cut;
        size_t found = cuts_of(x, 1000, &rule, &cut);
        free(cut);
        if (found)
            fail_msg("round %d: a drift of %.2f %% is cut %zu times", k, 100 * drift, found);
    }
}

TEST(noise_of_neighbours)
{
    struct rng r;
    float *x = malloc(200000 * sizeof *x);
    assert_non_null(x);
    rng_init(&r, 6, 2);
    for (size_t n = 300; n <= 200000; n *= 8) {
        /* steps and gaps are no noise */
        fill(&r, x, 0, n, 2, 0.01);
        for (size_t i = n / 2; i < n; i++)
            x[i] += 1;
        for (size_t i = 5; i < n; i += 17)
            x[i] = NAN;
        double sigma = change_points_noise(x, n, false), relative = change_points_noise(x, n / 2, true);
        double slack = 0.02 + 3 / sqrt((double)n);
        if (fabs(sigma / 0.01 - 1) > slack || fabs(relative / 0.005 - 1) > 1.5 * slack)
            fail_msg("%zu samples: %.5f and %.5f instead of 0.01 and 0.005", n, sigma, relative);
    }
    assert_true(change_points_noise(x, 0, false) == 0);
    assert_true(change_points_noise(x, 1, false) == 0);
    free(x);
}

/* Told in whole ticks, mostly the one value: the noise is half of the quantum that single samples are off by, and of
 * what lies between unlike neighbours, is not always as large, or is too large for a tick, there is none. */
TEST(a_quantum_is_noise)
{
    static const struct {
        double off, other; /* relative; every tenth sample, and every other of these */
        size_t length;     /* samples in a row */
        bool told;
    } cases[] = {{0.01, 0.01, 1, true},
                 {-0.02, -0.02, 1, true},
                 {0.01, 0.01, 2, false},
                 {0.01, 0.013, 1, false},
                 {0.05, 0.05, 1, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float x[1000];
        for (size_t i = 0; i < 1000; i++) {
            double off = i / 10 % 2 ? cases[k].off : cases[k].other;
            x[i] = (float)(3.7 * (1 + (i % 10 >= 4 && i % 10 < 4 + cases[k].length ? off : 0)));
        }
        double sigma = change_points_noise(x, 1000, true), half = 0.5 * fabs(log1p(cases[k].off));
        if (cases[k].told ? fabs(sigma - half) > 1e-6 : sigma > 0.9 * half)
            fail_msg("case %zu: %.6f, half a quantum is %.6f", k, sigma, half);
    }
}

/* ---- which samples stick out, by sorting ---- */

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Keeps what lies within `bound` of the median of its five neighbours, itself included. */
static size_t keep_by_sorting(const float *x, size_t n, double bound, size_t *kept)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        bool keep = true;
        if (i >= 2 && i + 2 < n) {
            float window[5];
            memcpy(window, x + i - 2, sizeof window);
            qsort(window, 5, sizeof *window, ascending);
            keep = fabs((double)x[i] - (double)window[2]) <= bound;
        }
        if (keep)
            kept[m++] = i;
    }
    return m;
}

/* Of what is kept in [from, to), without the sample next to another cut on that side where more than three are left. */
static double mean_of(const float *x, const size_t *kept, size_t m, size_t from, size_t to, bool cut_before,
                      bool cut_after)
{
    double sum = 0;
    size_t first = 0, end = 0;
    for (size_t k = 0; k < m; k++) {
        first += kept[k] < from;
        end += kept[k] < to;
    }
    if (cut_before && end - first > 3)
        first++;
    if (cut_after && end - first > 3)
        end--;
    for (size_t k = first; k < end; k++)
        sum += (double)x[kept[k]];
    return sum / (double)(end - first);
}

/*
 * The effect of a cut is the difference of the means of what is not wild on its sides. With many wild samples in all
 * orders that holds only if the median of every five samples is the one that sorting gives.
 */
TEST(what_sticks_out_is_known_by_sorting)
{
    struct rng r;
    size_t checked = 0, dropped = 0;
    rng_init(&r, 7, 2);
    for (int k = 0; k < 3000; k++) {
        float x[200];
        size_t n = 200, at = (size_t)rng_int(&r, 60, 140), kept[200];
        double wild = rng_range(&r, 0, 0.12);
        fill(&r, x, 0, at, 1, 0.01);
        fill(&r, x, at, n, 2, 0.01);
        for (size_t i = 0; i < n; i++)
            if (rng_chance(&r, wild))
                x[i] += (float)(0.5 * rng_normal(&r));
        struct cut *cut;
        double sigma;
        size_t found = change_points_find(x, NULL, 0, n, &plain, &cut, &sigma);
        assert_true(found != SIZE_MAX && sigma > plain.min_effect / 50);
        size_t m = keep_by_sorting(x, n, fmax(5 * sigma, 0.5 * plain.min_effect), kept);
        dropped += n - m;
        for (size_t i = 0; i < found; i++) {
            size_t from = i ? cut[i - 1].at : 0, to = i + 1 < found ? cut[i + 1].at : n;
            double effect = mean_of(x, kept, m, cut[i].at, to, false, i + 1 < found) -
                            mean_of(x, kept, m, from, cut[i].at, i > 0, false);
            if (!(fabs(effect - cut[i].effect) < 1e-5))
                fail_msg("round %d: effect %.7f, by sorting %.7f", k, cut[i].effect, effect);
            checked++;
        }
        free(cut);
    }
    assert_true(checked >= 3000 && dropped > 10000);
}
