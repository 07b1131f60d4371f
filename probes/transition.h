/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transition experiment: N repetitions of one kernel, then another, sampled throughout.
 */
#pragma once

#include <stdbool.h>

#include "probes/repetitions.h"

struct transition_setup {
    struct payload from, to;
    unsigned runs;     /* repetitions wanted, >= 1 */
    double warmup_us;  /* of the first kernel before each switch */
    double before_us;  /* the recorded part of it */
    double observe_us; /* of the second kernel */
    double usual_us;   /* ... by default: its samples are fine at least up to there */
    double period_us;
    double fine_us;               /* as in run_request: in longer recordings the period grows; 0: it does not */
    struct machine_setup machine; /* set by the caller except for the period, the counters and the room for samples */
    bool no_volts;                /* the core voltage is not read: no repetitions for it */
    unsigned volt_readings; /* how many times it is read, once a repetition; 0: two a sample period, at most 2000 */
    struct raw_event events[REPETITIONS_EVENTS_MAX];
    size_t n_events;
    bool beside;      /* record TRANSITION_NULL and the others, in turn with the repetitions */
    double budget_us; /* as in repetitions_plan, likewise `enough` with its data */
    repetitions_enough *enough;
    void *data;
};

/* Recorded beside the repetitions: the first kernel and its copy at another address, which shows the cost of switching
 * code; and either kernel alone, after it has run long enough to settle. */
enum { TRANSITION_NULL, TRANSITION_HELD_FROM, TRANSITION_HELD_TO };
/* No known processor waits for more than 2 ms, except in ramps; less on machines that cannot run so long. */
#define TRANSITION_HELD_US 20e3
/* Sampled part of either kernel alone, us. */
#define TRANSITION_HELD_SAMPLED_US 100.0

/*
 * Defaults for a pair: 100 runs, 50 us recorded, 150 us observed or 1.5 ms when `from` is the heavier. The warm-up of
 * 2.5 ms: on a real core a repetition begins in the second kernel's state, in which the previous one ended, and a
 * processor that waits for up to two milliseconds before it rises must have done so when the switch is recorded.
 */
void transition_defaults(struct transition_setup *s, const struct payload *from, const struct payload *to);

/* In longer recordings the period grows, from where the defaults end on: all machines do 10 ms a repetition, and
 * samples as fine as at the switch would be too many, and no better, far after it. */
#define TRANSITION_LONG_US 5000.0
/*
 * Makes the recording so long, us. Beyond TRANSITION_LONG_US its period grows; the core voltage is not read, which
 * would take a repetition a reading; there are 20 repetitions (keep_runs: as many as before), with a warm-up as long as
 * the observed part, but at most 340 ms (keep_warmup: as it was), so that a slow core has returned.
 */
void transition_observe(struct transition_setup *s, double observe_us, bool keep_runs, bool keep_warmup);
/* The approximate number of samples of a repetition. */
double transition_samples(const struct transition_setup *s);

/* Runs it. Returns MACHINE_OK or fills *err and returns its status. The trace's metadata say what else it found. Free
 * with repetitions_free(). */
int transition_run(struct machine *m, const struct transition_setup *s, repetitions_progress *progress, void *data,
                   struct repetitions *out, struct machine_error *err);

/*
 * core_voltage.c: reads the core voltage on a prepared machine that reads registers, `readings` (>= 1) times, once a
 * repetition, at evenly spaced times in scattered order: in the last before_us of the first kernel and in observe_us of
 * the second. Appends samples with nothing but the voltage to the trace, numbered after the runs of the setup. Voltages
 * that cannot be read are missing, with the reason in out->volts_missing; where none can, it soon gives up. MACHINE_OK,
 * or fills *err and returns its status.
 */
int core_voltage_read(struct machine *m, const struct transition_setup *s, unsigned readings,
                      repetitions_progress *progress, void *data, struct repetitions *out, struct machine_error *err);
