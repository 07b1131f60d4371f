/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials on real hardware (machine_ops.trials), whatever reads the clock. They run as any program does, without
 * real-time priority, which would hide the effects to be seen. */
#pragma once

#include <stdio.h>

#include "drivers/native/native.h"

/* Who counts what trials take. */
struct trials_clock {
    uint64_t (*cycles)(void *context); /* COUNTER_MISSING: it cannot be read just now; NULL: nobody, time stamps then */
    /* since some time; false: they cannot be read just now. NULL: nobody, and `uncounted` says why (NULL: no idea) */
    bool (*branches)(void *context, struct trial_branches *out);
    const char *uncounted;
    void *context;
};

enum { TRIALS_SPOIL_ROUNDS = 4 }; /* of WORKLOAD_SPOIL before each trial */

/* machine_ops.trials for the CPU prepared for. `clock` NULL: nobody counts. */
int trials_run(struct native *s, const struct trials_request *r, const struct trials_clock *clock, double *duration,
               struct trials_seen *seen, struct machine_error *err);

/* MACHINE_OK, or MACHINE_BAD_INPUT or MACHINE_CANNOT: what user space cannot do (masked, IBPB), or nobody. */
int trials_check(const struct native *s, const struct trials_request *r, struct machine_error *err);

/*
 * The number of the first round of trial i: 0 where a trial reads all of its buffer, so that each trial does the same;
 * else each goes on where the one before it ended, or a buffer larger than a cache would be found there from the second
 * trial on.
 */
static inline uint64_t trials_first_round(uint64_t rounds, uint64_t bytes, unsigned i)
{
    return rounds * WORKLOAD_LOADS >= bytes / 64 ? 0 : rounds * i;
}

/*
 * The most rounds, at most 2^40, for which `ticks`, the duration of so many rounds, does not exceed `wanted`; at least
 * 1. `ticks` need not be proportional to rounds, but must not fall.
 */
uint64_t trials_find_rounds(double (*ticks)(void *context, uint64_t rounds), void *context, double wanted);

/* ---- interruptions of a thread, as the kernel counts them: read before and after ---- */

/* Counts since boot, or since the thread began, of the calling thread and of `cpu`; smis: NaN. `proc`: "/proc", or a
 * folder laid out like it; NULL: neither is read. */
void trials_between_read(const char *proc, int cpu, struct trials_between *out);
/* *now becomes what was added since `before`; NaN where that is negative, as after a CPU was offline. */
void trials_between_since(const struct trials_between *before, struct trials_between *now);

/* The sum of a CPU's column of /proc/interrupts; NaN where it has none. */
double trials_between_interrupts(FILE *in, int cpu);
