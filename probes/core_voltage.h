/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core voltage over a switch from kernel to kernel. Reading it disturbs, so it is never read in a sampled
 * repetition: repetitions of their own end at a different time each and read it once.
 */
#ifndef CHARACTERIZE_PROBE_CORE_VOLTAGE_H
#define CHARACTERIZE_PROBE_CORE_VOLTAGE_H

#include "probes/repetitions.h"

struct core_voltage_setup {
    struct payload from, to;
    double warmup_us, before_us; /* of the first kernel; the voltage is read in the last before_us ... */
    double observe_us;           /* ... and in so much of the second */
    double period_us;            /* of samples: how exactly the end of a repetition is met */
    unsigned first_run;          /* in the trace */
    unsigned readings;           /* one a repetition, >= 1 */
    repetitions_progress *progress;
    void *data;
};

/*
 * Reads it on a prepared machine that reads registers, at evenly spaced times in scattered order, and appends samples
 * with nothing but the voltage to the trace. What cannot be read is missing, with the reason in out->volts_missing;
 * where nothing can, it is not tried for long. MACHINE_OK, or fills *err and returns its status.
 */
int core_voltage_read(struct machine *m, const struct core_voltage_setup *s, struct repetitions *out,
                      struct machine_error *err);

#endif
