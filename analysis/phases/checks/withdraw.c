/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/checks/withdraw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"

#define COLD_US 3.0 /* cold code lasts for no longer than that, beside a busy sibling too */
#define PART_US 2.5 /* phases begin and end so near where the transition that they are part of does */

void withdraw_forget_transition(struct phases *p, size_t i)
{
    p->n_transitions--;
    memmove(&p->transitions[i], &p->transitions[i + 1], (p->n_transitions - i) * sizeof *p->transitions);
}

void withdraw_phase(struct phase *ph, const char *why)
{
    ph->kind = PHASE_UNKNOWN;
    ph->ipc_ratio = NAN;
    ph->tau_us.value = ph->clock_ramp.tau_us.value = ph->rate_ramp.tau_us.value = 0;
    snprintf(ph->why, sizeof ph->why, "%s", why);
}

void withdraw_transition(struct phases *p, size_t i, const char *why)
{
    const struct transition gone = p->transitions[i];
    double end = gone.at_us + (isnan(gone.latency_us.value) ? 0 : gone.latency_us.value);
    withdraw_forget_transition(p, i);
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        if (k > 0 && ph->start_us >= end - WITHDRAW_NEAR_US / 2 && phases_is_steady(ph)) {
            withdraw_phase(ph, why);
            break;
        }
    }
}

/* Whether a phase is part of what lies between the ends of a transition. */
static bool withdraw_part_of(const struct phase *ph, const struct transition *tr)
{
    double end = tr->at_us + (isnan(tr->latency_us.value) ? 0 : tr->latency_us.value);
    return ph->start_us >= tr->at_us - PART_US && ph->start_us + ph->duration_us.value <= end + PART_US;
}

void withdraw_halt(struct phases *p, const struct phase *ph)
{
    for (size_t k = 0; k < p->n_transitions && ph->kind == PHASE_HALT; k++)
        p->transitions[k].halts -= p->transitions[k].halts > 0 && withdraw_part_of(ph, &p->transitions[k]);
}

/* Transitions that consisted of what has been withdrawn are none. */
static void drop_empty_transitions(struct phases *p)
{
    for (size_t i = 0; i < p->n_transitions;) {
        const struct transition *tr = &p->transitions[i];
        bool empty = !tr->halts && !(fabs(log(tr->to_ghz / tr->from_ghz)) > CLOCK_WANDERS), gone = false;
        for (size_t k = 0; k < p->n_phases; k++) {
            const struct phase *ph = &p->phases[k];
            bool part = withdraw_part_of(ph, tr);
            bool found = ph->kind == PHASE_THROTTLE || ph->kind == PHASE_HALT || ph->kind == PHASE_RAMP;
            /* so short it is cold code's, which costs up to twice as much at a real switch as at a held one */
            bool remains = ph->switch_explains == EXPLAINS_PART &&
                           (ph->duration_us.value > COLD_US || phases_counts_throttled(ph));
            empty = empty && !(part && (found || remains));
            gone |= part && ph->kind == PHASE_UNKNOWN;
        }
        if (empty && gone)
            withdraw_forget_transition(p, i);
        else
            i++;
    }
}

/* Slow is what a higher frequency follows, by a transition. */
static void steady_unless_rising(struct phases *p)
{
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        bool rises = false;
        for (size_t i = 0; i < p->n_transitions; i++)
            rises |= p->transitions[i].to_ghz > p->transitions[i].from_ghz &&
                     fabs(p->transitions[i].at_us - (ph->start_us + ph->duration_us.value)) <= WITHDRAW_NEAR_US;
        if (ph->kind == PHASE_SLOW && !rises)
            ph->kind = PHASE_STEADY;
    }
}

/* Levels that only what is undecided runs at are none. */
static void drop_levels(struct phases *p)
{
    for (size_t l = 0; l < p->n_levels;) {
        bool used = false;
        for (size_t k = 0; k < p->n_phases; k++)
            used |= p->phases[k].level == (int)l && p->phases[k].kind != PHASE_UNKNOWN;
        if (used) {
            l++;
            continue;
        }
        p->n_levels--;
        memmove(&p->levels_ghz[l], &p->levels_ghz[l + 1], (p->n_levels - l) * sizeof *p->levels_ghz);
        memmove(&p->levels[l], &p->levels[l + 1], (p->n_levels - l) * sizeof *p->levels);
        for (size_t k = 0; k < p->n_phases; k++)
            if (p->phases[k].level == (int)l)
                p->phases[k].level = -1;
            else if (p->phases[k].level > (int)l)
                p->phases[k].level--;
    }
}

void withdraw_orphans(struct phases *p)
{
    drop_empty_transitions(p);
    steady_unless_rising(p);
    drop_levels(p);
}

void withdraw_all(struct phases *p, const char *why)
{
    size_t n = 0;
    bool behind = false;
    for (size_t i = 0; i < p->n_phases; i++) {
        double begin = p->phases[i].start_us, length = p->phases[i].duration_us.value;
        bool after = p->from && p->to && begin >= -WITHDRAW_SAME_US;
        if (!n || after != behind) {
            struct phase one = {.start_us = begin,
                                .freq_ghz = {NAN, NAN, NAN},
                                .freq_half_ghz = NAN,
                                .ipc = NAN,
                                .volts = NAN,
                                .share = {NAN, NAN, NAN, NAN},
                                .level = -1,
                                .agreeing_runs = p->runs_used};
            withdraw_phase(&one, why);
            p->phases[n++] = one;
            behind = after;
        }
        p->phases[n - 1].duration_us = (struct estimate){begin + length - p->phases[n - 1].start_us, NAN, NAN};
    }
    p->n_phases = n;
    p->n_transitions = 0;
    drop_levels(p);
}
