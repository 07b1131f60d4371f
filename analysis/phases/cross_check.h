/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording of a switch shows, held against its own halves and against either kernel running alone. A core that
 * drifts, a hyper-thread next door and the host's other guests make steps that all repetitions taken together seem to
 * have; they are not in both halves, or not between the kernels.
 */
#ifndef CHARACTERIZE_CROSS_CHECK_H
#define CHARACTERIZE_CROSS_CHECK_H

#include "analysis/phases/phases.h"
#include "analysis/phases/settling.h"
#include "trace/trace.h"

enum {
    CROSS_CHECK_RUNS_LEAST = 8
}; /* repetitions: with fewer there are no halves to speak of, and a warning says so */

/*
 * Takes back what does not stand: throttling, halts and slow phases become phases of kind unknown with the reason, and
 * transitions go, with the levels that nothing is left at. A finding stands if the first and the last half of the
 * repetitions, analysed by themselves, show one of its kind at that place, and a change of frequency, unless something
 * is still awaited (`waits`: the recording ends before a higher frequency may come back), if the kernels alone differ
 * by it too. What needs both halves is found less easily: the limits of detection in *p grow with that. A warning tells
 * what was taken back. 0, or -1: out of memory.
 */
int cross_check(const struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                struct phases *p);

/*
 * Through the trace's metadata (alone_from_ghz, alone_to_ghz, unsettled; doc/formats.md), so that a recorded trace
 * gives the same answer as the measurement did: note writes them, again does with them what the measurement did, and
 * nothing where they are missing. 0, or -1: out of memory.
 */
int cross_check_note(struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                     const char *unsettled);
int cross_check_recorded(const struct trace *t, struct phases *p);

#endif
