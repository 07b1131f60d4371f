/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions that were invalid while they were recorded: not in the trace, but counted. They travel in the trace's
 * metadata, under the key `discarded`, so that a recorded trace gives the same answer as the measurement did.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct discarded_run {
    uint32_t run; /* first: lists are sorted by it */
    char why[120];
};

/* Writes a list of discarded repetitions into the metadata: "REASON = 3,17,20; REASON = 4", each reason once. Replaces
 * an earlier list. Returns 0, or -1 when out of memory. */
int discarded_note(struct trace *t, const struct discarded_run *list, size_t n);

/* Iterates through such a list with discarded_next(), from its text `at` on. */
struct discarded_list {
    const char *at;  /* the next entry */
    const char *why; /* the reason, why_length characters; all of an entry without a reason that cannot be read */
    int why_length;
    uint32_t run;
};
/* The list of a trace; an empty one where it has none. It lives as long as the trace's metadata. */
struct discarded_list discarded_of(const struct trace *t);
/* The next repetition. 1; 0: there is none; -1: the next entry, or the rest of it, cannot be read and is left out. */
int discarded_next(struct discarded_list *l);

/* Checks the metadata's list against a trace whose samples are in the order of their repetitions. Returns 0: no
 * contradiction; 1: the list names a repetition that has samples, *run; 2: it names one twice; -1: out of memory. */
int discarded_contradicts(const struct trace *t, uint32_t *run);
