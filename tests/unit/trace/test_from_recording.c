/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples made of readings: frequency and IPC where each sample has a chain, where only some do, by cycles. */
#include "tests/support/test.h"
#include "trace/from_recording.h"

enum { MOST = 400, STRIDE = 5 };
#define TSC_HZ 2e9
#define TICKS_A_CYCLE 0.5 /* 4 GHz */

static const struct counter_spec chains[] = {
    {COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}};

static uint64_t words[MOST * STRIDE];
static struct recording rec;

/* Another reading: `payload` ticks of 100 instructions, then, if it has cycles, a chain after a wait of 40 ticks. */
static void add_reading(uint64_t payload, uint64_t chain_ticks, double chain_cycles)
{
    uint64_t *w = words + rec.n * STRIDE;
    for (size_t k = 0; k < STRIDE; k++)
        w[k] = rec.n > 0 ? w[(long)k - STRIDE] : k == 0 ? 1000000 : 0;
    w[0] += payload + (chain_ticks > 0 ? chain_ticks + 40 : 0);
    w[1] += 100;
    w[2] += chain_ticks;
    w[3] += (uint64_t)(chain_cycles * CHAIN_CYCLE_UNIT);
    w[4] += chain_ticks > 0 ? chain_ticks + 40 : 0;
    rec.n++;
}

static int begin(void **state)
{
    (void)state;
    rec = (struct recording){.stride = STRIDE, .words = words, .zero_tsc = 1000000};
    return 0;
}

static void convert(struct trace *t, const struct counter_spec *counters, size_t n)
{
    char why[FROM_RECORDING_WHY_MAX];
    trace_init(t);
    assert_int_equal(from_recording_begin(t, counters, n), 0);
    const struct recording_form form = {.counters = counters, .n_counters = n, .tsc_hz = TSC_HZ, .from_us = -INFINITY};
    assert_int_equal(from_recording_append(t, 3, &rec, &form, why), 0);
    assert_string_equal(why, "");
    assert_int_equal(t->n, rec.n - 1);
}

TEST_WITH(test_a_chain_in_each_sample, begin, NULL)
{
    struct trace t;
    for (unsigned i = 0; i < 20; i++)
        add_reading(i < 10 ? 50 : 100, i < 10 ? 100 : 200, 200); /* 4 GHz, then 2 GHz, at the same IPC */
    convert(&t, chains, 3);
    for (size_t i = 0; i < t.n; i++) {
        assert_true(fabs(t.channel[TRACE_FREQ][i] - (i < 9 ? 4 : 2)) < 1e-6);
        assert_true(fabs(t.channel[TRACE_IPC][i] - 1) < 1e-6);
    }
    trace_free(&t);
}

/* Samples without one have no frequency; the IPC of all is by the recording's, and tells their payload's rate. */
TEST_WITH(test_a_chain_in_some_samples, begin, NULL)
{
    struct trace t;
    for (unsigned i = 0; i < 201; i++) {
        bool chain = i % 4 == 0;
        double cycles = i % 8 == 0 ? 200 : 600;
        add_reading(i == 50 ? 200 : 50, chain ? (uint64_t)(cycles * TICKS_A_CYCLE) : 0, chain ? cycles : 0);
    }
    convert(&t, chains, 3);
    for (size_t i = 0; i < t.n; i++) {
        bool chain = (i + 1) % 4 == 0;
        assert_true(chain ? fabs(t.channel[TRACE_FREQ][i] - 4) < 1e-6 : isnan(t.channel[TRACE_FREQ][i]));
        assert_true(fabs(t.channel[TRACE_IPC][i] - (i + 1 == 50 ? 0.25 : 1)) < 1e-6); /* no chain counts as payload */
    }
    trace_free(&t);
}

/* By a clock in steps: single chains are off by a step, all of them together by little. */
TEST_WITH(test_steps_even_out, begin, NULL)
{
    enum { STEP = 20 };
    struct trace t;
    uint32_t random = 1;
    add_reading(50, 0, 0);
    for (unsigned i = 0; i < 399; i++) {
        random = random * 1664525 + 1013904223;
        double begin = 1000 + (random >> 16) % 997, cycles = i % 8 == 0 ? 260 : 660;
        uint64_t from = (uint64_t)begin / STEP * STEP, to = (uint64_t)(begin + cycles * TICKS_A_CYCLE) / STEP * STEP;
        bool chain = i % 4 == 0;
        add_reading(200, chain ? to - from : 0, chain ? cycles : 0);
    }
    convert(&t, chains, 3);
    for (size_t i = 0; i < t.n; i++)
        assert_true(fabs(t.channel[TRACE_IPC][i] / 0.25 - 1) < 0.015);
    trace_free(&t);
}

/* Time lost in a chain is lost in its sample, and affects neither its frequency nor that of all. */
TEST_WITH(test_an_interrupted_chain, begin, NULL)
{
    struct trace t;
    for (unsigned i = 0; i < 101; i++)
        add_reading(50, i % 4 == 0 ? (i == 40 ? 5000 : 100) : 0, i % 4 == 0 ? 200 : 0);
    convert(&t, chains, 3);
    for (size_t i = 0; i < t.n; i++) {
        assert_true(i == 39 ? isnan(t.channel[TRACE_FREQ][i]) : true);
        double ipc = i == 39 ? 100 / ((50 + 4900) / TICKS_A_CYCLE) : 1;
        assert_true(fabs(t.channel[TRACE_IPC][i] - ipc) < 1e-6);
    }
    trace_free(&t);
}

TEST_WITH(test_no_chain_at_all, begin, NULL)
{
    struct trace t;
    for (unsigned i = 0; i < 5; i++)
        add_reading(50, 0, 0);
    convert(&t, chains, 3);
    for (size_t i = 0; i < t.n; i++)
        assert_true(isnan(t.channel[TRACE_FREQ][i]) && isnan(t.channel[TRACE_IPC][i]));
    trace_free(&t);
}

TEST_WITH(test_cycles, begin, NULL)
{
    static const struct counter_spec cycles[] = {{COUNTER_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}, {COUNTER_EVENT, 1}};
    struct trace t;
    for (unsigned i = 0; i < 10; i++)
        add_reading(100, 200, 0); /* the first word after the instructions counts 200 cycles in 340 ticks */
    convert(&t, cycles, 3);
    for (size_t i = 0; i < t.n; i++) {
        assert_true(fabs(t.channel[TRACE_FREQ][i] - 200.0 / 340 * 2) < 1e-6);
        assert_true(fabs(t.channel[TRACE_IPC][i] - 0.5) < 1e-6);
    }
    trace_free(&t);
}
