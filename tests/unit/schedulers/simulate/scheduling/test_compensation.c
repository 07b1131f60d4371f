/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worked examples of the dissertation (G, 7.4.2 and figure 7.5) and of USENIX ATC 2021 (F, figure 2; 7.1). */
#include "schedulers/simulate/studies.h"
#include "schedulers/simulate/scheduling/dispatch.h"
#include "tests/support/gold_6130.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static double frequencies[GOLD_6130_TURBO_LEVELS * GOLD_6130_LEVELS];
static struct compensation_table table = {GOLD_6130_LEVELS, GOLD_6130_TURBO_LEVELS, frequencies};

static int take_frequencies(void **state)
{
    (void)state;
    memcpy(frequencies, gold_6130_ghz, sizeof frequencies);
    return 0;
}

/* 30 % of the cycles at the AVX-512 level, in any unit. */
static const double third[SIM_LEVELS_MAX] = {0.7e6, 0, 0.3e6};

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g, expected %.12g", value, expected);
}

TEST(frequencies_of_each_turbo_level_are_expected)
{
    static const double expected[] = {3.6376404494382, 3.3695652173913, 3.02222222222222, 2.7125, 2.45161290322581};
    for (unsigned turbo = 0; turbo < GOLD_6130_TURBO_LEVELS; turbo++) {
        const double *f = gold_6130_ghz[turbo];
        near(rules_fair_expected(&table, turbo, third), expected[turbo]);
        near(rules_fair_expected(&table, turbo, third), 1 / (0.7 / f[0] + 0.3 / f[2]));
    }
}

/* G, eq. 7.7 (F, eq. 4). */
static double published_form(const double *f, double r1, double r2)
{
    return f[0] * f[1] * f[2] / ((f[0] - f[1]) * f[2] * r1 + (f[0] - f[2]) * f[1] * r2 + f[1] * f[2]);
}

TEST(it_is_the_published_formula)
{
    struct rng r;
    rng_init(&r, 7, 0);
    for (int i = 0; i < 1000; i++) {
        double a = rng_unit(&r), b = rng_unit(&r), c = rng_unit(&r) + 1e-3, sum = a + b + c;
        const double cycles[SIM_LEVELS_MAX] = {c * 1e9, a * 1e9, b * 1e9};
        for (unsigned turbo = 0; turbo < GOLD_6130_TURBO_LEVELS; turbo++)
            near(rules_fair_expected(&table, turbo, cycles), published_form(gold_6130_ghz[turbo], a / sum, b / sum));
    }
}

/* F, figure 2: 2.5 GHz is mostly the lowest turbo level, and some of the second lowest. */
TEST(figure_2_of_usenix_atc_2021)
{
    double lowest = 1 / (0.7 / 2.8 + 0.3 / 1.9), second = 1 / (0.7 / 3.1 + 0.3 / 2.1);
    double share = (2.5 - lowest) / (second - lowest);
    assert_true(share > 0.18 && share < 0.19);
    near(rules_fair_ideal(&table, third, 2.5, 0), 2.8 + share * (3.1 - 2.8));
    double avx2_lowest = published_form(gold_6130_ghz[4], 0.3, 0),
           avx2_second = published_form(gold_6130_ghz[3], 0.3, 0);
    near(rules_fair_ideal(&table, third, 2.5, 1), avx2_lowest + share * (avx2_second - avx2_lowest));
    near(rules_fair_ideal(&table, third, 2.5, 2), 2.5);
}

/* G, figure 7.5b: half of the time at the lowest turbo level, half at the second lowest. */
TEST(figure_7_5_of_the_dissertation)
{
    double actual = (1 / (0.7 / 2.8 + 0.3 / 1.9) + 1 / (0.7 / 3.1 + 0.3 / 2.1)) / 2;
    near(rules_fair_ideal(&table, third, actual, 0), (2.8 + 3.1) / 2);
    near(rules_fair_lost_part(actual, 2.95, 0), (2.95 - actual) / 2.95);
    near(rules_fair_lost_part(actual, 2.95, 0.25), 0.75 * (2.95 - actual) / 2.95);
    assert_true(fabs(rules_fair_lost_part(actual, 2.95, 0) - 0.1247) < 1e-4);
}

TEST(turbo_levels_have_ends)
{
    near(rules_fair_ideal(&table, third, 1.0, 0), 2.8);
    near(rules_fair_ideal(&table, third, 5.0, 0), 3.7);
    near(rules_fair_ideal(&table, third, rules_fair_expected(&table, 2, third), 0), 3.4);
    near(rules_fair_lost_part(3, 2.8, 0), 0);
}

/* All at the AVX-512 level: what G and F call the reduction itself, 2.8 to 1.9 GHz. */
TEST(a_whole_slice_at_the_slowest_level)
{
    static const double all[SIM_LEVELS_MAX] = {0, 0, 1};
    near(rules_fair_ideal(&table, all, 1.9, 0), 2.8);
    near(rules_fair_ideal(&table, all, 1.9, 1), 2.4);
    near(rules_fair_lost_part(1.9, 2.8, 0), 1 - 1.9 / 2.8);
}

/* F, eq. 7 and 9; the averages of 7.1.1. */
TEST(unfairness_of_usenix_atc_2021)
{
    near(sim_unfairness(1.249, 1.249), 0.249);
    near(sim_unfairness(1.1, 1.25), 1.1 + 0.88 - 2);
    near(sim_unfairness(2.054 / (1 + 1 / 1.249), 1.249), 0.054);
}

TEST_GROUP(take_frequencies, NULL)
