/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulation of one workload under one policy, as doc/simulation.md defines it. */
#pragma once

#include "schedulers/simulate/params.h"
#include "schedulers/simulate/workload.h"
#include "util/error.h"

enum sim_policy { SIM_STOCK, SIM_TIMEOUT, SIM_ORACLE, SIM_SOFTWARE, SIM_LEARNED, SIM_NEVER, SIM_POLICIES };
extern const char *const sim_policy_names[SIM_POLICIES];

enum sim_scheduler {
    SIM_RECORDED, /* tasks run where and when they were recorded */
    SIM_FAIR,
    SIM_FAIR_SUBTRACT,
    SIM_FAIR_ATTRIBUTE,
    SIM_CORE,
    SIM_SPECIALIZE,
    SIM_SPECIALIZE_ALWAYS,
    SIM_SCHEDULERS
};
extern const char *const sim_scheduler_names[SIM_SCHEDULERS];

/* Runs of one report; each keeps the times of all tasks. */
enum { SIM_RUNS_MAX = 1000 };
#define SIM_RUNS_ALLOWED "1 to 1000"

/* For those who want to see it, both ends in ps. Functions may be NULL. */
struct sim_observer {
    /* a piece of a core's time at one level */
    void (*piece)(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille);
    /* with a scheduler: a task ran on a CPU without an interruption */
    void (*ran)(void *self, unsigned cpu, uint32_t task, int64_t from, int64_t to);
    /* with a scheduler that specializes: a core became wide, or other; at first, the last core alone is wide */
    void (*kind)(void *self, unsigned core, int64_t at, bool wide);
    void *self;
};

struct sim_options {
    enum sim_policy policy;
    enum sim_scheduler scheduler;
    uint64_t seed;
    bool timeout_given; /* policy timeout; else the break-even time */
    int64_t timeout_ps;
    const struct sim_observer *observer; /* NULL: nobody looks */
};

/* ---- what one simulation found: times in ps by task and in total (doc/simulation.md, "Results") ---- */

/* Times of one task, or the sum over all. */
struct sim_times {
    int64_t level_ps[SIM_LEVELS_MAX]; /* CPU time at each level, throttled and halted time included */
    int64_t throttled_ps, halted_ps;
    int64_t scheduling_ps;                 /* CPU time of switches, migrations and faults; none of it is ideal */
    double ideal_ps;                       /* at level 0 with the same active cores */
    int64_t remote_ps;                     /* CPU time of work whose class demands level 0 */
    double remote_ideal_ps, remote_smt_ps; /* its ideal time, and what is lost to siblings */
    int64_t end_ps;                        /* when its last work ended; of all: the latest */
};
struct sim_core_result {
    uint64_t down, up; /* changes that have begun */
};
struct sim_result {
    const char *policy, *scheduler; /* scheduler: "recorded" without one */
    size_t n_tasks, n_cores;
    struct sim_times all;
    struct sim_times *tasks;        /* by task */
    uint64_t transitions, down, up; /* changes of level that have begun, on all cores */
    uint64_t rows;                  /* that were played */
    /* schedulers; 0 without one */
    uint64_t switches, migrations, core_changes;
    int64_t forced_idle_ps; /* CPU time that was idle while tasks were ready, summed over the CPUs */
    double mean_ghz;        /* cycles over CPU time */
    /* sim_fairness_find: of the tasks that never run wide code, fractions; NaN: none, or not requested */
    double slowdown;     /* completion time over that without wide code, less 1; mean over tasks */
    double cpu_slowdown; /* CPU time likewise */
    double unfairness;   /* Gottschlag et al., USENIX ATC 2021, eq. 7 and 9 */
};

int64_t sim_times_cpu(const struct sim_times *t);     /* CPU time, ps */
double sim_times_overhead(const struct sim_times *t); /* a fraction; NaN where there was no work */
double sim_times_remote(const struct sim_times *t);   /* likewise, of work that is not wide */
double sim_times_remote_smt(const struct sim_times *t);
double sim_times_remote_delay(const struct sim_times *t);
/* Adds b to a; the end is the later one. */
void sim_times_add(struct sim_times *a, const struct sim_times *b);

void sim_result_free(struct sim_result *r);

/* ---- a simulation ---- */

/* Checks that the export and the workload have what a policy and a scheduler need. Returns 0, or -1 with one line in
 * `why` that names what is missing. */
int sim_check(struct sim_params *p, const struct sim_workload *w, const struct sim_options *o, char *why,
              size_t why_size);

/*
 * Plays the workload from its beginning. Returns MACHINE_OK, MACHINE_FAILED (out of memory, the recording cannot be
 * read further) or MACHINE_BAD_INPUT (sim_check). sim_result_free if it returned MACHINE_OK.
 */
int sim_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_result *out,
            struct machine_error *err);
