/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <math.h>
#include <stdio.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/checks/withdraw.h"

enum { PHASES_MOST = 20 };
#define RECURS 0.05 /* relative: rates, and lengths beyond RECURS_US, are the same */
#define RECURS_US 1.0
#define FASTER 0.02 /* relative: no processor is so much faster while it throttles than before and after */

/* A throttle with nothing else: the same frequency at full rate before it and after it. */
static bool is_lone(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i];
    return ph->kind == PHASE_THROTTLE && i > 0 && i + 1 < p->n_phases && phases_is_steady(ph - 1) &&
           phases_is_steady(ph + 1) && ph[-1].level == ph[1].level;
}

/* Marks throttles at the rate of one that comes back: of one switch no processor throttles twice alike, without a
 * change of the frequency in between; a thread that keeps step with the repetitions does. */
static void find_recurring(const struct phases *p, bool *marked)
{
    for (size_t i = 0; i < p->n_phases; i++)
        for (size_t k = i + 1; k < p->n_phases && is_lone(p, i); k++) {
            double us = p->phases[i].duration_us.value, ratio = p->phases[i].ipc_ratio;
            bool again = is_lone(p, k) && fabs(p->phases[k].ipc_ratio - ratio) < RECURS * ratio &&
                         fabs(p->phases[k].duration_us.value - us) < RECURS_US + RECURS * us;
            for (size_t m = 0; again && m < p->n_phases; m++)
                marked[m] |= p->phases[m].kind == PHASE_THROTTLE &&
                             fabs(p->phases[m].ipc_ratio - ratio) < RECURS * ratio;
        }
}

/* Whether a sibling hyper-thread seems to slow the chains before and after it, and the code in between. */
static bool implausible_is_faster(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i];
    return is_lone(p, i) && ph->freq_ghz.value > (1 + FASTER) * fmax(ph[-1].freq_ghz.value, ph[1].freq_ghz.value);
}

/* What is no transition without the throttle that it begins with. */
static void implausible_drop_transition(struct phases *p, const struct phase *ph)
{
    for (size_t i = p->n_transitions; i-- > 0;) {
        const struct transition *tr = &p->transitions[i];
        bool steps = tr->halts || !(fabs(log(tr->to_ghz / tr->from_ghz)) < CLOCK_WANDERS);
        if (fabs(tr->at_us - ph->start_us) <= WITHDRAW_NEAR_US && !steps)
            withdraw_forget_transition(p, i);
    }
}

int implausible_withdraw(struct phases *p)
{
    bool marked[PHASES_MOST] = {false};
    size_t gone = 0;
    if (p->n_phases > PHASES_MOST) {
        char text[160];
        snprintf(text, sizeof text,
                 "%zu phases, more than any known switch has: probably another thread on the core, in step with the "
                 "repetitions",
                 p->n_phases);
        withdraw_all(p, text);
    }
    find_recurring(p, marked);
    for (size_t i = 0; i < p->n_phases; i++) {
        bool faster = implausible_is_faster(p, i);
        gone += marked[i];
        if (!marked[i] && !faster)
            continue;
        withdraw_phase(
            &p->phases[i],
            faster ? "code is slower but chains of adds are faster than before and after: another thread on the core?"
                   : "similar throttling recurs without a switch: another thread on the core, in step with the "
                     "repetitions?");
        implausible_drop_transition(p, &p->phases[i]);
        withdraw_orphans(p);
    }
    return gone ? phases_warn(p,
                              "%zu phases with one rate come and go without a switch, which no known throttling does: "
                              "more likely another thread on the core, in step with the repetitions",
                              gone)
                : 0;
}
