/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations that come in two lengths, and those that only scatter. */
#include "analysis/pooled/pooled.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { N = 80 };
static double scratch[2 * N];

/* `second` of them about `longer`, the others about 10; in order. */
static void draw(struct rng *r, double *x, int second, double longer, double spread)
{
    for (int i = 0; i < N; i++)
        x[i] = (i < second ? longer : 10) * (1 + spread * rng_normal(r));
    qsort(x, N, sizeof *x, order_double);
}

TEST(two_lengths_are_reported)
{
    struct rng r;
    rng_init(&r, 1, 0);
    for (int round = 0; round < 50; round++) {
        double x[N], longer = rng_range(&r, 16, 30);
        struct value_mode mode[2];
        int second = rng_int(&r, 12, 34);
        draw(&r, x, second, longer, 0.03);
        assert_int_equal(pooled_two_lengths(x, N, 2.5, POOLED_LENGTHS_APART, mode, scratch), 2);
        assert_int_equal(mode[0].n, N - second); /* the more frequent one first */
        assert_int_equal(mode[1].n, second);
        assert_true(fabs(mode[0].mean - 10) < 0.25);
        assert_true(fabs(mode[1].mean / longer - 1) < 0.04);
        assert_true(mode[0].hi < mode[1].lo);
    }
}

TEST(one_length_is_one)
{
    struct rng r;
    rng_init(&r, 2, 0);
    for (int round = 0; round < 200; round++) {
        double x[N];
        struct value_mode mode[2];
        draw(&r, x, 0, 0, rng_range(&r, 0.01, 0.3));
        assert_int_equal(pooled_two_lengths(x, N, 2.5, POOLED_LENGTHS_APART, mode, scratch), 0);
        for (int i = 0; i < N; i++)
            x[i] = 5 + 10.0 * i / N;
        assert_int_equal(pooled_two_lengths(x, N, 2.5, POOLED_LENGTHS_APART, mode, scratch), 0);
    }
}

TEST(few_or_near_are_no_length)
{
    struct rng r;
    rng_init(&r, 3, 0);
    double x[N];
    struct value_mode mode[2];
    draw(&r, x, 3, 25, 0.02); /* interruptions */
    assert_int_equal(pooled_two_lengths(x, N, 2.5, POOLED_LENGTHS_APART, mode, scratch), 0);
    draw(&r, x, 30, 12, 0.01); /* nearer than requested */
    assert_int_equal(pooled_two_lengths(x, N, 2.5, POOLED_LENGTHS_APART, mode, scratch), 0);
    assert_int_equal(pooled_two_lengths(x, N, 1.5, POOLED_LENGTHS_APART, mode, scratch), 2);
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(pooled_two_lengths(x, n, 1.5, POOLED_LENGTHS_APART, mode, scratch), 0);
}
