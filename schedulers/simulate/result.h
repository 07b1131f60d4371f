/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one simulation found: times in ps by task and in total (doc/simulation.md, "Results"). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"

/* Times of one task, or the sum over all. */
struct sim_times {
    int64_t level_ps[SIM_LEVELS_MAX]; /* CPU time at each level, throttled and halted time included */
    int64_t throttled_ps, halted_ps;
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
    /* sim_fairness_find: of the tasks that never run wide code, fractions; NaN: there are none, or nobody asked */
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
