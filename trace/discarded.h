/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions that were invalid while they were recorded: not in the trace, but counted. They travel in the trace's
 * metadata, under the key `discarded`, so that a recorded trace gives the same answer as the measurement did.
 */
#ifndef CHARACTERIZE_DISCARDED_H
#define CHARACTERIZE_DISCARDED_H

#include <stddef.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/*
 * Writes a list of discarded repetitions into the metadata: "REASON = 3,17,20; REASON = 4", each reason once. Replaces
 * what was there. Returns 0, or -1 when out of memory.
 */
int discarded_note(struct trace *t, const struct discarded_run *list, size_t n);

/*
 * Adds the repetitions that the metadata list to the phases: discarded, and counted in `runs`. Entries that cannot be
 * read are left out with a warning in *p. Returns 0, or -1 when out of memory.
 */
int discarded_take(const struct trace *t, struct phases *p);

/*
 * Whether the metadata's list of a trace whose samples are in the order of their repetitions contradicts it: 0 it does
 * not; 1 it names a repetition of which there are samples, *run; 2 it names one twice; -1 out of memory.
 */
int discarded_contradicts(const struct trace *t, uint32_t *run);

#endif
