/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a recorded switch begins and ends in the steady states of its kernels: the first one's before time 0, the
 * second one's at the end. What is still going on when a recording ends looks like the final state: a throttled rate
 * like the full one, the frequency during a wait like the final one.
 */
#pragma once

#include <stdbool.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* A kernel that has been running alone for long: the median of each repetition, GHz and instructions per cycle. */
struct kernel_alone {
    size_t n_ghz, n_ipc;
    double ghz[TRACE_ALONE_MAX], ipc[TRACE_ALONE_MAX];
};

/* Adds each repetition of a trace that is steady throughout; those beyond TRACE_ALONE_MAX are left out. 0, or -1: out
 * of memory. */
int settling_add_alone(struct kernel_alone *s, const struct trace *t);

/*
 * Marks the repetitions that begin below the first kernel's own frequency, because the core has not yet recovered from
 * what ran before: off[i] for run i, i < n. Not marked are runs without samples before time 0, and those that are as
 * far below the others, or below the second kernel's own frequency, when they end: they ran at a lower frequency
 * throughout, which the analysis reports. A machine whose frequency floats by several per cent is allowed that. Returns
 * how many, or -1: out of memory. Nothing is marked where the first kernel's frequency was not measured; the second's
 * may be missing.
 */
int settling_mark_late(const struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool *off,
                       size_t n);

/* How the recording ends. */
struct settling {
    size_t runs, off; /* repetitions used; those that do not end at the rate and frequency of the kernel alone */
    bool settled;     /* there are hardly any such */
    char why[160];    /* where not: "the code still ran at 0.25 of its rate in the long run" */
};

/* By how much the second kernel's frequency and rate (instructions per cycle) change from the first to the last quarter
 * of the last phase, relative; 0 where it is not the repetitions' own: alike in most of them, and more than chance. */
struct settling_drift {
    double freq, rate;
    /* of the frequency at the end from that of the second kernel alone, relative: surely so, and where the first kernel
     * runs before the switch as it does alone, so that it is not the clock that floats; else 0 */
    double off, ghz, alone_ghz; /* and both frequencies */
};
/* from, to: either kernel alone. 0, or -1: out of memory. */
int settling_find_drift(const struct trace *t, const struct phases *p, const struct kernel_alone *from,
                        const struct kernel_alone *to, struct settling_drift *out);

/*
 * Compares the last 20 us (at least five samples) of each repetition with the second kernel's steady state. `waits`: a
 * lower frequency at the end is accepted, since the wait for a higher one was not recorded; so is one that is off by
 * the factor by which the repetition began. 0, or -1: out of memory.
 */
int settling_judge(const struct trace *t, const struct phases *p, const struct kernel_alone *own, bool waits,
                   struct settling *out);
