/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transitions: whatever lies between one steady phase and the next. */
#include <math.h>

#include "analysis/phases/findings.h"
#include "util/plain_text.h"

#define PLACED_PERIODS 0.015 /* what means over repetitions cannot resolve of a jump without a phase of its own */

static double transitions_level_ghz(const struct phases *out, size_t p)
{
    if (out->phases[p].level < 0 || (size_t)out->phases[p].level >= out->n_levels)
        return NAN;
    return out->levels_ghz[out->phases[p].level];
}

/* From one steady phase to the next: whatever lies between belongs to the transition. */
int transitions_find(const struct runs *r, const struct segmentation *o, struct phases *out)
{
    for (size_t i = 0; i + 1 < out->n_phases; i++) {
        size_t j = i + 1;
        if (!phases_is_steady(&out->phases[i]))
            continue;
        unsigned halts = 0;
        while (j + 1 < out->n_phases && !phases_is_steady(&out->phases[j]))
            halts += out->phases[j++].kind == PHASE_HALT;
        bool undecided = false;
        for (size_t p = i + 1; p <= j; p++)
            undecided |= out->phases[p].kind == PHASE_UNKNOWN;
        if (undecided) /* what leads to or through the undecided is undecided too */
            continue;
        if (!phases_is_steady(&out->phases[j])) {
            if (phases_warn(out, "the recording ends before the transition at %.1f us does",
                            plain_number(out->phases[i + 1].start_us, 1)))
                return -1;
            break;
        }
        bool steps = out->phases[i].level != out->phases[j].level;
        for (int c = TRACE_VOLTS; c < TRACE_CHANNELS; c++)
            steps |= j == i + 1 && o->edge[i].change[c];
        if (j == i + 1 && !steps)
            continue; /* another kernel, and nothing happened */
        struct transition t = {.at_us = out->phases[i + 1].start_us,
                               .halts = halts,
                               .from_ghz = transitions_level_ghz(out, i),
                               .to_ghz = transitions_level_ghz(out, j)};
        if (j > i + 1) {
            t.latency_us = times_between(r, o, i + 1, j - 1, NULL, out->phases[j].start_us - t.at_us);
            for (size_t p = i + 1; p < j; p++)
                if (out->phases[p].kind == PHASE_RAMP) { /* its ends are not edges of the repetitions */
                    t.latency_us.lo -= out->phases[p].duration_us.value - out->phases[p].duration_us.lo;
                    t.latency_us.hi += out->phases[p].duration_us.hi - out->phases[p].duration_us.value;
                }
            t.agreeing_runs = SIZE_MAX;
            for (size_t p = i + 1; p < j; p++)
                if (out->phases[p].agreeing_runs < t.agreeing_runs)
                    t.agreeing_runs = out->phases[p].agreeing_runs;
        } else {
            double half = o->n_runs > 1 ? PLACED_PERIODS * r->period : times_edge_sigma(r, o, i);
            /* no sample lies between the two levels; while its clock changes a core may halt, for less than shows */
            bool clock = out->phases[i].level != out->phases[j].level;
            t.latency_us = (struct estimate){0, 0, clock ? fmax(half, out->detectable_halt_us) : half};
            t.agreeing_runs = segmentation_seen_by(o, i);
        }
        if (phases_add_transition(out, t))
            return -1;
        i = j - 1;
    }
    return 0;
}
