/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only conversion of a machine's raw recording into samples of a trace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/recording.h"
#include "trace/trace.h"

/*
 * Gives an empty trace the columns that recordings with these n counters fill, in their order: runs, frequency, IPC,
 * the license shares that are counted, an extra column for each raw event; and the metadata on how such samples are
 * made. 0, or -1: out of memory.
 */
int from_recording_begin(struct trace *t, const struct counter_spec *counters, size_t n);

/* Relative: chains farther from the median of a recording were interrupted; a step of a coarse clock is smaller. */
#define FROM_RECORDING_SAME_CLOCK 0.25

/* How recordings of an experiment become samples. */
struct recording_form {
    const struct counter_spec *counters;
    size_t n_counters;
    double tsc_hz, from_us;           /* samples that end before from_us are left out */
    struct sample_cost before, after; /* of the code before time 0 and after it */
    bool
        tolerant; /* of recordings so long that something always interrupts them, values that lie outside their column's
                      range are missing */
};

/*
 * Turns one recording into samples (differences of neighboring readings): frequency from cycles, or from the dependent
 * chain where there is no cycle counter; IPC of the payload, per cycle of that frequency: the cost of a sample counts
 * as the work that would have been done meanwhile, since whatever slows the payload slows the sample as well. Where
 * only some of the samples have a chain, those without have no frequency, and IPC is per cycle of the mean frequency of
 * all the recording's chains: the payload's rate. License shares; for raw events the counts per cycle. Where a value
 * lies outside its column's range (trace/trace.h) the counters cannot be trusted: nothing of the recording is appended
 * unless the form is tolerant, and `why` names the value; otherwise it is "". 0, or -1: out of memory.
 */
enum { FROM_RECORDING_WHY_MAX = 120 };
int from_recording_append(struct trace *t, uint32_t run, const struct recording *rec, const struct recording_form *form,
                          char why[FROM_RECORDING_WHY_MAX]);
