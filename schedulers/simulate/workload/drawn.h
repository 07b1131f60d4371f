/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of workloads that are drawn (doc/simulation.md, "Drawn workloads"; data/workloads/). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"
#include "schedulers/simulate/workload.h"
#include "util/error.h"

enum {
    DRAWN_NAME_SIZE = 32,
    DRAWN_TASKS_MAX = 16,
    DRAWN_PHASES_MAX = 16, /* of a task */
    DRAWN_NEXT_MAX = 4,    /* phases that may follow one */
    DRAWN_CPUS_MAX = 8192,
    DRAWN_THREADS_MAX = 8192,
};

/* Lengths of time that are drawn from stated distributions: the same (seed, stream) gives the same ones. */
struct drawn_random {
    uint64_t state;
};

enum drawn_shape { DRAWN_FIXED, DRAWN_UNIFORM, DRAWN_EXPONENTIAL, DRAWN_LOGNORMAL, DRAWN_SHAPES };

struct drawn_length {
    enum drawn_shape shape;
    /* us: fixed: a; uniform: a to b; exponential: mean a; lognormal: mean a, and b is the standard deviation of the
     * logarithm (no unit) */
    double a, b;
};

struct drawn_random drawn_random_of(uint64_t seed, uint64_t stream);
/* [0, 1), a multiple of 2^-53. */
double drawn_random_unit(struct drawn_random *r);
/* 0 to n - 1, for n above 0. */
unsigned drawn_random_below(struct drawn_random *r, unsigned n);

/* Draws a length in ps, rounded to whole ns, at least 1 ns; at most 10^4 times the mean. Whole ns, so that the last bit
 * of a logarithm, which is not the same on all processors, practically never makes a difference. */
int64_t drawn_random_length(struct drawn_random *r, const struct drawn_length *l);
double drawn_length_mean(const struct drawn_length *l); /* us */

struct drawn_next {
    char name[DRAWN_NAME_SIZE];
    unsigned phase;
    double until; /* the sum of the shares up to this one; the last has 1 */
};

struct drawn_phase {
    char name[DRAWN_NAME_SIZE];
    unsigned line;
    struct drawn_length length;
    struct sim_row row; /* its rows, except for their duration; task: SIM_IDLE if it is blocked */
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

/*
 * drawn.c. The rows of a described workload, drawn as they are read: what each thread does, and what each CPU
 * does that plays its threads in turns. Streams are threads, or CPUs. The same seed gives the same rows. 0, or -1: out
 * of memory.
 */
int drawn_works_open(const struct drawn_file *file, uint64_t seed, struct sim_source *out);
int drawn_cpus_open(const struct drawn_file *file, unsigned n_cpus, uint64_t seed, struct sim_source *out);

/* ---- workloads that are drawn from a description (doc/simulation.md, "Drawn workloads") ---- */

/*
 * Opens a workload by the name of a shipped description, or by the path of one: a name with a slash or a dot. The same
 * description and seed give the same rows; with SMT off, one hyper-thread of each core has all threads of the core.
 * Returns MACHINE_OK, or after filling *err MACHINE_BAD_INPUT (the name, FILE:LINE, an option that is for recordings)
 * or MACHINE_FAILED (out of memory).
 */
int sim_drawn_open(const char *name_or_path, const struct sim_workload_options *o, struct sim_workload **out,
                   struct machine_error *err);
/* The same of a description that was read already; file: its name, for messages. */
int sim_drawn_read(const char *text, size_t length, const char *file, const char *name,
                   const struct sim_workload_options *o, struct sim_workload **out, struct machine_error *err);

/* The names of the shipped ones, as data_file_list() gives them. */
int sim_drawn_list(char ***names, size_t *n);
