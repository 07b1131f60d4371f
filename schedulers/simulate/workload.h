/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the simulated processor does: rows of work and of idle time, for each CPU or for each task (doc/simulation.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"
#include "util/error.h"

#define SIM_IDLE UINT32_MAX /* as a task */

struct sim_row {
    int64_t ps;                                  /* recorded duration, 0 to SIM_ROW_PS_MAX */
    uint32_t task;                               /* index into the tasks, or SIM_IDLE */
    uint16_t ipc;                                /* thousandths, 0 where it is not given */
    uint16_t stall : 10, class : 3, syscall : 1; /* stall: thousandths; class: enum sim_class */
};

/* Longer rows are split by their readers: work in 10^-7 cycles must fit into 63 bits at 16 GHz. */
#define SIM_ROW_PS_MAX (50000000 * SIM_PS_PER_US)

/*
 * Where rows come from, stream by stream: a stream is what one CPU, or one task, does in order. Streams are read
 * independently of each other.
 */
struct sim_source {
    /* The next rows of a stream, at most max; 0 at its end. */
    size_t (*read)(void *self, unsigned stream, struct sim_row *out, size_t max);
    void (*rewind)(void *self);       /* all streams, to their beginning */
    const char *(*error)(void *self); /* NULL, or why rows are missing: a line */
    void (*close)(void *self);
    void *self;
};

struct sim_task {
    char *name;
    uint32_t cookie; /* tasks with the same may share a core; 0 where there is no column */
};

struct sim_workload {
    char *name;            /* file, or name of a drawn one */
    const char *kind;      /* "csv", "perf", "drawn" */
    uint32_t recorded;     /* speed, 0.1 MHz */
    unsigned active_cores; /* 0: to be counted */
    unsigned n_cpus;
    unsigned *cpu;  /* their numbers in the recording, ascending */
    unsigned *core; /* by CPU: which core, 0 to n_cores - 1, in ascending order of its first CPU */
    unsigned n_cores;
    bool smt; /* a core has several CPUs */
    size_t n_tasks;
    struct sim_task *tasks;
    bool has_ipc, has_stall, has_cookie, has_syscall;
    bool class_used[SIM_CLASSES];
    uint64_t n_rows;         /* 0: not known */
    struct sim_source cpus;  /* streams are CPUs, 0 to n_cpus - 1 */
    struct sim_source works; /* streams are tasks: idle rows are the times that they were blocked; read NULL: there is
                              * none */
};
