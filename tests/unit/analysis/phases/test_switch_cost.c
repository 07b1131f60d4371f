/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: thousands of made-up switches */
/*
 * What a switch itself costs, whatever it asks for, is no throttling: models whose code runs slowly for the first
 * microseconds after each switch, with and without something else that happens then, by counters and by chains.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/phases/checks/cross_check.h"
#include "analysis/phases/checks/switch_cost.h"
#include "analysis/phases/phases.h"
#include "tables/switches/transition_summary.h"
#include "drivers/model/model.h"
#include "tests/support/clock_models.h"
#include "tests/support/close_to.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_rig.h"
#include "tests/support/random_numbers.h"

static const double lengths[] = {2, 3, 5, 8, 12, 20}, factors[] = {0.25, 0.4, 0.6, 0.8}, steps[] = {0, 1, 10, 25};
enum { LENGTHS = 6, FACTORS = 4, CLOCKS = 4, SEEDS = 2 };

/* Of cases in all combinations every fifth, which is some of each kind, or all. */
static unsigned every(void)
{
    return rng_all_rounds() ? 1 : 5;
}

/* steps_ns 0: with counters. */
static void make(struct model *m, enum clock_event e, double step_ns, double cold_us, double factor)
{
    rig_load("xeon-gold-6130", m);
    clock_model(m, e, step_ns);
    m->no_counters = step_ns > 0;
    m->world.cold_us = cold_us;
    m->world.cold_factor = factor;
}

static void measure(const struct model *m, uint64_t seed, struct switches_seen *seen)
{
    struct machine_error err;
    if (clock_measure(m, seed, 60, seen, &err))
        fail_msg("%s", err.text);
}

/* 42 of 42 such models were told as throttling from 3 us on. */
static void cold_code_is_no_throttle(void **state)
{
    (void)state;
    unsigned told = 0, all = 0;
    for (unsigned i = 0; i < LENGTHS * FACTORS * CLOCKS; i += every()) {
        struct model m;
        struct switches_seen seen;
        struct transition_summary sum;
        double us = lengths[i % LENGTHS], factor = factors[i / LENGTHS % FACTORS],
               step = steps[i / LENGTHS / FACTORS % CLOCKS];
        make(&m, CLOCK_NOTHING, step, us, factor);
        measure(&m, i + 1, &seen);
        if (clock_anything(&seen.phases)) {
            rig_show_phases(&seen.phases);
            fail_msg("cold for %g us at %g, steps of %g ns", us, factor, step);
        }
        transition_summarize(&seen.result.trace, &seen.phases, &sum);
        assert_true(sum.kind == SWITCH_NONE || sum.kind == SWITCH_UNDECIDED);
        all += us >= 5;
        told += us >= 5 && rig_warned(&seen.phases, "at the switch withdrawn");
        switches_free(&seen);
    }
    print_message("of %u cold starts of 5 us or more %u are told as such\n", all, told);
    assert_true(told >= all * 9 / 10);
}

/* Throttling stays where it is held against such a switch, with cold code that is shorter than it and without. */
static void throttling_stays(void **state)
{
    (void)state;
    static const double cold[] = {0, 0.8, 2, 3};
    for (unsigned i = 0; i < 4 * CLOCKS; i++) {
        struct model m;
        struct switches_seen seen;
        bool found = false;
        double both = 0.25 * (1 - 0.4 * cold[i % 4] / 10); /* of a tenth or less of the full rate no account is taken */
        make(&m, CLOCK_THROTTLE, steps[i / 4], cold[i % 4], 0.6);
        measure(&m, i + 1, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++) {
            const struct phase *ph = &seen.phases.phases[k];
            double end = ph->start_us + ph->duration_us.value;
            found |= ph->kind == PHASE_THROTTLE && fabs(end - 10) < 0.6 && ph->start_us <= cold[i % 4] + 0.6 &&
                     ph->ipc_ratio > 0.95 * both && ph->ipc_ratio < 1.05 * 0.25;
        }
        if (!found || seen.phases.n_transitions != 1 || !trace_get(&seen.result.trace, "held_rates")) {
            rig_show_phases(&seen.phases);
            fail_msg("cold for %g us, steps of %g ns", cold[i % 4], steps[i / 4]);
        }
        switches_free(&seen);
    }
}

/* Throttled code that is cold, too, has no ratio that would be told: what is told is the ratio of throttling alone. */
static void no_ratio_of_both(void **state)
{
    (void)state;
    static const double cold[] = {5, 8, 12, 20}, factor[] = {0.4, 0.6, 0.8};
    for (unsigned i = 0; i < 4 * 3 * CLOCKS; i += every()) {
        struct model m;
        struct switches_seen seen;
        make(&m, CLOCK_THROTTLE, steps[i / 12 % CLOCKS], cold[i % 4], factor[i / 4 % 3]);
        measure(&m, i + 1, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++) {
            const struct phase *ph = &seen.phases.phases[k];
            if (ph->kind != PHASE_THROTTLE || fabs(ph->ipc_ratio / 0.25 - 1) < 0.11)
                continue;
            rig_show_phases(&seen.phases);
            fail_msg("cold for %g us at %g, steps of %g ns", cold[i % 4], factor[i / 4 % 3], steps[i / 12]);
        }
        switches_free(&seen);
    }
}

/* A change of frequency with its halts and throttling stands, whatever its first microseconds are. */
static void a_transition_stays(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct model m;
        struct switches_seen seen;
        struct transition_summary sum;
        rig_load("xeon-gold-6130", &m);
        m.counts_licenses = m.counts_throttle = false;
        m.no_counters = i % 2;
        m.tsc_step_ns = i % 2 ? 10 : 0;
        m.world.cold_us = 2.0 * (1 + i / 2);
        m.world.cold_factor = 0.6;
        measure(&m, i + 1, &seen);
        const struct phases *p = &seen.phases;
        transition_summarize(&seen.result.trace, p, &sum);
        bool right = p->n_transitions == 1 && p->transitions[0].halts == 2 && sum.kind == SWITCH_FREQUENCY &&
                     fabs(p->transitions[0].latency_us.value - 60) < 1 && p->phases[p->n_phases - 2].kind == PHASE_HALT;
        unsigned throttles = 0;
        for (size_t k = 0; k < p->n_phases; k++)
            if (p->phases[k].kind == PHASE_THROTTLE) {
                throttles++;
                right = right && fabs(p->phases[k].ipc_ratio / (throttles == 1 ? 0.25 : 0.5) - 1) < 0.05;
            }
        if (!right || throttles != 2) {
            rig_show_phases(p);
            fail_msg("cold for %g us, chains %u", m.world.cold_us, i % 2);
        }
        switches_free(&seen);
    }
}

/* What the processor's own event counts as throttled is throttling, even if all else looks like cold code; but how deep
 * it is nobody knows then. */
static void what_is_counted_stands(void **state)
{
    (void)state;
    struct switch_cost c = {.period_us = 1, .n = 4, .rate = {0.5, 0.5, 0.5, 1}};
    const struct phase ph[3] = {
        {.kind = PHASE_STEADY, .start_us = -50, .duration_us = {50, 50, 50}, .ipc = 2, .ipc_ratio = 1},
        {.kind = PHASE_THROTTLE, .duration_us = {3, 3, 3}, .ipc = 1, .ipc_ratio = 0.5},
        {.kind = PHASE_STEADY, .start_us = 3, .duration_us = {90, 90, 90}, .ipc = 2, .ipc_ratio = 1}};
    for (int counted = 0; counted < 2; counted++) {
        struct phase copy[3];
        struct transition tr = {.latency_us = {3, 3, 3}, .from_ghz = 2, .to_ghz = 2};
        struct phases p = {.phases = copy, .n_phases = 3, .transitions = &tr, .n_transitions = 1};
        memcpy(copy, ph, sizeof copy);
        copy[1].share[3] = counted;
        assert_true(switch_cost_until_us(&p, 1) == 3);
        assert_int_equal(switch_cost_judge(&c, &p), 0);
        assert_int_equal(copy[1].kind, PHASE_UNKNOWN);
        assert_true(isnan(copy[1].ipc_ratio));
        assert_int_equal(p.n_transitions, counted);
        assert_int_equal(copy[1].switch_explains, counted ? EXPLAINS_PART : EXPLAINS_ALL);
        p.phases = NULL;
        p.transitions = NULL;
        p.n_phases = 0;
        phases_free(&p);
    }
}

/* Half of the rate is missing, by the ratio that is told or else by the IPC. Of that a switch at which all is held
 * explains part, most (two fifths), or all (three quarters); what is less than a tenth of the full rate does not
 * count. */
static void how_much_a_switch_explains(void **state)
{
    (void)state;
    static const struct {
        double held;
        enum switch_explains share;
    } cases[] = {{0.92, EXPLAINS_NOTHING}, {0.82, EXPLAINS_PART}, {0.78, EXPLAINS_MOST}, {0.5, EXPLAINS_ALL}};
    for (size_t i = 0; i < 8; i++) {
        double held = cases[i / 2].held;
        struct switch_cost c = {.period_us = 1, .n = 4, .rate = {held, held, held, 1}};
        struct phase ph[3] = {{.kind = PHASE_STEADY, .start_us = -50, .duration_us = {50, 50, 50}, .ipc = 4},
                              {.kind = PHASE_THROTTLE, .duration_us = {3, 3, 3}, .ipc = 2, .ipc_ratio = 0.5},
                              {.kind = PHASE_STEADY, .start_us = 3, .duration_us = {90, 90, 90}, .ipc = 4}};
        struct phases p = {.phases = ph, .n_phases = 3};
        if (i % 2)
            ph[1].ipc_ratio = NAN;
        else
            ph[1].ipc = 3.9;
        assert_int_equal(switch_cost_judge(&c, &p), 0);
        bool explained = cases[i / 2].share != EXPLAINS_NOTHING;
        assert_int_equal(ph[1].kind, explained ? PHASE_UNKNOWN : PHASE_THROTTLE);
        assert_int_equal(ph[1].switch_explains, cases[i / 2].share);
        assert_int_equal(p.n_warnings, explained);
        p.phases = NULL;
        p.n_phases = 0;
        phases_free(&p);
    }
}

/* Of what lasts for 2 us, and is in part the switch itself, no transition is left, unless it is counted; of 5 us it is.
 * (Beside a busy sibling a switch that changes nothing lost 1.77 us at 0.31 of the rate, at 0.76 where all is held.) */
static void short_remains_are_no_transition(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        double us = i == 2 ? 5 : 2;
        struct switch_cost c = {.period_us = 1, .n = 8, .rate = {0.76, 0.76, 0.76, 0.76, 0.76, 1, 1, 1}};
        struct phase ph[3] = {{.kind = PHASE_STEADY, .start_us = -50, .duration_us = {50, 50, 50}, .ipc = 2},
                              {.kind = PHASE_THROTTLE, .duration_us = {us, us, us}, .ipc = 0.62, .ipc_ratio = 0.31},
                              {.kind = PHASE_STEADY, .start_us = us, .duration_us = {90, 90, 90}, .ipc = 2}};
        struct transition tr = {.latency_us = {us, us, us}, .from_ghz = 2.6, .to_ghz = 2.6};
        struct phases p = {.phases = ph, .n_phases = 3, .transitions = &tr, .n_transitions = 1};
        ph[1].share[3] = i == 1;
        assert_int_equal(switch_cost_judge(&c, &p), 0);
        assert_int_equal(ph[1].switch_explains, EXPLAINS_PART);
        assert_int_equal(p.n_transitions, i > 0);
        p.phases = NULL;
        p.transitions = NULL;
        p.n_phases = p.n_transitions = 0;
        phases_free(&p);
    }
}

/* Kernels that alternate may ask for more than either holds: switches there are slow for that, and tell nothing. */
static void what_asks_for_more_tells_nothing(void **state)
{
    (void)state;
    struct switch_cost c = {.period_us = 1, .n = 5, .rate = {0.5, 0.5, 0.5, 0.8, NAN}};
    struct phase ph[3] = {
        {.kind = PHASE_STEADY, .start_us = -50, .duration_us = {50, 50, 50}, .ipc = 2, .ipc_ratio = 1},
        {.kind = PHASE_THROTTLE, .duration_us = {3, 3, 3}, .ipc = 1, .ipc_ratio = 0.5},
        {.kind = PHASE_STEADY, .start_us = 3, .duration_us = {90, 90, 90}, .ipc = 2, .ipc_ratio = 1}};
    struct phases p = {.phases = ph, .n_phases = 3};
    assert_int_equal(switch_cost_judge(&c, &p), 0);
    assert_int_equal(ph[1].kind, PHASE_THROTTLE);
    assert_true(ph[1].ipc_ratio == 0.5);
    assert_int_equal(p.n_warnings, 1);
    p.phases = NULL;
    p.n_phases = 0;
    phases_free(&p);
}

/* A sibling that leaves the core between the full rate's measurement and the switch makes the end faster than "full":
 * the rates are those of the end. What gets faster behind cold code, bit by bit, is its end, unless it is counted as
 * throttled, or the frequency is another. */
static void a_busy_sibling_is_no_excuse(void **state)
{
    (void)state;
    for (int other = 0; other < 4; other++) {
        struct switch_cost c = {.period_us = 1, .n = 6, .rate = {0.45, 0.55, 1.0, 1.08, 1.1, 1.09}};
        struct phase ph[4] = {{.kind = PHASE_STEADY, .start_us = -50, .duration_us = {50, 50, 50}, .ipc = 2},
                              {.kind = PHASE_THROTTLE, .duration_us = {2, 2, 2}, .ipc = 0.5, .ipc_ratio = 0.25},
                              {.kind = PHASE_THROTTLE, .duration_us = {8, 8, 8}, .ipc = 1.6, .ipc_ratio = 0.8},
                              {.kind = PHASE_STEADY, .duration_us = {90, 90, 90}, .ipc = 2, .ipc_ratio = 1}};
        struct transition tr = {.latency_us = {10, 10, 10}, .from_ghz = 2.6, .to_ghz = 2.6};
        struct phases p = {.phases = ph, .n_phases = 4, .transitions = &tr, .n_transitions = 1};
        for (int i = 0; i < 4; i++)
            ph[i].freq_ghz.value = other == 2 && i == 2 ? 2.5 : 2.6;
        ph[2].start_us = 2;
        ph[3].start_us = 10;
        ph[2].share[3] = other == 1;
        if (other == 3) /* too much is missing for an end */
            ph[2].ipc_ratio = 0.7;
        assert_int_equal(switch_cost_judge(&c, &p), 0);
        assert_int_equal(ph[1].switch_explains, EXPLAINS_MOST);
        assert_int_equal(ph[2].kind, other ? PHASE_THROTTLE : PHASE_UNKNOWN);
        assert_int_equal(p.n_transitions, other != 0);
        p.phases = NULL;
        p.transitions = NULL;
        p.n_phases = p.n_transitions = 0;
        phases_free(&p);
    }
}

/* A recording that is analysed again gives the same answer; without the course it gives what it gave before. */
static void a_recording_says_the_same(void **state)
{
    (void)state;
    for (unsigned clock = 0; clock < 2; clock++) {
        struct model m;
        struct switches_seen seen;
        struct phases again;
        char why[200];
        make(&m, CLOCK_NOTHING, 10 * clock, 6, 0.4);
        measure(&m, 3, &seen);
        assert_int_equal(phases_find(&seen.result.trace, &again, why, sizeof why), 0);
        assert_true(clock_anything(&again)); /* a throttle, as far as the recording alone goes */
        assert_int_equal(cross_check_recorded(&seen.result.trace, &again), 0);
        char *first = phases_to_json(&seen.phases), *second = phases_to_json(&again);
        assert_string_equal(first, second);
        free(first);
        free(second);
        phases_free(&again);
        switches_free(&seen);
    }
}

static void edges_rise(void **state)
{
    (void)state;
    assert_true(switch_cost_bin_us(0.5, 0) == 0 && switch_cost_bin_us(0.5, 32) == 16);
    for (size_t k = 0; k < SWITCH_COST_BINS_MAX; k++)
        assert_true(switch_cost_bin_us(1, k + 1) > switch_cost_bin_us(1, k));
    assert_true(switch_cost_bin_us(1, SWITCH_COST_BINS_MAX) > 4000); /* the longest recording, nearly */
}

/* As many bins as begin before the end that is asked for, and no more than there is room for. */
static void bins_are_as_many_as_are_asked_for(void **state)
{
    (void)state;
    struct trace t;
    struct switch_cost c;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC), 0);
    assert_int_equal(switch_cost_measure(&t, 1, INFINITY, 10, 20, &c), 0);
    assert_int_equal(c.n, 0);
    for (int i = -4; i <= 40; i++) {
        assert_int_equal(trace_append(&t, 0, i), 0);
        t.channel[TRACE_FREQ][t.n - 1] = 3;
        t.channel[TRACE_IPC][t.n - 1] = i <= 4 ? 0.5f : 1;
    }
    assert_int_equal(switch_cost_measure(&t, 1, INFINITY, 10, 20, &c), 0);
    assert_int_equal(c.n, SWITCH_COST_BINS_MAX);
    assert_true(isnan(c.rate[SWITCH_COST_BINS_MAX - 1]));
    for (size_t n = 0; n < 12; n++) {
        assert_int_equal(switch_cost_measure(&t, 1, switch_cost_bin_us(1, n), 10, 20, &c), 0);
        assert_int_equal(c.n, n);
        for (size_t k = 0; k < n; k++)
            assert_close(c.rate[k], k < 4 ? 0.5 : 1, 1e-6);
    }
    trace_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_code_is_no_throttle),
        cmocka_unit_test(throttling_stays),
        cmocka_unit_test(no_ratio_of_both),
        cmocka_unit_test(a_transition_stays),
        cmocka_unit_test(what_is_counted_stands),
        cmocka_unit_test(what_asks_for_more_tells_nothing),
        cmocka_unit_test(a_busy_sibling_is_no_excuse),
        cmocka_unit_test(short_remains_are_no_transition),
        cmocka_unit_test(how_much_a_switch_explains),
        cmocka_unit_test(a_recording_says_the_same),
        cmocka_unit_test(edges_rise),
        cmocka_unit_test(bins_are_as_many_as_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
