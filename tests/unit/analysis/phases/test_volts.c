/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of a voltage within a phase that is steady otherwise: where it is cut, and how well that is known. */
#include "analysis/phases/findings.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

enum { READINGS = 200 };
#define SPACING_US (199.0 / READINGS) /* of 200 readings, one each microsecond */

/* Readings from -100 us on: 0.95 V, then 0.96 V, between the two straight from `begin` to `end`; 0.1 mV of noise. */
static void make_step(struct trace *t, double begin, double end)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_VOLTS), 0);
    for (unsigned i = 0; i < READINGS; i++) {
        double us = (double)i - 100, done = us < begin ? 0 : us < end ? (us - begin) / (end - begin) : 1;
        assert_int_equal(trace_append(t, i, us), 0);
        t->channel[TRACE_VOLTS][i] = (float)(0.95 + 0.01 * done + 1e-4 * (i % 4 < 2 ? 1 : -1));
    }
}

/* One steady phase of all of it. */
static struct phases steady(void)
{
    struct phases p = {.phases = calloc(1, sizeof *p.phases), .n_phases = 1, .runs_used = READINGS};
    assert_non_null(p.phases);
    p.phases[0] = (struct phase){
        .kind = PHASE_STEADY, .start_us = -100, .duration_us = {199, 199, 199}, .ipc = 2, .agreeing_runs = READINGS};
    return p;
}

static void expect_estimate(const struct estimate *e, double value, double half, double within)
{
    assert_close(e->value, value, within);
    assert_close(e->value - e->lo, half, 1e-6);
    assert_close(e->hi - e->value, half, 1e-6);
}

static void cut_at(double begin, double end, double within)
{
    struct trace t;
    struct phases p = steady();
    make_step(&t, begin, end);
    assert_int_equal(volts_find(&t, &p), 0);
    assert_int_equal(p.n_volt_steps, 1);
    const struct volt_step *s = p.volt_steps;
    assert_close(s->begin_us, begin, within);
    assert_close(s->end_us, end, within);
    assert_close(s->from_v, 0.95, 1.5e-4);
    assert_close(s->to_v, 0.96, 1.5e-4);
    double at = 0.5 * (s->begin_us + s->end_us), half = 0.5 * (s->end_us - s->begin_us) + SPACING_US;
    assert_int_equal(p.n_phases, 2);
    assert_close(p.phases[1].start_us, at, 1e-9);
    expect_estimate(&p.phases[0].duration_us, at + 100, half, 1e-9);
    expect_estimate(&p.phases[1].duration_us, 99 - at, half, 1e-9);
    assert_close(p.phases[0].volts, 0.95, 2e-4);
    assert_close(p.phases[1].volts, 0.96, 2e-4);
    /* nothing else tells of a transition */
    assert_int_equal(p.n_transitions, 1);
    assert_close(p.transitions[0].at_us, s->begin_us, 1e-9);
    assert_close(p.transitions[0].latency_us.value, s->end_us - s->begin_us, 1e-9);
    assert_close(p.transitions[0].latency_us.lo, fmax(0, s->end_us - s->begin_us - half), 1e-9);
    assert_close(p.transitions[0].latency_us.hi, s->end_us - s->begin_us + half, 1e-9);
    phases_free(&p);
    trace_free(&t);
}

TEST(a_steady_phase_is_cut_at_a_step)
{
    cut_at(50, 50, 1);
    cut_at(-40, -40, 1);
    cut_at(40, 60, 2);
    cut_at(10, 40, 2);
}

/* Near an edge that something else tells, a step is that edge; where the voltage is alone, two readings suffice. */
TEST(a_step_near_an_edge)
{
    for (int alone = 0; alone < 2; alone++) {
        struct trace t;
        struct phases p = steady();
        make_step(&t, -96, -96);
        p.phases[0].ipc = alone ? NAN : 2;
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(p.n_volt_steps, 1);
        assert_int_equal(p.n_phases, 1 + alone);
        phases_free(&p);
        trace_free(&t);
    }
}

/* Readings of repetitions that step from 0.95 to 0.9 V at times of their own, any from 0 to 40 us: four each
 * microsecond. All of it `earlier` us. */
static void make_mixed(struct trace *t, double earlier)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_VOLTS), 0);
    for (unsigned i = 0; i < 4 * READINGS; i++) {
        double us = 0.25 * (double)i - 100, own = 40 * fmod(0.6180339887 * (double)i, 1);
        assert_int_equal(trace_append(t, i, us - earlier), 0);
        t->channel[TRACE_VOLTS][i] = (float)((us < own ? 0.95 : 0.9) + 1e-4 * (i % 4 < 2 ? 1 : -1));
    }
}

struct change {
    double at, halt_us; /* of a phase; how long a halt lasts that it begins with */
};

/* Phases of levels 0, 1, ... from -100 us to each change. */
static struct phases changing(const struct change *change, size_t n)
{
    struct phases p = {.phases = calloc(2 * n + 1, sizeof *p.phases), .n_levels = n + 1, .runs_used = 4 * READINGS};
    double from = -100;
    assert_non_null(p.phases);
    for (size_t i = 0; i <= n; i++) {
        double to = i < n ? change[i].at : 100;
        p.phases[p.n_phases++] = (struct phase){
            .kind = PHASE_STEADY, .start_us = from, .duration_us = {to - from, to - from, to - from}, .level = (int)i};
        from = to;
        if (i < n && change[i].halt_us > 0) {
            double us = change[i].halt_us;
            p.phases[p.n_phases++] = (struct phase){
                .kind = PHASE_HALT, .start_us = to, .duration_us = {us, us, us}, .level = -1};
            from += us;
        }
    }
    return p;
}

/* The step is when the frequency changes among the mixed readings, if it changes once there. */
TEST(a_mixed_step_is_where_the_frequency_changes)
{
    static const struct {
        struct change change[3];
        size_t n;
        double begin, end;
        const char *warning;
    } cases[] = {
        {{{20, 0}}, 1, 20, 20, NULL},
        {{{20, 4}}, 1, 20, 24, NULL},
        {{{-50, 0}, {20, 0}}, 2, 20, 20, NULL},
        {{{20, 0}, {70, 0}}, 2, 20, 20, NULL},
        {{{-50, 3}, {20, 0}, {70, 3}}, 3, 20, 20, NULL},
        /* not in one of two changes, nor in none: from the last reading of the one to the first of the other */
        {{{15, 0}, {25, 0}},
         2,
         12,
         28.25,
         "no voltage is given from 15 us to 25 us: its readings come from repetitions in different states"},
        {{{-50, 0}}, 1, 12, 28.25, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t;
        struct phases p = changing(cases[i].change, cases[i].n);
        make_mixed(&t, 0);
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(p.n_volt_steps, 1);
        assert_close(p.volt_steps[0].begin_us, cases[i].begin, 1e-9);
        assert_close(p.volt_steps[0].end_us, cases[i].end, 1e-9);
        assert_close(p.volt_steps[0].from_v, 0.9501, 1e-6);
        assert_close(p.volt_steps[0].to_v, 0.9001, 1e-6);
        for (size_t k = 0; k < p.n_phases; k++) {
            const struct phase *ph = &p.phases[k];
            double middle = ph->start_us + 0.5 * ph->duration_us.value;
            if (ph->start_us > 12 && ph->start_us + ph->duration_us.value < 28.25) /* its readings are of no state */
                assert_true(isnan(ph->volts));
            else
                assert_close(ph->volts, middle < cases[i].begin ? 0.95 : 0.9, 1.1e-4);
        }
        assert_int_equal(p.n_warnings, cases[i].warning ? 1 : 0);
        if (cases[i].warning)
            assert_string_equal(p.warnings[0], cases[i].warning);
        phases_free(&p);
        trace_free(&t);
    }
}

/* Three quarters of the readings that there would be elsewhere tell the voltage of a halt; fewer do not. */
TEST(a_halt_needs_three_quarters_of_the_readings)
{
    enum { ALL = 32, BEFORE = 13 }; /* in 64 us: 2 us each, of which 1 to 17 us have room for 8 */
    static const struct change change = {0, 18};
    for (unsigned within = 5; within <= 6; within++) {
        struct phases p = changing(&change, 1);
        struct trace t;
        trace_init(&t);
        assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
        for (unsigned i = 0; i < ALL; i++) {
            double us = i < BEFORE            ? -23 + (double)i
                        : i < BEFORE + within ? 3 + 2 * (double)(i - BEFORE)
                                              : 41 - (double)(ALL - 1 - i);
            assert_int_equal(trace_append(&t, i, us), 0);
            t.channel[TRACE_VOLTS][i] = 1;
        }
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(p.phases[1].kind, PHASE_HALT);
        assert_true(within < 6 ? isnan(p.phases[1].volts) : p.phases[1].volts == 1);
        assert_true(p.phases[0].volts == 1 && p.phases[2].volts == 1);
        phases_free(&p);
        trace_free(&t);
    }
}

/* Times that are hardly before 0 are told as 0. */
TEST(what_is_told_of_mixed_readings_has_no_minus_zero)
{
    static const double earlier[] = {15.25, 25.25}; /* than {15, 25} */
    static const char *const told[] = {
        "no voltage is given from 0 us to 10 us: its readings come from repetitions in different states",
        "no voltage is given from -10 us to 0 us: its readings come from repetitions in different states"};
    for (size_t i = 0; i < 2; i++) {
        const struct change change[] = {{15 - earlier[i], 0}, {25 - earlier[i], 0}};
        struct phases p = changing(change, 2);
        struct trace t;
        make_mixed(&t, earlier[i]);
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(p.n_warnings, 1);
        assert_string_equal(p.warnings[0], told[i]);
        phases_free(&p);
        trace_free(&t);
    }
}

/*
 * 4000 readings of 2000 repetitions, 2.5 us apart, in groups of four; the voltage steps in a pause behind the second of
 * a group. A pause of six times as long as most splits it; of a shorter one it becomes one reading in the middle.
 */
TEST(a_pause_parts_readings_that_it_is_long_for)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        struct trace t;
        struct phases p = {.phases = calloc(1, sizeof *p.phases), .n_phases = 1, .runs_used = 2000};
        double pause = is_long ? 15.2 : 14.8;
        assert_non_null(p.phases);
        p.phases[0] = (struct phase){.kind = PHASE_STEADY, .start_us = -5000, .duration_us = {10e3, 10e3, 10e3}};
        trace_init(&t);
        assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
        for (unsigned i = 0; i < 4000; i++) {
            bool behind = i > 2001;
            assert_int_equal(trace_append(&t, i, 2.5 * ((double)i - 2001) + (behind ? pause - 2.5 : 0)), 0);
            t.channel[TRACE_VOLTS][i] = (float)((behind ? 0.96 : 0.95) + 1e-4 * (i % 4 < 2 ? 1 : -1));
        }
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(p.n_volt_steps, 1);
        /* between the group that ends at -5 us and the one behind it: of what lies behind the pause, or across it */
        double behind = is_long ? pause + 3.75 : 0.25 * (-2.5 + 0 + pause + pause + 2.5);
        assert_close(p.volt_steps[0].begin_us, 0.5 * (-8.75 + behind), 1e-3);
        assert_close(p.volt_steps[0].end_us, 0.5 * (-8.75 + behind), 1e-3);
        phases_free(&p);
        trace_free(&t);
    }
}

/* In a busy virtual machine a reading comes up to 70 us after the code has ended: of 50 us it tells nothing, and says
 * so. */
TEST(readings_behind_the_recording_are_told)
{
    for (int late = 0; late < 2; late++) {
        struct trace t;
        struct phases p = steady();
        make_step(&t, 1e9, 1e9); /* none */
        assert_int_equal(trace_set(&t, "volts_late_us", late ? "67.6" : "4"), 0);
        for (size_t i = 0; i < t.n && late; i++)
            t.time_us[i] += 1000;
        assert_int_equal(volts_find(&t, &p), 0);
        assert_int_equal(isnan(p.phases[0].volts), late);
        assert_int_equal(p.n_warnings, late);
        if (late)
            assert_non_null(strstr(p.warnings[0], "readings come 68 us after the code has ended here"));
        phases_free(&p);
        trace_free(&t);
    }
}

/* A ramp up to a halt and one behind it, which are two steps; wherever memory ends, it is told. */
TEST(out_of_memory_is_told)
{
    static const struct change change = {0, 10};
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
    for (unsigned i = 0; i < 2 * READINGS; i++) {
        double us = 0.5 * (double)i - 100, before = fmin(fmax(us / 20 + 1, 0), 1),
               behind = fmin(fmax(us - 10, 0) / 20, 1);
        if (us > 0 && us < 10)
            continue;
        assert_int_equal(trace_append(&t, i, us), 0);
        t.channel[TRACE_VOLTS][t.n - 1] = (float)(0.95 + 0.03 * (before + behind) + 1e-3 * (i % 4 < 2 ? 1 : -1));
    }
    for (unsigned k = 1;; k++) {
        struct phases p = changing(&change, 1);
        strict_memory_fail(k);
        int bad = volts_find(&t, &p);
        bool failed = strict_memory_failed();
        strict_memory_fail(0);
        if (bad)
            assert_true(failed);
        else /* there is none left to fail, or the C library could do without it */
            assert_int_equal(p.n_volt_steps, 2);
        phases_free(&p);
        if (!failed)
            break;
    }
    trace_free(&t);
}
