/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that are drawn from a description (doc/simulation.md, "Drawn workloads"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schedulers/simulate/workload.h"
#include "util/error.h"

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
/* Whether the first line that is no comment, which need not end in a NUL, is that of a description. */
bool sim_drawn_is_line(const char *line, size_t length);

/* The names of the shipped ones, as data_file_list() gives them. */
int sim_drawn_list(char ***names, size_t *n);
