/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that nobody has recorded, to compare simulators by. */
#pragma once

#include "tests/support/memory_workload.h"
#include "tests/support/random_numbers.h"
#include "tests/support/slow_params.h"

/* CPUs and how they share cores; 1 to 6 cores of 1 to 4 CPUs, 8 CPUs at most. */
struct random_shape {
    unsigned cpus, cores;
    bool in_turn;
};
struct random_shape random_shape(struct rng *r);

/*
 * Up to 200 rows a CPU, of 0 ps to milliseconds, of idle time and all classes, by tasks that stay or move; at times all
 * in steps of a unit, or the same on several CPUs, so that much happens at once; counted or fixed active cores;
 * with and without the columns ipc and stall. `plain`: nothing is wider than the class `none`.
 * memory_workload_free.
 */
void random_workload(struct memory_workload *m, struct rng *r, struct random_shape shape, const struct slow_params *p,
                     bool plain);
