/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean of a trace of a steady state: one value for each repetition, and from these the mean with its limits. */
#pragma once

#include "analysis/phases/phases.h"
#include "trace/trace.h"

struct steady_value {
    struct estimate mean; /* over the repetitions used, with 95 % limits by Student's t (NaN for fewer than two) */
    size_t runs, used;    /* repetitions in the trace that have values; those that are not far from the others */
};

/*
 * The mean of a channel. Of a repetition it is the mean of what lies within four standard deviations of the median
 * (robust_centre), so that single disturbed samples do not count; a repetition counts if it lies within four standard
 * deviations (by the MAD) of the median repetition, or within `slack` of it. Where more than one in five would not, all
 * count: the quantity itself varies then. NaN and no runs where the channel was not
 * measured. Returns 0, or -1: out of memory. Repetitions must lie one after the other in the trace.
 */
int steady_mean(const struct trace *t, enum trace_channel c, double slack, struct steady_value *out);

/*
 * Whether a channel still moves: by how much it changes from the first to the last quarter of each repetition,
 * relative, the median of them; 0 where these do not all change the same way by 0.15 % or more, as they do not where a
 * clock floats in steps. At least three repetitions are needed. 0, or -1: out of memory.
 */
int steady_drift(const struct trace *t, enum trace_channel c, double *out);

/* The same of the frequency, of which what lies within `slack` (relative) of the median repetition counts. */
int steady_frequency(const struct trace *t, double slack, struct steady_value *out);

/*
 * The least IPC of n values, of one kernel, that is not slowed by another thread on the core: that takes 15 % or more
 * of what one in ten exceeds. 0 of none. Reorders them.
 */
double steady_least_ipc(double *ipc, size_t n);

/*
 * Leaves out the samples, frequency and IPC, in which another thread slowed the core, of a trace of one kernel whose
 * frequency is that of chains: it slows these, too, by a few percent. A thread that is there in more than nine of ten
 * samples remains unseen. 0, or -1: out of memory.
 */
int steady_leave_out_slowed(struct trace *t);
