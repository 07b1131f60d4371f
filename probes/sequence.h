/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The experiment of the trigger and relaxation tables: kernels one after the other in any order, again and again, the
 * last of them sampled. The next sequence may depend on the results of the one before, so that they are run one
 * repetition at a time between begin and end.
 */
#pragma once

#include "probes/repetitions.h"

/* Segments of one repetition: as many as real machines run (SAMPLING_STRETCHES_MAX, drivers/native/sampling.h). */
enum { SEQUENCE_SEGMENTS_MAX = 16 };

struct sequence {
    struct machine *machine;
    struct counter_spec counters[REPETITIONS_COUNTERS_MAX];
    size_t n_counters;
    double tsc_hz;
    uint32_t repetition; /* number of the next one, and of its run in the trace */
    bool patient;        /* preemption makes no repetition invalid: they last long */
    bool tolerant;       /* nor do impossible values of samples that something interrupted: these are missing */
};

/* Facts about one repetition beside its samples. */
struct sequence_run {
    uint32_t run;                         /* in the trace */
    double begin_us;                      /* when the recording began: 0 or before it */
    double instructions;                  /* of the payload, executed between then and time 0; exact */
    double cycles;                        /* of the core, likewise; NaN where they are not counted */
    char invalid[FROM_RECORDING_WHY_MAX]; /* why the machine knows it to be invalid; "" if it does not */
};

/*
 * Prepares the machine: cpu, active_cores, corunner, cpus, siblings, seed and period_us are taken from `setup`, the
 * counters (those that the machine offers for the clock and license levels) and the room for samples are set here.
 * `sampled_us`: the longest recording that will be requested. MACHINE_OK, or *err is filled and its status returned.
 */
int sequence_begin(struct sequence *s, struct machine *m, const struct machine_setup *setup, double sampled_us,
                   struct machine_error *err);
/* Gives an empty trace the channels and metadata of this machine. 0, or -1: out of memory. */
int sequence_trace(const struct sequence *s, struct trace *t);
/*
 * One repetition: n segments, of which the sampled ones follow one another; time 0 is the first instruction of number
 * `zero`. Its samples are appended to the trace (NULL: not kept), except when it is invalid. MACHINE_OK, or *err is
 * filled and its status returned.
 */
int sequence_record(struct sequence *s, const struct segment *segments, size_t n, size_t zero, struct trace *t,
                    struct sequence_run *out, struct machine_error *err);
/* Hands the machine back. */
void sequence_end(struct sequence *s);
