/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters by which the scheduler accounts, on every CPU: which they are, and opening them. */
#pragma once

#include "drivers/perf/perf_groups.h"
#include "schedulers/live/params.h"
#include "schedulers/live/shared.h"

/* How they are tried out where there are none, an environment variable for tests: "tasks" say what is counted;
 * "levels": the same without instructions; "clock": the CPU's clock stands for each counter. */
#define LIVE_INJECT_NAME "CHARACTERIZE_SCHED_INJECT"

struct live_counters {
    struct perf_groups *groups; /* NULL: nothing is counted, or injected */
    size_t n;
    int event[LIVE_EVENTS]; /* LIVE_CYCLES, ... of each event of a group */
    char without[100];      /* what did not fit, or is not known here: "stalled cycles"; "" */
};

/* Whether a configuration needs counters at all. */
bool live_counters_needed(const struct live_config *config);

/*
 * Opens what a configuration needs, and sets its n_levels, own_level, ref_khz, events and injected. Nothing, where it
 * needs none. MACHINE_CANNOT with the remedy: the export or this computer has no such counters.
 */
int live_counters_open(const struct live_params *params, const struct cpu_identity *here, struct live_config *config,
                       struct live_counters *out, struct machine_error *err);
void live_counters_close(struct live_counters *c);

/* Counts instructions of all tasks in user space on all CPUs that are online. MACHINE_CANNOT with the remedy. With
 * LIVE_INJECT_NAME: time. */
int live_instructions_open(struct perf_groups **out, struct machine_error *err);
/* Since then. */
uint64_t live_instructions(const struct perf_groups *g);
