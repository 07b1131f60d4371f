/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What wide code costs the tasks that run none, and how evenly (doc/simulation.md, "Fairness"). F: Gottschlag,
 * Machauer, Khalil and Bellosa, USENIX ATC 2021, 7.1.
 */
#pragma once

#include "schedulers/simulate/simulate.h"

/* F, eq. 9, from ratios of completion times with and without wide code: of a scheduler, and of the plain fair one. With
 * both the same, it is eq. 7. */
double fairness_unfairness(double slowdown, double base);

/*
 * Fills slowdown, cpu_slowdown and unfairness of a result that sim_run gave for the same arguments, with a scheduler.
 * Runs the workload once more without wide code, and twice under scheduler fair where *base is NaN, which is then what
 * that found (a ratio), for further results under the same policy. As sim_run.
 */
int fairness_measure(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                     struct sim_result *r, struct machine_error *err);
