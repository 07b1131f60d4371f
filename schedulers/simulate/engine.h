/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated processor at work, as doc/simulation.md defines it: whoever feeds it says what each CPU does next, the
 * policy says how long a level is held. Private to the files of this directory.
 *
 * A CPU's progress is brought up to date only when something changes for it, so that an event costs a few dozen
 * nanoseconds: everything since `since` went at `speed`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedulers/simulate/params.h"
#include "schedulers/simulate/simulate.h"
#include "schedulers/simulate/timers.h"
#include "schedulers/simulate/workload.h"

/* The next segment of a CPU: work in 10^-7 cycles, or idle time in ps. */
struct engine_segment {
    int64_t amount;
    uint32_t task; /* SIM_IDLE: none */
    uint16_t ipc, stall;
    uint8_t class;
    bool scheduling; /* work of the scheduler's own, on the task's behalf */
};

struct engine_cpu {
    int64_t since; /* up to when it is accounted for */
    int64_t due;   /* when its row ends, or its trigger is reached; SIM_FOREVER */
    int64_t left;  /* work */
    int64_t
        trigger_left;  /* it demands its level when no more than this is left; below 0: that has happened, or never */
    double ideal_rate; /* speed over that at level 0 */
    double smt_rate;   /* share of the time that is lost to the sibling */
    uint32_t speed;
    uint32_t task; /* SIM_IDLE: idle */
    uint16_t ipc, stall;
    uint8_t class, level; /* level: what the class demands */
    uint8_t demand;       /* now */
    bool halted, throttled, remote, scheduling, playing, interrupted;
    bool stale; /* its speed has to be set */
    unsigned core;
};

struct engine_core {
    unsigned first, n_cpus; /* in engine.member */
    unsigned n_working;
    unsigned level, target; /* target: where a change leads; else the level */
    unsigned demand;
    unsigned phase;                  /* of the change, from 1; 0: steady */
    const struct sim_change *change; /* down; NULL: up */
    int64_t phase_end, timer;
    int64_t hold[SIM_LEVELS_MAX];
    uint64_t falls, n_down, n_up;
    int64_t piece_since;               /* for the observer */
    unsigned permille;                 /* 1000; throttled; 0: halted */
    bool demand_stale, stale, touched; /* stale: the speeds of its CPUs have to be set */
    int64_t up_ps;
    uint32_t last_task; /* that demanded what the core did, and left it last */
    int64_t left_at;    /* then */
    /* policy learned: the gap that has begun */
    int64_t fell_at, busy_ps, busy_since;
    uint32_t fell_task;
    unsigned fell_from, fell_to;
    /* policy software */
    int64_t look_at, first_look, looked_at, cycles, instructions;
    bool running_512, is_heavy;
};

/* The counts of a CPU since they were last cleared, while it had work. */
struct engine_counts {
    double cycles[SIM_LEVELS_MAX]; /* at each level, 10^-7 cycles; throttled ones included, halted ones are none */
    double stalled;                /* those of them that waited for memory */
    int64_t unhalted_ps;
};

struct engine;
struct learned_task;

/* The source of the CPUs' segments. */
struct engine_feed {
    /* The next segment of a CPU. False: none; it idles until engine_interrupt. */
    bool (*next)(void *self, struct engine *e, unsigned cpu, struct engine_segment *out);
    /* Called at `wake_at`, after rows have ended; may interrupt CPUs. NULL: never. */
    void (*wake)(void *self, struct engine *e);
    /* The i-th row to come of a CPU; NULL: there is none, or (the function is NULL) nobody knows. */
    const struct sim_row *(*peek)(void *self, unsigned cpu, size_t i);
    void *self;
};

/* The decisions of a frequency policy. */
struct engine_policy {
    /* The demand of a core has fallen from a to b, of which `task` was the last that demanded a: sets `hold`. */
    void (*fell)(struct engine *e, unsigned core, unsigned a, unsigned b, uint32_t task);
    /* It has risen. NULL: nobody wants to know. */
    void (*rose)(struct engine *e, unsigned core, unsigned to);
    /* Sets the demands of a core's CPUs before they are counted. NULL: those of their classes. */
    void (*update)(struct engine *e, unsigned core);
    /* Sets a task's memory at first. NULL: tasks remember nothing. */
    void (*begin)(struct learned_task *t);
};

struct engine {
    struct sim_params *params;
    const struct sim_workload *workload;
    const struct sim_options *options;
    struct engine_feed feed;
    struct engine_policy policy;
    struct sim_times *tasks;
    struct learned_task *learned; /* by task */
    struct engine_counts *counts; /* by CPU; NULL: nobody has requested them */

    int64_t now, wake_at;
    unsigned n_active; /* that decides the frequency, counted or given */
    unsigned n_working_cores;
    bool count_active;
    unsigned n_levels, n_max;
    uint32_t *speed;    /* by level and n */
    double *rate;       /* speed over that at level 0 */
    uint32_t **stalled; /* likewise, by thousandths of stall; NULL until one is needed */
    uint8_t class_level[SIM_CLASSES];
    double trigger[SIM_CLASSES];

    unsigned n_cpus, n_cores;
    struct engine_cpu *cpu;
    struct engine_core *core;
    unsigned *member; /* CPUs by core */

    struct timers due; /* by core: when something happens next */
    unsigned *touched, n_touched, n_interrupted;
    unsigned n_playing; /* CPUs that have rows */

    int64_t *breakeven; /* by the two levels and n; -1: not looked up yet */
    struct sim_wait wait[SIM_LEVELS_MAX][SIM_LEVELS_MAX];
    bool wait_known[SIM_LEVELS_MAX][SIM_LEVELS_MAX];

    uint64_t rows;
    bool failed; /* out of memory */
};

/* MACHINE_OK or MACHINE_FAILED; engine_free in any case. The workload and the options stay the caller's. */
int engine_init(struct engine *e, struct sim_params *p, const struct sim_workload *w, const struct sim_options *o,
                const struct engine_policy *policy, const struct engine_feed *feed);
/* Plays until no CPU has anything left to do. */
int engine_run(struct engine *e, struct machine_error *err);
void engine_free(struct engine *e);

/* Speed of code with a stall share at a level with the present number of active cores. */
uint32_t engine_speed(struct engine *e, unsigned level, unsigned stall);

/* Accounts for all that a core has done until now. Before anything changes that it depends on. */
void engine_core_flush(struct engine *e, unsigned core);

/* Returns how much of a row's work is left when it demands its level: all of it if at once; -1: it ends before that.
 * ipc in thousandths, 0 where it is not given. */
int64_t engine_trigger(const struct engine *e, unsigned class, unsigned ipc, int64_t amount);

/* For feeds: at this instant the CPU requests its next segment; what is left of the present one, in its unit. */
void engine_interrupt(struct engine *e, unsigned cpu);
int64_t engine_left(struct engine *e, unsigned cpu);
/* Counts e->counts from now on, up to when the CPU is accounted for (engine_left). False: out of memory. */
bool engine_count(struct engine *e);

int64_t engine_later(int64_t now, int64_t wait); /* their sum, at most SIM_FOREVER */

/* policy.c: what the options' policy does; of policy learned, what a task remembers */
struct engine_policy policy_of(enum sim_policy policy);
enum { LEARNED_BYTES = 64, LEARNED_TIMEOUTS = 7, LEARNED_CONTEXTS = 4 };
struct learned_task {
    uint16_t loss[LEARNED_CONTEXTS][LEARNED_TIMEOUTS];
    uint8_t gaps[LEARNED_CONTEXTS]; /* that were seen in it */
    uint8_t context;                /* of the gap to come */
};
_Static_assert(sizeof(struct learned_task) <= LEARNED_BYTES, "a scheduler keeps this for each task");
