/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the timing machine: the sampling loop and what is calibrated before it.
 */
#ifndef CHARACTERIZE_TIMING_H
#define CHARACTERIZE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/machine.h"
#include "drivers/pace.h"
#include "drivers/plan.h"

/* ---- timing_sample.c: the sampling loop ---- */

/* One reading. */
struct timing_raw {
    uint64_t end;    /* TSC at the end of the chain: the time of the reading */
    uint64_t begin;  /* TSC before the chain */
    uint64_t blocks; /* of the payload in this segment so far, times two; plus one after a long chain */
};

/*
 * Short chains are cheap and long ones exact; both are needed to tell the cost of a reading from the frequency. One
 * long chain in eight makes a reading a quarter cheaper than one in two, at the same error of that cost.
 */
enum { TIMING_TURNS = 8 };

/* pace_sample() with chains for readings: one long one in TIMING_TURNS. */
size_t timing_sample(struct pace_lane *lane, struct pace_grid *grid, uint64_t end, struct timing_raw *out);

/* Where a recording goes, and what came of it. */
struct timing_log {
    struct timing_raw *raw;   /* room for plan_readings_needed() */
    struct timing_raw *probe; /* room for PLAN_PROBE_ROOM */
    struct plan_log at;
};
/* plan_record() with chains for readings. */
void timing_record(const struct plan *p, struct timing_log *log);

/* ---- timing_calibrate.c: what must be known of a payload before it is sampled ---- */

/* What a reading costs. */
struct timing_cost {
    double cycles;    /* core cycles that the two TSC reads around a chain add to its adds */
    double error;     /* standard error of that */
    double ticks[2];  /* of a short and of a long chain */
};
/*
 * Finds it from n readings of both chain lengths. With S and L adds at f cycles a tick the chains take
 * T_s = (S + k) / f and T_l = (L + k) / f ticks, so that
 *     k = (L T_s - S T_l) / (T_l - T_s)
 * whatever f is. Means without the outer tenths are taken over windows of 128 readings, in which f hardly changes; k is
 * the median of the windows. Returns 0, or -1 when fewer than three windows make sense (T_l > T_s).
 *
 * On a Sapphire Rapids k was 63.8 to 64.0 cycles after each of 18 payloads, from pause to AMX, at 2.19 to 2.99 GHz: it
 * consists of core cycles (0.1 cycle in 0.8 GHz: what is fixed in time is below 0.2 ns) and does not depend on the
 * payload. It does depend on what the other hyper-thread of the core does, which a guest cannot see: then it was 80.
 */
int timing_chain_cost(const struct timing_raw *r, size_t n, struct timing_cost *out);

/*
 * Follows the cost from repetition to repetition: a quarter of a small difference is noise that evens out, a difference
 * beyond five standard errors means that the other hyper-thread has started or stopped.
 */
void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen);

/*
 * Fills *lane and *cost by running the payload: 2 ms to reach its steady state, then its rate, then chains in the
 * sampling loop itself. Runs for about 5 ms. Returns 0, or -1 when the readings make no sense (the CPU was taken away
 * all the time).
 */
int timing_calibrate(const struct payload *p, double tsc_hz, double period_us, struct pace_lane *lane,
                     struct timing_cost *cost);

/* ---- timing.c ---- */

/* machine_open_timing() with another folder for /sys. */
int timing_open_at(const char *sys, struct machine *out, struct machine_error *err);

#endif
