/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cuts of a series into pieces: of all possible ones the best. */
#include "analysis/pooled/pooled.h"
#include "tests/support/random_numbers.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

enum { MOST = 12 };

TEST(steps_are_cut_where_they_are)
{
    const double y[8] = {1, 1, 1, 5, 5, 2, 2, 2}, w[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    size_t cut[9];
    assert_int_equal(pooled_cut(y, w, 8, 1, 0.5, cut), 3);
    assert_int_equal(cut[0], 0);
    assert_int_equal(cut[1], 3);
    assert_int_equal(cut[2], 5);
    assert_int_equal(cut[3], 8);
    assert_int_equal(pooled_cut(y, w, 8, 1, 100, cut), 1);
    assert_int_equal(cut[1], 8);
    assert_int_equal(pooled_cut(y, w, 8, 3, 0.5, cut), 2); /* the middle is too short for a piece */
    assert_int_equal(cut[1], 3);
    assert_int_equal(cut[2], 8);
}

TEST(what_has_no_weight_is_not_cut)
{
    const double y[6] = {1, 1, 9, 1, 1, 1}, w[6] = {1, 1, 0, 1, 1, 1}, none[6] = {0};
    size_t cut[7];
    assert_int_equal(pooled_cut(y, w, 6, 1, 0.5, cut), 1);
    assert_int_equal(pooled_cut(y, none, 6, 1, 0.5, cut), 1);
    assert_int_equal(cut[1], 6);
}

static double cost_of(const double *y, const double *w, size_t a, size_t b)
{
    double sw = 0, mean = 0, sum = 0;
    for (size_t i = a; i < b; i++) {
        sw += w[i];
        mean += w[i] * y[i];
    }
    mean /= sw;
    for (size_t i = a; i < b; i++)
        sum += w[i] * (y[i] - mean) * (y[i] - mean);
    return sum;
}

/* Each bit of `where` is a border after that value; infinite where a piece would be too short. */
static double cost_of_cuts(const double *y, const double *w, size_t n, size_t least, double penalty, unsigned where)
{
    double sum = 0;
    for (size_t i = 0, begin = 0; i < n; i++)
        if (i + 1 == n || where >> i & 1) {
            sum += i + 1 - begin < least ? INFINITY : cost_of(y, w, begin, i + 1) + penalty;
            begin = i + 1;
        }
    return sum;
}

TEST(no_other_cuts_are_better)
{
    struct rng r;
    rng_init(&r, 1, 0);
    for (int round = 0; round < 100; round++) {
        double y[MOST], w[MOST], best = INFINITY, penalty = rng_log(&r, 0.01, 3);
        size_t n = (size_t)rng_int(&r, 2, MOST), least = (size_t)rng_int(&r, 1, 2), cut[MOST + 1];
        for (size_t i = 0; i < n; i++) {
            y[i] = rng_range(&r, 0, 1) + (double)rng_int(&r, 0, 1);
            w[i] = rng_range(&r, 0.1, 2);
        }
        for (unsigned where = 0; where < 1u << (n - 1); where++)
            best = fmin(best, cost_of_cuts(y, w, n, least, penalty, where));
        size_t pieces = pooled_cut(y, w, n, least, penalty, cut);
        double own = 0;
        for (size_t k = 0; k < pieces; k++) {
            assert_true(cut[k + 1] >= cut[k] + least);
            own += cost_of(y, w, cut[k], cut[k + 1]) + penalty;
        }
        assert_int_equal(cut[pieces], n);
        assert_true(fabs(own - best) < 1e-9);
    }
}

TEST(without_memory_there_is_no_piece)
{
    const double y[2] = {1, 2}, w[2] = {1, 1};
    size_t cut[3];
    for (unsigned long n = 1; n <= 2; n++) {
        strict_memory_fail(n);
        size_t pieces = pooled_cut(y, w, 2, 1, 0.1, cut);
        bool failed = strict_memory_failed();
        strict_memory_fail(0);
        assert_int_equal(pieces, failed ? 0 : 2); /* the sanitizers' memory never fails */
    }
}
