/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads the scheduler (sched.bpf.c) into the kernel; it ends with this process. Link with libbpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schedulers/live/shared.h"
#include "util/error.h"

struct live_scheduler;

/* What this computer needs of live_config: CPUs, cores, the last of which is wide at first. MACHINE_CANNOT: too large,
 * or, to specialize, fewer than two cores. */
int live_config_here(struct live_config *config, struct machine_error *err);

/* MACHINE_OK; MACHINE_CANNOT where this kernel, or whoever runs this, cannot load it (with the remedy), or another
 * such scheduler is there; MACHINE_FAILED with what the kernel said. From then on it schedules all tasks of the
 * computer, until live_stop() or this process ends, however. Nothing may be forked meanwhile. */
int live_start(const struct live_config *config, struct live_scheduler **out, struct machine_error *err);

/* What it has counted, as it goes on. */
const volatile struct live_state *live_state_of(const struct live_scheduler *s);

/* The tasks that have run since it schedules: malloc'ed rows, their number in *n. MACHINE_FAILED, with a line. */
int live_tasks_read(const struct live_scheduler *s, struct live_task **rows, size_t *n, struct machine_error *err);

/* Linux' own scheduler takes over. MACHINE_FAILED, with a line, where it already has, for another reason. */
int live_stop(struct live_scheduler *s, struct machine_error *err);
