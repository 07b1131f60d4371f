/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks the findings of a recorded switch against the two halves of its repetitions and against each kernel running
 * alone. A drifting core, a sibling hyper-thread and other guests of the host cause steps that all repetitions taken
 * together seem to show; these are not in both halves, or not between the kernels.
 */
#pragma once

#include "analysis/phases/phases.h"
#include "analysis/phases/repetitions/settling.h"
#include "trace/trace.h"

enum {
    CROSS_CHECK_RUNS_LEAST = 8
}; /* repetitions: with fewer there are no halves to speak of, and a warning says so */

/*
 * Withdraws what does not stand: throttling, halts and slow phases become phases of kind unknown with the reason, and
 * transitions go, with the levels at which nothing is left. A finding stands if the first and the last half of the
 * repetitions, each analysed by itself, show one of its kind in that place. A change of frequency must also be one
 * between the kernels running alone, unless the recording ends before a higher frequency may come back (`waits`). Since
 * both halves must show it, the limits of detection in *p grow. A warning says what was withdrawn. 0, or -1: out of
 * memory.
 */
int cross_check(const struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                struct phases *p);

/*
 * Through the trace's metadata (alone_from_ghz, alone_to_ghz, unsettled; doc/formats.md), so that a recorded trace
 * gives the same answer as the measurement did: cross_check_note() writes them, cross_check_recorded() applies them,
 * and does nothing where they are missing. 0, or -1: out of memory.
 */
int cross_check_note(struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                     const char *unsettled);
int cross_check_recorded(const struct trace *t, struct phases *p);
