/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far behind a wide instruction code is throttled: against a search of all distances, and at the bounds. */
#include "tables/switches/throttle/throttle.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* F(1, n - 2), of which 95 % lie below: from tables. */
static const double fisher[] = {[3] = 161.448, [5] = 10.128, [8] = 5.9874, [10] = 5.3177};
static const double spacings[] = {4, 8, 32, 50, 64, 80, 100, 128, 160, 200};
#define FIRST 4.0
#define LAST 200.0

/* Of n of these spacings, as far apart as may be. */
static void make_points(struct throttle_point *p, size_t n, double distance, double ratio)
{
    for (size_t i = 0; i < n; i++) {
        double spacing = spacings[i * 9 / (n - 1)];
        p[i] = (struct throttle_point){spacing, 1 / (1 + fmin(1, distance / spacing) * (1 / ratio - 1))};
    }
}

/* Squares of relative differences of 1 / ratio, with the best slope at this distance. */
static double squares(const struct throttle_point *p, size_t n, double distance, double *ratio)
{
    double xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        double x = fmin(1, distance / p[i].spacing) * p[i].ratio, y = 1 - p[i].ratio;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    *ratio = 1 / (1 + xy / xx);
    return yy - xy * xy / xx;
}

TEST(limits_are_those_of_a_search)
{
    static const size_t numbers[] = {3, 5, 8, 10};
    enum { GRID = 40000 };
    struct rng x;
    rng_init(&x, 12, 0);
    for (unsigned k = 0; k < 24; k++) {
        struct throttle_point p[10];
        struct throttle_reach r;
        size_t n = numbers[k % 4];
        double distance = rng_range(&x, 30, 140), ratio = rng_range(&x, 0.2, 0.5), step = log(LAST / FIRST) / GRID;
        make_points(p, n, distance, ratio);
        for (size_t i = 0; i < n; i++)
            p[i].ratio *= 1 + 0.01 * rng_normal(&x);
        double least = INFINITY, best = 0, of_best = 0;
        for (int i = 0; i <= GRID; i++) {
            double of, sum = squares(p, n, FIRST * exp(i * step), &of);
            if (sum < least) {
                least = sum;
                best = i;
                of_best = of;
            }
        }
        double bound = least * (1 + fisher[n] / ((double)n - 2)), lo = best, hi = best, of;
        while (lo > 0 && squares(p, n, FIRST * exp((lo - 1) * step), &of) <= bound)
            lo--;
        while (hi < GRID && squares(p, n, FIRST * exp((hi + 1) * step), &of) <= bound)
            hi++;
        double value = FIRST * exp(best * step), from = fmin(FIRST * exp(lo * step), value - 0.5);
        double to = fmax(FIRST * exp(hi * step), value + 0.5);
        assert_int_equal(throttle_reach_find(p, n, &r), 0);
        assert_int_equal(r.n, n);
        if (lo == 0) {
            assert_true(isnan(r.distance.value) && isnan(r.distance.lo) && isnan(r.ratio));
            assert_close(log(r.distance.hi / to), 0, 0.003);
            continue;
        }
        assert_close(log(r.distance.value / value), 0, 0.0003);
        assert_close(r.ratio, of_best, 0.0003);
        /* three points leave so little that steps of a search show */
        assert_close(log(r.distance.lo / from), 0, n == 3 ? 0.01 : 0.003);
        assert_close(log(r.distance.hi / to), 0, n == 3 ? 0.01 : 0.003);
    }
}

/* Without noise: half an instruction either way, and what is left and how much the rates differ, as they were made. */
TEST(exact_points_leave_half_an_instruction)
{
    struct throttle_point p[12];
    struct throttle_reach r;
    make_points(p, 10, 64, 0.25);
    assert_int_equal(throttle_reach_find(p, 10, &r), 0);
    assert_close(r.distance.value, 64, 0.01);
    assert_close(r.distance.hi - r.distance.lo, 1, 0.1);
    assert_close(r.ratio, 0.25, 1e-5);
    assert_close(r.residual, 0, 1e-3);
    /* throttled throughout, and for 64 of 200 */
    assert_close(r.change, 1 / (1 + 64 / 200.0 * 3) / 0.25 - 1, 1e-3);
    /* what is no point: a full rate, none at all, more than one wide instruction in one */
    p[10] = (struct throttle_point){20, 1};
    p[11] = (struct throttle_point){20, 0};
    assert_int_equal(throttle_reach_find(p, 12, &r), 0);
    assert_int_equal(r.n, 10);
    p[10] = (struct throttle_point){0.99, 0.25};
    p[11] = (struct throttle_point){INFINITY, 0.25};
    assert_int_equal(throttle_reach_find(p, 12, &r), 0);
    assert_int_equal(r.n, 10);
    p[10] = (struct throttle_point){1, 0.25};
    assert_int_equal(throttle_reach_find(p, 12, &r), 0);
    assert_int_equal(r.n, 11);
    assert_close(r.distance.value, 64, 0.01);
}

/* Rates that are alike by 2 % tell that the distance is no less than the largest spacing. */
TEST(rates_that_are_alike_give_a_lower_bound)
{
    struct throttle_point p[4] = {{10, 0.25}, {20, 0.25}, {40, 0.25}, {80, 0.2549}};
    struct throttle_reach r;
    assert_int_equal(throttle_reach_find(p, 4, &r), 0);
    assert_true(isnan(r.distance.value) && r.distance.lo == 80 && isnan(r.distance.hi));
    assert_close(r.ratio, 0.25, 0.002);
    p[3].ratio = 0.2551;
    assert_int_equal(throttle_reach_find(p, 4, &r), 0);
    assert_true(r.distance.value > 70 && r.distance.value < 80);
}

/* Rates that rise from the smallest spacing on tell that it is no more than that. */
TEST(rates_that_rise_at_once_give_an_upper_bound)
{
    struct throttle_point p[4] = {{10, 0}, {20, 0}, {40, 0}, {80, 0}};
    struct throttle_reach r;
    for (size_t i = 0; i < 4; i++)
        p[i].ratio = 1 / (1 + 5 / p[i].spacing * 3);
    assert_int_equal(throttle_reach_find(p, 4, &r), 0);
    assert_true(isnan(r.distance.value) && isnan(r.distance.lo) && isnan(r.ratio));
    assert_close(r.distance.hi, 10, 1e-9);
    assert_int_equal(r.n, 4);
    /* within half an instruction of it the ratio cannot be told, either */
    for (size_t i = 0; i < 4; i++)
        p[i].ratio = 1 / (1 + fmin(1, 10.3 / p[i].spacing) * 3);
    assert_int_equal(throttle_reach_find(p, 4, &r), 0);
    assert_true(isnan(r.distance.value) && isnan(r.distance.lo) && isnan(r.ratio));
    assert_close(r.distance.hi, 10.8, 0.05);
    for (size_t i = 0; i < 4; i++)
        p[i].ratio = 1 / (1 + fmin(1, 10.7 / p[i].spacing) * 3);
    assert_int_equal(throttle_reach_find(p, 4, &r), 0);
    assert_close(r.distance.value, 10.7, 0.02);
}
