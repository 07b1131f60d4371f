/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulation of doc/simulation.md once more, as plain as it can be written, from that page alone: the whole
 * workload in memory, and at each step everything is looked at and moved on to the next instant.
 */
#pragma once

#include "schedulers/simulate/simulate.h"
#include "tests/support/slow_params.h"

/* Counts that the simulator's result does not contain. */
struct slow_counts {
    uint64_t down, up; /* changes that have begun */
    uint64_t falls;    /* of cores' demands */
};

/*
 * Plays the workload from its beginning, as tasks were recorded. false: a parameter that was needed is missing from the
 * export, and there is no result. Whoever calls frees out->tasks if it returned true; the names in *out are not set.
 */
bool slow_simulate(const struct slow_params *p, const struct sim_workload *w, const struct sim_options *o,
                   struct sim_result *out, struct slow_counts *counts);
