/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only way to measure a switch from one kernel to another, for --transition and the tables of switches: from a
 * first kernel that has settled at its own frequency until the second one has settled. It reports only what holds up.
 */
#pragma once

#include <stdbool.h>

#include "analysis/phases/phases.h"
#include "probes/transition.h"

struct guard {
    struct machine *machine;
    bool warmup_given, observe_given, period_given, runs_given; /* chosen by the user: they are kept */
    bool uniform;   /* a period that grows would not help: the voltage is read once a repetition */
    bool fall_only; /* only what follows the switch at once: no higher frequency is awaited */
    repetitions_progress
        *progress; /* may be NULL; `wanted` is 0 where progress is only polled; returning non-zero stops */
    void *data;
};

struct switches_seen {
    struct transition_setup setup; /* as finally used */
    struct repetitions result;
    struct phases phases;
    size_t discarded; /* repetitions, by the machine or by the analysis */
    /* "" if the recording begins and ends as either kernel runs in the long run. Otherwise the switch is not settled:
     * what is wrong with the recording, and what to do. Also the first of the phases' warnings. */
    char unsettled[280];
};

/*
 * Measures the switch in turn with a null and with either kernel alone, until the limits are narrow or 3 s of the
 * machine's time are over. A recording that does not begin as the first kernel runs alone is repeated with a longer
 * warm-up; one that does not end as the second kernel runs alone is repeated for longer, up to 5 ms and then 500 ms
 * (transition_observe()), if the machine can do that; one with a first phase of a few samples is repeated with half the
 * period. Times that the user has given are kept. MACHINE_OK: `out` is to be freed with guarded_free. Else *err says
 * why not: MACHINE_FAILED when the caller wants to stop, MACHINE_CANNOT where nothing was left to analyse.
 */
int guarded_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err);
void guarded_free(struct switches_seen *s);
