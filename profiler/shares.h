/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results without the kernel module: the share of cycles that each task and container ran at each license level. These
 * are no overhead: it is unknown whose code demanded the level, and the sibling's code counts alike (dissertation,
 * section 3.4).
 */
#pragma once

#include <stdio.h>

#include "drivers/perf/perf_profile.h"
#include "profiler/profile.h"

struct profile_names;

struct shares_row {
    struct profile_row who; /* kind (not of cores), name, command, pid, tgid, cgroup, chosen; share: of all cycles */
    double cycles;
    double at_level[PROFILE_LEVELS]; /* shares of these */
};

struct shares_result {
    const char *cpu; /* brand and family-model-stepping */
    unsigned cpus;   /* logical ones that were counted on */
    double seconds;
    double unknown; /* share of the cycles of which it is not known whose they are */
    uint64_t lost;  /* readings */
    struct profile_head head;
    size_t n_rows;
    struct shares_row *rows; /* all; tasks, containers, each by cycles at levels 1 and 2, then by cycles, descending */
};

struct shares;
/* NULL: out of memory. */
struct shares *shares_new(void);
/* One more; the idle task's are left out. proc: "/proc", or a folder laid out like it, for the names of tasks that were
 * there before. False: out of memory. */
bool shares_add(struct shares *s, const char *proc, const struct perf_stretch *stretch);
/* The result so far: n_rows, rows and unknown. 0, or -1: out of memory. shares_result_free in any case. */
int shares_result(const struct shares *s, const struct profile_names *names, struct shares_result *out);
void shares_result_free(struct shares_result *r);
void shares_free(struct shares *s);

/* ---- shares of license levels; each says that they are no overhead ---- */

/* For a person, at most 100 columns wide: at most so many rows of tasks and of containers; the others are summed up. */
void shares_print(FILE *out, bool colour, const struct shares_result *r, size_t most_rows);
/* malloc'ed, ending in a newline; NULL: out of memory. */
char *shares_json(const struct shares_result *r);
/* Comment lines `# key: value`, a line of names, all rows. 0, or -1: the stream's error, or out of memory. */
int shares_csv(FILE *out, const struct shares_result *r);
