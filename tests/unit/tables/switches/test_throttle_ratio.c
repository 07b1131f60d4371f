/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At what share of its rate code runs while it is throttled, from samples made by hand. */
#include "tables/switches/transition_summary.h"
#include "tests/support/test.h"

enum { RUNS = 3 };

/*
 * Samples of 1 us at 3 GHz and of 3 us at 2 GHz take turns from -1 us on. Throttled for 40 us: 1/2 and 1/4
 * instructions a cycle, 3 in 9 cycles; then 2 and 1: 12 in 9. An eighth off either end, of the long phase 5 us, there
 * is nonsense, and in each eighth pair nothing.
 */
static void make_samples(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    for (uint32_t run = 0; run < RUNS; run++) {
        double now = -1;
        for (int i = 0; now < 200; i++) {
            bool is_long = i % 2 == 1;
            double before = now;
            now += is_long ? 3 : 1;
            bool edge = before < 5 || (now > 35 && before < 45) || now > 195;
            assert_int_equal(trace_append(t, run, now), 0);
            t->channel[TRACE_FREQ][t->n - 1] = is_long ? 2 : 3;
            t->channel[TRACE_IPC][t->n - 1] = edge ? 50 : (now <= 40 ? 0.5F : 2) / (is_long ? 2 : 1);
            if (i % 16 >= 14)
                t->channel[TRACE_IPC][t->n - 1] = NAN;
        }
    }
}

static struct phase phase_of(enum phase_kind kind, double start, double length, double ghz, double ipc, int level)
{
    return (struct phase){.kind = kind,
                          .start_us = start,
                          .duration_us = {length, NAN, NAN},
                          .freq_ghz = {ghz, NAN, NAN},
                          .freq_half_ghz = 0.003,
                          .ipc = ipc,
                          .ipc_ratio = 0.3,
                          .level = level};
}

/* The throttled phase is the second; behind it a halt, whose rate means nothing, and two of which the second counts. */
static struct phases phases_in(struct phase *phase)
{
    phase[0] = phase_of(PHASE_STEADY, -50, 50, 3, 3, 0);
    phase[1] = phase_of(PHASE_THROTTLE, 0, 40, 3, 0.3, 0);
    phase[2] = phase_of(PHASE_HALT, 40, 0, NAN, 9, -1);
    phase[3] = phase_of(PHASE_STEADY, 40, 0, 3, 1, 0);
    phase[4] = phase_of(PHASE_STEADY, 40, 160, 3, 1.3, 0);
    return (struct phases){.phases = phase, .n_phases = 5, .runs = RUNS, .runs_used = RUNS};
}

static void expect_ratio(const struct trace *t, const struct phases *p, double value, double below, double above)
{
    struct estimate e = transition_throttle_ratio(t, p, 1);
    assert_close(e.value, value, 1e-6);
    assert_close(e.value - e.lo, below, 1e-6);
    assert_close(e.hi - e.value, above, 1e-6);
}

TEST(instructions_a_cycle)
{
    struct trace t;
    struct phase phase[5];
    struct phases p = phases_in(phase);
    make_samples(&t);
    expect_ratio(&t, &p, 0.25, 0.25 * 0.0005, 0.25 * 0.0005);
    /* where another thread ran, it is what the analysis has found */
    p.disturbed = true;
    expect_ratio(&t, &p, 0.3, 0.25 * 0.0005, 0.25 * 0.0005);
    /* cycles count by time alone where nothing is known of the frequency: 5/4 in 4, 5 in 4 */
    p.disturbed = false;
    for (size_t i = 0; i < t.n; i++)
        t.channel[TRACE_FREQ][i] = t.time_us[i] < 40 ? NAN : t.channel[TRACE_FREQ][i];
    expect_ratio(&t, &p, 5.0 / 16 / (12.0 / 9), 5.0 / 16 / (12.0 / 9) * 0.0005, 5.0 / 16 / (12.0 / 9) * 0.0005);
    trace_free(&t);
}

/* Where the frequency is that of one chain, rates are of time: 3 in 4 us, 12 in 4 us. */
TEST(instructions_a_nanosecond)
{
    struct trace t;
    struct phase phase[5];
    struct phases p = phases_in(phase);
    make_samples(&t);
    assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
    /* the same level: by how much both frequencies may still differ, 0.1 % each, but no less than they seem to */
    double half = 0.25 * 0.0005, apart = hypot(0.001, 0.001);
    expect_ratio(&t, &p, 0.25, 0.25 - (0.25 - half) * (1 - apart), (0.25 + half) * (1 + apart) - 0.25);
    /* another level, or none that is known: of a cycle, at 3 GHz instead of 2.4 */
    phase[1].freq_ghz.value = 2.4;
    for (phase[1].level = -1; phase[1].level < 2; phase[1].level += 2) {
        half = hypot(0.0005, hypot(0.003 / 3, 0.003 / 2.4)) * 0.3125;
        expect_ratio(&t, &p, 0.3125, half + 0.2 * 0.3125, half); /* or the chain is slowed, by 20 % */
    }
    phase[0].freq_ghz.value = 2.4; /* no: it is the frequency of before */
    expect_ratio(&t, &p, 0.3125, half, half);
    phase[0].freq_ghz.value = 3.21; /* too far off for a slowed chain */
    expect_ratio(&t, &p, 0.3125, half, half);
    trace_free(&t);
}

/* Without two repetitions to compare, without samples or anything behind it: what the analysis has found. */
TEST(nothing_to_compare)
{
    struct trace t;
    struct phase phase[5];
    struct phases p = phases_in(phase);
    make_samples(&t);
    p.runs = 1;
    struct estimate e = transition_throttle_ratio(&t, &p, 1);
    assert_true(e.value == 0.3 && isnan(e.lo) && isnan(e.hi));
    p.runs = 2;
    assert_close(transition_throttle_ratio(&t, &p, 1).value, 0.25, 1e-6);
    p.runs = RUNS;
    p.n_phases = 3;
    assert_true(transition_throttle_ratio(&t, &p, 1).value == 0.3);
    p.n_phases = 5;
    phase[1].duration_us.value = 4; /* shorter than its samples */
    assert_true(transition_throttle_ratio(&t, &p, 1).value == 0.3);
    trace_free(&t);
}
