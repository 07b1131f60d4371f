/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads the scheduler (sched.bpf.c) into the kernel; it ends with this process. Link with libbpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <stdio.h>

#include "schedulers/live/counters.h"
#include "schedulers/live/shared.h"
#include "util/error.h"

struct live_scheduler;

/* What this computer needs of live_config: CPUs, cores, the last of which is wide at first. MACHINE_CANNOT: too large,
 * or, to specialize, fewer than two cores. */
int live_config_here(struct live_config *config, struct machine_error *err);

/* MACHINE_OK; MACHINE_CANNOT where this kernel, or whoever runs this, cannot load it, or there are no counters (with
 * the remedy), or another such scheduler is there; MACHINE_FAILED with what the kernel said; MACHINE_BAD_INPUT:
 * `groups`, n_groups directories of cgroups, are none. From then on it schedules all tasks of the computer, until
 * live_stop() or this process ends, however. Nothing may be forked meanwhile. Sets what counters.h says of the
 * configuration. */
int live_start(struct live_config *config, const struct live_params *params, const struct cpu_identity *here,
               const char *const *groups, struct live_scheduler **out, struct machine_error *err);

/* The counters that it does without, since they do not fit; "": none. */
const char *live_without(const struct live_scheduler *s);

/* Writes the records that there are (CHARACTERIZE_SCHED_RECORD: a file, of struct live_config and then struct
 * live_record each, for tests). False: some could not be written. */
bool live_take_records(struct live_scheduler *s);

/* What it has counted, as it goes on. */
const volatile struct live_state *live_state_of(const struct live_scheduler *s);

/* The tasks that have run since it schedules: malloc'ed rows, their number in *n. MACHINE_FAILED, with a line. */
int live_tasks_read(const struct live_scheduler *s, struct live_task **rows, size_t *n, struct machine_error *err);

/* Turns specialization off (or on again): all cores and tasks are then alike. It begins on. */
void live_specialize(struct live_scheduler *s, bool on);

/* Linux' own scheduler takes over. MACHINE_FAILED, with a line, where it already has, for another reason. */
int live_stop(struct live_scheduler *s, struct machine_error *err);
