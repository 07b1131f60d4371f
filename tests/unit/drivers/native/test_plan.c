/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which stretch of a repetition runs until when, where the grid of readings lies, and what bursts are made of: with
 * readers and payloads that only write down what they were called with. The clock is read, but all is held against
 * time 0 or against what was written down before; stretches are of hours that do not pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/cpu/tsc.h"
#include "drivers/native/burst_loop.h"
#include "drivers/native/native.h"
#include "drivers/native/plan.h"

#define HOUR (UINT64_C(1) << 43)
enum { PERIOD = 1000, PROBE = 100 };

/* ---- what was called ---- */

enum { CALLS_MOST = 40 };
struct call {
    char what; /* p: the payload, s: sampled, b: probed, o: the origin */
    uint64_t blocks, until, dirty, next, period, now;
    uint64_t grow_from, early, before; /* before: blocks of the stretch so far */
    unsigned turn, stage;
    size_t at, room;
};
static struct call calls[CALLS_MOST];
static size_t n_calls;

static struct call *called(char what)
{
    assert_true(n_calls < CALLS_MOST);
    calls[n_calls] = (struct call){.what = what};
    return &calls[n_calls++];
}

static uint64_t payload(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty)
{
    struct call *c = called('p');
    (void)state;
    c->blocks = blocks;
    c->until = deadline;
    c->dirty = dirty;
    return 3;
}

static uint64_t origin_tsc; /* what the first reading says */

static uint64_t origin(void *context, size_t at)
{
    (void)context;
    struct call *c = called('o');
    c->at = at;
    origin_tsc = tsc_now();
    c->now = origin_tsc;
    return origin_tsc;
}

/* Five readings, to the end. */
static size_t sample(void *context, bool probe, size_t at, size_t room, struct pace_lane *lane, struct pace_grid *grid,
                     uint64_t end, uint64_t *blocks)
{
    struct call *c = called(probe ? 'b' : 's');
    c->early = lane->early;
    c->grow_from = grid->grow_from;
    c->stage = grid->stage;
    c->before = grid->blocks;
    c->at = at;
    c->room = room;
    c->until = end;
    c->next = grid->next;
    c->now = grid->now;
    c->period = grid->period;
    c->turn = grid->turn;
    grid->now = end;
    grid->next += PERIOD;
    grid->turn++;
    grid->cut = context != NULL && !probe;
    *blocks = grid->blocks + 7;
    return 5;
}

static struct pace_lane lane = {.run = payload, .dirty = 1, .coarse = 40};

static void recorded(const char *expected, const struct plan *p, bool cut, struct plan_log *log)
{
    const struct plan_reader reader = {cut ? &lane : NULL, sample, origin};
    char seen[CALLS_MOST + 1] = "";
    n_calls = 0;
    memset(log, 0xff, sizeof *log);
    plan_record(p, &reader, log);
    for (size_t i = 0; i < n_calls; i++)
        seen[i] = calls[i].what;
    assert_string_equal(seen, expected);
    assert_int_equal(log->cut, cut);
}

static struct plan plan_of(size_t n, size_t zero, const char *sampled)
{
    struct plan p = {
        .n = n, .zero = zero, .period = PERIOD, .offset = 600, .turn = 2, .probe_period = PROBE, .room = 100};
    for (size_t i = 0; i < n; i++)
        p.stretch[i] = (struct plan_stretch){.lane = &lane, .ticks = HOUR + i, .sampled = sampled[i] == 's'};
    return p;
}

/* ---- plans ---- */

static void test_room(void **state)
{
    (void)state;
    struct plan p = plan_of(3, 1, "-ss");
    p.stretch[0].ticks = 999999;
    p.stretch[1].ticks = 4999;
    p.stretch[2].ticks = 5000;
    assert_int_equal(plan_readings_needed(&p), 1 + 4 + PACE_EXTRA + 5 + PACE_EXTRA);
    p.n = 1;
    assert_int_equal(plan_readings_needed(&p), 1);
}

/* Of a period that grows: as many as it has, and of each part those that any has on top. */
static void test_room_of_a_period_that_grows(void **state)
{
    (void)state;
    struct plan p = plan_of(2, 1, "-s");
    p.stretch[1].ticks = 1000 * PERIOD;
    size_t all = plan_readings_needed(&p);
    p.fine = 100 * PERIOD;
    p.most = 3 * PERIOD;
    size_t points = 0;
    for (uint64_t t = 0; t < 900 * PERIOD; points++)
        t += PERIOD + t / 256 < 3 * PERIOD ? PERIOD + t / 256 : 3 * PERIOD;
    assert_in_range(points, 400, 500);
    assert_in_range(plan_readings_needed(&p), 101 + points + PACE_EXTRA, 103 + points + (PLAN_STAGES + 1) * PACE_EXTRA);
    assert_true(plan_readings_needed(&p) < all);
    assert_int_equal(pace_period_grown(PERIOD, 3 * PERIOD, 0), PERIOD);
    assert_int_equal(pace_period_grown(PERIOD, 3 * PERIOD, 256 * PERIOD), 2 * PERIOD);
    assert_int_equal(pace_period_grown(PERIOD, 3 * PERIOD, 5120 * PERIOD), 3 * PERIOD);
    assert_int_equal(pace_period_grown(4 * PERIOD, 3 * PERIOD, 2560 * PERIOD), 4 * PERIOD + 10 * PERIOD);
}

static void test_a_period_grows_behind_the_fine_part(void **state)
{
    (void)state;
    struct plan p = plan_of(2, 1, "-s");
    struct plan_log log;
    p.fine = 100 * PERIOD;
    p.most = 250 * PERIOD;
    p.long_period = 5 * PERIOD;
    p.early = 33;
    recorded("pbosss", &p, false, &log);
    const struct call *fine = &calls[3], *grows = &calls[4], *is_long = &calls[5];
    assert_int_equal(fine->until, log.zero_tsc + p.fine);
    assert_int_equal(fine->grow_from, 0);
    assert_int_equal(grows->grow_from, fine->until);
    assert_int_equal(grows->until - fine->until, 256 * 4 * PERIOD);
    assert_int_equal(is_long->until, log.zero_tsc + p.stretch[1].ticks);
    assert_int_equal(fine->stage + grows->stage, 0);
    assert_int_equal(is_long->stage, 1);
    /* there is time to look at the clock in the last, and only there */
    assert_int_equal(fine->early + grows->early, 0);
    assert_int_equal(is_long->early, 33);
    assert_int_equal(lane.early, 0);
    assert_int_equal(is_long->before, 14);
    assert_int_equal(log.blocks[1], 21);
    assert_int_equal(log.long_from, is_long->at);
    assert_int_equal(plan_stage_of(&log, is_long->at), 1);
    assert_int_equal(plan_stage_of(&log, is_long->at - 1), 0);
    assert_int_equal(log.last[1], log.n);
    p.stretch[1].ticks = 100 * PERIOD; /* over before it grows */
    recorded("pbos", &p, false, &log);
    assert_int_equal(log.long_from, log.n);
}

static void test_time_0_within_the_recording(void **state)
{
    (void)state;
    struct plan p = plan_of(4, 2, "-sss");
    struct plan_log log;
    recorded("pbosss", &p, false, &log);
    const struct call *run = &calls[0], *probe = &calls[1], *before = &calls[3], *zero = &calls[4], *after = &calls[5];
    /* the run-up: until so many probes before its end, then probes up to it */
    assert_int_equal(run->blocks, 40);
    assert_int_equal(run->dirty, 1);
    assert_int_equal(probe->until - run->until, PLAN_PROBES * PROBE);
    assert_int_equal(probe->period, PROBE);
    assert_int_equal(probe->room, PLAN_PROBE_ROOM);
    assert_int_equal(probe->turn, 2);
    /* the grid ends a whole number of periods before the end, and begins within one */
    assert_int_equal((probe->until - probe->next) % PROBE, 0);
    assert_in_range(probe->next - probe->now, 1, PROBE);
    assert_int_equal(before->at, 1);
    assert_int_equal(before->room, 99);
    assert_int_equal(before->turn, 2);
    assert_int_equal(before->now, origin_tsc);
    assert_int_equal(before->until - probe->until, HOUR + 1);
    /* time 0 is the last reading before its stretch; a point of the grid lies half a period before what was planned */
    assert_int_equal(log.zero_tsc, before->until);
    assert_int_equal((log.zero_tsc - PERIOD / 2 - before->next) % PERIOD, 0);
    assert_in_range(before->next - origin_tsc, 1, PERIOD);
    assert_int_equal(zero->next, log.zero_tsc + 600);
    assert_int_equal(zero->until, log.zero_tsc + HOUR + 2);
    assert_int_equal(zero->at, 6);
    assert_int_equal(zero->turn, 3);
    assert_int_equal(after->until, log.zero_tsc + 2 * HOUR + 5);
    assert_int_equal(after->next, zero->next + PERIOD);
    assert_int_equal(log.zero_reading, 5);
    assert_int_equal(log.n, 16);
    assert_int_equal(log.n_probe, 5);
    assert_int_equal(log.blocks[0], 3 + 7);
    assert_int_equal(log.blocks[3], 7);
    static const size_t first[] = {0, 1, 6, 11}, last[] = {0, 6, 11, 16};
    assert_memory_equal(log.first, first, sizeof first);
    assert_memory_equal(log.last, last, sizeof last);
    recorded("pbosss", &p, true, &log);
}

static void test_time_0_begins_the_recording(void **state)
{
    (void)state;
    struct plan p = plan_of(2, 1, "-s");
    struct plan_log log;
    recorded("pbos", &p, false, &log);
    assert_int_equal(log.zero_tsc, origin_tsc);
    assert_int_equal(log.zero_reading, 0);
    assert_int_equal(calls[3].until, origin_tsc + HOUR + 1);
    assert_int_equal(calls[3].next, origin_tsc + 600);
    p = plan_of(1, 0, "s");
    recorded("os", &p, false, &log);
    assert_int_equal(log.zero_reading, 0);
    assert_int_equal(log.n, 6);
}

static void test_time_0_that_is_not_sampled(void **state)
{
    (void)state;
    struct plan p = plan_of(3, 1, "---");
    struct plan_log log;
    recorded("ppp", &p, false, &log);
    assert_int_equal(log.n, 0);
    assert_int_equal(log.n_probe, 0);
    assert_int_equal(log.zero_reading, 0);
    assert_int_equal(calls[1].until, log.zero_tsc + HOUR + 1);
    assert_int_equal(calls[2].until - calls[1].until, HOUR + 2);
    p = plan_of(3, 1, "--s"); /* recorded from later on: the grid goes on from the first reading */
    recorded("ppbos", &p, false, &log);
    assert_int_equal(log.zero_reading, log.n);
    p = plan_of(2, 1, "s-"); /* the last reading is at time 0 */
    recorded("osp", &p, false, &log);
    assert_int_equal(log.zero_reading, 5);
    assert_int_equal(log.zero_tsc, calls[1].until);
    assert_int_equal(calls[2].until, log.zero_tsc + HOUR + 1);
    assert_int_equal(calls[2].blocks, 40);
}

/* What is over before it begins is run once; what is shorter than the probes is but probed. */
static void test_short_run_ups(void **state)
{
    (void)state;
    struct plan p = plan_of(2, 1, "-s");
    struct plan_log log;
    p.stretch[0].ticks = 0;
    recorded("pos", &p, false, &log);
    assert_int_equal(calls[0].blocks, 1);
    assert_int_equal(calls[0].until, 0);
    assert_int_equal(log.blocks[0], 3);
    p.probe_period = HOUR;
    p.stretch[0].ticks = 3 * HOUR;
    recorded("bos", &p, false, &log);
    assert_int_equal(log.blocks[0], 7);
    assert_in_range(calls[0].next - calls[0].now, 1, HOUR);
    assert_int_equal((calls[0].until - calls[0].next) % HOUR, 0);
}

/* ---- bursts ---- */

static uint64_t plain_blocks;

/* Says that it ran until its end at once. */
static uint64_t plain(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty)
{
    payload(blocks, deadline, state, dirty);
    while (tsc_now() < deadline) {
    }
    return plain_blocks;
}

static void shot(uint64_t n, uint64_t dirty)
{
    struct call *c = called('x');
    c->blocks = n;
    c->dirty = dirty;
}

static uint64_t wide(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty)
{
    struct call *c = called('w');
    (void)state;
    (void)deadline;
    c->blocks = blocks;
    c->dirty = dirty;
    return blocks;
}

/* Again where something came between, as it may at any time: `apart` is how far the ends of the plain work behind two
 * bursts are from each other, 0: whatever. */
static void bursts_are(const struct burst_loop *l, unsigned n, struct burst *out, const char *expected, uint64_t apart)
{
    enum { ATTEMPTS = 100 };
    char seen[CALLS_MOST + 1] = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        n_calls = 0;
        burst_loop_run(l, n, out);
        for (size_t i = 0; i <= n_calls; i++)
            seen[i] = i < n_calls ? calls[i].what : '\0';
        bool regular = apart == 0 || calls[n_calls - 1].until - calls[n_calls - 5].until == apart;
        if (strcmp(seen, expected) == 0 && regular)
            return;
    }
    fail_msg("%s instead of %s, or not regular", seen, expected);
}

static void test_bursts(void **state)
{
    (void)state;
    enum { PIECE = 100000 };
    struct burst_loop l = {
        .plain = plain, .plain_dirty = 0, .chunk = 9, .instructions = 120, .wide = wide, .shot = shot};
    struct burst out[2];
    plain_blocks = 4;
    l.blocks = 5;
    l.rest = 11;
    l.wide_dirty = 1;
    l.period = 2 * PIECE;
    l.before = PIECE + PIECE / 2; /* in one piece: what is less than another half is not worth its own */
    l.piece = PIECE;
    l.patience = UINT64_C(1) << 40;
    l.skipped = 1;
    bursts_are(&l, 2, out, "pwxppwxppwxpp", 2 * PIECE);
    assert_int_equal(calls[1].blocks, 5);
    assert_int_equal(calls[1].dirty, 1);
    assert_int_equal(calls[2].blocks, 11);
    assert_int_equal(calls[2].dirty, 1);
    assert_int_equal(calls[3].blocks, 9);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(out[i].instructions, 2 * 4 * 120);
        assert_int_equal(out[i].lost, 0);
        assert_in_range(out[i].wide + out[i].plain, 1, UINT64_C(1) << 40);
    }
    l.blocks = 0;
    l.period = 0;
    l.before = 0;
    l.skipped = 0;
    bursts_are(&l, 2, out, "xx", 0);
    assert_int_equal(out[0].plain + out[0].lost + out[0].instructions, 0);
}

static uint64_t late(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty)
{
    return plain(blocks, deadline + 200000, state, dirty);
}

/* Pieces that end too late tell nothing but how long they took. */
static void test_lost_pieces(void **state)
{
    (void)state;
    struct burst_loop l = {.plain = late, .chunk = 9, .instructions = 120, .shot = shot, .period = 1000, .piece = 5000};
    struct burst out[1];
    plain_blocks = 4;
    l.patience = 199999;
    bursts_are(&l, 1, out, "xp", 0);
    assert_int_equal(out[0].instructions, 0);
    assert_int_equal(out[0].plain, 0);
    assert_true(out[0].lost >= 200000);
    l.patience = UINT64_C(1) << 40;
    bursts_are(&l, 1, out, "xp", 0);
    assert_int_equal(out[0].instructions, 480);
    assert_true(out[0].plain >= 200000 && out[0].lost == 0);
}

/* ---- from where on blocks run at the rate that they keep ---- */

/* With no more room than it takes. */
static size_t full_of(const uint64_t *ticks, size_t n)
{
    uint64_t *copy = malloc(n * sizeof *copy);
    double *scratch = malloc((n / 4) * sizeof *scratch);
    assert_true(copy != NULL && scratch != NULL);
    memcpy(copy, ticks, n * sizeof *copy);
    size_t full = first_use_full(copy, n, scratch);
    free(copy);
    free(scratch);
    return full;
}

static size_t full_from(size_t n, size_t slow_from, size_t slow_n, uint64_t slow)
{
    uint64_t ticks[64];
    for (size_t i = 0, now = 0; i < n; i++) {
        ticks[i] = now;
        now += i >= slow_from && i < slow_from + slow_n ? slow : 100;
    }
    return full_of(ticks, n);
}

static void test_full_rate(void **state)
{
    (void)state;
    const uint64_t slow = (uint64_t)(100 * FIRST_USE_SLOW) + 1;
    assert_int_equal(full_from(11, 0, 3, 900), 11); /* too few to tell */
    assert_int_equal(full_from(12, 0, 0, 0), 0);
    assert_int_equal(full_from(40, 0, 8, slow), 8);
    assert_int_equal(full_from(40, 0, 8, slow - 2), 0); /* not that slow */
    assert_int_equal(full_from(40, 5, 2, 9000), 0);     /* an interruption */
    assert_int_equal(full_from(40, 5, 3, 9000), 8);
    assert_int_equal(full_from(40, 1, 3, 9000), 4);
    assert_int_equal(full_from(40, 0, 3, 9000), 3);
    assert_int_equal(full_from(40, 0, 40, 900), 0); /* all alike */
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Looking at every place from the end on, for blocks of few lengths: the median of the last quarter is one of them, or
 * between two. */
static void test_full_rate_of_all_kinds(void **state)
{
    (void)state;
    uint32_t made = 1;
    for (int round = 0; round < 3000; round++) {
        enum { MOST = 30 };
        static const int lengths[] = {100, 124, 125, 126, 300};
        uint64_t ticks[MOST + 1] = {1000};
        int length[MOST], quarter[MOST];
        size_t n = 10 + (size_t)round % 20, n_quarter = 0, expected = 0;
        for (size_t i = 0; i < n; i++) {
            made = made * 1664525 + 1013904223;
            length[i] = lengths[(made >> 20) % (i < n / 2 ? 5 : 3)];
            ticks[i + 1] = ticks[i] + (uint64_t)length[i];
        }
        for (size_t i = n - n / 4 - 1; i + 1 < n; i++)
            quarter[n_quarter++] = length[i];
        qsort(quarter, n_quarter, sizeof *quarter, by_size);
        double median = (quarter[(n_quarter - 1) / 2] + quarter[n_quarter / 2]) / 2.0;
        for (size_t full = 3; full + 3 <= n; full++)
            if (length[full - 1] > 1.25 * median && length[full - 2] > 1.25 * median &&
                length[full - 3] > 1.25 * median)
                expected = full;
        assert_int_equal(full_of(ticks, n), n < 12 ? n : expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_room_of_a_period_that_grows),
        cmocka_unit_test(test_a_period_grows_behind_the_fine_part),
        cmocka_unit_test(test_time_0_within_the_recording),
        cmocka_unit_test(test_time_0_begins_the_recording),
        cmocka_unit_test(test_time_0_that_is_not_sampled),
        cmocka_unit_test(test_short_run_ups),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_lost_pieces),
        cmocka_unit_test(test_full_rate),
        cmocka_unit_test(test_full_rate_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
