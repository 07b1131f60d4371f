/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mode of durations and what lies how far from it: the source's own examples, and made ones. */
#include "analysis/stats/repeatability.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { MOST = 2000 };

static struct repeatability of(const double *x, size_t n, double resolution)
{
    double scratch[MOST];
    return repeatability_of(x, n, resolution, scratch);
}

/* S. Kozak, figure 3-10: all trials but the last alike, that one four cycles faster. */
TEST(figure_3_10)
{
    double x[1000];
    for (size_t i = 0; i < 1000; i++)
        x[i] = 987964834;
    x[999] -= 4;
    struct repeatability r = of(x, 1000, 1);
    assert_true(r.repeats);
    assert_true(r.mode == 987964834 && r.p90 == 0 && r.p99 == 0);
    assert_true(fabs(r.max * r.mode - 4) < 1e-6);
    assert_true(fabs(r.spread - 4 / 987964830.0) < 1e-18);
    assert_int_equal(r.to_mode, 0);
}

/* Figure 3-13: the predictor learns. */
TEST(figure_3_13)
{
    static const double first[] = {15400862, 15399979, 15400496, 15400402, 15400402, 15400402};
    double x[1000];
    for (size_t i = 0; i < 1000; i++)
        x[i] = i < 6 ? first[i] : 15400377;
    struct repeatability r = of(x, 1000, 1);
    assert_true(r.mode == 15400377 && r.p99 == 0);
    assert_int_equal(r.to_mode, 6);
    assert_true(fabs(r.max * r.mode - 485) < 1e-6);
    assert_true(fabs(r.spread - (15400862.0 - 15399979) / 15399979) < 1e-15);
    r = of(x + r.to_mode, 1000 - r.to_mode, 1);
    assert_true(r.spread == 0 && r.max == 0 && r.to_mode == 0);
}

TEST(few_values)
{
    struct repeatability r = of(NULL, 0, 1);
    assert_true(isnan(r.mode) && isnan(r.spread) && isnan(r.max) && r.n == 0);
    r = of((const double[]){5}, 1, 0);
    assert_true(r.mode == 5 && r.spread == 0 && r.p50 == 0 && r.max == 0 && r.to_mode == 0 && r.repeats);
    r = of((const double[]){20, 10}, 2, 0);
    assert_true(r.mode == 10 && r.spread == 1 && r.p50 == 0 && r.max == 1 && r.to_mode == 1 && !r.repeats);
}

/* Nearest rank: of ten distances 0 to 0.9 the smallest that so many keep within. */
TEST(parts)
{
    const double x[] = {100, 100, 100, 100, 100, 110, 120, 130, 140, 150};
    struct repeatability r = of(x, 10, 1);
    assert_true(r.mode == 100 && r.p50 == 0 && fabs(r.p90 - 0.4) < 1e-12 && fabs(r.p99 - 0.5) < 1e-12 &&
                fabs(r.max - 0.5) < 1e-12);
}

TEST(half_sample_modes)
{
    assert_true(repeatability_half_sample_mode((const double[]){1}, 1) == 1);
    assert_true(repeatability_half_sample_mode((const double[]){1, 9}, 2) == 1);
    assert_true(repeatability_half_sample_mode((const double[]){1, 8, 9}, 3) == 8);
    assert_true(repeatability_half_sample_mode((const double[]){1, 2, 9}, 3) == 1);
    assert_true(repeatability_half_sample_mode((const double[]){1, 4, 5, 5.1, 5.2, 9, 30}, 7) == 5.1 ||
                repeatability_half_sample_mode((const double[]){1, 4, 5, 5.1, 5.2, 9, 30}, 7) == 5);
}

/* Of stretches that are as short, the first; of three in even steps, the middle. */
TEST(ties)
{
    assert_true(repeatability_half_sample_mode((const double[]){1, 2, 3}, 3) == 2);
    assert_true(repeatability_half_sample_mode((const double[]){1, 2, 9, 10}, 4) == 1);
    assert_true(repeatability_half_sample_mode((const double[]){1, 2.5, 9, 10}, 4) == 9);
    assert_true(repeatability_half_sample_mode((const double[]){1, 2, 3, 20, 21}, 5) == 2);
    assert_true(repeatability_half_sample_mode((const double[]){1, 9, 20, 21, 22}, 5) == 21);
    /* as often: the smallest */
    struct repeatability r = of((const double[]){30, 10, 20, 20, 30, 10}, 6, 0);
    assert_true(r.repeats && r.mode == 10 && r.to_mode == 1);
    r = of((const double[]){30, 30, 20, 20, 20, 10, 10}, 7, 0);
    assert_true(r.repeats && r.mode == 20 && r.to_mode == 2);
}

/* Two of twenty are a tenth of all; of twenty-one they are less. */
TEST(what_repeats)
{
    double x[21];
    for (size_t i = 0; i < 21; i++)
        x[i] = 100 + (double)(i * i);
    x[19] = x[18];
    struct repeatability r = of(x, 20, 0);
    assert_true(r.repeats && r.mode == x[18] && r.to_mode == 18);
    r = of(x, 21, 0);
    assert_true(!r.repeats && r.mode == 100); /* of the shortest half */
    x[19] = 100 + 19 * 19;
    r = of(x, 20, 0);
    assert_true(!r.repeats && r.mode == 100);
    /* at the mode is what is within the resolution of it */
    const double steps[] = {104, 103, 102, 100, 100};
    assert_int_equal(of(steps, 5, 0).to_mode, 3);
    assert_int_equal(of(steps, 5, 2).to_mode, 2);
    assert_int_equal(of(steps, 5, 3).to_mode, 1);
    assert_int_equal(of(steps, 5, 4).to_mode, 0);
}

/* A tail to one side, as interruptions make it, does not move the mode; it is found in steps of the clock, too. */
TEST(tails)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng;
        double x[1000], step = seed % 3 == 0 ? 10 : 0;
        rng_init(&rng, seed, 1);
        for (size_t i = 0; i < 1000; i++) {
            x[i] = 300000 + 60 * rng_normal(&rng) + (rng_chance(&rng, 0.3) ? rng_range(&rng, 500, 50000) : 0) +
                   (i < 20 ? 3000 : 0);
            if (step > 0)
                x[i] = step * floor(x[i] / step);
        }
        struct repeatability r = of(x, 1000, step > 0 ? step : 1);
        assert_true(fabs(r.mode - 300000) < 120);
        assert_in_range(r.to_mode, 20, 40);
        assert_true(r.p50 <= r.p90 && r.p90 <= r.p99 && r.p99 <= r.max);
        assert_true(r.p50 * r.mode < 300 && r.max * r.mode > 10000);
        size_t within = 0;
        for (size_t i = 0; i < 1000; i++)
            within += fabs(x[i] - r.mode) / r.mode <= r.p90;
        assert_in_range(within, 900, 1000);
    }
}
