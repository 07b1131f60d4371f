/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation with a scheduler, and everything that can be seen of it: who ran where, levels, kinds of cores. */
#pragma once

#include "schedulers/simulate/simulate.h"
#include "tests/support/memory_workload.h"

struct watched_piece {
    unsigned where; /* CPU, or core */
    uint32_t task;  /* or level */
    int64_t from, to;
    unsigned permille; /* or whether a core is wide */
};
struct watched_list {
    struct watched_piece *piece;
    size_t n;
};
struct watched_run {
    struct sim_result result;
    struct watched_list ran, levels, kinds; /* in the order in which they ended */
};

/* It must succeed. watched_free. */
void watched_make(struct watched_run *r, struct sim_params *p, struct memory_workload *m, enum sim_scheduler scheduler);
void watched_free(struct watched_run *r);

/* No CPU runs two tasks, no task runs twice at a time, and times and counts are those of the result. */
void watched_check(const struct watched_run *r, const struct memory_workload *m);
/*
 * No CPU idles while a task waits for one, and none runs while it is blocked: where no work is wide, so that when a row
 * ends follows from the CPU time of its task.
 */
void watched_check_busy(const struct watched_run *r, const struct memory_workload *m);
/* CPU time of a task until a moment. */
int64_t watched_cpu_time(const struct watched_run *r, uint32_t task, int64_t until);
