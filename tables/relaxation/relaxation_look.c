/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether there is a wait at all, where cycles are not counted: noise passes for rises then, repetition by repetition.
 * The switch itself, pooled and held against its null and against either kernel alone, tells.
 */
#include "tables/relaxation/relaxation_rig.h"

#include <math.h>
#include <stdio.h>

#include "analysis/stats/threshold.h"
#include "tables/switches/switches.h"

enum { LOOK_RUNS = 40 };
#define LOOK_US 1500.0 /* guarded_switch() goes on for longer where the core does not come to rest within */

/* The wait: the phases of the second kernel until the frequency rises, the first of which has its modes. */
static void look_at_wait(const struct phases *p, const struct transition_summary *s, struct relaxation_seen *out)
{
    const size_t first = transition_first_phase_after_switch(p);
    const struct phase *slow = first < p->n_phases ? &p->phases[first] : NULL;
    if (!slow || slow->kind != PHASE_SLOW || !estimates_known(&slow->duration_us))
        return;
    out->wait_us = slow->duration_us;
    out->n = slow->agreeing_runs;
    out->share = threshold_share(
        (size_t)lround((slow->n_modes ? slow->modes[0].share : 1) * (double)slow->agreeing_runs), slow->agreeing_runs);
    out->slow_ghz = slow->freq_ghz;
    out->fast_ghz = s->to_ghz;
}

int relaxation_look(const struct relaxation_rig *r, struct relaxation_seen *out, struct machine_error *err)
{
    static const struct estimate unknown = {NAN, NAN, NAN};
    const struct machine *m = r->context->machine;
    struct cell cell = *r->cell;
    struct switches_seen seen;
    struct transition_summary s;
    *out = (struct relaxation_seen){.wait_us = unknown};
    if (!m->ops->lacks(m, COUNTER_CYCLES, NULL))
        return MACHINE_OK;
    cell.active_cores = r->cores;
    int status = switches_look(r->context, "relaxation", &cell, &cell.a, &cell.b, LOOK_RUNS, LOOK_US, false, &seen,
                               err);
    if (status != MACHINE_OK)
        return status;
    transition_summarize(&seen.result.trace, &seen.phases, &s);
    out->none = !seen.unsettled[0] && s.kind != SWITCH_FREQUENCY && s.kind != SWITCH_UNDECIDED;
    if (out->none && isfinite(seen.phases.detectable_freq))
        snprintf(out->why, sizeof out->why,
                 "the frequency is the same before and after the switch; a step of %.0f %% would have been found",
                 ceil(100 * seen.phases.detectable_freq));
    else if (out->none)
        snprintf(out->why, sizeof out->why, "the frequency is the same before and after the switch");
    else if (!seen.unsettled[0] && s.kind == SWITCH_FREQUENCY)
        look_at_wait(&seen.phases, &s, out);
    guarded_free(&seen);
    return MACHINE_OK;
}

void relaxation_put_seen(struct relaxation_rig *r, const struct relaxation_seen *seen)
{
    r->step = (struct relaxation_step){seen->slow_ghz, seen->fast_ghz};
    r->levels.fast = seen->fast_ghz.value;
    relaxation_add_row(r, "nothing", seen->n, 0);
    table_put_number(r->rows, "mode", 1);
    relaxation_put_wait(r, seen->wait_us);
    estimates_put(r->rows, "share", seen->share);
}
