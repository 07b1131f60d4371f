/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions that were invalid while they were recorded: not in the trace, but counted. They travel in the trace's
 * metadata, under the key `discarded`, so that a recorded trace gives the same answer as the measurement did.
 */
#ifndef CHARACTERIZE_DISCARDED_H
#define CHARACTERIZE_DISCARDED_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct discarded_run {
    uint32_t run;
    char why[120];
};

/*
 * Writes a list of discarded repetitions into the metadata: "REASON = 3,17,20; REASON = 4", each reason once. Replaces
 * what was there. Returns 0, or -1 when out of memory.
 */
int discarded_note(struct trace *t, const struct discarded_run *list, size_t n);

/*
 * Calls add(data, run, why) for each repetition that the metadata list, and unreadable(data, entry) for each entry that
 * cannot be read, until one of these returns -1 instead of 0. Returns that, or -1: out of memory.
 */
int discarded_each(const struct trace *t, int (*add)(void *data, uint32_t run, const char *why),
                   int (*unreadable)(void *data, const char *entry), void *data);

/*
 * Whether the metadata's list of a trace whose samples are in the order of their repetitions contradicts it: 0 it does
 * not; 1 it names a repetition of which there are samples, *run; 2 it names one twice; -1 out of memory.
 */
int discarded_contradicts(const struct trace *t, uint32_t *run);

#endif
