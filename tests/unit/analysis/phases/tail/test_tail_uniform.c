/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates that fade in recordings whose samples are all alike, in traces and phases made by hand. */
#include "analysis/phases/tail/tail.h"
#include "tests/support/phases_rig.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

enum { RUNS = 6, BEFORE = 20, BEHIND = 300 };

/* Samples of 1 us at 3 GHz, 1 instruction a cycle until 0; then the rate goes from `from` to 2 with `tau`. Repetitions
 * are off by 0.1 % above and below by turns. */
static void make_trace(struct trace *t, double from, double tau)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    assert_int_equal(trace_set(t, "period_us", "1"), 0);
    for (unsigned run = 0; run < RUNS; run++)
        for (int end = -BEFORE; end <= BEHIND; end++) {
            double us = end - 0.5, rate = us < 0 ? 1 : 2 - (2 - from) * exp(-us / tau);
            assert_int_equal(trace_append(t, run, end), 0);
            t->channel[TRACE_FREQ][t->n - 1] = 3;
            t->channel[TRACE_IPC][t->n - 1] = (float)(rate * (1 + (((unsigned)end + run) % 2 ? 1e-3 : -1e-3)));
        }
}

static struct phases phases_of(const struct phase *phase, size_t n)
{
    struct phases p = {.n_phases = n, .phases = malloc(n * sizeof *phase)};
    assert_non_null(p.phases);
    memcpy(p.phases, phase, n * sizeof *phase);
    return p;
}

/* What a fade with `tau` is told as where it was cut into two pieces, the first of this kind and frequency. */
static struct phases of_staircase(double from, double tau, enum phase_kind kind, double ghz)
{
    struct trace t;
    make_trace(&t, from, tau);
    struct phases p = phases_of(
        (struct phase[]){rig_phase(PHASE_STEADY, -BEFORE, BEFORE, 3, 1), rig_phase(kind, 0, 20, ghz, 1.2),
                         rig_phase(PHASE_THROTTLE, 20, 60, 3, 1.7), rig_phase(PHASE_STEADY, 80, BEHIND - 80, 3, 2)},
        4);
    assert_int_equal(tail_uniform_find(&t, &p), 0);
    trace_free(&t);
    return p;
}

static size_t ramp_in(const struct phases *p)
{
    size_t i = 0;
    while (i < p->n_phases && p->phases[i].kind != PHASE_RAMP)
        i++;
    return i;
}

TEST(a_fade_takes_the_place_of_its_steps)
{
    struct phases p = of_staircase(1, 20, PHASE_THROTTLE, 3);
    assert_int_equal(p.n_phases, 3);
    const struct phase *ramp = &p.phases[1];
    assert_int_equal(ramp->kind, PHASE_RAMP);
    assert_close(ramp->start_us, 0, 1e-9);
    assert_close(ramp->rate_ramp.tau_us.value, 20, 0.3);
    assert_close(ramp->rate_ramp.from.value, 0.5, 0.01);
    assert_close(ramp->duration_us.value, 20 * log(1 / 0.002), 2);
    assert_true(ramp->clock_ramp.runs == 0 && ramp->freq_ghz.value == 3 && ramp->agreeing_runs == RUNS);
    assert_int_equal(p.phases[2].kind, PHASE_STEADY);
    assert_close(p.phases[2].ipc, 2, 0.002);
    phases_free(&p);
}

/* A rate that changes by less than 2 %, or faster than in 5 us, is none; nor is what is halted of it. */
TEST(what_is_no_fade_stays)
{
    const struct {
        double from, tau;
        enum phase_kind kind;
        double ghz;
        size_t ramp;
    } cases[] = {
        {1.9, 20, PHASE_THROTTLE, 3, 1},
        {1.97, 20, PHASE_THROTTLE, 3, 4},
        {1, 5.2, PHASE_THROTTLE, 3, 1},
        {1, 4.8, PHASE_THROTTLE, 3, 4},
        {1, 20, PHASE_THROTTLE, 2.991, 1},
        {1, 20, PHASE_THROTTLE, 2.988, 2}, /* at another frequency: begins with the next */
        {1, 20, PHASE_HALT, 3, 2},
        {1, 20, PHASE_UNKNOWN, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct phases p = of_staircase(cases[i].from, cases[i].tau, cases[i].kind, cases[i].ghz);
        if (ramp_in(&p) != cases[i].ramp) {
            rig_show_phases(&p);
            fail_msg("case %zu", i);
        }
        phases_free(&p);
    }
}

/* Beside a ramp of the clock a rate that has arrived before that has is its other side, of the first phase, too. */
TEST(a_fade_beside_a_ramp_of_the_clock_is_its_other_side)
{
    for (size_t i = 0; i < 3; i++) {
        bool over = i > 0, is_first = i == 2;
        struct trace t;
        struct phase clock = rig_phase(PHASE_RAMP, 0, over ? 135 : 115, 2.9, 1.8); /* the rate has after 124 us */
        clock.from_ghz = (struct estimate){2.8, 2.8, 2.8};
        clock.to_ghz = (struct estimate){3, 3, 3};
        clock.tau_us = (struct estimate){30, 30, 30};
        clock.agreeing_runs = 5;
        make_trace(&t, 1, 20);
        const struct phase phase[] = {
            rig_phase(PHASE_STEADY, -BEFORE, BEFORE, 3, 1), clock,
            rig_phase(PHASE_STEADY, clock.duration_us.value, BEHIND - clock.duration_us.value, 3, 2)};
        struct phases p = phases_of(phase + is_first, is_first ? 2 : 3);
        assert_int_equal(tail_uniform_find(&t, &p), 0);
        assert_int_equal(p.n_phases, is_first ? 2 : 3);
        const struct phase *ramp = &p.phases[is_first ? 0 : 1];
        if (over) {
            assert_close(ramp->rate_ramp.tau_us.value, 20, 0.3);
            assert_close(ramp->rate_ramp.begin_us.value, 0, 1e-9);
            assert_close(ramp->rate_ramp.from.value, 0.5, 0.01);
            assert_close(ramp->ipc, 2 - 20 * (1 - exp(-135.0 / 20)) / 135, 0.005);
            assert_close(ramp->ipc_ratio, ramp->ipc / 2, 0.001);
            const struct ramp_side *s = &ramp->clock_ramp;
            assert_true(s->begin_us.value == 0 && s->end_us.value == 135 && s->from.value == 2.8 && s->to.value == 3 &&
                        s->tau_us.value == 30 && s->runs == 5);
        } else {
            assert_true(ramp->rate_ramp.tau_us.value == 0 && ramp->clock_ramp.tau_us.value == 0);
            assert_close(ramp->ipc, 1.8, 0);
        }
        phases_free(&p);
        trace_free(&t);
    }
}

/* Wherever memory runs out it is said. */
TEST(no_memory_is_no_fade)
{
    const struct phase phase[] = {rig_phase(PHASE_STEADY, -BEFORE, BEFORE, 3, 1),
                                  rig_phase(PHASE_STEADY, 0, BEHIND, 3, 2)};
    struct trace t;
    make_trace(&t, 1, 20);
    bool failed = true;
    for (unsigned long n = 1; failed; n++) {
        struct phases p = phases_of(phase, 2);
        strict_memory_fail(n);
        int status = tail_uniform_find(&t, &p);
        failed = strict_memory_failed();
        strict_memory_fail(0);
        if (status != (failed ? -1 : 0))
            fail_msg("allocation %lu: %d", n, status);
        assert_true(failed || p.n_phases == 3);
        phases_free(&p);
    }
    trace_free(&t);
}
