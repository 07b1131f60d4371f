/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of workloads that are drawn (doc/simulation.md, "Drawn workloads"; data/workloads/). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"
#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/drawn_random.h"
#include "util/error.h"

enum {
    DRAWN_NAME_SIZE = 32,
    DRAWN_TASKS_MAX = 16,
    DRAWN_PHASES_MAX = 16, /* of a task */
    DRAWN_NEXT_MAX = 4,    /* phases that may follow one */
    DRAWN_CPUS_MAX = 8192,
    DRAWN_THREADS_MAX = 8192,
};

struct drawn_next {
    char name[DRAWN_NAME_SIZE];
    unsigned phase;
    double until; /* the sum of the shares up to this one; the last has 1 */
};

struct drawn_phase {
    char name[DRAWN_NAME_SIZE];
    unsigned line;
    struct drawn_length length;
    struct sim_row row; /* its rows, but for their duration; task: SIM_IDLE if it is blocked */
    bool has_ipc, has_stall, has_syscall;
    unsigned n_next; /* at least 1 after reading */
    struct drawn_next next[DRAWN_NEXT_MAX];
};

struct drawn_task {
    char name[DRAWN_NAME_SIZE], cookie[DRAWN_NAME_SIZE];
    unsigned line, threads, n_phases;
    double lasts; /* how many times the duration its work takes */
    struct drawn_phase phases[DRAWN_PHASES_MAX];
};

struct drawn_file {
    unsigned cores, threads_per_core, active_cores; /* active_cores 0: not given */
    uint32_t recorded;                              /* 0.1 MHz */
    double duration_s;
    struct drawn_length slice;
    unsigned n_tasks, n_threads;
    struct drawn_task tasks[DRAWN_TASKS_MAX];
    bool has_ipc, has_stall, has_cookie, has_syscall;
};

/*
 * Reads a description of `length` bytes. file: its name, for messages. MACHINE_OK, or MACHINE_BAD_INPUT with the line
 * and what would be allowed in *err (MACHINE_FAILED: out of memory).
 */
int drawn_file_parse(const char *text, size_t length, const char *file, struct drawn_file *out,
                     struct machine_error *err);
