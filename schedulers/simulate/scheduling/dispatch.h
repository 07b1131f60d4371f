/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by all schedulers: who runs where, who is ready, virtual runtimes, slices (doc/simulation.md, "Schedulers").
 * The rules of each are functions that the dispatcher is given. */
#pragma once

#include "schedulers/policy.h"
#include "schedulers/simulate/engine.h"
#include "schedulers/simulate/timers.h"

/* The rows that each task has to do, in order: the streams of a workload's `works`. */
struct programs {
    struct sim_workload *workload;
    struct programs_task {
        struct sim_row *rows;
        size_t next, n;
    } * task;
    uint64_t rows; /* that were read, those of no length included */
    bool failed;   /* out of memory: programs end early */
};

/* The tasks that could run, in the order of their virtual runtime; those with the same, of their number. */
struct ready {
    struct ready_task {
        int64_t vruntime;
        uint32_t task;
    } * task;
    size_t n;
};

/* ---- who runs where ---- */

#define DISPATCH_SLICE_PS (POLICY_SLICE * SIM_PS_PER_NS)
#define DISPATCH_GRANULARITY_PS (POLICY_GRANULARITY * SIM_PS_PER_NS)
#define DISPATCH_BONUS_PS (POLICY_BONUS * SIM_PS_PER_NS)

enum dispatch_state { DISPATCH_BLOCKED, DISPATCH_READY, DISPATCH_RUNNING, DISPATCH_DONE };

struct dispatch_task {
    int64_t vruntime, penalty; /* ps; penalty: to be added */
    int64_t left;              /* of its row: work */
    int64_t owed;              /* for switches, migrations and faults: work that comes before */
    int64_t cpu_ps;            /* CPU time */
    struct sim_row row;
    enum dispatch_state state;
    bool fresh;   /* its row has not begun */
    unsigned cpu; /* where it runs or ran last; UINT_MAX: nowhere yet */
    /* specialize */
    bool wide;                       /* it is taken to be wide */
    uint64_t shorts;                 /* policy_shorts() */
    int64_t wide_since, phase_since; /* CPU time when it was last taken to be wide, and not wide */
};

struct dispatch_cpu {
    uint32_t task;          /* SIM_IDLE: none */
    uint32_t pending;       /* was given to it while it idled, and begins at this instant */
    uint32_t last;          /* that it ran, or runs */
    bool again, forced;     /* it is to choose again; forced: its task must leave */
    bool choosing;          /* at this moment */
    unsigned own;           /* fair-subtract: the level of the widest registers since it was accounted */
    int64_t since, changed; /* until when its task is accounted; when that began */
};

struct dispatch;
struct dispatch_rules {
    /* The fitness of a CPU without a task: 0: it must not be taken, 1: it may be, 2: it should. NULL: 2. */
    unsigned (*fits)(const struct dispatch *d, unsigned cpu, uint32_t task);
    /* The ready task that a CPU takes; SIM_IDLE: none. NULL: the first. */
    uint32_t (*choose)(const struct dispatch *d, unsigned cpu);
    /* By how many ps of virtual runtime a task is ahead of the one that runs on a CPU; below 0: it may not take its
     * place. NULL: their difference. */
    int64_t (*lead)(const struct dispatch *d, unsigned cpu, uint32_t task);
    /* Before a CPU chooses. NULL: nothing. */
    void (*invoked)(struct dispatch *d, unsigned cpu);
    /* The task of a CPU begins a row, or goes on with one there. False: it must leave. NULL: nothing. */
    bool (*row)(struct dispatch *d, unsigned cpu);
    /* A CPU has taken a task. NULL: nothing. */
    void (*took)(struct dispatch *d, unsigned cpu);
    /* The time, in ps and above 0, for which a task keeps its CPU. NULL: DISPATCH_SLICE_PS. */
    int64_t (*slice)(const struct dispatch *d, uint32_t task);
    /* The part of a CPU time that is not to count. NULL: none. */
    int64_t (*lost)(struct dispatch *d, unsigned cpu, int64_t ps);
};

struct dispatch {
    const struct dispatch_rules *rules;
    struct engine *engine;
    const struct sim_workload *workload;
    struct programs programs;
    struct ready ready;
    struct timers timers; /* tasks, then CPUs */
    struct dispatch_task *task;
    struct dispatch_cpu *cpu;
    int64_t floor; /* lowest virtual runtime of what can run; never falls */
    unsigned n_idle;
    int64_t idle_since;
    uint64_t switches, migrations, core_changes;
    int64_t forced_idle_ps;
    double cycles; /* all, 10^-7 */
    /* fair-subtract, fair-attribute */
    struct policy_turbos *turbos;
    policy_u32 own_level[2]; /* of registers of 256 and of 512 bits */
    uint32_t *last_user;     /* by core and level; NULL: nobody is to pay */
    /* specialize */
    bool always; /* system calls end wide phases however short the others are */
    bool *wide;  /* by core */
    unsigned n_wide;
    int64_t wide_changed;
};

/* A CPU's task runs on it, or a task will from this instant. */
bool dispatch_busy(const struct dispatch *d, unsigned cpu);
/* No CPU of the core has one. */
bool dispatch_core_idle(const struct dispatch *d, unsigned core);
/* The time that a task has been charged for, and in full the time that it has run since. */
int64_t dispatch_vruntime(const struct dispatch *d, uint32_t task);
int64_t dispatch_cpu_time(const struct dispatch *d, uint32_t task);

/* What a scheduler does to a task costs that before it goes on. */
void dispatch_pay(struct dispatch *d, uint32_t task, enum sim_scheduling_cost what);

/* At this instant the CPU chooses again; forced: its task must leave, and is looked at as gone already. */
void dispatch_again(struct dispatch *d, unsigned cpu, bool forced);
/* A task that a CPU was given and has not begun is ready again. */
void dispatch_withdraw(struct dispatch *d, unsigned cpu);

/* ---- rules.c: those of each scheduler (doc/simulation.md, "Schedulers") ---- */

/* Gives the rules of a scheduler, any but SIM_RECORDED, to a dispatcher that was made. False: out of memory. */
bool rules_init(struct dispatch *d, struct sim_params *p, enum sim_scheduler scheduler);

/* ---- dispatch.c: feeds the engine with what a scheduler decides ---- */

/* A dispatcher without rules (rules_init). False: out of memory. scheduling_free in any case. */
bool scheduling_init(struct dispatch *d, struct sim_workload *w);
/* Once the engine is made, before it runs. False: out of memory. */
bool scheduling_begin(struct dispatch *d, struct engine *e);
void scheduling_free(struct dispatch *d);

/* For struct engine_feed. */
bool scheduling_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out);
void scheduling_wake(void *self, struct engine *e);
