/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's results: the remote overhead by task, container and core, with 95 % limits, split by cause and level,
 * and who causes it. doc/profiler.md has the definitions ("What is computed"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/profile/profile_source.h"
#include "util/error.h"

/* A value with its 95 % limits; NaN: not known. */
struct profile_estimate {
    double value, lo, hi;
};

enum profile_kind { PROFILE_TASK, PROFILE_CONTAINER, PROFILE_CORE, PROFILE_ALL, PROFILE_KINDS };
extern const char *const profile_kind_names[PROFILE_KINDS]; /* "task", "container", "core", "all" */

/* Somebody who slows somebody: part of the victim's overhead, a fraction. */
struct profile_culprit {
    size_t row; /* in rows, a task */
    double overhead;
};

struct profile_row {
    enum profile_kind kind;
    char name[256];    /* "nginx-8714", a cgroup's path, "core 3" */
    char command[256]; /* a task's command line, from profiler/names.h; "": not known */
    uint32_t pid, tgid, core;
    uint64_t start_ns; /* of a task, as in struct profile_task */
    uint64_t cgroup;
    bool chosen;                      /* it belongs to the command that was profiled */
    uint64_t samples;                 /* that were taken */
    uint64_t turns[PROFILE_OUTCOMES]; /* by what became of them */
    double share;                     /* of the time in which anything ran */
    /* fractions of the ideal time: 0.1 is 10 % */
    struct profile_estimate overhead;
    struct profile_estimate sibling, delay;           /* the parts of it; NaN without sources */
    struct profile_estimate by_level[PROFILE_LEVELS]; /* the parts of it by the level before the pause; [0] is 0 */
    struct profile_estimate demands[PROFILE_LEVELS];  /* share of its samples in which its own code demands a level */
    struct profile_estimate reduced; /* share of its samples in which the level was lower than needed */
    double not_limited; /* share of its samples in which something other than the level limited the clock */
    bool open;          /* its upper limits are no bound: too many samples say nothing, or were lost (doubts) */
    struct profile_culprit *culprits; /* descending; at most PROFILE_CULPRITS_MAX */
    size_t n_culprits;
    double unattributed; /* part of the overhead for which nobody was found */
    double causes;       /* its cost to others: of all overhead in the profile, the share that it causes */
    char advice[400];    /* one sentence; "": none */
};
enum { PROFILE_CULPRITS_MAX = 8 };

struct environment;    /* computer/environment/environment.h */
struct profile_totals; /* profiler/totals.c: what is added up while records come in */

/* Parameters that are needed beside records, from the tables (--params); NaN where nothing is known. */
struct profile_terms {
    double wait_us;                      /* how long a level is kept: who ran longer ago cannot have caused it */
    double change_us[PROFILE_LEVELS];    /* cost of a change from level 0 to a level and back: throttling, halts */
    double breakeven_us[PROFILE_LEVELS]; /* so long a stretch at level 0 must last to pay for the changes */
};

/* Further facts for the outputs; texts belong to the caller, NULL where there is none. */
struct profile_head {
    const char *version; /* of characterize */
    const char *command; /* that was profiled, as it was typed; NULL: everything that ran */
    const char *params;  /* the export's file, and the processor that it is of */
    const char *params_cpu;
    const struct environment *environment; /* of this computer; NULL: a model */
    size_t n_warnings;
    const char *const *warnings;
};

enum { PROFILE_DOUBTS_MAX = 2 };
struct profile_result {
    struct profile_source_info info;
    struct profile_source_totals totals;
    struct profile_head head;
    struct profile_setup setup;
    struct profile_terms terms;
    uint64_t turns[PROFILE_OUTCOMES];
    bool siblings; /* some core that was seen has two hyper-threads */
    size_t n_doubts;
    char doubts[PROFILE_DOUBTS_MAX][400]; /* why overhead may be missing from the figures, and what helps; sentences */
    size_t n_rows;
    struct profile_row *rows; /* all, then tasks, containers, cores; each by overhead * share, descending */
};

/* NULL: out of memory. */
struct profile_totals *profile_totals_new(const struct profile_setup *setup, const struct profile_terms *terms);
/* One more record. False: out of memory. */
bool profile_totals_add(struct profile_totals *t, const struct profile_record *r);
/* The result so far; *out is profile_result_free'd by the caller. `info`, `totals` and `head` are left as they are.
 * 0, or -1: out of memory. Names of containers are cgroup numbers until somebody names them (profiler/names.h). */
int profile_totals_result(const struct profile_totals *t, struct profile_result *out);
void profile_totals_free(struct profile_totals *t);
void profile_result_free(struct profile_result *r);

/* ---- advice.c ---- */

/* Fewer samples have limits that are too wide for advice. */
enum { ADVICE_SAMPLES_LEAST = 30 };

/* Adds to a row of an otherwise complete result one sentence on what would help; none where there are fewer than
 * ADVICE_SAMPLES_LEAST samples, or where the limits of the figure concerned include 0. */
void profile_advice(struct profile_result *r, size_t row);

/* ---- terms.c: what the profiler takes from the tables: an export of this processor (--params) ---- */

/* Fills in what is known without an export: nothing (*out), the published pause, no bins (*setup). */
void profile_terms_none(struct profile_terms *out, struct profile_setup *setup);

/*
 * Reads an export: *out, the bins and the pause of *setup (the longest wait and a margin), the processor's name. All
 * else in *setup stays. Bins are the numbers of active cores between which no level's frequency changes; where these
 * are more than PROFILE_BINS_MAX, those that differ least are one. Returns what sim_params_read() does, and
 * MACHINE_BAD_INPUT where the longest wait is 0 or needs a pause of more than PROFILE_PAUSE_US_MAX.
 */
int profile_terms_read(const char *export_path, struct profile_terms *out, struct profile_setup *setup, char *cpu,
                       size_t size, struct machine_error *err);
