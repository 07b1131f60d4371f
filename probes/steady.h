/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steady experiment: one kernel runs until the core has settled at its frequency, then it is sampled, in several
 * repetitions. Halts and frequency changes of the first milliseconds are not included. */
#pragma once

#include "probes/repetitions.h"

struct steady_setup {
    struct payload kernel;
    /* cpu, active_cores, corunner, cpus, siblings, fixed_ghz and seed are the caller's; the counters, their number,
     * the period and max_samples are set by the probe */
    struct machine_setup machine;
    unsigned runs;     /* repetitions wanted, >= 1 */
    double settle_us;  /* of the kernel before the first repetition */
    double before_us;  /* of the kernel in each repetition before it is recorded: the machine may rest between two */
    double observe_us; /* recorded */
    double period_us;
    bool licenses; /* count license levels and throttling, too, where the machine has them */
    struct raw_event events[REPETITIONS_EVENTS_MAX];
    size_t n_events;
    repetitions_progress *progress; /* may be NULL; non-zero: no more repetitions; recorded ones are kept */
    void *data;
};

/*
 * Defaults: 5 repetitions; 20 ms to settle, more than the 2 ms that the Intel manual gives for a license and the
 * milliseconds in which the power control follows the number of active cores; 5 ms in each repetition and 4 ms recorded
 * in samples of 20 us, together less than the 10 ms for which the kernel helper masks interrupts. `machine` is zeroed
 * except for cpu = -1.
 */
void steady_defaults(struct steady_setup *s, const struct payload *kernel);

/*
 * Runs it: prepares the machine, and finishes it again. The trace has a run for each repetition, time 0 where its
 * recording starts, frequency, IPC, and what else was requested, in the columns that from_recording_append fills; its
 * key "kernel" names the kernel. Repetitions that the machine itself knows to be invalid (out->invalid) are replaced by
 * others, up to three for each one wanted; the trace has those that were kept. out->volts_missing is not used. Returns
 * MACHINE_OK, or fills *err and returns its status; then *out is empty. Free with repetitions_free().
 */
int steady_run(struct machine *m, const struct steady_setup *s, struct repetitions *out, struct machine_error *err);
