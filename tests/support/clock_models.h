/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modelled processors without counters, seen through a TSC that advances in steps: what one thing that a switch may do
 * looks like to the timing machine. Shared by unit tests and bench.
 */
#pragma once

#include "analysis/phases/phases.h"
#include "drivers/model/model.h"
#include "probes/guarded.h"

enum clock_event {
    CLOCK_NOTHING,
    CLOCK_THROTTLE, /* to 1/4 for 10 us, nothing else */
    CLOCK_HALT,     /* of 5 us, to 2.4 GHz */
    CLOCK_STEP,     /* of 3 %, down, without a halt */
    CLOCK_EVENTS
};
extern const char *const clock_event_name[CLOCK_EVENTS];

/* Changes the model xeon-gold-6130 (2.8 GHz, 16 cores) into one at whose switch from 128fma to 512fma that happens. */
void clock_model(struct model *m, enum clock_event e, double step_ns);

/* Without counters: by chains of adds, against a TSC in such steps. */
void clock_by_chains(struct model *m, double step_ns);
/* Each change of the frequency is a ramp with this time constant, and none is a halt. */
void clock_ramps(struct model *m, double tau_us);

/* Measures a switch, guarded as the tables do it. MACHINE_OK and *seen, to be freed with guarded_free, or *err. */
int clock_measure_switch(const struct model *m, const struct transition_setup *s, struct switches_seen *seen,
                         struct machine_error *err);
/* Measures 128fma:512fma on it. MACHINE_OK and *seen, to be freed with guarded_free, or *err. */
int clock_measure(const struct model *m, uint64_t seed, unsigned runs, struct switches_seen *seen,
                  struct machine_error *err);

/* Returns true if the phases show it, within 0.6 us, 5 % of a ratio and a third of the step; or, for CLOCK_NOTHING,
 * show nothing. */
bool clock_found(const struct phases *p, enum clock_event e);
/* Returns true if they show any transition, throttling, halt or slow phase. */
bool clock_anything(const struct phases *p);
/* The mean frequency of the phases that have one, by how long they last. */
double clock_mean_ghz(const struct phases *p);
