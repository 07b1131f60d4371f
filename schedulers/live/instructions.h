/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions of all tasks in user space: what the scheduler itself executes is not to count as work. */
#pragma once

#include "drivers/perf/perf_groups.h"

/* Counts them on all CPUs that are online. MACHINE_CANNOT with the remedy. With LIVE_INJECT_NAME (counters.h): time. */
int live_instructions_open(struct perf_groups **out, struct machine_error *err);
/* Since then. */
uint64_t live_instructions(const struct perf_groups *g);
