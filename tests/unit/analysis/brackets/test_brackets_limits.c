/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of ratios by brackets: how often they hold, what drift and outliers do, what a null excludes. */
#include "analysis/brackets/brackets_limits.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { MOST = 60 };

TEST(test_drift_cancels)
{
    assert_float_equal(bracket_log(2, 2 * exp(0.05), 2 * exp(0.1)), 0, 1e-12);
    assert_float_equal(bracket_log(2, 1.98 * exp(0.05), 2 * exp(0.1)), log(0.99), 1e-12);
    assert_true(isnan(bracket_log(2, NAN, 2)) && isnan(bracket_log(0, 2, 2)) && isnan(bracket_log(2, 2, -1)));
}

/* A clock that walks by 5 % in steps from slot to slot, one slot in ten disturbed: a step of `step`. */
static struct estimate drawn_ratio(struct rng *r, size_t n, double step)
{
    double logs[MOST], scratch[MOST], clock = 0;
    for (size_t i = 0; i < n; i++) {
        double f[3];
        for (int k = 0; k < 3; k++) {
            clock = 0.9 * clock + 0.01 * rng_normal(r);
            f[k] = exp(clock) * (rng_chance(r, 0.03) ? 0.8 : 1) * (k == 1 ? 1 - step : 1);
        }
        logs[i] = rng_chance(r, 0.05) ? NAN : bracket_log(f[0], f[1], f[2]);
    }
    return brackets_ratio(logs, n, scratch);
}

TEST(test_limits_hold)
{
    static const size_t rounds[] = {4, 10, 25, 60};
    for (size_t i = 0; i < 4; i++) {
        unsigned held = 0, n = 1000;
        struct rng r;
        rng_init(&r, 11, i);
        for (unsigned k = 0; k < n; k++) {
            const struct estimate e = drawn_ratio(&r, rounds[i], 0.02);
            held += e.lo <= 0.98 && e.hi >= 0.98;
        }
        print_message("%zu rounds: limits hold in %.1f %%\n", rounds[i], 100.0 * held / n);
        assert_true(held >= 0.93 * n);
    }
}

TEST(test_a_step_of_a_percent_is_found_and_a_null_is_none)
{
    unsigned found = 0, made_up = 0, excluded = 0, n = 1000;
    struct rng r;
    rng_init(&r, 11, 9);
    for (unsigned k = 0; k < n; k++) {
        const struct estimate null = drawn_ratio(&r, MOST, 0), step = drawn_ratio(&r, MOST, 0.01),
                              other = drawn_ratio(&r, MOST, 0);
        found += brackets_differs(&step, &null);
        made_up += brackets_differs(&other, &null);
        excluded += null.lo > 1 || null.hi < 1;
    }
    print_message("found %u of %u; made up %u; nulls that exclude 1: %u\n", found, n, made_up, excluded);
    assert_true(found > 0.9 * n && made_up < 0.02 * n && excluded < 0.06 * n);
}

TEST(test_few)
{
    double scratch[2];
    struct estimate e = brackets_ratio((const double[]){log(0.9)}, 1, scratch);
    assert_float_equal(e.value, 0.9, 1e-12);
    assert_true(isnan(e.lo) && isnan(e.hi));
    e = brackets_ratio((const double[]){NAN, NAN}, 2, scratch);
    assert_true(isnan(e.value));
    assert_float_equal(brackets_seconds_for(0.02, 10, 0.01), 40, 1e-9);
}
