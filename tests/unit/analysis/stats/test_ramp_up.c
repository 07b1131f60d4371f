/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ramps of made trials, whose steps are known, and trials that are no ramp. */
#include "analysis/stats/ramp_up.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { N = 400 };
static double duration[N], scratch[N];

/* Trials of 300 at full speed, which has the shares one after the other, each for so long, the last for ever. */
static void make(const double *share, size_t n, double every, double noise)
{
    struct rng rng;
    double now = 0;
    rng_init(&rng, 3, 0);
    for (size_t i = 0; i < N; i++) {
        size_t k = (size_t)(now / every);
        duration[i] = 300 / share[k < n ? k : n - 1] * (1 + rng_range(&rng, -noise, noise));
        now += duration[i];
    }
}

static void is_close(double x, double expected, double by)
{
    if (!(fabs(x - expected) <= by))
        fail_msg("%.9g instead of %.9g", x, expected);
}

/* V's figure 5-1: from 1.2 to 3.5 GHz. */
TEST(its_steps)
{
    static const double ghz[] = {1.2 / 3.5, 2.0 / 3.5, 2.8 / 3.5, 1};
    for (double noise = 0; noise < 0.02; noise += 0.009) {
        make(ghz, 4, 8000, noise);
        for (size_t i = 9; i < N; i += 10) /* every tenth trial is interrupted */
            duration[i] *= 3;
        struct ramp_up r = ramp_up_of(duration, N, scratch);
        assert_int_equal(r.n, 4);
        for (size_t i = 0; i < 4; i++) {
            is_close(r.step[i].share, ghz[i], 0.02);
            is_close(r.step[i].at, 8000 * (double)i, 3 * 300 / ghz[0] * (double)i);
        }
        assert_true(r.until == r.step[3].at && r.start == r.step[0].share);
    }
}

/* Full speed is 95 %, and what is within 3 % of it no step. */
TEST(limits_of_full_speed)
{
    static const double above[] = {0.96, 1}, below[] = {0.94, 1}, slight[] = {0.90, 0.92, 1};
    make(above, 2, 8000, 0);
    struct ramp_up r = ramp_up_of(duration, N, scratch);
    assert_true(r.n == 1 && isnan(r.until));
    is_close(r.start, 0.96, 1e-9);
    make(below, 2, 8000, 0);
    r = ramp_up_of(duration, N, scratch);
    assert_int_equal(r.n, 2);
    is_close(r.until, 8000, 320);
    make(slight, 3, 8000, 0);
    r = ramp_up_of(duration, N, scratch);
    assert_int_equal(r.n, 2);
    is_close(r.until, 16000, 330);
}

/* Slower trials that are no ramp: one at the start; and a core that becomes slower. */
TEST(no_ramp)
{
    static const double one[] = {1}, falls[] = {1.2, 1};
    make(one, 1, 1, 0.01);
    duration[0] *= 20;
    struct ramp_up r = ramp_up_of(duration, N, scratch);
    assert_true(r.n == 1 && isnan(r.until));
    is_close(r.start, 1, 0.02);
    make(falls, 2, 8000, 0);
    r = ramp_up_of(duration, N, scratch);
    assert_true(r.n == 1 && isnan(r.until));
    is_close(r.start, 1.2, 1e-9);
    r = ramp_up_of(duration, 7, scratch);
    assert_true(r.n == 0 && isnan(r.start) && isnan(r.until));
    assert_true(ramp_up_of(duration, 8, scratch).n == 1);
}

/* More steps than there is room for end the list, not the search of the program's memory. */
TEST(many_steps)
{
    static double share[60];
    for (size_t i = 0; i < 60; i++)
        share[i] = 0.1 * pow(1.039, (double)i);
    make(share, 60, 10 * 300 / 0.1, 0);
    struct ramp_up r = ramp_up_of(duration, N, scratch);
    assert_true(r.n <= RAMP_UP_STEPS_MOST);
}
