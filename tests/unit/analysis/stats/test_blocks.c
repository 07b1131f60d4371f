/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits over blocks of repetitions: against the truth where values move slowly, and where they do not. */
#include "analysis/stats/blocks.h"
#include "analysis/stats/robust.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { N = 200, TRIALS = 1000 };

/* How often the limits of the mean of N values hold 0, of TRIALS: noise, and what moves slowly and is 0 in the mean.
 * disagreed: how often blocks disagree. */
static int held(double moves, bool widened, int *disagreed)
{
    struct rng r;
    int n = 0;
    rng_init(&r, 5, 0);
    *disagreed = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[N], slow = 0;
        for (int i = 0; i < N; i++) {
            if (i % 15 == 0)
                slow = moves * rng_normal(&r);
            x[i] = rng_normal(&r) + slow;
        }
        struct estimate e = robust_mean(x, N, 0, INFINITY, NULL);
        struct blocks b;
        blocks_cut(x, N, 0, INFINITY, &b);
        assert_int_equal(b.n, BLOCKS_MAX);
        *disagreed += blocks_disagree(&b, 0.1);
        if (widened)
            blocks_widen(&b, &e);
        n += e.lo <= 0 && 0 <= e.hi;
    }
    return n;
}

TEST(limits_hold_what_moves_slowly)
{
    int disagreed;
    assert_true(held(1, false, &disagreed) < 0.70 * TRIALS); /* why they are widened */
    assert_true(held(1, true, &disagreed) > 0.90 * TRIALS);
    assert_true(held(2, true, &disagreed) > 0.90 * TRIALS);
    assert_true(disagreed > 0.8 * TRIALS);
    assert_true(held(0, true, &disagreed) >= 0.95 * TRIALS);
    assert_true(disagreed <= 2);
}

TEST(wild_and_missing_values_are_left_out)
{
    double x[19] = {1, 1, 1, 1, 2, 2, NAN, 2, 2, 900, 3, 3, 3, 3, 4, 4, 4, 4, -900};
    struct blocks b;
    blocks_cut(x, 19, 2.5, 100, &b);
    assert_int_equal(b.n, 4);
    for (int k = 0; k < 4; k++)
        assert_true(b.mean[k] == k + 1);
    assert_true(b.least == 1 && b.most == 4);
    assert_true(blocks_disagree(&b, 2.9) && !blocks_disagree(&b, 3));
    /* too few to cut */
    struct estimate e = {2, 1, 3};
    blocks_cut(x, 15, 2.5, 1.6, &b);
    assert_int_equal(b.n, 0);
    assert_false(blocks_disagree(&b, 0));
    blocks_widen(&b, &e);
    assert_true(e.lo == 1 && e.hi == 3);
    /* F = (4 / 3) / (4 / 12) with 3 and 12 degrees of freedom: the incomplete beta function at 1/2 with 6 and 3/2 */
    const double apart[16] = {0, 1, 0, 1, 1, 2, 1, 2, 0, 1, 0, 1, 1, 2, 1, 2};
    blocks_cut(apart, 16, 1, 10, &b);
    assert_float_equal(b.disagree, 0.0345904, 1e-6);
    /* all alike */
    double same[16] = {0};
    blocks_cut(same, 16, 0, 1, &b);
    assert_true(b.n == 4 && b.disagree == 1);
}
