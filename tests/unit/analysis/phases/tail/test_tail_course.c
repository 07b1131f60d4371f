/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The course of clock and rate, by series of repetitions made by hand. */
#include "analysis/phases/tail/tail.h"
#include "tests/support/test.h"

/* ---- series made by hand ---- */

enum { RUNS_MOST = 8, SERIES_BINS = 60 };

/* Repetitions that all run as curve(time) does, times 1 + noise above and below by turns, in bins of 10 us. */
struct made {
    struct tail_series s;
    double time[SERIES_BINS], value[TAIL_COURSES][RUNS_MOST * SERIES_BINS];
    double curve[TAIL_COURSES][SERIES_BINS];
};

static void make_series(struct made *m, size_t runs, size_t bins, double (*curve)(double us), double noise)
{
    m->s = (struct tail_series){.n_runs = runs, .n_bins = bins, .time = m->time};
    for (int c = 0; c < TAIL_COURSES; c++) {
        m->s.value[c] = m->value[c];
        m->s.curve[c] = m->curve[c];
    }
    for (size_t b = 0; b < bins; b++) {
        m->time[b] = 10 * (double)b + 5;
        for (int c = 0; c < TAIL_COURSES; c++) {
            m->curve[c][b] = curve(m->time[b]);
            for (size_t k = 0; k < runs; k++)
                m->value[c][k * bins + b] = m->curve[c][b] * (1 + ((b + k) % 2 ? noise : -noise));
        }
    }
}

/* The rate of one repetition is another one. */
static void remake_run(struct made *m, size_t run, double (*curve)(double us), double noise)
{
    for (size_t b = 0; b < m->s.n_bins; b++)
        m->value[TAIL_RATE][run * m->s.n_bins + b] = curve(m->time[b]) * (1 + (b % 2 ? noise : -noise));
}

static struct tail_course described(const struct made *m, int c, bool instant)
{
    struct tail x = {.instant = instant};
    assert_int_equal(tail_describe(&m->s, c, &x), 0);
    return x.course[c];
}

static double steadily(double us)
{
    (void)us;
    return 2;
}

static double lower(double us)
{
    (void)us;
    return 1.6;
}

static double ramping(double us)
{
    return 2 - 0.4 * exp(-us / 80);
}

static double ramping_later(double us)
{
    return us < 200 ? 1.6 : 2 - 0.4 * exp(-(us - 200) / 80);
}

static double step_size;
static double stepping(double us)
{
    return us < 300 ? 2 : 2 * (1 + step_size);
}

/* To twice as much of a change, and back by half of it. */
static double overshooting(double us)
{
    return us < 200 ? 2 : us < 400 ? 2 * (1 + 2 * step_size) : 2 * (1 + step_size);
}

TEST(fewer_bins_than_two_dozen_tell_nothing)
{
    struct made m;
    make_series(&m, 4, 30, steadily, 0.001);
    m.s.half[TAIL_RATE] = 0.01;
    for (size_t b = 0; b < 6; b++) /* without a value, or without a time */
        *(b % 2 ? &m.time[3 * b] : &m.curve[TAIL_RATE][3 * b]) = NAN;
    struct tail_course c = described(&m, TAIL_RATE, false);
    assert_int_equal(c.kind, TAIL_CONSTANT);
    assert_true(c.from.value == 2 && c.to.value == 2 && c.runs == 4 && c.half == 0.01);
    assert_close(c.to.hi, 2.02, 1e-12);
    m.curve[TAIL_RATE][29] = NAN;
    c = described(&m, TAIL_RATE, false);
    assert_int_equal(c.kind, TAIL_MISSING);
    assert_true(isnan(c.from.value) && isnan(c.to.value));
}

TEST(a_ramp_is_described_as_it_was_made)
{
    struct made m;
    for (size_t runs = 1; runs <= RUNS_MOST; runs *= 2)
        for (int later = 0; later < 2; later++) {
            make_series(&m, runs, SERIES_BINS, later ? ramping_later : ramping, 0.002);
            struct tail_course c = described(&m, TAIL_RATE, false);
            assert_int_equal(c.kind, TAIL_RAMP);
            assert_close(c.tau.value, 80, 1);
            assert_true(c.tau.lo < 80 && c.tau.hi > 80 && c.tau.hi < 80 * 1.1);
            assert_close(c.from.value, 1.6, 0.01);
            assert_close(c.to.value, 2, 0.005);
            assert_close(c.begin.value, later ? 200 : 0, later ? 3 : 0);
            assert_true(c.begin.lo <= (later ? 200 : 0) && c.begin.hi >= (later ? 200 : 0));
            assert_int_equal(c.runs, runs);
        }
}

/* Of few repetitions all must show it; of more most, alike. */
TEST(what_few_repetitions_do_is_not_of_all)
{
    struct made m;
    for (size_t runs = 3; runs <= 4; runs++) {
        make_series(&m, runs, SERIES_BINS, ramping, 0.002);
        remake_run(&m, 1, steadily, 0.002);
        assert_int_not_equal(described(&m, TAIL_RATE, false).kind, TAIL_RAMP);
        remake_run(&m, 1, lower, 0.002); /* as before the ramp, throughout */
        assert_int_not_equal(described(&m, TAIL_RATE, false).kind, TAIL_RAMP);
    }
    step_size = 0.1;
    make_series(&m, 3, SERIES_BINS, stepping, 0.002);
    remake_run(&m, 1, steadily, 0.002);
    assert_int_equal(described(&m, TAIL_RATE, false).kind, TAIL_CONSTANT);
}

static double by_three_percent(double us)
{
    return us < 300 ? 100 : 103;
}

/* Of the rate, 3 %. */
TEST(just_as_much_as_is_told_is_enough)
{
    struct made m;
    make_series(&m, 4, SERIES_BINS, by_three_percent, 0.0001);
    assert_int_equal(described(&m, TAIL_RATE, false).kind, TAIL_STEP);
}

/* By chains a smaller change of the frequency is one than by cycles, and either than of the rate. */
TEST(changes_are_those_that_exceed_what_is_unseen)
{
    const struct {
        int c;
        bool instant;
        double least;
    } cases[] = {{TAIL_FREQ, true, 0.004}, {TAIL_FREQ, false, 0.01}, {TAIL_RATE, true, 0.03}, {TAIL_RATE, false, 0.03}};
    struct made m;
    for (size_t i = 0; i < 4; i++)
        for (int up = -1; up <= 1; up += 2)
            for (int enough = 0; enough < 2; enough++) {
                step_size = up * cases[i].least * (enough ? 1.01 : 0.99);
                make_series(&m, 4, SERIES_BINS, stepping, 0.0001);
                struct tail_course c = described(&m, cases[i].c, cases[i].instant);
                assert_int_equal(c.kind, enough ? TAIL_STEP : TAIL_CONSTANT);
                if (enough) {
                    assert_close(c.from.value, 2, 1e-3);
                    assert_close(c.to.value, 2 * (1 + step_size), 1e-3);
                    assert_true(c.begin.value == 300 && c.begin.lo <= 290 && c.begin.hi >= 310 && c.runs == 4);
                }
                make_series(&m, 4, SERIES_BINS, overshooting, 0.0001);
                c = described(&m, cases[i].c, cases[i].instant);
                assert_int_equal(c.kind, enough ? TAIL_MOVES : TAIL_CONSTANT);
                assert_close(c.to.value / c.from.value - 1, enough ? step_size : 0, 1e-3);
                assert_int_equal(c.runs, 4);
            }
}
