/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What code costs above a loop that does nothing, from the energy of the package with either. */
#ifndef CHARACTERIZE_ANALYSIS_ENERGY_H
#define CHARACTERIZE_ANALYSIS_ENERGY_H

#include <stdbool.h>
#include <stddef.h>

/* One measured stretch. Durations are in seconds. */
struct energy_stretch {
    double joules, seconds;  /* of the package, between two readings of its counter */
    double run_seconds;      /* of them, those in which the measured core ran the code */
    double operations;       /* counted instructions in the recorded part of that ... */
    double recorded_seconds; /* ... and how long this part is */
    double cycles;           /* core cycles ... */
    double cycle_seconds;    /* ... counted in so much time */
    double lost_seconds;     /* of the recorded part: something else ran, for long enough to be seen */
    double other_seconds;    /* of the recorded part, all in which the code did not run: energy_other(), and what the
                                  samples themselves take */
    double start_seconds;    /* of these, those of the first millisecond, in which it may not have settled yet */
};

/*
 * Adds to other_seconds and start_seconds in how much of a recording something else ran: interrupts, too short to be
 * seen one by one. From its samples, each so long that most of them are not interrupted: the median of their rates is
 * that of the code, and what was executed less than that would have taken so many seconds. operations, seconds: of each
 * of the n samples; scratch: n.
 */
void energy_other(const double *operations, const double *seconds, size_t n, double *scratch,
                  struct energy_stretch *out);

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
    double least;         /* of watts and nj_per_op, relative: what they are if nothing interrupts the other cores */
    double idle_doubt;    /* of idle_watts, to either side: what interrupts need instead of the code is not known */
    double watts_doubt;   /* of watts, likewise: nor is what was needed before the code had settled, nor what interrupts
                             need at the frequency of the code, where the other one ran at another */
};
/*
 * The cost of `code` against `idle`, both on `cores` cores at once, whose energy the counter tells (others are not to
 * be counted) and each of which, one thread of it, is taken to have executed as many operations as the measured one.
 * Between the readings the measured core ran the code for a part of the time only; in the rest it is taken to have
 * needed what it needs when idle: with E and T between the readings, r of them running, h of these in interrupts, P_i
 * the idle power and n cores, watts = (E - P_i T) / ((r - h) / n + (n - 1) / n (1 - h / r) T). What interrupts need
 * themselves is in P_i as well. The other cores are taken to be interrupted as the measured one is; if they are not,
 * watts is by `least` of it. NaN for a stretch without time.
 */
struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores);

#endif
