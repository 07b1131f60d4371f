/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A busy machine, made for the time of a measurement (doc/quiet-machine.md, "Interference"; thesis "V", 3.2, 4.4.1 and
 * 4.4.2). The processes that make it are no more once it has ended, however that came about: they, and the one that
 * starts them, are killed with whoever started them (PR_SET_PDEATHSIG). They write no file, and keep their priority.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"
#include "util/error.h"

enum interference { INTERFERENCE_NONE, INTERFERENCE_MAKE, INTERFERENCE_MEMORY, INTERFERENCE_SCRIPT, INTERFERENCES };
/* "" for none, "make", "memory", "script". */
extern const char *const interference_names[INTERFERENCES];

/* A plan: where, by how many, with how much memory. */
struct interference_plan {
    enum interference kind;
    struct cpu_mask cpus; /* each process may run on all of them */
    unsigned processes;   /* that work at the same time */
    size_t bytes;         /* of memory for each */
};
/*
 * make: twice as many processes as there are CPUs, on all of them, up to 64 MiB each; memory: one, on another core than
 * `cpu`, which is measured, with four times the last cache; script: one, on other CPUs. All together at most a quarter
 * of the memory that is free, by `proc`/meminfo and the limit of the cgroup. `v`, `sys` and `proc` as cpu_view_read()
 * has them. MACHINE_OK, or MACHINE_CANNOT: there is no other CPU, or too little memory.
 */
int interference_plan_for(enum interference kind, const struct cpu_view *v, const char *sys, const char *proc, int cpu,
                          struct interference_plan *out, struct machine_error *err);
/* "make: 4 processes", "memory: 1040 MiB on CPU 0". */
void interference_plan_text(const struct interference_plan *p, char *out, size_t size);

struct interferer;
/*
 * Starts the process that will start the others, with the affinity, the cgroup and the descriptors that the caller has
 * now: before a run pins itself or moves into a cpuset. It does nothing until interference_begin(). To be called from
 * the thread that lives longest: it ends with it. MACHINE_OK, or MACHINE_FAILED.
 */
int interference_ready(const struct interference_plan *plan, struct interferer **out, struct machine_error *err);
/* Returns when all of its processes are running: MACHINE_OK (also where they were), or MACHINE_FAILED. */
int interference_begin(struct interferer *i, struct machine_error *err);
/* Returns when none of them is left: MACHINE_OK (also where there was none), or MACHINE_FAILED: they had ended before,
 * so that what was measured meanwhile was not disturbed as it should have been. */
int interference_end(struct interferer *i, struct machine_error *err);
bool interference_runs(const struct interferer *i);
/* Ends it and frees *i; NULL is allowed. */
void interference_close(struct interferer *i);
