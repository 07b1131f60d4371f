/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What code costs above a loop that does nothing, from the energy of the package with either. */
#ifndef CHARACTERIZE_ANALYSIS_ENERGY_H
#define CHARACTERIZE_ANALYSIS_ENERGY_H

#include <stdbool.h>

/* One measured stretch. Durations are in seconds. */
struct energy_stretch {
    double joules, seconds;    /* of the package, between two readings of its counter */
    double run_seconds;        /* of them, those in which the measured core ran the code */
    double operations;         /* counted instructions in the recorded part of that ... */
    double recorded_seconds;   /* ... and how long this part is */
    double cycles;             /* core cycles ... */
    double cycle_seconds;      /* ... counted in so much time */
    double lost_seconds;       /* of the recorded part: something else ran, for long enough to be seen */
};

/* GHz. */
double energy_ghz(const struct energy_stretch *s);

/* More than this part of the recorded time lost: the power is no longer that of the code. */
#define ENERGY_LOST_MOST 0.01
bool energy_disturbed(const struct energy_stretch *s);

struct energy_cost {
    double package_watts; /* while the code ran */
    double idle_watts;    /* of the package while the other one did */
    double watts;         /* the difference */
    double nj_per_op;     /* the difference, for each counted instruction */
};
/*
 * The cost of `code` against `idle`, both on `cores` cores at once, whose energy the counter tells (others are not to
 * be counted) and each of which, one thread of it, is taken to have executed as many operations as the measured one.
 * Between the readings the measured core ran the code for a part of the time only; in the rest it is taken to have
 * needed what it needs when idle: with E and T between the readings, r of them running, P_i the idle power and n cores,
 * watts = (E - P_i T) / (r + (n - 1) / n (T - r)).  NaN for a stretch without time.
 */
struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores);

#endif
