/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of a reading of the timing machine, from handmade readings, and the values made of readings. No clock is
 * read. */
#include "drivers/timing/timing_chains.h"
#include "tests/support/test.h"

/* ---- the cost of a reading, from made readings ---- */

enum { MADE = 1024 };

static uint32_t random_state;

static double uniform(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) / 16777216.0;
}

/* Readings of a core at f(i) cycles a tick whose reads cost k cycles; the clock advances in steps of `step` ticks. */
static void make_readings_of(struct chain_raw *r, size_t n, bool steady, double k, double (*f)(size_t i), double step,
                             double jitter)
{
    random_state = 1;
    for (size_t i = 0; i < n; i++) {
        enum chain_kind kind = (steady ? CHAIN_STEADY_SHORT : CHAIN_SHORT) + (uniform() < 0.5);
        double cycles = chain_adds(kind) + k + jitter * (uniform() - 0.5);
        double begin = 2000.0 * (double)i + 100 * uniform();
        r[i].ended = 0;
        r[i].begin = (uint64_t)(floor(begin / step) * step);
        r[i].end = (uint64_t)(floor((begin + cycles / f(i)) / step) * step);
        r[i].word = chain_word(i, kind);
    }
}

static void make_readings(struct chain_raw *r, size_t n, double k, double (*f)(size_t i), double step, double jitter)
{
    make_readings_of(r, n, false, k, f, step, jitter);
}

static double steady(size_t i)
{
    (void)i;
    return 1.5;
}

static double falling(size_t i)
{
    return i < MADE / 2 ? 1.6 : 1.3;
}

TEST(test_cost_is_found_whatever_the_frequency)
{
    static struct chain_raw r[MADE];
    struct timing_cost c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &c), 0);
    assert_float_equal(c.cycles, 64, 0.6);
    assert_true(c.error > 0 && c.error < 0.6);
    assert_float_equal(c.ticks[0], (CHAIN_SHORT_ADDS + 64) / 1.5, 0.5);
    assert_float_equal(c.ticks[1], (CHAIN_LONG_ADDS + 64) / 1.5, 1);
    make_readings(r, MADE, 80, falling, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &c), 0);
    assert_float_equal(c.cycles, 80, 0.6);
}

TEST(test_clocks_choose_their_chains)
{
    struct chain_choice c = timing_choose_chains(1, 2e9, 1);
    assert_int_equal(c.dither, 3);
    assert_int_equal(c.steady_from, 4);     /* where samples of 1/4 us have become 4 us long */
    c = timing_choose_chains(26, 2.6e9, 1); /* 10 ns, Zen 4 */
    assert_int_equal(c.dither, 45);         /* one and a half steps at 3 GHz */
    assert_int_equal(timing_choose_chains(1, 2e9, 0.25).steady_from, 6);
    assert_int_equal(timing_choose_chains(1, 2e9, 14.9).steady_from, 1);
    assert_int_equal(timing_choose_chains(1, 2e9, 15).steady_from, 0);
    assert_int_equal(timing_choose_chains(1, 2e9, 250).steady_from, 0);
    /* a cost that is off by 16 cycles, as that of a core whose sibling has woken up, must not be seen as 1 % */
    assert_true(16 < 0.01 * chain_adds(CHAIN_STEADY_SHORT));
}

/* Clocks of 1, 10 and 25 ns a step: the steps even out, the error says how far, and readings of one median do. */
TEST(test_cost_from_a_coarse_clock)
{
    enum { N = 16 * MADE };
    static struct chain_raw r[N];
    static const double steps[] = {2.6, 26, 65};
    for (size_t i = 0; i < 3; i++) {
        struct timing_cost c;
        for (double k = 60; k < 75; k += 2.5) {
            make_readings_of(r, N, false, k, steady, steps[i], 3);
            assert_int_equal(timing_chain_cost(r, N, false, steps[i], &c), 0);
            if (!(fabs(c.cycles - k) < 4 * c.error && c.error < 0.04 * steps[i]))
                fail_msg("%g ticks a step: %.3f +- %.3f cycles instead of %.1f", steps[i], c.cycles, c.error, k);
        }
        /* of a repetition's few readings: worse, and it says so */
        make_readings_of(r, 160, false, 68, steady, steps[i], 3);
        assert_int_equal(timing_chain_cost(r, 160, false, steps[i], &c), 0);
        assert_true(fabs(c.cycles - 68) < 4 * c.error);
    }
}

TEST(test_interrupted_readings_do_not_count)
{
    static struct chain_raw r[MADE];
    struct timing_cost clean, c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &clean), 0);
    for (size_t i = 5; i < MADE; i += 37)
        r[i].end += 20000;
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &c), 0);
    assert_float_equal(c.cycles, clean.cycles, 0.5);
}

TEST(test_readings_that_make_no_sense_are_refused)
{
    static struct chain_raw r[MADE];
    struct timing_cost c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, 90, false, 1, &c), -1);
    assert_int_equal(timing_chain_cost(r, 0, false, 1, &c), -1);
    for (size_t i = 0; i < MADE; i++)
        r[i].word ^= CHAIN_SHORT ^ CHAIN_LONG; /* the long ones are shorter */
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &c), -1);
    for (size_t i = 0; i < MADE; i++)
        r[i].word = chain_word(i, CHAIN_SHORT); /* no long ones */
    assert_int_equal(timing_chain_cost(r, MADE, false, 1, &c), -1);
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, true, 1, &c), -1); /* of the other lengths there are none */
}

/* The last readings count, those with chains among them; where too few are there, what was known stays. */
TEST(test_cost_is_followed)
{
    static struct timing_lately lately;
    static struct chain_raw r[MADE];
    struct timing_cost c = {.cycles = 1};
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_follow(&lately, r, 50, false, 1, &c), -1);
    assert_true(c.cycles == 1);
    for (size_t i = 0; i < MADE; i += 4)
        r[i].word = chain_word(i, CHAIN_NONE);
    assert_int_equal(timing_follow(&lately, r, MADE, false, 1, &c), 0);
    assert_int_equal(lately.n, 50 + MADE - MADE / 4);
    assert_float_equal(c.cycles, 64, 0.6);
    make_readings(r, MADE, 80, steady, 1, 3); /* the other hyper-thread has woken up */
    for (size_t i = 0; i < TIMING_LATELY / MADE; i++)
        assert_int_equal(timing_follow(&lately, r, MADE, false, 1, &c), 0);
    assert_float_equal(c.cycles, 80, 0.6);
}

/* About one reading in four has a chain, of either length, and of the longest ones where samples have grown. */
TEST(test_readings_with_chains)
{
    static struct chain_raw r[4 * MADE];
    for (unsigned doubled = 0; doubled < 3; doubled++) {
        struct chain_reader reader = {.out = r, .random = 12345, .choice = {.steady_from = 2, .dither = 45}};
        size_t count[CHAIN_STEADY_LONG + 1] = {0};
        uint64_t before = 0;
        for (size_t i = 0; i < 4 * MADE; i++) {
            uint64_t end = chain_read(&reader, i, 7 * i, doubled);
            enum chain_kind kind = chain_kind_of(&r[i]);
            count[kind]++;
            assert_int_equal(chain_blocks(&r[i]), 7 * i);
            assert_true(r[i].end == end && r[i].end >= r[i].begin && r[i].begin >= r[i].ended && r[i].ended >= before);
            assert_true(kind != CHAIN_NONE || (r[i].end == r[i].begin && r[i].begin == r[i].ended));
            before = end;
        }
        assert_in_range(count[CHAIN_NONE], 2.8 * MADE, 3.2 * MADE);
        for (unsigned k = 0; k < 4; k++) {
            size_t n = count[CHAIN_SHORT + k];
            if (k / 2 == doubled / 2)
                assert_in_range(n, 0.4 * MADE, 0.6 * MADE);
            else
                assert_int_equal(n, 0);
        }
    }
}
