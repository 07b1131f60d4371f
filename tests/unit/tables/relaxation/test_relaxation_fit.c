/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels, noise and ramps of made-up repetitions: what is found is what was made, to the digit. */
#include "analysis/phases/ramps/ramp_fit.h"
#include "tables/relaxation/relaxation_fit.h"
#include "tests/support/test.h"

static void begin_trace(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
}

static void add_reading(struct trace *t, unsigned run, double time_us, double ghz)
{
    assert_int_equal(trace_append(t, run, time_us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
    t->channel[TRACE_IPC][t->n - 1] = 2;
}

/* ---- the levels of several repetitions ---- */

/* Five repetitions of 300 us, each of which rises at `rise` from 2.4 GHz to a level of its own. */
static const char *levels_until(double rise, const double to_ghz[5], double to_us, struct relaxation_levels *out)
{
    struct trace t;
    struct sights_span span[5];
    begin_trace(&t);
    for (unsigned run = 0; run < 5; run++)
        for (unsigned i = 0; i <= 150; i++)
            add_reading(&t, run, 2 * i, 2 * i > rise ? to_ghz[run] : 2.4);
    for (unsigned run = 0; run < 5; run++)
        span[run] = sights_span(&t, run);
    const char *why = relaxation_levels(&t, span, 5, 0, to_us, out);
    trace_free(&t);
    return why;
}

static const char *levels_of(double rise, const double to_ghz[5], struct relaxation_levels *out)
{
    return levels_until(rise, to_ghz, 300, out);
}

TEST(the_fast_level_is_that_of_two_repetitions)
{
    struct relaxation_levels l;
    assert_null(levels_of(150, (double[]){2.8, 2.4, 3.2, 2.4, 2.8}, &l));
    assert_close(l.slow, 2.4, 1e-6);
    assert_close(l.fast, 2.8, 1e-6);
    assert_int_equal(l.rose, 3);
    assert_false(l.slight);
    /* the middle of those within 1 % of each other */
    assert_null(levels_of(150, (double[]){2.8, 2.4, 2.81, 2.79, 2.8}, &l));
    assert_close(l.fast, 2.8, 1e-6);
    assert_null(levels_of(150, (double[]){2.8, 2.4, 2.81, 2.4, 2.4}, &l));
    assert_close(l.fast, 2.805, 1e-6);
    assert_null(levels_of(150, (double[]){2.8, 2.8, 2.8, 2.8, 2.8}, &l));
    assert_int_equal(l.rose, 5);
    assert_non_null(strstr(levels_of(150, (double[]){2.6, 2.4, 2.8, 2.42, 2.5}, &l), "by less than 1 %"));
    assert_close(l.fast, 2.41, 1e-6);
    /* no samples at one of the ends */
    assert_string_equal(levels_until(150, (double[]){2.8, 2.8, 2.8, 2.8, 2.8}, 600, &l), "too few samples");
    /* one alone tells nothing; nor does less than 1 % */
    assert_string_equal(levels_of(150, (double[]){2.4, 2.4, 2.4, 2.4, 2.8}, &l), "the frequency does not rise");
    assert_false(l.slight);
    assert_int_equal(l.rose, 1);
    assert_null(levels_of(150, (double[]){2.425, 2.425, 2.425, 2.425, 2.425}, &l));
    assert_non_null(strstr(levels_of(150, (double[]){2.42, 2.42, 2.42, 2.42, 2.42}, &l), "by less than 1 %"));
    assert_true(l.slight);
    assert_string_equal(levels_of(150, (double[]){2.407, 2.407, 2.407, 2.407, 2.407}, &l),
                        "the frequency does not rise");
}

/* Levels are those of the first and the last 100 us, or of the first 20 us where that is less. */
TEST(levels_of_early_and_late_rises)
{
    const double to[5] = {2.8, 2.8, 2.8, 2.8, 2.8};
    struct relaxation_levels l;
    for (double rise = 20; rise < 250; rise += 20) {
        assert_null(levels_of(rise, to, &l));
        assert_close(l.slow, 2.4, 1e-6);
        assert_close(l.fast, 2.8, 1e-6);
    }
    assert_string_equal(levels_of(254, to, &l), "the frequency does not rise");
    assert_null(levels_of(246, to, &l));
    /* the middle of 5 to 20 us */
    assert_string_equal(levels_of(10, to, &l), "the frequency does not rise");
    assert_null(levels_of(14, to, &l));
    /* less than 1 % between the two is no early rise */
    levels_of(18, (double[]){2.42, 2.42, 2.42, 2.42, 2.42}, &l);
    assert_close(l.slow, 2.42, 1e-6);
}

/* ---- noise ---- */

/* Of one sample, in steps from 2.4 to 2.8 GHz. */
static double noise_of_samples(size_t n, const char *clock_step_ns)
{
    static const double ghz[] = {2.4, 2.4, 2.44};
    const struct relaxation_levels l = {.slow = 2.4, .fast = 2.8};
    struct relaxation_rise rise;
    struct trace t;
    begin_trace(&t);
    for (size_t i = 0; i <= n; i++)
        add_reading(&t, 0, 2 * (double)i, ghz[i]);
    assert_int_equal(clock_step_ns ? trace_set(&t, "clock_step_ns", clock_step_ns) : 0, 0);
    assert_int_equal(relaxation_find(&t, sights_span(&t, 0), 0, 300, &l, &rise), 0);
    trace_free(&t);
    return rise.noise;
}

TEST(noise_is_that_of_neighbours_or_of_the_clock)
{
    assert_true(isnan(noise_of_samples(1, NULL)));
    assert_true(isnan(noise_of_samples(1, "200")));
    assert_close(noise_of_samples(2, NULL), 1.4826022 * 0.04 / sqrt(2) / 0.4, 1e-6);
    assert_close(noise_of_samples(2, "1"), 1.4826022 * 0.04 / sqrt(2) / 0.4, 1e-6);
    assert_close(noise_of_samples(2, "200"), 0.1 / sqrt(6) * 2.4 / 0.4, 1e-6);
}

/* ---- samples ---- */

/* Of one whose frequency alone, or whose rate alone, was not measured nothing counts. */
TEST(what_was_half_measured_is_left_out)
{
    struct relaxation_window w;
    struct trace t;
    begin_trace(&t);
    for (unsigned i = 0; i <= 5; i++)
        add_reading(&t, 0, 2 * i, 2.4);
    t.channel[TRACE_FREQ][2] = NAN;
    t.channel[TRACE_IPC][4] = NAN;
    assert_int_equal(relaxation_window_open(&w, &t, sights_span(&t, 0), 0, 10), 0);
    trace_free(&t);
    assert_int_equal(w.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_close(w.begin[i], 4 * (double)i, 1e-9);
        assert_close(w.freq[i], 2.4, 1e-6);
        assert_close(w.rate[i], 4.8, 1e-6);
    }
    relaxation_window_close(&w);
}

/* ---- where a known ramp begins ---- */

enum { SAMPLES = 200 };
#define BEGIN_US 201.3
struct made {
    struct relaxation_window w;
    struct relaxation_ramp ramp;
    double begin[SAMPLES], end[SAMPLES], rate[SAMPLES], freq[SAMPLES], weight[SAMPLES], scratch[SAMPLES];
};

/* Samples of 2 us; 2.4 GHz, 20 % more after a ramp of 30 us (tau 0: at once), without noise. */
static void make_ramp(struct made *m, double tau, bool instant, bool by_rate)
{
    m->w = (struct relaxation_window){SAMPLES, m->begin, m->end, m->rate, m->freq, m->weight, m->scratch};
    m->ramp = (struct relaxation_ramp){
        .tau_us = {tau, tau, tau}, .instant = instant, .by_rate = by_rate, .gain = 0.2, .noise = 0.02, .left = 1};
    for (size_t i = 0; i < SAMPLES; i++) {
        m->begin[i] = 2 * (double)i;
        m->end[i] = m->begin[i] + 2;
        m->weight[i] = 1;
        double from = m->begin[i] - BEGIN_US, to = m->end[i] - BEGIN_US;
        double mean = 2.4 * (1.2 - 0.1 * (ramp_decay_integral(to, tau) - ramp_decay_integral(from, tau)));
        m->freq[i] = instant ? 2.4 * (1.2 - 0.2 * ramp_decay(to, tau)) : mean;
        m->rate[i] = 2 * mean;
    }
}

static double left_of_ramp(struct made *m, double within_us)
{
    double left, at = relaxation_ramp_begin(&m->w, BEGIN_US + 4, &m->ramp, &left);
    assert_close(at, BEGIN_US, within_us);
    return left;
}

TEST(a_known_ramp_is_found_where_it_begins)
{
    struct made m;
    for (int kind = 0; kind < 4; kind++) {
        make_ramp(&m, 30, kind & 1, kind & 2);
        assert_close(left_of_ramp(&m, 0.02), 0, 1e-4);
        /* neighbours a standard deviation apart on either side: a mean square of 1 */
        for (size_t i = 0; i < SAMPLES; i++) {
            m.freq[i] += 2.4 * 0.02 * (i % 2 ? 1 : -1);
            m.rate[i] += 4.8 * 0.02 * (i % 2 ? 1 : -1);
        }
        assert_close(left_of_ramp(&m, 0.5), 1, 0.03);
    }
}

/* No sample counts for more than four standard deviations; one of no weight, or with an interrupt, for nothing. */
TEST(wild_samples_hardly_move_a_ramp)
{
    struct made m;
    double left[3];
    for (int k = 0; k < 3; k++) {
        make_ramp(&m, 30, false, false);
        m.freq[128] += 2.4 * (k == 0 ? 0.06 : k == 1 ? 0.082 : 0.5);
        left[k] = left_of_ramp(&m, 0.4);
    }
    assert_true(left[0] > 0.1 && left[0] < 1);
    assert_close(left[1] / left[0], 16 / 9.0, 0.02);
    assert_close(left[2], left[1], 1e-3);
    make_ramp(&m, 30, false, false);
    m.freq[128] = 9;
    m.weight[128] = 0;
    assert_close(left_of_ramp(&m, 0.02), 0, 1e-4);
    make_ramp(&m, 30, false, false);
    m.freq[128] = 9;
    m.rate[128] = 1;
    assert_close(left_of_ramp(&m, 0.02), 0, 1e-4);
}

/* Of a long ramp as much is looked at as noise makes necessary: 150 us of this one, or 50 samples where there is little
 * noise. */
TEST(as_much_of_a_ramp_tells_as_noise_requires)
{
    struct made m;
    for (int noisy = 0; noisy < 2; noisy++) {
        make_ramp(&m, 100, false, false);
        m.ramp.noise = noisy ? 0.02 : 0.002;
        m.freq[180] = 9; /* 160 us behind the beginning, of which 36 are where it may lie */
        double left = left_of_ramp(&m, 2);
        assert_true(noisy ? left > 0.1 : left < 0.01);
    }
}
