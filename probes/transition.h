/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transition experiment: N repetitions of one kernel, then another, sampled throughout.
 */
#ifndef CHARACTERIZE_PROBE_TRANSITION_H
#define CHARACTERIZE_PROBE_TRANSITION_H

#include <stdbool.h>

#include "probes/repetitions.h"

struct transition_setup {
    struct payload from, to;
    unsigned runs;     /* repetitions wanted, >= 1 */
    double warmup_us;  /* of the first kernel before each switch */
    double before_us;  /* how much of it is recorded */
    double observe_us; /* of the second kernel */
    double period_us;
    int cpu;                 /* -1: the machine's choice */
    unsigned active_cores;   /* 0: all */
    struct payload corunner; /* what the other cores run, and which, as in machine_setup; 0: its choice */
    const int *cpus;
    size_t n_cpus;
    bool siblings;
    uint64_t seed;
    bool no_volts;          /* the core voltage is not read: no repetitions for it */
    unsigned volt_readings; /* how many times it is read, once a repetition; 0: two a sample period, at most 2000 */
    struct raw_event events[REPETITIONS_EVENTS_MAX];
    size_t n_events;
};

/*
 * Defaults for a pair: 100 runs, 50 us recorded, 150 us observed or 1.5 ms when `from` is the heavier. The warm-up of
 * 2.5 ms: on a real core a repetition begins where the one before ended, in the second kernel's state, and a processor
 * that waits twice a millisecond before it comes back must have done so when the switch is recorded.
 */
void transition_defaults(struct transition_setup *s, const struct payload *from, const struct payload *to);

/* Runs it. Returns MACHINE_OK or fills *err and returns its status. What it found out on the way is in the trace's
 * metadata. Free with repetitions_free(). */
int transition_run(struct machine *m, const struct transition_setup *s, repetitions_progress *progress, void *data,
                   struct repetitions *out, struct machine_error *err);

/* What of it a machine is told. */
struct machine_setup transition_machine_setup(const struct transition_setup *s);

#endif
