/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits over blocks of repetitions: against the truth where values move slowly, and where they do not. */
#include "analysis/stats/blocks.h"
#include "analysis/stats/robust.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { N = 200, TRIALS = 1000 };

/* How often the limits of the mean of N values hold 0, of TRIALS: noise, and what moves slowly and is 0 in the mean. */
static int held(double moves, bool widened)
{
    struct rng r;
    int n = 0;
    rng_init(&r, 5, 0);
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[N], slow = 0;
        for (int i = 0; i < N; i++) {
            if (i % 15 == 0)
                slow = moves * rng_normal(&r);
            x[i] = rng_normal(&r) + slow;
        }
        struct estimate e = robust_mean(x, N, 0, INFINITY, NULL);
        if (widened)
            blocks_widen(x, N, 0, INFINITY, &e);
        n += e.lo <= 0 && 0 <= e.hi;
    }
    return n;
}

TEST(limits_hold_what_moves_slowly)
{
    assert_true(held(1, false) < 0.70 * TRIALS); /* why they are widened */
    assert_true(held(1, true) > 0.90 * TRIALS);
    assert_true(held(2, true) > 0.90 * TRIALS);
    assert_true(held(0, true) >= 0.95 * TRIALS);
}

TEST(wild_and_missing_values_are_left_out)
{
    const double x[19] = {1, 1, 1, 1, 2, 2, NAN, 2, 2, 900, 3, 3, 3, 3, 4, 4, 4, 4, -900};
    struct estimate e = {2.5, 2.4, 2.6};
    /* means 1, 2, 3, 4: Student's t of 3 degrees of freedom, 3.182, times 1.291 / 2 */
    blocks_widen(x, 19, 2.5, 100, &e);
    assert_float_equal(e.lo, 2.5 - 2.054, 1e-3);
    assert_float_equal(e.hi, 2.5 + 2.054, 1e-3);
    /* too few to cut */
    e = (struct estimate){2, 1, 3};
    blocks_widen(x, 15, 2.5, 1.6, &e);
    assert_true(e.lo == 1 && e.hi == 3);
    /* never narrower */
    e = (struct estimate){2.5, 0, 5};
    blocks_widen(x, 19, 2.5, 100, &e);
    assert_true(e.lo == 0 && e.hi == 5);
}
