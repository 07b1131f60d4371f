/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The core voltage over time, from readings of which each repetition gives one. Pure. */
#pragma once

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* As many as the dissertation on Skylake-SP takes together (section 3.2.2). */
enum { VOLT_NEIGHBOURS = 21 };

struct volt_point {
    double time_us;        /* middle of the bin */
    struct estimate volts; /* V: the median of the readings nearest in time, and its 95 % limits */
    size_t n;              /* readings that the median was taken of: VOLT_NEIGHBOURS or, of fewer, all */
    double level_ghz;      /* of the phase at that time; NaN: none, or halted */
};

/*
 * A running median over bins of `bin_us` (0: a fifth of the time that VOLT_NEIGHBOURS readings take, rounded to 1, 2
 * or 5 times a power of ten). A median keeps steps sharp. In a halt in which hardly anybody has read there is no
 * point. Limits are readings: the ranks that hold the median with 95 % (binomial); NaN with fewer than six. Returns 0
 * and an array to free with free(), or -1: out of memory. No readings give no points. *readings (may be NULL): how
 * many there were.
 */
int volt_points_find(const struct trace *t, const struct phases *p, double bin_us, struct volt_point **out, size_t *n,
                     size_t *readings);
