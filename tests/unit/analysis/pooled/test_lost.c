/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a switch loses, of samples that each hold the time in which they are read. */
#include "analysis/pooled/lost.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

enum { RUNS = 12, BEFORE = 30, AFTER = 60, HALT_AT_START = 1, HALT_LATER = 2, THROTTLED = 4, SIBLING = 8 };
#define READING_US 0.15
#define PAYLOAD_US 0.85
#define GHZ 3.0
#define IPC 2.0

/* A sample in which the payload runs for PAYLOAD_US at a rate, behind a halt. The IPC is that outside the reading. */
static void put(struct trace *t, uint32_t run, double *now, double halt_us, double rate)
{
    *now += halt_us + PAYLOAD_US + READING_US;
    assert_int_equal(trace_append(t, run, *now), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)GHZ;
    t->channel[TRACE_IPC][t->n - 1] = (float)(IPC * rate * PAYLOAD_US / (halt_us + PAYLOAD_US));
}

/* A sibling thread slows one sample in four, at other times in each repetition. */
static double beside(int what, uint32_t r, int i)
{
    return (what & SIBLING) && (i / 2 + (int)r) % 4 == 0 ? 0.6 : 1;
}

/* 20 samples of half the rate, and halts of 9.5 to 10.5 us in the first one and in the eleventh. */
static void trace_of(int what, struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t), 0);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ), 0);
    assert_int_equal(trace_add_channel(t, TRACE_IPC), 0);
    assert_int_equal(trace_set(t, "frequency", "instantaneous"), 0);
    assert_int_equal(trace_set_number(t, "reading_us", READING_US), 0);
    for (uint32_t r = 0; r < RUNS; r++) {
        double now = -BEFORE * (PAYLOAD_US + READING_US);
        for (int i = 0; i < BEFORE; i++)
            put(t, r, &now, 0, beside(what, r, i));
        now = 0;
        for (int i = 0; i < AFTER; i++) {
            bool halt = (i == 0 && (what & HALT_AT_START)) || (i == 10 && (what & HALT_LATER));
            put(t, r, &now, halt ? 9.5 + (r + 0.5) / RUNS : 0,
                (i < 20 && (what & THROTTLED) ? 0.5 : 1) * beside(what, r, i));
        }
    }
}

static double lost_in(int what, int null)
{
    struct trace t, beside;
    struct estimate e;
    trace_of(what, &t);
    trace_of(null, &beside);
    assert_int_equal(lost_beyond(&t, &beside, 50, false, &e), 0);
    assert_true(e.hi - e.lo > 0 && e.hi - e.lo < 0.9);
    trace_free(&t);
    trace_free(&beside);
    return e.value;
}

TEST(nothing_is_lost_without_a_change)
{
    assert_true(fabs(lost_in(0, 0)) < 0.01);
}

TEST(reading_a_sample_is_no_part_of_a_halt)
{
    assert_true(fabs(lost_in(HALT_AT_START, 0) - 10) < 0.05);
    assert_true(fabs(lost_in(HALT_LATER, 0) - 10) < 0.12);
    assert_true(fabs(lost_in(HALT_AT_START | HALT_LATER, 0) - 20) < 0.1);
}

TEST(throttling_lasts_while_a_sample_is_read)
{
    assert_true(fabs(lost_in(THROTTLED, 0) - 10) < 0.11);
    assert_true(fabs(lost_in(THROTTLED | HALT_AT_START, 0) - 20) < 0.2);
}

TEST(what_the_null_loses_is_no_cost)
{
    assert_true(fabs(lost_in(THROTTLED | HALT_AT_START, THROTTLED) - 10) < 0.1);
}

/* It takes a tenth of all; costs are those of a core of one's own. */
TEST(a_sibling_makes_nothing_cheaper)
{
    assert_true(fabs(lost_in(SIBLING, SIBLING)) < 0.1);
    assert_true(fabs(lost_in(THROTTLED | SIBLING, SIBLING) - 10) < 0.3);
    assert_true(fabs(lost_in(THROTTLED | HALT_LATER | SIBLING, SIBLING) - 20) < 0.5);
}

TEST(without_memory_it_says_so)
{
    struct trace t;
    struct estimate e;
    trace_of(HALT_AT_START, &t);
    for (unsigned long k = 1; k <= 4; k++) {
        strict_memory_fail(k);
        int status = lost_beyond(&t, NULL, 50, false, &e);
        bool failed = strict_memory_failed();
        strict_memory_fail(0);
        assert_int_equal(status, failed ? -1 : 0);
    }
    trace_free(&t);
}
