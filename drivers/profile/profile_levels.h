/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the license levels that can be counted on a processor: without them there is nothing to profile. */
#pragma once

#include "drivers/events/events.h"

/*
 * The events of a CPU's part, which has such for license levels 1 and 2. MACHINE_OK; else MACHINE_CANNOT with what it
 * lacks, or as events_find(). `sys`: "/sys", or a folder laid out like it; `data_dir`: NULL = the shipped data;
 * `leaves`: of the CPU, NULL = read here. *id is filled in any case.
 */
int profile_levels_find(const char *sys, const char *data_dir, const struct cpu_leaves *leaves, struct cpu_identity *id,
                        struct events_table *out, struct machine_error *err);
