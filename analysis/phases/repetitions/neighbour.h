/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effect of the sibling hyper-thread on a recording (private to analysis/). */
#pragma once

#include "analysis/phases/phases.h"
#include "analysis/phases/repetitions/runs.h"

struct neighbour {
    double share;  /* of the samples before the switch that are disturbed; 0: none */
    double factor; /* of the kernel's rate in them */
    size_t runs;   /* repetitions that have any */
    bool common;   /* at the same moments of all repetitions ... */
    bool begins;   /* ... and beginning before the switch, as a kernel does not that merely had not settled */
    float *ipc;    /* if not NULL: the IPC with the disturbed samples missing, as long as the trace */
};

/*
 * Looks for disturbed samples before the switch (us), where one kernel has settled and its rate should be constant, and
 * then in the whole recording. Finds nothing where the time of the switch is not known (NaN), with fewer than ten
 * repetitions, or where noise hides it. Returns 0, or -1: out of memory.
 */
int neighbour_find(const struct runs *r, double switch_us, struct neighbour *out);
void neighbour_free(struct neighbour *n);

/* Warns of what was found. 0, or -1: out of memory. */
int neighbour_warn(const struct neighbour *n, const struct runs *r, struct phases *out);
/* Makes throttling unknown that a thread in step with the repetitions may have caused. */
void neighbour_withdraw(const struct neighbour *n, struct phases *out);
