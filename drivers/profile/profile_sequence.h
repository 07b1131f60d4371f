/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of one sample and the order of samples (doc/profiler.md, "The scheme"), the same in the kernel module and
 * in a modelled system. Whoever executes them calls profile_step() on the CPU that is sampled, with its interrupts
 * masked, when its turn has come, and does what it answers. Turns do not overlap: a sample is over before the next
 * begins.
 */
#pragma once

#include "drivers/profile/profile_arithmetic.h"

enum profile_deed {
    PROFILE_SPIN,   /* keep interrupts masked for `us`, execute nothing wide, and call again */
    PROFILE_RESUME, /* return to the task, and call again in `us` */
    PROFILE_DONE,   /* the turn is over; profile_next_turn() says when the next one comes */
};
struct profile_action {
    enum profile_deed deed;
    __u32 us;
};

/* The callbacks that execute the steps. All are called on the sampled CPU. */
struct profile_executor {
    void *with;
    __u64 (*now_ns)(void *with); /* CLOCK_MONOTONIC */
    /* The tasks that run here and on the sibling. */
    void (*look)(void *with, struct profile_sight *out);
    /* All counters, before and after PROFILE_NOPS no-ops. */
    void (*count)(void *with, struct profile_counts *before, struct profile_counts *after);
    /* Holds the sibling, if there is one, until release(). False: it did not come in time; it is not held then. */
    bool (*hold)(void *with);
    void (*release)(void *with);
    /* The stack of the task that is interrupted now: sets n_stack, n_kernel and stack. */
    void (*walk)(void *with, struct profile_record *r);
    /* The turn's record; it is valid until this returns. */
    void (*store)(void *with, const struct profile_record *r);
};

enum profile_stage { PROFILE_BETWEEN, PROFILE_PAUSED, PROFILE_ALONE, PROFILE_TOGETHER };

/* A logical CPU. */
struct profile_cpu {
    enum profile_stage stage;
    __u64 turn;                   /* number of its next turn, or of the one that has begun */
    __u64 turn_ns;                /* when that is to begin, since the start of the profile */
    __u64 step_ns, hold_ns;       /* when the last step ended, when the sibling was held */
    struct profile_counts paused; /* at the end of the pause */
    struct profile_record record;
};

/*
 * The first turn of a CPU, the place-th (0..) of n that have their turns in a row. Each CPU counts its own turns: no
 * CPU has to wake another. profile_next_turn: the one after the last, n intervals later; where that is past already
 * (the CPU was offline), the first that is not before now_ns, both since the start. A call looks at PROFILE_LAPS_MAX
 * turns: where c->turn_ns is past still, the caller calls again when it has done something else.
 */
enum { PROFILE_LAPS_MAX = 64 };
void profile_first_turn(struct profile_cpu *c, const struct profile_setup *s, __u32 place, __u32 n);
void profile_next_turn(struct profile_cpu *c, const struct profile_setup *s, __u32 n, __u64 now_ns);

/* The next step of this CPU's turn; the first in stage PROFILE_BETWEEN. c->record.cpu is the caller's to set. */
struct profile_action profile_step(struct profile_cpu *c, const struct profile_setup *s,
                                   const struct profile_executor *e);
/* Instead of the first step, where the turn comes too late to be taken: it is stored as such. */
void profile_miss(struct profile_cpu *c, const struct profile_executor *e);
/* Calls a turn off, whatever its stage: the sibling is released, nothing is stored. */
void profile_call_off(struct profile_cpu *c, const struct profile_executor *e);
