/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reading of the timing machine costs, from made readings, and what readings are made into. No clock is read. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/timing/timing_calibrate.h"
#include "tests/support/golden.h"

/* ---- the cost of a reading, from made readings ---- */

enum { MADE = 1024 };

static uint32_t random_state;

static double uniform(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) / 16777216.0;
}

static const struct timing_chains fine = {{CHAIN_SHORT_ADDS, CHAIN_LONG_ADDS}, 8, 3};

/* Readings of a core at f(i) cycles a tick whose reads cost k cycles; the clock advances in steps of `step` ticks. */
static void make_readings_of(struct timing_raw *r, size_t n, const struct timing_chains *chains, double k,
                             double (*f)(size_t i), double step, double jitter)
{
    random_state = 1;
    for (size_t i = 0; i < n; i++) {
        bool is_long = i % chains->turns == 0;
        double cycles = chains->adds[is_long] + k + jitter * (uniform() - 0.5);
        double begin = 2000.0 * (double)i + 100 * uniform();
        r[i].begin = (uint64_t)(floor(begin / step) * step);
        r[i].end = (uint64_t)(floor((begin + cycles / f(i)) / step) * step);
        r[i].blocks = 2 * i + is_long;
    }
}

static void make_readings(struct timing_raw *r, size_t n, double k, double (*f)(size_t i), double step, double jitter)
{
    make_readings_of(r, n, &fine, k, f, step, jitter);
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

static void test_cost_is_found_whatever_the_frequency(void **state)
{
    (void)state;
    static struct timing_raw r[MADE];
    struct timing_cost c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &c), 0);
    assert_float_equal(c.cycles, 64, 0.6);
    assert_true(c.error > 0 && c.error < 0.6);
    assert_float_equal(c.ticks[0], (CHAIN_SHORT_ADDS + 64) / 1.5, 0.5);
    assert_float_equal(c.ticks[1], (CHAIN_LONG_ADDS + 64) / 1.5, 1);
    make_readings(r, MADE, 80, falling, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &c), 0);
    assert_float_equal(c.cycles, 80, 0.6);
}

static void test_clocks_choose_their_chains(void **state)
{
    (void)state;
    struct timing_chains c = timing_choose_chains(1, 2e9, 1);
    assert_int_equal(c.adds[0], CHAIN_SHORT_ADDS);
    assert_int_equal(c.dither, 3);
    c = timing_choose_chains(26, 2.6e9, 1); /* 10 ns, Zen 4 */
    assert_int_equal(c.adds[0], CHAIN_LONG_ADDS);
    assert_int_equal(c.adds[1], CHAIN_LONGEST_ADDS);
    assert_int_equal(c.dither, 45); /* one and a half steps at 3 GHz */
    c = timing_choose_chains(1, 2e9, 4.9);
    assert_int_equal(c.adds[0], CHAIN_SHORT_ADDS);
    c = timing_choose_chains(1, 2e9, 5);
    assert_int_equal(c.adds[0], CHAIN_LONG_ADDS);
    assert_false(timing_chains_steady(&c));
    /* a cost that is off by 16 cycles, as that of a core whose sibling has woken up, must not be seen as 1 % */
    c = timing_choose_chains(1, 2e9, 20);
    assert_true(timing_chains_steady(&c) && timing_probe_us(&c) * 2000 > (c.adds[0] * 3 + c.adds[1]) / 4.0);
    assert_true(16 < 0.01 * c.adds[0]);
    c = timing_choose_chains(26, 2.6e9, 15);
    assert_int_equal(c.adds[1], CHAIN_STEADY_LONG_ADDS);
    assert_int_equal(c.dither, 45);
}

/* Clocks of 1, 10 and 25 ns a step: the steps even out, the error says how far, and readings of one median do. */
static void test_cost_from_a_coarse_clock(void **state)
{
    (void)state;
    enum { N = 16 * MADE };
    static struct timing_raw r[N];
    static const double steps[] = {2.6, 26, 65};
    for (size_t i = 0; i < 3; i++) {
        struct timing_chains chains = timing_choose_chains(steps[i], 2.6e9, 1);
        struct timing_cost c;
        for (double k = 60; k < 75; k += 2.5) {
            make_readings_of(r, N, &chains, k, steady, steps[i], 3);
            assert_int_equal(timing_chain_cost(r, N, &chains, steps[i], &c), 0);
            if (!(fabs(c.cycles - k) < 4 * c.error && c.error < 0.04 * steps[i]))
                fail_msg("%g ticks a step: %.3f +- %.3f cycles instead of %.1f", steps[i], c.cycles, c.error, k);
        }
        /* of a repetition's few readings: worse, and it says so */
        make_readings_of(r, 160, &chains, 68, steady, steps[i], 3);
        assert_int_equal(timing_chain_cost(r, 160, &chains, steps[i], &c), 0);
        assert_true(fabs(c.cycles - 68) < 4 * c.error);
    }
}

static void test_interrupted_readings_do_not_count(void **state)
{
    (void)state;
    static struct timing_raw r[MADE];
    struct timing_cost clean, c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &clean), 0);
    for (size_t i = 5; i < MADE; i += 37)
        r[i].end += 20000;
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &c), 0);
    assert_float_equal(c.cycles, clean.cycles, 0.5);
}

static void test_readings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static struct timing_raw r[MADE];
    struct timing_cost c;
    make_readings(r, MADE, 64, steady, 1, 3);
    assert_int_equal(timing_chain_cost(r, 90, &fine, 1, &c), -1);
    assert_int_equal(timing_chain_cost(r, 0, &fine, 1, &c), -1);
    for (size_t i = 0; i < MADE; i++)
        r[i].blocks ^= 1; /* the long ones are shorter */
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &c), -1);
    for (size_t i = 0; i < MADE; i++)
        r[i].blocks &= ~1ull; /* no long ones */
    assert_int_equal(timing_chain_cost(r, MADE, &fine, 1, &c), -1);
}

static void test_cost_is_followed_by_what_is_known(void **state)
{
    (void)state;
    struct timing_cost known = {.cycles = 64, .error = 0.2}, seen = {.cycles = 64.4, .error = 0.2};
    timing_cost_follow(&known, &seen);
    assert_true(known.cycles > 64.2 && known.cycles < 64.25 && known.error < 0.2);
    seen.cycles = 80; /* the other hyper-thread */
    timing_cost_follow(&known, &seen);
    assert_float_equal(known.cycles, 80, 1e-9);
    seen = (struct timing_cost){.cycles = 70, .error = 3}; /* from few readings of a coarse clock */
    timing_cost_follow(&known, &seen);
    assert_true(known.cycles > 76 && known.cycles < 80);
    seen = (struct timing_cost){.cycles = 78, .error = 3}; /* no farther off than it is uncertain */
    known = (struct timing_cost){.cycles = 80, .error = 0.2};
    timing_cost_follow(&known, &seen);
    assert_true(known.cycles > 79.9 && known.cycles < 80 && known.wander < 1e-9);
}

/* As neighbours of an Emerald Rapids guest made it: too uncertain for a jump, too far for noise. */
static void test_cost_that_wanders_is_the_one_seen(void **state)
{
    (void)state;
    static const double kinds[] = {49, 60, 57, 49, 75, 60, 49, 75, 57, 60};
    struct timing_cost known = {.cycles = 49, .error = 0.2};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct timing_cost seen = {.cycles = kinds[i], .error = 1.5};
        timing_cost_follow(&known, &seen);
        if (i > 0 && !(fabs(known.cycles - kinds[i]) < 3 && known.error > 1 && known.error < 1.5))
            fail_msg("%zu: %.1f +- %.1f instead of %.1f", i, known.cycles, known.error, kinds[i]);
    }
    for (size_t i = 0; i < 40; i++) { /* it rests again, and many repetitions know it better than one */
        struct timing_cost seen = {.cycles = i % 2 == 0 ? 63 : 65, .error = 1};
        timing_cost_follow(&known, &seen);
    }
    if (!(fabs(known.cycles - 64) < 0.3 && known.error < 0.4))
        fail_msg("%.2f +- %.2f instead of 64", known.cycles, known.error);
}

/* ---- exactly ---- */

static void write_chains(FILE *out)
{
    static const double steps[] = {1, 3.99, 4, 20, 50}, periods[] = {1, 4.99, 5, 14.99, 15, 100};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (size_t k = 0; k < sizeof periods / sizeof *periods; k++) {
            struct timing_chains c = timing_choose_chains(steps[i], 2e9, periods[k]);
            char text[200] = "fine";
            bool coarse = timing_steps_text(steps[i], 2e9, 300, text, sizeof text);
            fprintf(out,
                    "step %g, period %g us: %u %u adds, %u turns, dither %u, steady %d coarse %d, probe %g us: %d %s\n",
                    steps[i], periods[k], c.adds[0], c.adds[1], c.turns, c.dither, timing_chains_steady(&c),
                    timing_chains_coarse(&c), timing_probe_us(&c), coarse, k == 0 ? text : "");
        }
}

static void write_costs(FILE *out)
{
    static const size_t sizes[] = {0, 95, 96, 128, 383, 384, 1000, MADE};
    static struct timing_raw r[MADE];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned kind = 0; kind < 4; kind++) {
            struct timing_chains chains = timing_choose_chains(kind & 1 ? 26 : 1, 2.6e9, kind & 2 ? 20 : 1);
            struct timing_cost c = {.cycles = 0};
            double step = kind & 1 ? 26 : 1;
            make_readings_of(r, MADE, &chains, 64, falling, step, 3);
            for (size_t k = 11; k < MADE && kind >= 2; k += 37)
                r[k].end += 300 * (1 + k % 5); /* disturbed, some of them little */
            for (size_t k = 256; k < 384 && kind == 3; k++)
                r[k].end += r[k].blocks & 1 ? 40 : 0; /* a window in which the long ones alone were slower */
            int status = timing_chain_cost(r, sizes[i], &chains, step, &c);
            if (status != 0)
                fprintf(out, "%zu of kind %u: refused\n", sizes[i], kind);
            else
                fprintf(out, "%zu of kind %u: %.9f +- %.9f, %.9f %.9f\n", sizes[i], kind, c.cycles, c.error, c.ticks[0],
                        c.ticks[1]);
        }
}

static void write_followed(FILE *out)
{
    static const struct timing_cost seen[] = {
        {64.4, 0.2, {100, 400}, 0}, {65.5, 0.2, {101, 401}, 0}, {67.5, 0.2, {102, 402}, 0}, {90, 1, {103, 403}, 0},
        {90, 0.99, {104, 404}, 0},  {80, 3, {105, 405}, 0},     {80, 1.5, {106, 406}, 0},   {81, 1.5, {107, 407}, 0},
        {81, 1.5, {108, 408}, 0},   {81, 1.5, {109, 409}, 0},   {60, 1.5, {110, 410}, 0},   {61, 0.1, {111, 411}, 0}};
    struct timing_cost known = {.cycles = 64, .error = 0.2};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        timing_cost_follow(&known, &seen[i]);
        fprintf(out, "after %g +- %g: %.9f +- %.9f, wander %.9f, ticks %g %g\n", seen[i].cycles, seen[i].error,
                known.cycles, known.error, known.wander, known.ticks[0], known.ticks[1]);
    }
}

static void write_words(FILE *out)
{
    static const struct counter_spec counters[] = {
        {COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}, {COUNTER_CYCLES, 0}};
    struct timing_clock clock = {.hz = 2.6e9, .step = 26, .chains = fine};
    struct timing_sums sums = {0, 0, 0};
    for (uint64_t round = 0; round < 30; round += round < 2 ? 1 : 24) {
        clock.round = round;
        for (unsigned i = 0; i < 4; i++) {
            uint64_t words[6];
            struct timing_raw r = {
                .begin = 1000003 + 777 * i, .end = 1000203 + 777 * i, .blocks = chain_word(5 + i, i & 1, 37 + i)};
            timing_round(&clock, &r, 1);
            timing_words(&r, &fine, 64.25, 1000, 120, counters, 4, &sums, words);
            fprintf(out, "rounded to %" PRIu64 ": %" PRIu64 " %" PRIu64 " %" PRIu64 " wait %" PRIu64 " |", round,
                    r.begin, r.end, timing_blocks(&r), chain_wait(r.blocks));
            for (size_t k = 0; k < 6; k++)
                fprintf(out, " %" PRId64, (int64_t)words[k]);
            fputc('\n', out);
        }
    }
}

static void test_costs_are_golden(void **state)
{
    (void)state;
    struct golden g;
    FILE *out = golden_begin(&g);
    write_chains(out);
    write_costs(out);
    write_followed(out);
    write_words(out);
    golden_expect(&g, "machine/chain-cost", "txt", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_is_found_whatever_the_frequency),
        cmocka_unit_test(test_clocks_choose_their_chains),
        cmocka_unit_test(test_cost_from_a_coarse_clock),
        cmocka_unit_test(test_interrupted_readings_do_not_count),
        cmocka_unit_test(test_readings_that_make_no_sense_are_refused),
        cmocka_unit_test(test_cost_is_followed_by_what_is_known),
        cmocka_unit_test(test_cost_that_wanders_is_the_one_seen),
        cmocka_unit_test(test_costs_are_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
