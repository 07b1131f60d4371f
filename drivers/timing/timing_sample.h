/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sampling loop of the timing machine, and the chains that its readings are made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/native/pace.h"
#include "drivers/native/plan.h"
#include "drivers/timing/chain_wait.h"

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
 *
 * Longer periods have room for longer chains, with which a cost that is off by a cycle puts the frequency off by less:
 * 1 % with 40 adds, 0.4 % with 200, 0.04 % with 2400. On an Emerald Rapids guest whose neighbours made the cost wander
 * between 64 and 80 cycles, steady frequencies by 40 adds were up to 3 % above those of a chain of 400 000 adds; by
 * 2400 they agree to 0.1 %.
 */
struct timing_chains {
    unsigned adds[2]; /* of the short and of the long chain: 40 and 200, 200 and 600, or 2400 and 7200 */
    unsigned turns;   /* one in so many is a long one */
    uint32_t dither;  /* the wait before a chain is three numbers of cycles below this */
};
/* Whether they are long enough for a coarse clock. */
static inline bool timing_chains_coarse(const struct timing_chains *c)
{
    return c->adds[0] > CHAIN_SHORT_ADDS;
}

/* Whether they are those of long periods, for frequencies that are steady. */
static inline bool timing_chains_steady(const struct timing_chains *c)
{
    return c->adds[0] == CHAIN_STEADY_SHORT_ADDS;
}

/* pace_sample() with these chains for readings: at most `room`. */
size_t timing_sample(const struct timing_chains *chains, struct pace_lane *lane, struct pace_grid *grid, uint64_t end,
                     struct timing_raw *out, size_t room);

/*
 * Chains taken between the probes before a recording (timing_witness.h), a pair after so many of them: one of
 * CHAIN_LONG_ADDS, and one of 7200 cycles, of adds and of multiplications in turn. Their readings have the kind for
 * blocks.
 */
enum witness { WITNESS_SHORT, WITNESS_ADDS, WITNESS_MULTIPLICATIONS, WITNESS_KINDS };
enum { WITNESS_EVERY = 32, WITNESS_ROOM = 2 * (PLAN_PROBES / WITNESS_EVERY) };

/* Where a recording goes, and what came of it. */
struct timing_log {
    struct timing_raw *raw;     /* room for plan_readings_needed() */
    struct timing_raw *probe;   /* room for PLAN_PROBE_ROOM */
    struct timing_raw *witness; /* room for WITNESS_ROOM */
    size_t n_witness;
    const struct timing_chains *chains; /* of each stage of a period that grows (PLAN_STAGES); else but one */
    struct plan_log at;
};
/* timing_sample() into the probes, with witnesses; *blocks: of the payload. */
size_t timing_sample_probes(struct timing_log *log, size_t room, struct pace_lane *lane, struct pace_grid *grid,
                            uint64_t end, uint64_t *blocks);
/* plan_record() with chains for readings, and witnesses between the probes. */
void timing_record(const struct plan *p, struct timing_log *log);
