/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the metadata say of how a frequency was read, and means of such readings: worked out by hand. */
#include "analysis/phases/repetitions/clock.h"
#include "tests/support/test.h"

/* Two repetitions of five samples of 2 us, 3 GHz but for one without a frequency and one of 0. */
static void make_trace(struct trace *t)
{
    static const float ghz[] = {3, NAN, 3, 0, 3, 2, 3, 4, 3, 3};
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ), 0);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(trace_append(t, i / 5, i % 5 * 2.0 - 100 * (i / 5)), 0);
        t->channel[TRACE_FREQ][i] = ghz[i];
    }
}

static struct clock_reading with(const char *const keys[][2])
{
    struct trace t;
    make_trace(&t);
    for (size_t i = 0; keys[i][0]; i++)
        assert_int_equal(trace_set(&t, keys[i][0], keys[i][1]), 0);
    struct clock_reading r = clock_reading_of(&t);
    trace_free(&t);
    return r;
}

static void expect_reading(struct clock_reading r, bool instant, double quantum, double reading_us, double error)
{
    assert_int_equal(r.instant, instant);
    assert_close(r.quantum, quantum, 1e-7);
    assert_close(r.reading_us, reading_us, 1e-7);
    assert_close(r.error, error, 1e-7);
}

TEST(what_the_metadata_say)
{
    static const char *const none[][2] = {{0}};
    static const char *const mean[][2] = {{"frequency", "mean"}, {"reading_us", "0.1"}, {0}};
    /* cycles are counted: a step is a part of a sample, 10 ns of 2 us */
    static const char *const steps[][2] = {{"clock_step_ns", "10"}, {0}};
    static const char *const whole[][2] = {{"clock_step_ns", "2000"}, {0}};
    static const char *const bad[][2] = {{"clock_step_ns", "10 ns"}, {0}};
    static const char *const negative[][2] = {{"clock_step_ns", "-10"}, {0}};
    expect_reading(with(none), false, 0, 0, 0);
    expect_reading(with(mean), false, 0, 0, 0);
    expect_reading(with(steps), false, 0.005, 0, 0);
    expect_reading(with(whole), false, 0, 0, 0);
    expect_reading(with(bad), false, 0, 0, 0);
    expect_reading(with(negative), false, 0, 0, 0);
    /* a chain of 300 cycles takes 100 ns */
    static const char *const chain[][2] = {{"frequency", "instantaneous"}, {"clock_step_ns", "10"},
                                           {"chain_cycles", "300"},        {"reading_us", "0.25"},
                                           {"frequency_error", "0.5"},     {0}};
    static const char *const bare[][2] = {{"frequency", "instantaneous"}, {0}};
    static const char *const wild[][2] = {{"frequency", "instantaneous"}, {"clock_step_ns", "100"},
                                          {"chain_cycles", "300"},        {"reading_us", "0"},
                                          {"frequency_error", "1"},       {0}};
    expect_reading(with(chain), true, 0.1, 0.25, 0.5);
    expect_reading(with(bare), true, 0, 0, 0);
    expect_reading(with(wild), true, 0, 0, 0);
}

/* A recording of one switch need not number its repetitions; --analyze once crashed where such a one told a step. */
TEST(one_recording_without_numbers)
{
    struct trace t;
    trace_init(&t);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(trace_append(&t, 0, i * 2.0), 0);
    assert_int_equal(trace_set(&t, "clock_step_ns", "10"), 0);
    expect_reading(clock_reading_of(&t), false, 0.005, 0, 0);
    trace_free(&t);
}

/* Of a long recording a thousand samples tell; the first of each four here. */
TEST(a_long_recording_is_sampled)
{
    enum { N = 3003 };
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ), 0);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(trace_append(&t, 0, i % 4 == 1 && i > 1 ? 4 * i : 4 * i - 1), 0);
        t.channel[TRACE_FREQ][i] = i % 4 || i == 0 ? 3 : 2;
    }
    /* 5 us to samples 5, 9, ... but 4 us to the first of them */
    assert_int_equal(trace_set(&t, "clock_step_ns", "20"), 0);
    expect_reading(clock_reading_of(&t), false, 0.004, 0, 0);
    assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
    assert_int_equal(trace_set(&t, "chain_cycles", "400"), 0);
    expect_reading(clock_reading_of(&t), true, 0.1, 0, 0);
    trace_free(&t);
}

/* Of repetitions of two samples, 2 us apart, each the first with no frequency and the other with less than 1 GHz. */
TEST(what_lies_between_repetitions_is_no_sample)
{
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ), 0);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(trace_append(&t, i / 2, i % 2 ? 2 : 0), 0);
        t.channel[TRACE_FREQ][i] = i % 2 ? 0.8F : 0;
    }
    assert_int_equal(trace_set(&t, "clock_step_ns", "10"), 0);
    expect_reading(clock_reading_of(&t), false, 0.005, 0, 0);
    assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
    assert_int_equal(trace_set(&t, "chain_cycles", "80"), 0);
    expect_reading(clock_reading_of(&t), true, 0.1, 0, 0);
    trace_free(&t);
}

TEST(noise_and_uncertainty_of_steps)
{
    const struct clock_reading r = {.instant = true, .quantum = 0.1, .error = 0.001};
    assert_close(clock_noise(&r), 0.1 / sqrt(6), 1e-9);
    assert_close(clock_uncertainty(&r), hypot(0.001, 0.003 / M_PI), 1e-9);
    assert_true(clock_same_factor(0.1, 0.134) && clock_same_factor(0.1, 0.066));
    assert_false(clock_same_factor(0.1, 0.136) || clock_same_factor(0.1, 0.064));
    assert_true(clock_same_factor(-0.1, -0.134));
    assert_false(clock_same_factor(-0.1, -0.136) || clock_same_factor(-0.1, 0.1));
}

/* Of nine values and three that are none: times of 0.3 ns, one a step more, one out of range. */
static double centre_of(const struct clock_reading *r, enum trace_channel c, bool middle)
{
    double x[12] = {0.3, 0.3, 0.36, 0.3, 0.3, 0.4, 0.3, 0.3, 0.3, 0, -1, NAN}, scratch[12];
    size_t n = c == TRACE_FREQ ? 12 : 9;
    for (size_t i = 0; i < n && c == TRACE_FREQ; i++)
        x[i] = x[i] > 0 ? 1 / x[i] : x[i];
    return (middle ? clock_middle : clock_centre)(r, c, x, n, scratch);
}

TEST(centres_are_those_of_times)
{
    const struct clock_reading chain = {.instant = true, .quantum = 0.1}, counted = {.quantum = 0.1},
                               chain_alone = {.instant = true}, free_of_steps = {0};
    const double in_steps = 2.46 / 8, alone = 0.3; /* the next step is no outlier, or it is */
    for (int middle = 0; middle < 2; middle++) {
        assert_close(centre_of(&chain, TRACE_FREQ, middle), 1 / in_steps, 1e-9);
        assert_close(centre_of(&chain, TRACE_IPC, middle), in_steps, 1e-9);
        assert_close(centre_of(&chain, TRACE_VOLTS, middle), alone, 1e-9);
        assert_close(centre_of(&counted, TRACE_FREQ, middle), 1 / in_steps, 1e-9);
        assert_close(centre_of(&counted, TRACE_IPC, middle), alone, 1e-9);
        assert_close(centre_of(&chain_alone, TRACE_FREQ, middle), 1 / alone, 1e-9);
    }
    /* below 1 GHz, too */
    double scratch[8];
    assert_close(clock_centre(&chain, TRACE_FREQ, (double[]){0.5, 0.8, 0.8}, 3, scratch), 0.8, 1e-9);
    assert_close(clock_centre(&counted, TRACE_FREQ, (double[]){0.5, 0.8, 0.8}, 3, scratch), 0.8, 1e-9);
    /* where no clock goes in steps the middle is the median */
    assert_close(clock_centre(&free_of_steps, TRACE_FREQ, (double[]){3, 3.03, 3.09}, 3, scratch),
                 3 / (1 / 3.0 + 1 / 3.03 + 1 / 3.09), 1e-9);
    assert_close(clock_middle(&free_of_steps, TRACE_FREQ, (double[]){3, 3.03, 3.09}, 3, scratch), 3.03, 1e-9);
    assert_close(clock_middle(&free_of_steps, TRACE_VOLTS, (double[]){3, 3.03, 3.09}, 3, scratch), 3.03, 1e-9);
    assert_close(clock_centre(&free_of_steps, TRACE_VOLTS, (double[]){3, 3.03, 3.09}, 3, scratch), 3.04, 1e-9);
    /* beside steps, four standard deviations, of 1.4826 * 0.01, are no outlier either */
    const struct clock_reading fine = {.instant = true, .quantum = 1e-6};
    double near[] = {1, 1, 1.01, 0.99, 1.01, 0.99, 1.059}, far[] = {1, 1, 1.01, 0.99, 1.01, 0.99, 1.06};
    assert_close(clock_centre(&fine, TRACE_IPC, near, 7, scratch), 1 + 0.059 / 7, 1e-9);
    assert_close(clock_centre(&fine, TRACE_IPC, far, 7, scratch), 1, 1e-9);
}

TEST(the_middle_between_two_times)
{
    struct trace t;
    double scratch[20];
    make_trace(&t);
    /* after 0 and not after 8: none, 3, 0, 3; of the other repetition, from -100 on: 2, 3, 4, 3, 3 */
    assert_close(clock_middle_between(&t, TRACE_FREQ, 0, 5, 0, 8, scratch), 3, 1e-9);
    assert_close(clock_middle_between(&t, TRACE_FREQ, 5, 10, -101, -96, scratch), 3, 1e-9);
    assert_close(clock_middle_between(&t, TRACE_FREQ, 5, 10, -100, -96, scratch), 3.5, 1e-9);
    assert_close(clock_middle_between(&t, TRACE_FREQ, 5, 6, -101, -96, scratch), 2, 1e-9);
    assert_true(isnan(clock_middle_between(&t, TRACE_FREQ, 1, 2, 0, 8, scratch)));
    assert_true(isnan(clock_middle_between(&t, TRACE_IPC, 0, 10, -200, 200, scratch)));
    trace_free(&t);
}
