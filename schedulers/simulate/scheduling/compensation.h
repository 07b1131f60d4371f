/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a task lost to a frequency that others had reduced, from what a scheduler can count: cycles at each license
 * level and time. G: Gottschlag's dissertation, 7.4.2 (equations 7.1 to 7.7). Frequencies in any one unit.
 */
#pragma once

#include "schedulers/simulate/params.h"

/* The published frequencies: one line for each turbo level, that with the fewest active cores first. */
struct compensation_table {
    unsigned n_levels, n_turbo;
    double *frequency; /* by turbo level and license level; above 0 */
};

/*
 * The average frequency at a turbo level for these cycles at each license level, with a sum above 0. G, eq. 7.6 for any
 * number of levels.
 */
double compensation_expected(const struct compensation_table *t, unsigned turbo, const double *cycles);

/*
 * The frequency without the cycles at levels slower than `own`, which the task itself did not cause: they are moved to
 * `own`. The turbo level is that which explains the frequency `actual`, interpolated between the two nearest, and is
 * not beyond the fastest and the slowest. G, 7.4.2, steps 2 to 4.
 */
double compensation_ideal(const struct compensation_table *t, const double *cycles, double actual, unsigned own);

/* The part of a CPU time that was lost, 0 to 1, where `stalled` (0 to 1) of the cycles waited. G, eq. 7.3. */
double compensation_lost(double actual, double ideal, double stalled);
