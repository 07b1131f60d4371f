/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the timing machine: the sampling loop and what is calibrated before it.
 */
#ifndef CHARACTERIZE_TIMING_H
#define CHARACTERIZE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/timing/chain_wait.h"
#include "drivers/machine.h"
#include "drivers/native/pace.h"
#include "drivers/native/plan.h"

/* ---- timing_sample.c: the sampling loop ---- */

/* One reading. */
struct timing_raw {
    uint64_t end;    /* TSC at the end of the chain: the time of the reading */
    uint64_t begin;  /* TSC before the chain */
    uint64_t blocks; /* chain_word() */
};
static inline uint64_t timing_blocks(const struct timing_raw *r)
{
    return chain_blocks(r->blocks);
}
static inline uint64_t timing_wait(const struct timing_raw *r)
{
    return chain_wait(r->blocks);
}

/*
 * The chains that readings are made of. Short ones are cheap and long ones exact; both are needed to tell the cost of a
 * reading from the frequency. One long chain in eight makes a reading a quarter cheaper than one in two, at the same
 * error of that cost.
 *
 * A TSC that advances in steps of 10 ns tells a chain of 40 adds in three or four steps. The difference of two readings
 * rounded down is right on average only, and only where they lie anywhere between two steps: it then scatters by 0.41
 * steps (1/sqrt(6): f (1 - f) on average over the fraction f of a step left over). Coarse clocks therefore get chains
 * of 200 adds, of which one in four is one of 600, each after a wait that differs. Some 80 % of a microsecond are left
 * to the payload.
 */
struct timing_chains {
    unsigned adds[2]; /* of the short and of the long chain: 40 and 200, or 200 and 600 */
    unsigned turns;   /* one in so many is a long one */
    uint32_t dither;  /* the wait before a chain is three numbers of cycles below this */
};
/* Whether they are those for a coarse clock. */
static inline bool timing_chains_coarse(const struct timing_chains *c)
{
    return c->adds[0] > CHAIN_SHORT_ADDS;
}

/* Those for a TSC that advances in such steps (ticks) at this rate (Hz). */
struct timing_chains timing_choose_chains(double step, double tsc_hz);
/* What such steps do to the frequency by chains that take so many ticks; false: they are fine, nothing is written. */
bool timing_steps_text(double step, double tsc_hz, double ticks, char *text, size_t size);

/* pace_sample() with these chains for readings: at most `room`. */
size_t timing_sample(const struct timing_chains *chains, struct pace_lane *lane, struct pace_grid *grid, uint64_t end,
                     struct timing_raw *out, size_t room);

/* Where a recording goes, and what came of it. */
struct timing_log {
    struct timing_raw *raw;   /* room for plan_readings_needed() */
    struct timing_raw *probe; /* room for PLAN_PROBE_ROOM */
    const struct timing_chains *chains;
    struct plan_log at;
};
/* plan_record() with chains for readings. */
void timing_record(const struct plan *p, struct timing_log *log);

/* ---- timing_calibrate.c: what must be known of a payload before it is sampled ---- */

/* What a reading costs. */
struct timing_cost {
    double cycles;   /* core cycles that the two TSC reads around a chain add to its adds */
    double error;    /* standard error of that */
    double ticks[2]; /* of a short and of a long chain */
};
/*
 * Finds it from n readings of both chain lengths, by a TSC that advances in steps of `step` ticks. With S and L adds at
 * f cycles a tick the chains take T_s = (S + k) / f and T_l = (L + k) / f ticks, so that
 *     k = (L T_s - S T_l) / (T_l - T_s)
 * whatever f is. T_s and T_l are means over windows in which f hardly changes, without what an interruption has made
 * longer by more than four steps, and are pooled over all windows before the division: of values in steps only means
 * are right. The error is that of the windows' (L + k) T_s - (S + k) T_l, which is 0 on average at any f. Returns 0, or
 * -1 when fewer than three windows make sense, or the pooled means do not (T_l > T_s).
 *
 * On a Sapphire Rapids k was 63.8 to 64.0 cycles after each of 18 payloads, from pause to AMX, at 2.19 to 2.99 GHz; on
 * a Zen 4, 68.3 to 69.4 for chains of 0 to 4000 adds after scalar and 128-bit code. It does depend on what the other
 * hyper-thread of the core does, which a guest cannot see: 80 instead of 64.
 */
int timing_chain_cost(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step,
                      struct timing_cost *out);

/*
 * Follows the cost from repetition to repetition, as much as the new value is the better known of the two; a difference
 * beyond five standard errors means that the other hyper-thread has started or stopped.
 */
void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen);

/* What the readings are made with. */
struct timing_clock {
    double hz, step; /* of the TSC: Hz, ticks */
    struct timing_chains chains;
    uint64_t round; /* readings are rounded down to multiples of so many ticks; 0, 1: not */
};
/* Rounds readings down as `clock` says. */
void timing_round(const struct timing_clock *clock, struct timing_raw *r, size_t n);

/*
 * Fills *lane and *cost by running the payload: 2 ms to reach its steady state, then its rate, then chains in the
 * sampling loop itself. Runs for about 5 ms, with a coarse clock 20. Returns 0, or -1 when the readings make no sense
 * (the CPU was taken away all the time).
 */
int timing_calibrate(const struct payload *p, const struct timing_clock *clock, double period_us,
                     struct pace_lane *lane, struct timing_cost *cost);

/* ---- timing.c ---- */

/*
 * machine_open_timing() with another folder for /sys, and with readings of the TSC rounded down to steps of `step_ns`
 * as soon as they are taken: any machine then measures as one with such a clock does. 0: as they are.
 */
int timing_open_at(const char *sys, double step_ns, struct machine *out, struct machine_error *err);

#endif
