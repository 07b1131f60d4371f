/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code demands license levels: the stacks of records whose own code did, by name, counted. Places are named when
 * their first record comes in, since the process may end: an address is that of the process's mappings then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "drivers/profile/profile_source.h"

enum {
    PROFILE_STACKS_MAX = 65536,             /* different ones; what comes after is counted as "[other stacks]" */
    PROFILE_STACKS_TEXT_MAX = 64 * 1048576, /* bytes of all */
};

struct profile_stack {
    char *line;     /* frames separated by ';', outermost first, after the level and the task's name */
    uint64_t count; /* samples */
};

struct profile_stacks;

/* source: who names its own places (a model), or NULL. proc: where /proc is; NULL: this system's. Returns NULL when out
 * of memory. */
struct profile_stacks *profile_stacks_new(const struct profile_source *source, const char *proc);
void profile_stacks_free(struct profile_stacks *s);

/* One more record; one without a stack, or that was not taken, changes nothing. False: out of memory. */
bool profile_stacks_add(struct profile_stacks *s, const struct profile_record *r);

/* All by descending count, those of one count by their line; *n receives how many. They are valid until the next
 * record is added. NULL: out of memory. */
const struct profile_stack *profile_stacks_list(struct profile_stacks *s, size_t *n);

/*
 * Writes all as flamegraph.pl and speedscope read them: a line for each, "level 2;COMM;OUTERMOST;...;INNERMOST COUNT".
 * doc/profiler.md describes the frames. 0, or -1: out of memory. What cannot be written is left to ferror().
 */
int profile_stacks_write(FILE *out, struct profile_stacks *s);
