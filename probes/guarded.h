/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one way to measure a switch from one kernel to another, of --transition and of the tables of switches: from a
 * first kernel that has come to rest at its own frequency until the second has, and only what stands.
 */
#pragma once

#include <stdbool.h>

#include "analysis/phases/phases.h"
#include "probes/transition.h"

struct guard {
    struct machine *machine;
    bool warmup_given, observe_given, period_given, runs_given; /* somebody has chosen these: they are kept */
    bool uniform;   /* a period that grows would not help: the voltage is read once a repetition */
    bool fall_only; /* only what follows the switch at once: no higher frequency is awaited */
    repetitions_progress
        *progress; /* may be NULL; `wanted` is 0 where progress is only polled; returning non-zero stops */
    void *data;
};

struct switches_seen {
    struct transition_setup setup; /* as it was in the end */
    struct repetitions result;
    struct phases phases;
    size_t discarded; /* repetitions, by the machine or by the analysis */
    /* "" where the recording begins and ends as either kernel runs in the long run. Else it does not say what the
     * switch comes to: what is wrong with it, and what to do. It is the first of the phases' warnings, too. */
    char unsettled[280];
};

/*
 * Measures the switch in turn with a null and with either kernel alone, until the limits are narrow or 3 s of the
 * machine's time are over. A recording that does not begin as the first kernel alone runs is made again with a longer
 * warm-up; one that does not end as the second does for longer, up to 5 ms and then 500 ms (transition_observe()),
 * where the machine can do that; one with a first phase of a few samples with half the period. None of it where the
 * times were given.
 * MACHINE_OK: `out` is to be freed with guarded_free. Else *err says why not: MACHINE_FAILED when the caller wants to
 * stop, MACHINE_CANNOT where nothing was left to analyse.
 */
int guarded_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err);
void guarded_free(struct switches_seen *s);
