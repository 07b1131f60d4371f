/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads from text, and their rows as text. */
#pragma once

#include "schedulers/simulate/workload.h"

/* Opens a file with this text, which is gone then; returns the status of sim_workload_open. In messages its name is
 * "FILE". */
int workload_rig_open_bytes(const char *text, size_t length, const struct sim_workload_options *o,
                            struct sim_workload **w, struct machine_error *err);
int workload_rig_open(const char *text, const struct sim_workload_options *o, struct sim_workload **w,
                      struct machine_error *err);

/* The same where it must succeed. */
struct sim_workload *workload_rig_opened(const char *text, const struct sim_workload_options *o);
/* Where it must be refused as bad input with this text (and no remedy). */
void workload_rig_refused(const char *text, const struct sim_workload_options *o, const char *expected);

/*
 * A stream from its beginning: "812.5 nginx 512heavy; 27 -", in µs; ipc, stall and system calls where they are not 0:
 * " ipc=1500 stall=20 syscall". Reads `at_once` rows at a time. To be freed.
 */
char *workload_rig_rows(struct sim_workload *w, const struct sim_source *s, unsigned stream, size_t at_once);
/* All streams of the CPUs, or of the tasks, must be these, read in several ways; NULL: the end. */
void workload_rig_check_cpus(struct sim_workload *w, const char *const rows[]);
void workload_rig_check_works(struct sim_workload *w, const char *const rows[]);
