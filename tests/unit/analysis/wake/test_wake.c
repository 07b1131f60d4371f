/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/wake/wake.c: stages of random step functions are found blind; what is no stage makes none. */
#include "analysis/wake/wake.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { MODELS = 240, POINTS_MOST = 1500, STAGES = 6 };

struct truth {
    size_t n;
    double first[STAGES], from[STAGES], noise, jitter;
};

/* Stages at least 1.5 times apart; each lasts for at least a factor of 2 of idle time. */
static void random_truth(struct rng *r, struct truth *t)
{
    t->n = (size_t)rng_int(r, 1, STAGES);
    t->noise = rng_log(r, 0.003, 0.06);
    t->jitter = rng_chance(r, 0.3) ? 0 : rng_log(r, 0.005, 0.08);
    double part = log(1e5) / (double)t->n;
    for (size_t i = 0; i < t->n; i++) {
        t->from[i] = i == 0 ? 0 : exp((double)i * part + rng_range(r, -0.25, 0.25) * part);
        do
            t->first[i] = rng_log(r, 0.02, 20);
        while (i > 0 && fabs(log(t->first[i] / t->first[i - 1])) < log(1.5));
    }
}

/* Idle times in logarithmic steps from 1 us to 100 ms, in disorder; 3 % outliers. */
static size_t random_points(struct rng *r, const struct truth *t, struct wake_point *p)
{
    size_t n = (size_t)rng_int(r, 60 * STAGES, POINTS_MOST);
    for (size_t i = 0; i < n; i++) {
        double idle = exp(log(1e5) * (double)(i * 7919 % n) / (double)(n - 1));
        double seen = idle * exp(t->jitter * rng_normal(r));
        size_t stage = t->n - 1;
        while (seen < t->from[stage])
            stage--;
        p[i] = (struct wake_point){idle, t->first[stage] * exp(t->noise * rng_normal(r))};
        if (rng_chance(r, 0.03))
            p[i].first_us += rng_log(r, 0.5, 100);
    }
    return n;
}

static bool reported_gradual(const struct wake_stages *s)
{
    bool reported = false;
    for (size_t i = 0; i < s->n_warnings; i++)
        reported = reported || strstr(s->warning[i], "gradually");
    return reported;
}

TEST(random_models_are_found)
{
    struct rng r;
    static struct wake_point p[POINTS_MOST];
    size_t boundaries = 0, outside = 0, levels = 0, off = 0, wide = 0, models = rng_fewer_sanitized(MODELS),
           miscounted = 0, gradual = 0;
    for (size_t m = 0; m < models; m++) {
        struct truth t;
        struct wake_stages s;
        char why[200];
        rng_init(&r, 15, m);
        random_truth(&r, &t);
        size_t n = random_points(&r, &t, p);
        assert_int_equal(wake_find(p, n, &s, why, sizeof why), 0);
        gradual += reported_gradual(&s);
        if (s.n != t.n) {
            miscounted++;
            print_message("model %zu: %zu stages of %zu, noise %.3f jitter %.3f n %zu\n", m, s.n, t.n, t.noise,
                          t.jitter, n);
            continue;
        }
        size_t used = s.discarded + s.mixed;
        for (size_t i = 0; i < t.n; i++) {
            used += s.stage[i].n;
            levels++;
            off += t.first[i] < s.stage[i].first_us.lo || t.first[i] > s.stage[i].first_us.hi;
            assert_close(log(s.stage[i].first_us.value / t.first[i]), 0, 0.05);
            if (i == 0)
                continue;
            boundaries++;
            outside += t.from[i] < s.stage[i].idle_from_us.lo || t.from[i] > s.stage[i].idle_from_us.hi;
            assert_close(log(s.stage[i].idle_from_us.value / t.from[i]), 0, 0.3);
            wide += log(s.stage[i].idle_from_us.hi / s.stage[i].idle_from_us.lo) > 0.2 + 8 * t.jitter;
        }
        assert_int_equal(used, n);
        assert_true(isnan(s.stage[s.n - 1].idle_to_us.value));
    }
    print_message("%zu models, %zu miscounted; thresholds: %zu of %zu outside, %zu wide; levels: %zu of %zu outside\n",
                  models, miscounted, outside, boundaries, wide, off, levels);
    assert_int_equal(miscounted, 0);
    assert_true(gradual * 100 <= models);
    assert_true(outside * 20 <= boundaries);
    assert_true(wide * 20 <= boundaries);
    assert_true(off * 14 <= levels);
}

/* A time that grows with the logarithm of the idle time is cut into stretches, and that is reported. */
TEST(gradual_changes_are_reported)
{
    enum { RAMPS = 60, POINTS = 600 };
    struct rng r;
    static struct wake_point p[POINTS];
    for (size_t m = 0; m < RAMPS; m++) {
        struct wake_stages s;
        char why[200];
        rng_init(&r, 16, m);
        double slope = rng_range(&r, 0.2, 1), noise = rng_log(&r, 0.003, 0.03);
        for (size_t i = 0; i < POINTS; i++) {
            double idle = exp(log(1e5) * (double)i / (POINTS - 1));
            p[i] = (struct wake_point){idle, (1 + slope * log(idle)) * exp(noise * rng_normal(&r))};
        }
        if (wake_find(p, POINTS, &s, why, sizeof why) == 0)
            assert_true(reported_gradual(&s));
        else
            assert_non_null(strstr(why, "not stages"));
    }
}

TEST(too_few_are_refused)
{
    struct wake_point p[WAKE_POINTS_LEAST];
    struct wake_stages s;
    char why[200] = "";
    for (size_t i = 0; i < WAKE_POINTS_LEAST; i++)
        p[i] = (struct wake_point){(double)i, 1};
    assert_int_equal(wake_find(p, WAKE_POINTS_LEAST - 1, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "too few"));
    assert_int_equal(wake_find(p, 1, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "1 point is too few"));
    assert_int_equal(wake_find(p, WAKE_POINTS_LEAST, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.stage[0].n, WAKE_POINTS_LEAST);
    p[3].first_us = 0;
    assert_int_equal(wake_find(p, WAKE_POINTS_LEAST, &s, why, sizeof why), -1);
    p[3].first_us = 1;
    p[3].idle_us = NAN;
    assert_int_equal(wake_find(p, WAKE_POINTS_LEAST, &s, why, sizeof why), -1);
}

/* Single points anywhere do not coarsen the levels that are tried. */
TEST(outliers_do_not_blind)
{
    struct wake_point p[91];
    struct wake_stages s;
    char why[200];
    for (size_t i = 0; i < 91; i++)
        p[i] = (struct wake_point){(double)i, i < 45 ? 1 : 1.3};
    p[20].first_us = 1e-308;
    p[70].first_us = 1e12;
    assert_int_equal(wake_find(p, 91, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.discarded, 2);
    assert_true(s.detectable_ratio < 1.11);
}

/* More steps of 2 % apart than levels are tried: the levels are tried farther apart. */
TEST(stages_may_be_far_apart)
{
    struct wake_point p[90];
    struct wake_stages s;
    char why[200];
    for (size_t i = 0; i < 90; i++)
        p[i] = (struct wake_point){(double)(i + 1), i < 45 ? 0.01 : 1000};
    assert_int_equal(wake_find(p, 90, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 2);
    assert_close(s.stage[0].first_us.value, 0.01, 1e-9);
    assert_close(s.stage[1].first_us.value, 1000, 1e-6);
    assert_int_equal(s.discarded, 0);
}

/* The level of the beginning comes back: three stages. */
TEST(a_level_may_come_back)
{
    struct wake_point p[90];
    struct wake_stages s;
    char why[200];
    for (size_t i = 0; i < 90; i++)
        p[i] = (struct wake_point){(double)(i + 1), i / 30 == 1 ? 10 : 1};
    assert_int_equal(wake_find(p, 90, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 3);
    assert_close(s.stage[1].first_us.value, 10, 1e-9);
    assert_close(s.stage[1].idle_from_us.lo, 28, 0);
    assert_close(s.stage[1].idle_from_us.hi, 33, 0);
    assert_close(s.stage[1].idle_to_us.lo, 58, 0);
    assert_close(s.stage[2].first_us.value, 1, 1e-9);
}

/* The clock drifts by 4 %: no stage. */
TEST(drift_is_no_stage)
{
    static struct wake_point p[1000];
    struct wake_stages s;
    char why[200];
    for (size_t i = 0; i < 1000; i++)
        p[i] = (struct wake_point){(double)(i + 1), 1 + 0.04 * (double)i / 1000};
    assert_int_equal(wake_find(p, 1000, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.n_warnings, 0);
}

/* Times from 0.06 to 90 us whatever the idle time, as beside busy neighbors: nothing is reported, and it says so. */
TEST(scatter_is_reported)
{
    struct wake_point p[96];
    struct wake_stages s;
    char why[200];
    struct rng r;
    rng_init(&r, 1, 2);
    for (size_t i = 0; i < 96; i++)
        p[i] = (struct wake_point){(double)(i + 1), rng_log(&r, 0.06, 90)};
    assert_int_equal(wake_find(p, 96, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 1);
    assert_true(s.detectable_ratio > WAKE_SCATTERS);
    assert_int_equal(s.n_warnings, 1);
    assert_non_null(strstr(s.warning[0], "scatters so much"));
}

/* Readings of a clock with steps of 10 ns, of 25 ns, then of 50 ns: 20 and 30 mixed are one stage, of 20 to 30 ns. */
TEST(steps_of_the_clock_are_no_stages)
{
    struct wake_point p[96];
    struct wake_stages s;
    char why[200];
    for (size_t i = 0; i < 96; i++)
        p[i] = (struct wake_point){(double)(i + 1), i < 30 ? 0.02 : i < 60 ? 0.03 : 0.06};
    assert_int_equal(wake_find(p, 96, &s, why, sizeof why), 0);
    assert_int_equal(s.n, 3);
    wake_blur(&s, 0);
    assert_int_equal(s.n, 3);
    wake_blur(&s, 0.01);
    assert_int_equal(s.n, 2);
    assert_close(s.stage[0].first_us.value, 0.025, 1e-9);
    assert_close(s.stage[0].first_us.lo, 0.01, 1e-9);
    assert_close(s.stage[0].first_us.hi, 0.04, 1e-9);
    assert_int_equal(s.stage[0].n, 60);
    assert_close(s.stage[1].first_us.lo, 0.05, 1e-9);
    assert_true(s.stage[0].idle_to_us.value > 59 && s.stage[0].idle_to_us.value < 62);
}
