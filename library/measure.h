/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps that the program shares with the functions of include/characterize/: the checks of requests that need the
 * machine, and those from a switch or a recorded trace to its phases.
 */
#pragma once

#include <stdio.h>

#include "analysis/phases/phases.h"
#include "drivers/machine.h"
#include "probes/guarded.h"
#include "tables/table/tables.h"
#include "trace/trace.h"

/* Checks that a machine can run a kernel. MACHINE_CANNOT with *err: which features it lacks, and what it can run. */
int measure_check_kernel(const struct payload *p, const struct machine_info *info, struct machine_error *err);

/* How many samples a switch is to have, *samples; MACHINE_BAD_INPUT with *err: more than memory holds. */
int measure_check_amount(const struct transition_setup *s, double *samples, struct machine_error *err);

/*
 * Checks that the machine has as many cores as tables are to be measured with: they would only take those that fit.
 * MACHINE_BAD_INPUT with *err: it has not.
 */
int measure_check_cores(const struct machine_info *info, const struct tables_options *o, struct machine_error *err);

/*
 * guarded_switch(), and the repetitions that the machine knew to be invalid go into the metadata of the trace and into
 * the phases. MACHINE_OK: `out` is to be freed with guarded_free(). Else *err and its status.
 */
int measure_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err);

/*
 * Reads a recorded trace (CSV). MACHINE_BAD_INPUT: *err says where and why, to be appended to the file's name:
 * ":LINE:COLUMN: WHY" or ": WHY".
 */
int measure_read_trace(FILE *in, struct trace *t, struct machine_error *err);
/* The phases of a recorded trace, as the measurement itself has found them. MACHINE_OK, or *err and its status. */
int measure_recorded(const struct trace *t, struct phases *out, struct machine_error *err);
