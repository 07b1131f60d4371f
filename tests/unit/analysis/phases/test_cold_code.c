/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: thousands of made-up switches */
/* The cost of the switch itself, whatever it requests, is no throttling: models whose code runs slowly for the first
 * microseconds after each switch, with and without something else that happens then, by counters and by chains. */
#include "analysis/phases/phases.h"
#include "tables/switches/transition_summary.h"
#include "drivers/model/model.h"
#include "tests/support/clock_models.h"
#include "tests/support/model_rig.h"
#include "tests/support/phases_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

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
    m->scenario.cold_us = cold_us;
    m->scenario.cold_factor = factor;
}

static void measure(const struct model *m, uint64_t seed, struct switches_seen *seen)
{
    struct machine_error err;
    if (clock_measure(m, seed, 60, seen, &err))
        fail_msg("%s", err.text);
}

/* 42 of 42 such models were reported as throttling from 3 us on. */
TEST(cold_code_is_no_throttle)
{
    for (unsigned i = 0; i < LENGTHS * FACTORS * CLOCKS; i += rng_all_rounds() ? 1 : 11) {
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
        guarded_free(&seen);
    }
}

/* Throttling stays where it is held against such a switch, with cold code that is shorter than it and without. */
TEST(throttling_stays)
{
    static const double cold[] = {0, 0.8, 2, 3};
    for (unsigned i = 0; i < 4 * CLOCKS; i += rng_all_rounds() ? 1 : 3) {
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
        if (!found || seen.phases.n_transitions != 1) {
            rig_show_phases(&seen.phases);
            fail_msg("cold for %g us, steps of %g ns", cold[i % 4], steps[i / 4]);
        }
        guarded_free(&seen);
    }
}

/* Throttled code that is cold, too, has no ratio that would be reported: what is reported is the ratio of throttling
 * alone. */
static void tell_no_ratio_of_both(double step_ns)
{
    static const double cold[] = {5, 8, 12, 20}, factor[] = {0.4, 0.6, 0.8};
    for (unsigned i = 0; i < 4 * 3; i += every() / 2 + 1) {
        struct model m;
        struct switches_seen seen;
        make(&m, CLOCK_THROTTLE, step_ns, cold[i % 4], factor[i / 4]);
        measure(&m, i + 1, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++) {
            const struct phase *ph = &seen.phases.phases[k];
            if (ph->kind != PHASE_THROTTLE || fabs(ph->ipc_ratio / 0.25 - 1) < 0.11)
                continue;
            rig_show_phases(&seen.phases);
            fail_msg("cold for %g us at %g, steps of %g ns", cold[i % 4], factor[i / 4], step_ns);
        }
        guarded_free(&seen);
    }
}

TEST(no_ratio_of_both)
{
    tell_no_ratio_of_both(0);
}

TEST(no_ratio_of_both_by_chains)
{
    for (unsigned i = 1; i < CLOCKS; i++)
        tell_no_ratio_of_both(steps[i]);
}

/* A change of frequency with its halts and throttling stands, whatever its first microseconds are. */
TEST(a_transition_stays)
{
    for (unsigned i = 0; i < 6; i++) {
        struct model m;
        struct switches_seen seen;
        struct transition_summary sum;
        rig_load("xeon-gold-6130", &m);
        m.counts_licenses = m.counts_throttle = false;
        m.no_counters = i % 2;
        m.tsc_step_ns = i % 2 ? 10 : 0;
        m.scenario.cold_us = 2.0 * (1 + i / 2);
        m.scenario.cold_factor = 0.6;
        measure(&m, i + 1, &seen);
        const struct phases *p = &seen.phases;
        transition_summarize(&seen.result.trace, p, &sum);
        if (m.no_counters && m.scenario.cold_us > 5 &&
            sum.kind == SWITCH_UNDECIDED) { /* nothing can be reported then */
            guarded_free(&seen);
            continue;
        }
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
            fail_msg("cold for %g us, chains %u", m.scenario.cold_us, i % 2);
        }
        guarded_free(&seen);
    }
}

/* Nor is what a thread does that runs at the same moments of all repetitions, after a switch of code alone, too. */
TEST(a_thread_in_step_is_no_throttle)
{
    for (unsigned i = 0; i < 8; i++) {
        struct model m;
        struct switches_seen seen;
        make(&m, CLOCK_NOTHING, 0, 0, 1);
        m.scenario.sibling = (struct model_sibling){
            .share = 0.02, .factor = factors[i % FACTORS], .period_us = 856 + 3 * i};
        m.scenario.sibling.lockstep = true;
        measure(&m, i + 1, &seen);
        for (size_t k = 0; k < seen.phases.n_phases; k++)
            if (seen.phases.phases[k].kind == PHASE_THROTTLE) {
                rig_show_phases(&seen.phases);
                fail_msg("in step every %u us", 856 + 3 * i);
            }
        guarded_free(&seen);
    }
}
