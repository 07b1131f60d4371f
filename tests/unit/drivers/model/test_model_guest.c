/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scenario of a busy guest, as cloud-guest draws it: neighbors that come for 10 us to 100 ms, a clock that floats
 * in steps, interruptions, cold code, and samples of fixed work, one in four of which tells the frequency.
 */
#include "drivers/model/model_core.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

#define SECONDS 40.0

/* The events within a repetition that lasts very long. */
struct seen {
    double busy_us, decade_us[4]; /* beside a neighbor: in all, and in bursts of 10 us, 100 us, 1 ms, 10 ms or more */
    double shortest_us, longest_us;
    double interrupted_us, least_clock, most_clock;
    unsigned interruptions, clock_steps;
};

static void end_burst(struct seen *s, double us)
{
    s->shortest_us = fmin(s->shortest_us, us);
    s->longest_us = fmax(s->longest_us, us);
    s->busy_us += us;
    int decade = us < 100 ? 0 : us < 1e3 ? 1 : us < 1e4 ? 2 : 3;
    s->decade_us[decade] += us;
}

static void watch(const struct model *m, struct seen *s)
{
    struct model_core c;
    struct machine_error err;
    const struct payload p = rig_payload("128fma");
    *s = (struct seen){.shortest_us = INFINITY, .least_clock = INFINITY};
    model_core_start(&c, m, 1, 4, 0);
    assert_int_equal(model_core_run(&c, &p, &err), MACHINE_OK);
    double burst = NAN; /* one that was there at the beginning is not counted */
    while (c.now < SECONDS * 1e6) {
        bool busy = c.around.sibling_runs, interrupted = c.interrupt_end > c.now;
        double begin = c.now, clock = model_scenario_clock(&c);
        model_core_advance(&c, nextafter(model_core_event(&c), INFINITY), INFINITY);
        s->interrupted_us += interrupted ? c.now - begin : 0;
        s->interruptions += !interrupted && c.interrupt_end > c.now;
        s->clock_steps += model_scenario_clock(&c) != clock;
        s->least_clock = fmin(s->least_clock, clock);
        s->most_clock = fmax(s->most_clock, clock);
        if (!busy && c.around.sibling_runs)
            burst = c.now;
        if (busy && !c.around.sibling_runs && !isnan(burst))
            end_burst(s, c.now - burst);
    }
}

TEST(neighbors_come_and_go)
{
    struct model m;
    struct seen s;
    rig_load("cloud-guest", &m);
    m.frequency_noise = 0;
    watch(&m, &s);
    assert_true(s.shortest_us > 9.9 && s.shortest_us < 11);
    assert_true(s.longest_us > 50e3 && s.longest_us < 101e3);
    /* the long bursts are few: 25 of the longest decade take a quarter of it */
    assert_true(fabs(s.busy_us / (SECONDS * 1e6) - 0.15) < 0.03);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(s.decade_us[i] / s.busy_us - 0.25) < (i < 3 ? 0.06 : 0.12));
}

TEST(the_clock_floats_and_others_interrupt)
{
    struct model m;
    struct seen s;
    rig_load("cloud-guest", &m);
    m.frequency_noise = 0;
    watch(&m, &s);
    assert_true(s.least_clock == 1 && s.most_clock > 1.2);
    for (double mhz = 1.9e3, k = 0; k < 2; k++)
        assert_true(m.scenario.wander.step * mhz >= 100 && m.scenario.wander.step * mhz <= 300);
    /* Poisson, within four standard deviations; where it cannot move further it comes back */
    assert_true(fabs(s.clock_steps - SECONDS * 10) < 4 * sqrt(SECONDS * 10));
    assert_true(fabs(s.interruptions - SECONDS * 500) < 4 * sqrt(SECONDS * 500) + 0.01 * SECONDS * 500);
    assert_true(fabs(s.interrupted_us / s.interruptions - 9) < 0.2);
}

/* Where a repetition begins does not depend on the neighbors: a share of them begins beside one. */
TEST(repetitions_begin_anywhere)
{
    enum { RUNS = 20000 };
    struct model m;
    struct model_core c;
    unsigned beside = 0, longer = 0;
    rig_load("cloud-guest", &m);
    for (unsigned run = 0; run < RUNS; run++) {
        model_core_start(&c, &m, 1, 9, run);
        beside += c.around.sibling_runs;
        longer += c.around.sibling_runs && c.around.sibling_until > 1e3;
    }
    assert_true(fabs((double)beside / RUNS - 0.15) < 4 * sqrt(0.15 * 0.85 / RUNS));
    /* of what is left of a burst of L to 10 L, L = 1 ms and 10 ms, 1 ms: 1 - ln(10)^-1 (1 - 1/10) and so on */
    assert_true(fabs((double)longer / beside - 0.39) < 0.04);
}

/* A machine that reads as cloud-guest does; only its throttling and its cold code are left, where they are wanted. */
static void open_guest(struct rig *r, bool cold)
{
    struct model m;
    static const enum counter_id ids[] = {COUNTER_CHAIN_TICKS, COUNTER_CHAIN_CYCLES, COUNTER_READ_TICKS};
    struct machine_error err;
    rig_load("cloud-guest", &m);
    rig_silence(&m);
    m.chain_cost_sigma = m.split_read_ns = 0;
    m.scenario.cold_us = cold ? m.scenario.cold_us : 0;
    rig_open(r, &m, 1, 1, 3);
    for (size_t i = 0; i < 3; i++)
        r->counters[i].id = ids[i];
    r->setup.n_counters = 3;
    if (r->machine.ops->prepare(&r->machine, &r->setup, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

enum { CHAIN_TICKS_WORD = 2, CHAIN_CYCLES_WORD, READ_TICKS_WORD };

static double grown(const struct recording *rec, size_t i, int word)
{
    return recording_difference(recording_at(rec, i), recording_at(rec, i - 1), word);
}

TEST(samples_are_of_fixed_work)
{
    struct rig r;
    size_t samples = 0, chains = 0, after_chain = 0;
    open_guest(&r, false);
    for (unsigned run = 0; run < 40; run++) {
        struct recording rec = rig_switch(&r, "128fma", "512fma", 150, run);
        assert_true(recording_at(&rec, rec.zero_reading)[RIG_TSC] == rec.zero_tsc);
        double work = grown(&rec, rec.zero_reading + 1, RIG_PAYLOAD), slow_us = 0;
        for (size_t i = rec.zero_reading + 1; i < rec.n; i++) {
            bool chain = grown(&rec, i, CHAIN_CYCLES_WORD) > 0;
            double us = (grown(&rec, i, RIG_TSC) - grown(&rec, i, READ_TICKS_WORD)) / r.tsc_hz * 1e6;
            assert_true(grown(&rec, i, RIG_PAYLOAD) == work);
            assert_true(chain == (grown(&rec, i, CHAIN_TICKS_WORD) > 0));
            /* a quarter of the period at 1.9 GHz; four times that while throttled */
            assert_true(us > 0.24 && us < 1.03);
            slow_us += us - work / 2 / 1.9e3;
            samples++;
            chains += chain;
            after_chain += chain && grown(&rec, i - 1, CHAIN_CYCLES_WORD) > 0;
        }
        /* 1.95 us at a quarter of the rate lose 1.46; of them, what passes in readings is not the payload's */
        assert_true(slow_us > 0.4 && slow_us < 1.47);
    }
    rig_close(&r);
    double share = (double)chains / (double)samples, twice = (double)after_chain / (double)chains;
    assert_true(fabs(share - 0.25) < 4 * sqrt(0.25 * 0.75 / (double)samples));
    assert_true(fabs(twice - 0.25) < 4 * sqrt(0.25 * 0.75 / (double)chains)); /* at random */
}

TEST(cold_code_costs_a_fraction_of_a_microsecond)
{
    struct rig r;
    open_guest(&r, true);
    struct recording rec = rig_switch(&r, "128fma", "128or", 20, 0);
    double first = grown(&rec, rec.zero_reading + 1, RIG_TSC) - grown(&rec, rec.zero_reading + 1, READ_TICKS_WORD);
    double later = grown(&rec, rec.zero_reading + 9, RIG_TSC) - grown(&rec, rec.zero_reading + 9, READ_TICKS_WORD);
    rig_close(&r);
    assert_true(fabs((first - later) / r.tsc_hz * 1e6 - 0.19) < 0.005);
}

/* After the finely recorded part samples grow in powers of two, so that a long recording has few. */
TEST(samples_grow)
{
    struct rig r;
    struct recording rec;
    struct machine_error err;
    open_guest(&r, false);
    const struct segment segments[2] = {{rig_payload("64add"), 50, true}, {rig_payload("128fma"), 100e3, true}};
    const struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1, .fine_us = 100};
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    double work = grown(&rec, rec.zero_reading + 1, RIG_PAYLOAD);
    for (size_t i = rec.zero_reading + 1; i < rec.n; i++) {
        double begin = recording_time_us(&rec, recording_at(&rec, i - 1)[RIG_TSC], r.tsc_hz);
        double doubled = log2(grown(&rec, i, RIG_PAYLOAD) / work);
        assert_true(doubled == floor(doubled));
        /* up to 128 us: twice that would be more than 250 */
        assert_true(doubled == fmin(9, fmax(0, floor(log2(fmax(1, (begin - 100) / 0.25)) - 8))));
    }
    assert_true(rec.n < 6000);
    rig_close(&r);
}
