/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean of a trace of a steady state: one value for each repetition, and from these the mean with its limits. */
#pragma once

#include "analysis/phases/phases.h"
#include "trace/trace.h"

struct steady_value {
    struct estimate mean; /* over the repetitions used, with 95 % limits by Student's t (NaN for fewer than two) */
    size_t runs, used;    /* repetitions in the trace that have values; those that are not far from the others */
    size_t shared;        /* always 0 */
};

/*
 * The mean of a channel. Of a repetition it is the mean of what lies within four standard deviations of the median
 * (robust_centre), so that single disturbed samples do not count; a repetition counts if it lies within four standard
 * deviations (by the MAD) of the median repetition, or within `slack` of it. Where more than one in five would not, all
 * count: the quantity itself varies then. NaN and no runs where the channel was not
 * measured. Returns 0, or -1: out of memory. Repetitions must lie one behind the other in the trace.
 */
int steady_mean(const struct trace *t, enum trace_channel c, double slack, struct steady_value *out);

/*
 * Whether a channel still moves: by how much it changes from the first to the last quarter of each repetition,
 * relative, the median of them; 0 where these do not all change the same way by 0.15 % or more, as they do not where a
 * clock floats in steps. At least three repetitions are needed. 0, or -1: out of memory.
 */
int steady_drift(const struct trace *t, enum trace_channel c, double *out);

/*
 * The frequency from `from_us` on (above 0) as a ratio to that up to time 0, of each repetition, and from these the
 * median with its limits: a clock that steps within a repetition now and then makes outliers. Every sample counts:
 * another thread on the core slows the chains of both alike. A mean that is not above 0 is missing. 0, or -1: out of
 * memory.
 */
int steady_ratio(const struct trace *t, double from_us, struct steady_value *out);
