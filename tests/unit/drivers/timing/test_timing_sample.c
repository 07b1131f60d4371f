/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop on made payloads: functions that take as many ticks a block as the test wants. Only the counts and
 * the order of readings are asserted for each reading; times are asserted of the middle of many, because a test may be
 * interrupted at any moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/native/plan.h"
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_calibrate.h"
#include "drivers/cpu/tsc.h"

/* A payload of a clocked speed. It stands here and not in the lane because a kernel is only a function. */
static struct {
    uint64_t block_ticks, slow_ticks; /* of a block; before `slow_until` */
    uint64_t slow_until;
    uint64_t blocks; /* run so far */
} made;

static uint64_t clocked(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty)
{
    uint64_t done = 0;
    (void)state;
    (void)dirty;
    do {
        uint64_t end = tsc_now();
        for (uint64_t i = 0; i < blocks; i++) {
            end += end < made.slow_until ? made.slow_ticks : made.block_ticks;
            while (tsc_now() < end) {
            }
        }
        done += blocks;
    } while (deadline != 0 && tsc_now() < deadline);
    made.blocks += done;
    return done;
}

enum { PERIOD = 20000, BLOCK = 500, READINGS = 300 };

static struct pace_lane lane_of(uint64_t period)
{
    struct pace_lane l = {
        .run = clocked, .fine = 1, .coarse = 4, .rate = (1ull << PACE_RATE_BITS) / BLOCK, .lead = {200, 400}};
    l.early = period > 100 * PERIOD ? PERIOD : 0;
    made.block_ticks = BLOCK;
    made.slow_ticks = BLOCK;
    made.slow_until = 0;
    made.blocks = 0;
    return l;
}

static const struct timing_chains fine = {{CHAIN_SHORT_ADDS, CHAIN_LONG_ADDS}, 8, 3};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *v, size_t n)
{
    assert_true(n > 0);
    qsort(v, n, sizeof *v, ascending);
    return v[n / 2];
}

static void test_readings_are_counted_ordered_and_complete(void **state)
{
    (void)state;
    static struct timing_raw raw[READINGS + PACE_EXTRA];
    struct pace_lane lane = lane_of(PERIOD);
    struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
    uint64_t begin = grid.now, end = begin + (uint64_t)READINGS * PERIOD;
    grid.next = begin + PERIOD;
    size_t n = timing_sample(&fine, &lane, &grid, end, raw, READINGS + PACE_EXTRA);
    assert_in_range(n, 2, READINGS + PACE_EXTRA);
    assert_true(raw[n - 1].end >= end - PERIOD / 8);
    assert_int_equal(timing_blocks(&raw[n - 1]), made.blocks);
    assert_int_equal(grid.now, raw[n - 1].end);
    uint64_t last = begin, blocks = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(raw[i].begin >= last);
        assert_true(raw[i].end > raw[i].begin);
        assert_true(timing_blocks(&raw[i]) > blocks);
        assert_int_equal(raw[i].blocks & 1, i % fine.turns == 0);
        last = raw[i].end;
        blocks = timing_blocks(&raw[i]);
    }
    assert_int_equal(grid.turn, n % fine.turns);
}

/* The middle of the distances is one period, and the middle of the deviations from the grid is small. */
static void test_readings_are_on_the_grid(void **state)
{
    (void)state;
    static struct timing_raw raw[READINGS + PACE_EXTRA];
    static double distance[READINGS + PACE_EXTRA], off[READINGS + PACE_EXTRA];
    size_t n = 0;
    /* a recording that lost a tenth of its points was interrupted too often to tell anything */
    for (int attempt = 0; attempt < 20 && n < READINGS * 9 / 10; attempt++) {
        struct pace_lane lane = lane_of(PERIOD);
        struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
        uint64_t first = grid.next = grid.now + PERIOD / 2;
        n = timing_sample(&fine, &lane, &grid, grid.now + (uint64_t)READINGS * PERIOD, raw, READINGS + PACE_EXTRA);
        for (size_t i = 1; i < n; i++) {
            distance[i - 1] = (double)(raw[i].end - raw[i - 1].end);
            uint64_t phase = (raw[i].end + PERIOD - first % PERIOD) % PERIOD;
            off[i - 1] = (double)(phase < PERIOD / 2 ? phase : PERIOD - phase);
        }
    }
    if (n < READINGS * 9 / 10) {
        print_message("skipped: in 20 attempts never more than %zu of %d readings\n", n, READINGS);
        skip();
    }
    assert_float_equal(middle(distance, n - 1) / PERIOD, 1, 0.05);
    assert_true(middle(off, n - 1) < BLOCK); /* half a block either way, and some ticks of the loop */
}

/* Throttled to a quarter at first: the first sample must not take four periods. */
static void test_a_payload_that_starts_slowly_is_noticed_in_time(void **state)
{
    (void)state;
    static struct timing_raw raw[64 + PACE_EXTRA];
    enum { TRIES = 40 };
    static double first[TRIES], later[TRIES];
    size_t kept = 0;
    for (int i = 0; i < TRIES; i++) {
        struct pace_lane lane = lane_of(PERIOD);
        struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
        made.slow_ticks = 4 * BLOCK;
        made.slow_until = grid.now + 10 * PERIOD;
        grid.next = grid.now + PERIOD;
        uint64_t begin = grid.now;
        size_t n = timing_sample(&fine, &lane, &grid, begin + (uint64_t)16 * PERIOD, raw, 64 + PACE_EXTRA);
        if (n > 5) { /* else it was interrupted for most of the time */
            first[kept] = (double)(raw[0].end - begin);
            later[kept++] = (double)(raw[3].end - raw[2].end);
        }
    }
    if (kept < TRIES / 2) {
        print_message("skipped: %zu of %d recordings were not interrupted\n", kept, TRIES);
        skip();
    }
    assert_true(middle(first, kept) < 1.5 * PERIOD);
    assert_float_equal(middle(later, kept) / PERIOD, 1, 0.25);
}

/* It becomes four times as fast in the middle: then there are readings before their time, within the bound. */
static void test_a_payload_that_becomes_faster_stays_within_the_room(void **state)
{
    (void)state;
    static struct timing_raw raw[16 + PACE_EXTRA];
    for (int i = 0; i < 40; i++) {
        struct pace_lane lane = lane_of(PERIOD);
        struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
        lane.rate /= 16; /* as if it had been slower still */
        made.slow_ticks = 4 * BLOCK;
        made.slow_until = grid.now + (uint64_t)(4 + i % 8) * PERIOD;
        grid.next = grid.now + PERIOD;
        size_t n = timing_sample(&fine, &lane, &grid, grid.now + (uint64_t)16 * PERIOD, raw, 16 + PACE_EXTRA);
        assert_in_range(n, 2, 16 + PACE_EXTRA);
        assert_int_equal(timing_blocks(&raw[n - 1]), made.blocks);
    }
}

static void test_points_that_have_passed_are_left_out(void **state)
{
    (void)state;
    static struct timing_raw raw[64 + PACE_EXTRA];
    struct pace_lane lane = lane_of(PERIOD);
    struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
    made.slow_ticks = 40 * BLOCK; /* one block takes a period */
    made.slow_until = grid.now + 20 * PERIOD;
    grid.next = grid.now - 5 * PERIOD; /* and the grid begins in the past */
    uint64_t begin = grid.now;
    size_t n = timing_sample(&fine, &lane, &grid, begin + (uint64_t)30 * PERIOD, raw, 64 + PACE_EXTRA);
    assert_true(n <= 30 + 2);
    for (size_t i = 1; i < n; i++)
        assert_true(raw[i].end > raw[i - 1].end);
}

static void test_long_periods_end_on_time(void **state)
{
    (void)state;
    static struct timing_raw raw[8 + PACE_EXTRA];
    enum { LONG = 200 * PERIOD };
    struct pace_lane lane = lane_of(LONG);
    assert_true(lane.early > 0);
    struct pace_grid grid = {.now = tsc_now(), .period = LONG};
    grid.next = grid.now + LONG;
    uint64_t begin = grid.now;
    size_t n = timing_sample(&fine, &lane, &grid, begin + (uint64_t)8 * LONG, raw, 8 + PACE_EXTRA);
    assert_in_range(n, 2, 8 + PACE_EXTRA);
    assert_int_equal(timing_blocks(&raw[n - 1]), made.blocks);
    /* it stops looking so long before the end, and then runs what it takes for the rest */
    assert_true(raw[n - 1].end >= begin + (uint64_t)8 * LONG - lane.early - (uint64_t)lane.lead[1]);
}

/* However little room there is, nothing is stored behind it. */
static void test_no_more_readings_than_there_is_room_for(void **state)
{
    (void)state;
    for (size_t room = 0; room < 20; room++) {
        static struct timing_raw raw[20 + 1];
        struct pace_grid grid;
        size_t n;
        unsigned attempt = 0;
        do { /* an interruption may take just those points that there is no room for */
            struct pace_lane lane = lane_of(PERIOD);
            grid = (struct pace_grid){.now = tsc_now(), .period = PERIOD};
            memset(raw, 0x5a, sizeof raw);
            grid.next = grid.now + PERIOD;
            n = timing_sample(&fine, &lane, &grid, grid.now + (uint64_t)READINGS * PERIOD, raw, room);
        } while (!grid.cut && n == room && ++attempt < 20);
        assert_true(grid.cut || n < room); /* interrupted for all the time */
        assert_in_range(n, 0, room);
        for (size_t i = n; i < sizeof raw / sizeof *raw; i++)
            assert_int_equal(raw[i].end, 0x5a5a5a5a5a5a5a5a);
    }
}

/* A bound on what is run without a look at the clock changes nothing about when readings are taken. */
static void test_readings_come_in_time_whatever_may_be_run_in_one_go(void **state)
{
    (void)state;
    static struct timing_raw raw[READINGS + PACE_EXTRA];
    size_t n = 0;
    for (int attempt = 0; attempt < 20 && n < READINGS * 9 / 10; attempt++) {
        struct pace_lane lane = lane_of(PERIOD);
        struct pace_grid grid = {.now = tsc_now(), .period = PERIOD};
        lane.most = 1; /* a period has more blocks */
        uint64_t end = grid.now + (uint64_t)READINGS * PERIOD;
        grid.next = grid.now + PERIOD;
        n = timing_sample(&fine, &lane, &grid, end, raw, READINGS + PACE_EXTRA);
        assert_false(grid.cut);
        assert_true(raw[n - 1].end >= end - PERIOD / 8);
        assert_in_range(n, 2, READINGS + 2);
    }
}

/* ---- plans ---- */

static struct timing_log log_for(const struct plan *p)
{
    struct timing_log log = {.chains = &fine};
    log.raw = calloc(p->room, sizeof *log.raw);
    log.probe = calloc(PLAN_PROBE_ROOM, sizeof *log.probe);
    log.witness = calloc(WITNESS_ROOM, sizeof *log.witness);
    assert_true(log.raw != NULL && log.probe != NULL && log.witness != NULL);
    return log;
}

static void free_log(struct timing_log *log)
{
    free(log->raw);
    free(log->probe);
    free(log->witness);
}

static void test_a_recording_has_its_origin_and_time_0(void **state)
{
    (void)state;
    struct pace_lane a = lane_of(PERIOD), b = a;
    struct plan p = {.n = 3,
                     .zero = 2,
                     .period = PERIOD,
                     .offset = PERIOD,
                     .probe_period = PERIOD,
                     .room = 1000,
                     .stretch = {{&a, 20 * PERIOD, false}, {&a, 10 * PERIOD, true}, {&b, 15 * PERIOD, true}}};
    struct timing_log log = log_for(&p);
    uint64_t begin = tsc_now();
    timing_record(&p, &log);
    assert_true(log.at.n <= plan_readings_needed(&p));
    assert_in_range(log.at.n_probe, 2, PLAN_PROBE_ROOM);
    assert_int_equal(log.at.last[0], 0); /* nothing of the first stretch is recorded */
    assert_int_equal(log.at.last[2], log.at.n);
    assert_int_equal(log.at.first[2], log.at.last[1]);
    assert_int_equal(log.at.zero_reading, log.at.last[1] - 1);
    assert_int_equal(log.at.zero_tsc, log.raw[log.at.zero_reading].end);
    assert_int_equal(log.raw[0].blocks, 0);
    assert_true(log.at.zero_tsc >= begin + 30 * PERIOD - PERIOD / 8);
    assert_true(log.raw[log.at.n - 1].end >= log.at.zero_tsc + 15 * PERIOD - PERIOD / 8);
    assert_int_equal(log.at.blocks[0] + log.at.blocks[1] + log.at.blocks[2], made.blocks);
    assert_int_equal(log.at.blocks[1], timing_blocks(&log.raw[log.at.zero_reading]));
    free_log(&log);
}

static void test_time_0_at_the_first_reading_and_without_any(void **state)
{
    (void)state;
    struct pace_lane a = lane_of(PERIOD);
    struct plan p = {.n = 2,
                     .zero = 1,
                     .period = PERIOD,
                     .offset = PERIOD / 2,
                     .probe_period = PERIOD,
                     .room = 1000,
                     .stretch = {{&a, 5 * PERIOD, false}, {&a, 10 * PERIOD, true}}};
    struct timing_log log = log_for(&p);
    timing_record(&p, &log);
    assert_int_equal(log.at.zero_reading, 0);
    assert_int_equal(log.at.zero_tsc, log.raw[0].end);
    p.stretch[1].sampled = false;
    timing_record(&p, &log);
    assert_int_equal(log.at.n, 0);
    assert_int_equal(log.at.zero_reading, 0); /* n: none */
    assert_true(log.at.zero_tsc > 0);
    p.stretch[0].sampled = true; /* time 0 where the recording ends */
    timing_record(&p, &log);
    assert_int_equal(log.at.zero_reading, log.at.n - 1);
    free_log(&log);
}

static void test_a_plan_that_is_cut_says_so(void **state)
{
    (void)state;
    struct pace_lane a = lane_of(PERIOD);
    struct plan p = {.n = 3,
                     .zero = 1,
                     .period = PERIOD,
                     .offset = PERIOD / 2,
                     .probe_period = PERIOD,
                     .room = 1000,
                     .stretch = {{&a, 5 * PERIOD, false}, {&a, 10 * PERIOD, true}, {&a, 10 * PERIOD, true}}};
    struct timing_log log = log_for(&p);
    timing_record(&p, &log);
    assert_false(log.at.cut);
    for (p.room = 1; p.room < 5; p.room++) { /* log.raw has room for more: a write behind it would be seen */
        log.at.cut = false;
        for (int attempt = 0; attempt < 20 && !log.at.cut; attempt++) { /* the CPU may be away for all of it */
            memset(log.raw, 0, 8 * sizeof *log.raw);
            timing_record(&p, &log);
        }
        assert_true(log.at.cut);
        assert_int_equal(log.at.n, p.room);
        assert_int_equal(log.raw[p.room].end, 0);
        assert_int_equal(log.at.last[2], p.room);
    }
    free_log(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings_are_counted_ordered_and_complete),
        cmocka_unit_test(test_readings_are_on_the_grid),
        cmocka_unit_test(test_a_payload_that_starts_slowly_is_noticed_in_time),
        cmocka_unit_test(test_a_payload_that_becomes_faster_stays_within_the_room),
        cmocka_unit_test(test_points_that_have_passed_are_left_out),
        cmocka_unit_test(test_long_periods_end_on_time),
        cmocka_unit_test(test_no_more_readings_than_there_is_room_for),
        cmocka_unit_test(test_readings_come_in_time_whatever_may_be_run_in_one_go),
        cmocka_unit_test(test_a_recording_has_its_origin_and_time_0),
        cmocka_unit_test(test_a_plan_that_is_cut_says_so),
        cmocka_unit_test(test_time_0_at_the_first_reading_and_without_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
