/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads of the simulated processor: rows of work and of idle time, by CPU or by task (doc/simulation.md). */
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

/* A source of rows, stream by stream: a stream is the work of one CPU, or one task, in order. Streams are read
 * independently of each other. */
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
    char warning[300]; /* on what the recording lacks; a line, or "" */
    bool class_used[SIM_CLASSES];
    uint64_t n_rows;         /* 0: not known */
    struct sim_source cpus;  /* streams are CPUs, 0 to n_cpus - 1 */
    struct sim_source works; /* streams are tasks: idle rows are the times that they were blocked; read NULL: there is
                              * none */
};

/* Whose code is of a class, in a recording that does not say so itself. */
struct sim_mark {
    const char *who; /* a name of a thread, in which * ? [...] match as in file names, or a thread or process number */
    enum sim_class class;
};

/* The user's options, which override the file. */
struct sim_workload_options {
    uint32_t recorded;     /* 0.1 MHz; 0: as the file says */
    unsigned active_cores; /* 0: as the file says */
    const char *siblings;  /* "0-1,2-3"; NULL, and "" of a machine without siblings: as the file says */
    bool smt_given, smt;   /* cores have several CPUs; not given: where siblings are known */
    bool works;            /* `works` is needed; else it may be missing */
    const struct sim_mark *marks;
    size_t n_marks;              /* the first that fits counts */
    const char *stamps;          /* a file of begins and ends of wide phases; NULL: none */
    enum sim_class stamps_class; /* of those without a class of their own; SIM_NONE: they must have one */
    uint64_t seed;               /* of drawn ones */
};

/*
 * Opens a workload (doc/simulation.md): CSV, text of perf script, or a description; which, its first line tells. A path
 * without a slash and a dot is the name of a shipped description. Returns
 * MACHINE_OK, or MACHINE_BAD_INPUT (what is wrong with the file, and where) or MACHINE_FAILED (out of memory, no room
 * for its rows in $TMPDIR) after filling *err. sim_workload_free if it returned MACHINE_OK.
 */
int sim_workload_open(const char *path, const struct sim_workload_options *o, struct sim_workload **out,
                      struct machine_error *err);
void sim_workload_free(struct sim_workload *w); /* NULL: nothing */

/* Values as files and options give them. False: it is none; the macro after it says what is allowed. */
bool sim_parse_recorded(const char *text, uint32_t *recorded);
#define SIM_RECORDED_ALLOWED "0.1 to 16 (GHz), at most four decimals"
bool sim_parse_active_cores(const char *text, unsigned *cores);
#define SIM_ACTIVE_CORES_ALLOWED "1 to 4096"
bool sim_parse_class(const char *text, enum sim_class *out);
#define SIM_CLASSES_ALLOWED "none, 256light, 256heavy, 512light, 512heavy"
