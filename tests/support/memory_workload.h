/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A workload of a test's own, which the simulator reads from memory. */
#pragma once

#include <stddef.h>

#include "schedulers/simulate/workload.h"

enum { MEMORY_CPUS_MAX = 8, MEMORY_TASKS_MAX = 64 };

struct memory_workload {
    struct sim_workload w;
    size_t at_once; /* rows that a reader gets at most; 0: as many as it requests */
    struct memory_stream {
        struct sim_row *rows;
        size_t n, next;
    } stream[MEMORY_CPUS_MAX], work[MEMORY_TASKS_MAX]; /* of CPUs, and of tasks */
    unsigned cpu[MEMORY_CPUS_MAX], core[MEMORY_CPUS_MAX];
};

/*
 * Without rows; tasks are called t0, t1 ... CPUs are dealt out to the cores in turn (0, 1, 0, 1) if `in_turn`, else
 * neighbors share one (0, 0, 1, 1). It must stay where it is until memory_workload_free. `recorded` in 0.1 MHz.
 */
void memory_workload_make(struct memory_workload *m, unsigned n_cpus, unsigned n_cores, bool in_turn, size_t n_tasks,
                          uint32_t recorded);
void memory_workload_add(struct memory_workload *m, unsigned cpu, struct sim_row row);
/* Adds a row to the work of a task; SIM_IDLE: it is blocked. */
void memory_workload_add_work(struct memory_workload *m, unsigned task, struct sim_row row);
void memory_workload_free(struct memory_workload *m);
