/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of recordings; each takes a recording that was opened, to its end. 0, or -1 after filling the error. */
#pragma once

#include "schedulers/simulate/workload/recording.h"

int sim_csv_read(struct sim_recording *r);
int sim_perf_read(struct sim_recording *r);

/* Whether a line, which need not end in a NUL, is the header of a CSV, or one of perf script. */
bool sim_csv_is_header(const char *line, size_t length);
bool sim_perf_is_line(const char *line, size_t length);

/*
 * Tasks as work: fills in `works` (what each did, and that it was blocked while it was away) from the rows of all CPUs,
 * which it reads once and rewinds. MACHINE_OK, MACHINE_BAD_INPUT (a task
 * runs on two CPUs at once: it is several threads of one name) or MACHINE_FAILED after filling *err.
 */
int sim_works_build(struct sim_workload *w, struct machine_error *err);
