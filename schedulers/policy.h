/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions of schedulers (doc/simulation.md, "Schedulers"), as integer functions without a state of their own: the
 * simulator, programs that schedule, and their tests include this file, so that they cannot differ. Needs no header of
 * a library; compiles as BPF C: no floating point, divisions of unsigned numbers only, loops with fixed bounds. F:
 * Gottschlag et al., USENIX ATC 2021; G: Gottschlag's dissertation.
 */
#ifndef SCHEDULERS_POLICY_H
#define SCHEDULERS_POLICY_H

#include "output/export/policy_constants.h"

typedef unsigned int policy_u32;
typedef unsigned long long policy_u64;

enum {
    POLICY_LEVELS_MAX = 8,   /* as in exports */
    POLICY_TURBOS_MAX = 256, /* turbo levels: sets of frequencies that differ */
    POLICY_ONE_BITS = 20,    /* shares are in units of 2^-20 */
    POLICY_ONE = 1 << POLICY_ONE_BITS,
    POLICY_INVERSE_BITS = 22 /* times of cycles are in units of 2^-22 ns, as in exported headers */
};

/* ---- what a slice lost to levels that its task did not cause (F 5; G 7.4.2) ---- */

/* The frequencies of a processor: turbo levels, the fastest first. Time of a cycle at each license level, 2^-22 ns. */
struct policy_turbos {
    policy_u32 n, n_levels;
    policy_u32 inverse[POLICY_TURBOS_MAX][POLICY_LEVELS_MAX];
};

/* What was counted in a slice: below 2^39 cycles in all and 2^40 ns, not halted. */
struct policy_slice {
    policy_u64 cycles[POLICY_LEVELS_MAX]; /* at each license level */
    policy_u64 ns;
    policy_u32 stalled; /* of the cycles that waited for memory, 2^-20 */
};

/* The inverse of a frequency in kHz, which is not 0. */
static inline policy_u32 policy_inverse(policy_u32 khz)
{
    return (policy_u32)(((1000000ULL << POLICY_INVERSE_BITS) + khz / 2) / khz);
}

/* Time that the cycles would have taken at a turbo level, with those at levels above `own` at that one; 2^-22 ns. */
static inline policy_u64 policy_time(const struct policy_turbos *t, policy_u32 turbo, const struct policy_slice *s,
                                     policy_u32 own)
{
    policy_u64 sum = 0;
    for (policy_u32 k = 0; k < POLICY_LEVELS_MAX; k++)
        if (k < t->n_levels)
            sum += s->cycles[k] * t->inverse[turbo % POLICY_TURBOS_MAX][k < own ? k : own % POLICY_LEVELS_MAX];
    return sum;
}

/* The mean frequency of so many cycles in a time in 2^-22 ns, kHz; 0: there was none. */
static inline policy_u64 policy_khz(policy_u64 cycles, policy_u64 time)
{
    for (int i = 0; i < 18 && cycles >> 21 != 0; i++) {
        cycles >>= 1;
        time >>= 1;
    }
    return time != 0 ? (cycles << POLICY_INVERSE_BITS) * 1000000 / time : 0;
}

/* The place of time t between that at a faster and that at a slower turbo level, as a frequency, 2^-20: 0 is slow. */
static inline policy_u64 policy_between(policy_u64 fast, policy_u64 slow, policy_u64 t)
{
    for (int i = 0; i < 32 && slow >> 31 != 0; i++) {
        fast >>= 1;
        slow >>= 1;
        t >>= 1;
    }
    const policy_u64 part = t * (slow - fast) >> POLICY_ONE_BITS;
    return part != 0 ? fast * (slow - t) / part : 0;
}

/*
 * The frequency at which a slice would have run without cycles at levels above `own`, kHz: at the turbo level that
 * explains how long it took, interpolated between two; beyond the fastest and the slowest, at that one. G, 7.4.2, steps
 * 2 to 4, equations 7.4 to 7.7.
 */
static inline policy_u64 policy_ideal_khz(const struct policy_turbos *t, const struct policy_slice *s, policy_u32 own)
{
    const policy_u64 took = s->ns << POLICY_INVERSE_BITS;
    policy_u64 cycles = 0, fast = 0, slow = policy_time(t, 0, s, POLICY_LEVELS_MAX - 1);
    policy_u32 turbo = 0;
    for (policy_u32 k = 0; k < POLICY_LEVELS_MAX; k++)
        cycles += k < t->n_levels ? s->cycles[k] : 0;
    for (policy_u32 i = 1; i < POLICY_TURBOS_MAX && i < t->n && slow < took; i++) {
        turbo = i;
        fast = slow;
        slow = policy_time(t, i, s, POLICY_LEVELS_MAX - 1);
    }
    const policy_u64 ideal = policy_khz(cycles, policy_time(t, turbo, s, own));
    if (turbo == 0 || slow <= took || fast >= slow)
        return ideal;
    const policy_u64 faster = policy_khz(cycles, policy_time(t, turbo - 1, s, own));
    const policy_u64 part = policy_between(fast, slow, took);
    return (ideal * (POLICY_ONE - part) + faster * part) >> POLICY_ONE_BITS;
}

/* Of a CPU time of `ns`, below 2^40, what was lost: G, equation 7.3. */
static inline policy_u64 policy_lost_ns(policy_u64 ns, policy_u64 actual_khz, policy_u64 ideal_khz, policy_u32 stalled)
{
    if (actual_khz >= ideal_khz || stalled >= POLICY_ONE)
        return 0;
    const policy_u64 part = ((ideal_khz - actual_khz) << POLICY_ONE_BITS) / ideal_khz;
    return (ns * (part * (POLICY_ONE - stalled) >> POLICY_ONE_BITS)) >> POLICY_ONE_BITS;
}

/* The same of a slice, of whose CPU time (halts included) `ns` are accounted; 0 where no others' levels were in it. */
static inline policy_u64 policy_slice_lost_ns(const struct policy_turbos *t, const struct policy_slice *s,
                                              policy_u32 own, policy_u64 ns)
{
    policy_u64 cycles = 0, others = 0;
    for (policy_u32 k = 0; k < POLICY_LEVELS_MAX; k++) {
        cycles += k < t->n_levels ? s->cycles[k] : 0;
        others += k < t->n_levels && k > own ? s->cycles[k] : 0;
    }
    if (others == 0 || s->ns == 0 || t->n == 0)
        return 0;
    return policy_lost_ns(ns, policy_khz(cycles, s->ns << POLICY_INVERSE_BITS), policy_ideal_khz(t, s, own),
                          s->stalled);
}

/* ---- the level that a task asked for itself (G 7.4.1) ---- */

/*
 * By the instructions that a slice had of each width: those of 256 and of 512 bits are taken for heavy ones, as
 * registers do not tell; level: what a width can cause at most.
 */
static inline policy_u32 policy_own_level(const policy_u32 level[2], policy_u64 n_256, policy_u64 n_512)
{
    const policy_u32 by_256 = n_256 != 0 ? level[0] : 0, by_512 = n_512 != 0 ? level[1] : 0;
    return by_256 > by_512 ? by_256 : by_512;
}

/*
 * Where no instructions are counted: the highest level at or above which it spent half of its cycles. Half: assumed;
 * what another task has left behind is the smaller part of a slice. Beside a sibling that is wide it errs, and nothing
 * is compensated.
 */
static inline policy_u32 policy_level_held(const struct policy_slice *s, policy_u32 n_levels)
{
    policy_u64 cycles = 0, above = 0;
    policy_u32 held = 0;
    for (policy_u32 k = 0; k < POLICY_LEVELS_MAX; k++)
        cycles += k < n_levels ? s->cycles[k] : 0;
    for (policy_u32 k = POLICY_LEVELS_MAX - 1; k > 0; k--) {
        above += k < n_levels ? s->cycles[k] : 0;
        if (held == 0 && above != 0 && 2 * above >= cycles)
            held = k;
    }
    return held;
}

/* The license level whose last user on the core pays for what a task with this own level lost (G 7.4.3). */
static inline policy_u32 policy_payer_level(policy_u32 own)
{
    return own + 1;
}

/* ---- specialization (G 6.2): wide tasks on wide cores ---- */

/* Tasks that run or are ready, and cores, of each kind. */
struct policy_loads {
    policy_u64 wide_tasks, other_tasks, wide_cores, other_cores;
};

/* A core becomes wide if the higher load, tasks per core, falls by it (G, equations 6.1 and 6.2), or if a wide task
 * waits while another core has nothing to do; at least one of each kind remains. */
static inline int policy_widens(const struct policy_loads *l, int waits_while_idle)
{
    return l->other_cores > 1 &&
           (waits_while_idle || l->other_tasks * l->wide_cores < l->wide_tasks * (l->other_cores - 1));
}

/* A wide core becomes another one. */
static inline int policy_narrows(const struct policy_loads *l)
{
    return l->wide_cores > 1 && l->wide_tasks * l->other_cores < l->other_tasks * (l->wide_cores - 1);
}

/* Kinds may change again (G 6.2.2). */
static inline int policy_may_change(policy_u64 ns_since_change)
{
    return ns_since_change > POLICY_CLASS_CHANGE;
}

/* The moving average of short phases that were not wide, 0 to 2^32, after one that took so long (CPU time): G 6.2.4. */
static inline policy_u64 policy_shorts(policy_u64 shorts, policy_u64 phase_ns)
{
    const policy_u64 kept = shorts * (1000 - POLICY_SHORT_WEIGHT) / 1000;
    return kept + (phase_ns < POLICY_SHORT_PHASE ? (1ULL << 32) * POLICY_SHORT_WEIGHT / 1000 : 0);
}

/* A wide phase ends at a system call, unless most phases in between were short. */
static inline int policy_call_ends_phase(policy_u64 shorts)
{
    return shorts <= 1ULL << 31;
}

#endif
