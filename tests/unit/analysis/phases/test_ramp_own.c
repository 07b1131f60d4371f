/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ramp that begins in each repetition at a time of its own: what is fitted is what was made. */
#include "analysis/phases/ramps/ramp_fit.h"
#include "tests/support/test.h"

enum { RUNS = 3, EACH = 60 };
static const double begins[RUNS] = {20, 20.9, 22.1};

struct made {
    size_t first[RUNS + 1];
    struct ramp_reading x[RUNS * EACH];
    struct ramp_readings readings;
    struct ramp_own fit;
    double begin[RUNS], rss[RUNS];
};

/* Means over 1 us from 2.4 to 2.8 GHz with 10 us, off by `noise` above and below by turns; sought from elsewhere. */
static void make_ramps(struct made *m, double noise, bool by_time)
{
    m->readings = (struct ramp_readings){RUNS, m->first, m->x, 1, by_time};
    for (size_t k = 0; k <= RUNS; k++)
        m->first[k] = k * EACH;
    for (size_t i = 0; i < RUNS * EACH; i++) {
        double from = (double)(i % EACH) - begins[i / EACH], to = from + 1;
        double held = ramp_decay_integral(to, 10) - ramp_decay_integral(from, 10);
        double ghz = 2.8 - 0.4 * held, off = i % 2 ? noise : -noise;
        m->x[i] = (struct ramp_reading){.from = (double)(i % EACH), .to = (double)(i % EACH) + 1};
        m->x[i].ghz = by_time ? 1 / (1 / ghz + off) : ghz + off;
    }
    m->fit.fit = (struct ramp_fit){.to = {2.7, 2.7, 2.7}, .from = {2.5, 2.5, 2.5}, .tau = {6, 6, 6}};
    m->fit.spread = 0;
    memcpy(m->begin, begins, sizeof begins);
}

static void expect_fit(const struct made *m, double within)
{
    assert_close(m->fit.fit.to.value, 2.8, within);
    assert_close(m->fit.fit.from.value, 2.4, within);
    assert_close(m->fit.fit.tau.value, 10, 50 * within);
    assert_close(m->fit.fit.rss, m->rss[0] + m->rss[1] + m->rss[2], 1e-9);
}

TEST(known_beginnings_stay_where_they_are)
{
    struct made m;
    for (int by_time = 0; by_time < 2; by_time++) {
        make_ramps(&m, 0, by_time);
        assert_int_equal(ramp_own_fit(&m.readings, true, &m.fit, m.begin, m.rss), 0);
        expect_fit(&m, 1e-6);
        assert_memory_equal(m.begin, begins, sizeof begins);
        assert_close(m.fit.fit.rss, 0, 1e-9);
        assert_close(m.fit.fit.begin.value, 21, 1e-9);
        assert_close(m.fit.fit.begin.lo, m.fit.fit.begin.hi, 0);
        assert_close(m.fit.parameters, 3, 0);
        assert_close(m.fit.spread, 0, 0);
    }
}

TEST(beginnings_are_found_with_the_ramp)
{
    struct made m;
    for (int by_time = 0; by_time < 2; by_time++) {
        make_ramps(&m, 0, by_time);
        for (size_t k = 0; k < RUNS; k++)
            m.begin[k] = 18;
        assert_int_equal(ramp_own_fit(&m.readings, false, &m.fit, m.begin, m.rss), 0);
        expect_fit(&m, 1e-4);
        for (size_t k = 0; k < RUNS; k++)
            assert_close(m.begin[k], begins[k], 1e-2);
        assert_close(m.fit.fit.begin.value, 21, 0.1);
        /* the standard deviation of what is found, and a parameter for each beginning */
        assert_close(m.fit.spread, sqrt((1 + 0.01 + 1.21) / 3), 1e-2);
        assert_close(m.fit.parameters, 4 + 3, 1e-2);
        assert_close(m.fit.fit.rss, 0, 1e-4);
    }
}

/* Noise of 10 MHz: limits hold what was made, and are as wide as the noise of so many readings makes them. */
TEST(limits_tell_the_noise)
{
    struct made m;
    for (int fixed = 0; fixed < 2; fixed++) {
        make_ramps(&m, 0.01, false);
        assert_int_equal(ramp_own_fit(&m.readings, fixed, &m.fit, m.begin, m.rss), 0);
        expect_fit(&m, 2e-3);
        assert_close(m.fit.fit.rss, RUNS * EACH * 1e-4, 2e-4);
        /* of the 61 readings before the beginnings alone */
        assert_close(estimate_half(&m.fit.fit.from), ESTIMATE_Z95 * 0.01 / sqrt(61), 3e-4);
        const struct estimate *tau = &m.fit.fit.tau;
        assert_true(tau->lo < 10 && tau->hi > 10 && tau->hi - tau->lo > 0.5 && tau->hi - tau->lo < 2);
        assert_true(fixed || m.fit.fit.begin.hi - m.fit.fit.begin.lo > 2 * 0.5);
    }
}

TEST(the_sum_of_squares_that_a_ramp_leaves)
{
    struct made m;
    for (int by_time = 0; by_time < 2; by_time++) {
        make_ramps(&m, 0, by_time);
        m.fit.fit.to.value = 2.9;
        m.fit.fit.from.value = 2.4;
        m.fit.fit.tau.value = 10;
        double all = 0, own[RUNS] = {0};
        for (size_t i = 0; i < RUNS * EACH; i++) {
            double from = m.x[i].from - begins[i / EACH];
            double held = ramp_decay_integral(from + 1, 10) - ramp_decay_integral(from, 10);
            double ghz = 2.9 - 0.5 * held, is = 2.8 - 0.4 * held;
            own[i / EACH] += pow(by_time ? ghz * (1 - ghz / is) : is - ghz, 2);
        }
        for (size_t k = 0; k < RUNS; k++)
            all += own[k];
        assert_close(ramp_own_rss(&m.readings, &m.fit, m.begin, m.rss), all, 1e-9);
        for (size_t k = 0; k < RUNS; k++)
            assert_close(m.rss[k], own[k], 1e-9);
    }
}

/* As many readings as are needed for the variance, or fewer: it is what they leave, not without limit. */
TEST(few_readings_have_limits)
{
    for (size_t n = 4; n <= 6; n++)
        for (int fixed = 0; fixed < 2; fixed++) {
            struct made m;
            make_ramps(&m, 0.01, false);
            m.readings.n_runs = 1;
            m.begin[0] = 0;
            m.first[1] = n;
            for (size_t i = 0; i < n; i++) {
                double held = ramp_decay_integral((double)i + 1, 2) - ramp_decay_integral((double)i, 2);
                m.x[i].ghz = 2.8 - 0.4 * held + (i % 2 ? 0.001 : -0.001);
            }
            m.fit.fit.tau.value = 2;
            int status = ramp_own_fit(&m.readings, fixed, &m.fit, m.begin, m.rss);
            /* with a freedom of one, or of none, the variance is the sum of squares; with two, half of it */
            double half = estimate_half(&m.fit.fit.to), variance = m.fit.fit.rss / fmax(1, (double)n - 4);
            assert_int_equal(status, 0);
            assert_true(m.fit.fit.rss > 1e-8 && isfinite(half));
            assert_true(half > ESTIMATE_Z95 * sqrt(variance / (double)n) && half < 10 * sqrt(variance));
        }
}
