/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A group of counters on each CPU, of whatever runs there, for who reads them in the kernel. There are few counters:
 * what is dispensable is given up, in an order.
 */
#pragma once

#include "drivers/perf/perf.h"
#include "drivers/perf/perf_profile.h"

struct perf_groups_event {
    enum counter_id id;
    uint64_t code; /* as in counter_spec, of COUNTER_EVENT */
    unsigned rank; /* 0: needed; those of the highest rank are given up first, together */
};

struct perf_groups;

/*
 * Opens them on all CPUs of a mask, the first event (of rank 0) as the leader, and starts them. *out has those that fit
 * on every CPU. MACHINE_CANNOT with the remedy: not even the needed ones. `sys`: "/sys", or a folder laid out like it.
 */
int perf_groups_open(const struct perf_profile_io *io, const char *sys, const struct cpu_mask *cpus,
                     const struct perf_groups_event *events, size_t n, struct perf_groups **out,
                     struct machine_error *err);
/* The lowest rank that was given up; UINT_MAX: none was. */
unsigned perf_groups_given_up(const struct perf_groups *g);
/* The descriptor of an event on a CPU; -1: it was given up, or the CPU is not one of them. */
int perf_groups_fd(const struct perf_groups *g, int cpu, size_t event);
void perf_groups_close(struct perf_groups *g);
