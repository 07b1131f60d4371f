/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a recording of a switch from one kernel to another begins and ends where it should: before time 0 the first
 * kernel at its own steady state, in the end the second at its own. What is still going on when a recording ends looks
 * like its end: a throttled rate like the full one, a wait like the final frequency. Pure, like all of the analysis.
 */
#ifndef CHARACTERIZE_SETTLING_H
#define CHARACTERIZE_SETTLING_H

#include <stdbool.h>

#include "analysis/phases/phases.h"
#include "trace/trace_keys.h"

/* A kernel that has been running alone for long: one median a repetition, GHz and instructions per cycle. */
struct kernel_alone {
    size_t n_ghz, n_ipc;
    double ghz[TRACE_ALONE_MAX], ipc[TRACE_ALONE_MAX];
};

/* Adds each repetition of a trace (all its samples, steady throughout). What does not fit any more is left out. 0, or
 * -1: out of memory. */
int settling_add_alone(struct kernel_alone *s, const struct trace *t);

/*
 * Marks the repetitions that begin below the first kernel's own frequency, since the core has not come back from what
 * ran before: off[i] for run i, i < n; runs that have no samples before time 0 are not marked, nor are those that are
 * as far below the others when they end: they ran at a lower frequency throughout, which the analysis tells of. A
 * machine that floats by several per cent by itself is allowed that. Returns how many, or -1: out of memory. Nothing is
 * marked where the frequency was not measured.
 */
int settling_mark_late(const struct trace *t, const struct kernel_alone *own, bool *off, size_t n);

/* How the recording ends. */
struct settling {
    size_t runs, off; /* repetitions used; those that do not end as the kernel runs when it runs alone */
    bool settled;     /* hardly any of them does not */
    char why[160];    /* where not: "the code still ran at 0.25 of its rate in the long run" */
};

/*
 * Compares the last 20 us (at least five samples) of each repetition with the second kernel's steady state. `waits`: a
 * lower frequency at the end is as good, since the wait for a higher one is not looked at; so is another one by the
 * factor that the repetition began with. 0, or -1: out of memory.
 */
int settling_judge(const struct trace *t, const struct phases *p, const struct kernel_alone *own, bool waits,
                   struct settling *out);

#endif
