/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop on made payloads and a made clock, which readings tell and blocks move on; except for the time at
 * which it starts, which is the processor's. Samples are so long that this does not matter.
 */
#include "drivers/native/sampling.h"
#include "tests/support/test.h"

enum { ROOM = 1000, CODE_LINES = 10 };
#define SAMPLE UINT64_C(100000000) /* ticks */

static struct {
    uint64_t now;
    uint64_t slow_blocks; /* of the second payload at first, which take four times as long */
    uint64_t blocks[2];   /* run of either payload */
    unsigned nothing[2];  /* how often either was called for no blocks */
    size_t back_at;       /* the clock begins again with this reading; 0: it does not */
    uint64_t tsc[ROOM + 1], counted[ROOM + 1];
    unsigned doubled[ROOM + 1];
    size_t reads, most;
} made;

static uint64_t run_made(unsigned which, uint64_t blocks)
{
    made.nothing[which] += blocks == 0;
    for (uint64_t i = 0; i < blocks; i++)
        made.now += SAMPLE / 10 * (which == 1 && made.blocks[1]++ < made.slow_blocks ? 4 : 1);
    made.blocks[0] += which == 0 ? blocks : 0;
    return blocks;
}

static uint64_t first(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty, struct kernel_walk *walk)
{
    assert_true(deadline == 0 && state == NULL && dirty == 0 && walk == NULL);
    return run_made(0, blocks);
}

static struct kernel_walk place;

static uint64_t second(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty, struct kernel_walk *walk)
{
    /* where it runs nothing it needs no operands */
    assert_true(deadline == 0 && state == NULL && dirty == 1 && walk == (blocks > 0 ? &place : NULL));
    return run_made(1, blocks);
}

static uint64_t read_made(void *reader, size_t i, uint64_t blocks, unsigned doubled)
{
    assert_ptr_equal(reader, &made);
    assert_true(i <= ROOM);
    made.reads++;
    if (made.back_at > 0 && made.reads == made.back_at)
        made.now = 12345;
    made.tsc[i] = made.now;
    made.counted[i] = blocks;
    made.doubled[i] = doubled;
    made.most = i > made.most ? i : made.most;
    return made.now;
}

static volatile unsigned char code[CODE_LINES * SAMPLING_LINE];
static const struct sampling_lane lane[2] = {{first, 0, NULL, 10, code, CODE_LINES},
                                             {second, 1, &place, 10, code, CODE_LINES}};

/* "-" and "s" of either payload in turn, each of ten samples. */
static struct sampling plan_of(const char *sampled, size_t zero)
{
    struct sampling p = {.n = strlen(sampled),
                         .zero = zero,
                         .usual = SAMPLE,
                         .most = 16 * SAMPLE,
                         .limit = SAMPLING_NEVER,
                         .room = ROOM};
    for (size_t i = 0; i < p.n; i++)
        p.stretch[i] = (struct sampling_stretch){&lane[i % 2], 10 * SAMPLE - SAMPLE / 100, sampled[i] == 's'};
    memset(&made, 0, sizeof made);
    made.now = sampling_stamp();
    return p;
}

static struct sampling_log run(const struct sampling *p)
{
    struct sampling_log log;
    memset(&log, 0xff, sizeof log);
    sampling_run(p, &log, read_made, &made);
    assert_true(log.n <= p->room && log.zero_reading <= log.n);
    assert_true(log.cut || p->n == 0 || log.last[p->n - 1] == log.n);
    return log;
}

TEST(test_samples_of_fixed_work)
{
    struct sampling p = plan_of("-sss", 2);
    struct sampling_log log = run(&p);
    assert_false(log.cut);
    assert_int_equal(log.n, 31); /* ten a stretch, and the one that opens the recording, of the stretch before */
    static const size_t last[] = {1, 11, 21, 31};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(log.last[i], last[i]);
        assert_int_equal(log.blocks[i], 100);
    }
    assert_int_equal(log.zero_reading, 10);
    assert_int_equal(log.zero_tsc, made.tsc[10]);
    assert_int_equal(made.counted[0], 100);
    for (size_t i = 1; i < log.n; i++) {
        assert_int_equal(made.tsc[i] - made.tsc[i - 1], SAMPLE);
        assert_int_equal(made.counted[i], 10 * ((i - 1) % 10 + 1));
    }
}

/* A throttled payload takes longer for the same work, and nothing else changes. */
TEST(test_throttled_samples_take_longer)
{
    struct sampling p = plan_of("-s", 1);
    made.slow_blocks = 20;
    struct sampling_log log = run(&p);
    assert_int_equal(log.n, 1 + 2 + 2);
    for (size_t i = 1; i < log.n; i++) {
        assert_int_equal(made.tsc[i] - made.tsc[i - 1], i <= 2 ? 4 * SAMPLE : SAMPLE);
        assert_int_equal(made.counted[i], 10 * i);
    }
}

/* So many blocks exactly, however long they take; what comes after lasts as long as ever. */
TEST(test_a_stretch_of_so_many_blocks)
{
    static const uint64_t counts[] = {1, 9, 10, 11, 25, 100, 333};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t slow = 0; slow <= 50; slow += 25) {
            struct sampling p = plan_of("-ss", 2);
            p.stretch[1].blocks = counts[i];
            made.slow_blocks = slow;
            struct sampling_log log = run(&p);
            const size_t samples = (counts[i] + 9) / 10;
            assert_int_equal(log.blocks[0], 100);
            assert_int_equal(log.blocks[1], counts[i]);
            assert_int_equal(log.blocks[2], 100);
            assert_int_equal(log.last[1], 1 + samples);
            assert_int_equal(log.last[2], 1 + samples + 10);
            assert_int_equal(log.zero_tsc, made.tsc[samples]);
            assert_int_equal(made.counted[samples], counts[i]);
            assert_int_equal(made.counted[samples - 1], samples > 1 ? 10 * (samples - 1) : 100);
        }
    struct sampling p = plan_of("-s", 1);
    p.stretch[1].blocks = 1000;
    p.limit = made.now + 13 * SAMPLE + SAMPLE / 2;
    struct sampling_log log = run(&p);
    assert_int_equal(log.blocks[1], 40);
}

/* With each sample the next segment's payload is called for no work; in the last segment its own. */
TEST(test_what_comes_is_prepared)
{
    struct sampling p = plan_of("ss", 1);
    (void)run(&p);
    assert_int_equal(made.nothing[0], 0);
    assert_int_equal(made.nothing[1], 20);
}

TEST(test_origin_and_time_0)
{
    static const struct {
        const char *sampled;
        size_t zero, n, zero_reading;
    } cases[] = {{"s", 0, 11, 0}, {"ss", 0, 21, 0},  {"ss", 1, 21, 10},  {"-s", 0, 11, 11}, {"-s", 1, 11, 0},
                 {"--", 1, 0, 0}, {"s-", 1, 11, 10}, {"s--", 2, 11, 11}, {"-s-", 1, 11, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sampling p = plan_of(cases[i].sampled, cases[i].zero);
        struct sampling_log log = run(&p);
        if (log.n != cases[i].n || log.zero_reading != cases[i].zero_reading)
            fail_msg("%s with time 0 at %zu: %zu readings, zero at %zu", cases[i].sampled, cases[i].zero, log.n,
                     log.zero_reading);
        assert_true(log.zero_reading == log.n || log.zero_tsc == made.tsc[log.zero_reading]);
        assert_true(made.most <= log.n);
    }
}

TEST(test_each_stretch_has_a_sample)
{
    struct sampling p = plan_of("-ss", 2);
    p.stretch[0].ticks = p.stretch[1].ticks = p.stretch[2].ticks = 0;
    struct sampling_log log = run(&p);
    assert_int_equal(log.n, 3);
    assert_int_equal(log.zero_reading, 1);
}

TEST(test_no_more_than_there_is_room_for)
{
    static const size_t rooms[] = {1, 2, 11, 20, 21, 22};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct sampling p = plan_of("-ss-", 1);
        p.room = rooms[i];
        struct sampling_log log = run(&p);
        assert_int_equal(log.n, rooms[i] < 21 ? rooms[i] : 21);
        assert_int_equal(log.cut, rooms[i] < 21);
        assert_true(made.most <= rooms[i]); /* one more after it may be written */
    }
}

/* Samples of 2^-8 to 2^-9 of the time since `fine`, up to the longest. */
TEST(test_samples_that_grow)
{
    struct sampling p = plan_of("s", 0);
    p.fine = 5 * SAMPLE;
    unsigned doubled = 0;
    const uint64_t from = 1000;
    for (uint64_t now = from, samples = 0; samples < 4000; samples++) {
        now += SAMPLE << doubled;
        uint64_t since = now - from - p.fine;
        if (now < sampling_grows_at(&p, from, doubled)) {
            assert_true(since <= SAMPLE << (9 + doubled) || doubled == 4 || now < from + p.fine);
            continue;
        }
        doubled++;
        assert_true(SAMPLE << doubled <= since >> 8);
    }
    assert_int_equal(doubled, 4);
    p.fine = 0;
    assert_true(sampling_grows_at(&p, from, 0) == SAMPLING_NEVER);
}

TEST(test_the_loop_doubles_from_time_0_on)
{
    struct sampling p = plan_of("ss", 1);
    p.usual = SAMPLE / 1024; /* as if samples were so short that they double within the stretch */
    p.most = 4 * p.usual;
    p.fine = 2 * SAMPLE;
    p.stretch[1].ticks = 20 * SAMPLE;
    struct sampling_log log = run(&p);
    unsigned before = 0;
    for (size_t i = 1; i < log.n; i++) {
        assert_int_equal(made.tsc[i] - made.tsc[i - 1], SAMPLE << made.doubled[i]);
        assert_true(made.doubled[i] >= before && made.doubled[i] <= before + 1);
        assert_true(made.doubled[i] == 0 || made.tsc[i - 1] > log.zero_tsc + p.fine);
        before = made.doubled[i];
    }
    assert_int_equal(before, 2);
}

TEST(test_a_clock_that_begins_again_ends_it)
{
    struct sampling p = plan_of("-s", 1);
    made.back_at = 14;
    struct sampling_log log = run(&p);
    assert_int_equal(log.n, 1 + 4); /* readings 1 to 10 are of the first stretch */
    assert_true(made.tsc[4] < made.tsc[3]);
}

TEST(test_nothing_lasts_beyond_the_limit)
{
    struct sampling p = plan_of("-ss", 2);
    p.limit = made.now + 13 * SAMPLE + SAMPLE / 2;
    struct sampling_log log = run(&p);
    assert_int_equal(log.n, 1 + 4 + 1);
    assert_false(log.cut);
}
