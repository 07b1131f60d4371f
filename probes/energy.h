/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy experiment: the energy of the package while a kernel runs, and while a PAUSE loop does, in turns, so that
 * slow drift (temperature, fans) is in both. */
#pragma once

#include "probes/repetitions.h"

struct energy_setup {
    struct payload kernel, idle; /* the other active cores run the same, each time */
    /* cpu, active_cores, cpus, fixed_ghz and seed are the caller's; the rest is set by the probe. No siblings: they
     * share a core whose energy is counted, but their instructions are not */
    struct machine_setup machine;
    unsigned runs;      /* pairs of repetitions, 1..ENERGY_RUNS_MAX */
    double settle_us;   /* before each repetition */
    double duration_us; /* of each repetition, at least; where a reading takes long it is ENERGY_READINGS of those */
    double period_us;   /* of samples, which show the frequency and lost time */
    double reading_us;  /* the time of a reading of the counters where the machine does not state it; 0: not known */
    repetitions_progress *progress; /* may be NULL; non-zero: no more repetitions */
    void *data;
};
/* Runs at most; readings of the counter in each. */
enum { ENERGY_RUNS_MAX = 1000, ENERGY_READINGS = 50 };

/* One measured stretch. Durations are in seconds. */
struct energy_stretch {
    double joules, seconds;  /* of the package, between two readings of its counter */
    double run_seconds;      /* of them, those in which the measured core was to run the code */
    double operations;       /* counted instructions in the recorded part of that ... */
    double recorded_seconds; /* ... and how long this part is */
    double cycles;           /* core cycles ... */
    double cycle_seconds;    /* ... counted in so much time */
    double lost_seconds;     /* of the recorded part: something else ran, for long enough to be seen */
    double other_seconds;    /* of the recorded part, all time in which the code did not run: energy_other(), and the
                                samples themselves */
    double start_seconds;    /* of these, the first millisecond, in which it may not have settled yet */
};

struct energy_pair {
    struct energy_stretch idle, kernel;
};
struct energy_result {
    size_t n;
    struct energy_pair *pairs;
    char source[200];       /* the counter, one line */
    unsigned active_cores;  /* as the machine says */
    unsigned counted_cores; /* those whose energy is in the counter */
};

/* Defaults: 5 pairs of 100 ms, 20 ms before each; RAPL counters move about once a millisecond (SDM vol. 3B, section
 * 15.10), which the machine waits for at either end. `machine` is zeroed except for cpu = -1. */
void energy_defaults(struct energy_setup *s, const struct payload *kernel);

/*
 * Runs it; prepares and finishes the machine for each repetition. MACHINE_OK, or fills *err and returns its status
 * (MACHINE_CANNOT: no energy can be read, with the remedy; MACHINE_BAD_INPUT: with siblings); then *out is
 * empty. Free with energy_result_free().
 */
int energy_run(struct machine *m, const struct energy_setup *s, struct energy_result *out, struct machine_error *err);
void energy_result_free(struct energy_result *r);

/* Checks that energy can be read at all: MACHINE_OK or MACHINE_CANNOT. */
int energy_can(struct machine *m, struct machine_error *err);
