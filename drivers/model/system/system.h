/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A modelled system for the profiler: physical cores with one or two hyper-threads each, tasks that share them, and
 * what they execute. Each core's license behaves as drivers/model/model_core.c has it for the model file;
 * doc/profiler.md, "The modelled system", states what is added and where its figures are from. Times are microseconds
 * since the start; a unit of work is what takes 1 us alone on a core at the reference frequency: level 0 with all cores
 * active.
 */
#pragma once

#include "drivers/model/model_core.h"
#include "drivers/profile/profile_sequence.h"

enum {
    SYSTEM_CORES_MAX = 16,
    SYSTEM_THREADS_MAX = 2, /* of a core */
    SYSTEM_CPUS_MAX = 32,
    SYSTEM_TASKS_MAX = 64,
    SYSTEM_CODES_MAX = 3, /* of a task */
    SYSTEM_LOOPS = 3,     /* of a code */
    SYSTEM_NOBODY = -1
};

/* ---- what runs ---- */

/* A loop: a unit of its work takes so long to compute at the reference frequency, and so long for memory at any. In a
 * share of the work the two overlap as much as they can, in the rest not at all. */
struct system_loop {
    double compute, memory, overlap;
};
/* Code of one kind: loops in turn, each shorter than what anybody measures. */
struct system_code {
    struct payload payload;
    unsigned class_; /* the highest it needs */
    struct system_loop loop[SYSTEM_LOOPS];
    double compute; /* their mean */
    double loads;   /* share of the stalls that wait for loads; the rest waits for stores */
};

enum system_kind { SYSTEM_NARROW, SYSTEM_STEADY, SYSTEM_BURSTY, SYSTEM_MIXED, SYSTEM_KINDS };
extern const char *const system_kind_names[SYSTEM_KINDS]; /* the names of such tasks */

struct system_task {
    enum system_kind kind;
    uint32_t pid;
    uint64_t cgroup;
    /* codes in turn: [0] for narrow_work, then another for wide_work (means); with one code that alone */
    unsigned n_codes;
    struct system_code code[SYSTEM_CODES_MAX];
    double narrow_work, wide_work;
    /* runs for so much CPU time, then sleeps; means; run_us INFINITY: it never sleeps */
    double run_us, sleep_us, migrates; /* how often it wakes up on another CPU, a share */

    unsigned phase;
    double left; /* work until the next phase */
    struct model_random random;
    double work, cpu_us;        /* so far */
    double goal, goal_us;       /* work, and the CPU time that it took; NaN: not reached */
    struct model_core *license; /* its own; NULL where the core's holds */
};

/* ---- who runs where ---- */

struct system_queue {
    int current;
    double until; /* current's slice, or its run, ends */
    unsigned n;
    int waiting[SYSTEM_TASKS_MAX];
};
struct system_schedule {
    struct model_random random;
    unsigned n_cpus, n_tasks;
    double slice_us;
    struct system_queue queue[SYSTEM_CPUS_MAX];
    double wakes[SYSTEM_TASKS_MAX], run_left[SYSTEM_TASKS_MAX]; /* INFINITY: does not sleep */
};
/* A CPU runs another task, or none, from then on. */
struct system_switch {
    double at;
    unsigned cpu;
    int task;
};

/* ---- the system ---- */

enum system_mode { SYSTEM_RUNS, SYSTEM_KERNEL, SYSTEM_HELD };
/* A logical CPU. */
struct system_thread {
    enum system_mode mode;
    int task, assigned; /* who runs; who shall run as soon as interrupts are not masked */
    int before;
    double since_us; /* of the last switch */
    uint64_t switches;
    double kernel_left; /* work of the kernel's own that is still to be done */
    double count[PROFILE_COUNTERS];
};
struct system_core {
    double now;
    struct model_core license;
    struct system_thread thread[SYSTEM_THREADS_MAX];
};

/* A variant that a system is compared with; the tasks and who runs when are the same. */
enum {
    SYSTEM_OWN_LEVELS = 1u << 0, /* nobody's level depends on anybody else's code */
};
struct system {
    struct model model;
    unsigned flags;
    double reference_ghz;
    struct system_code kernel, spin; /* executed by the kernel itself, and while it waits */
    unsigned n_cores, n_threads, n_cpus, n_tasks;
    unsigned elsewhere; /* cores of the same processor that are always active, with other code */
    unsigned active;    /* with these */
    struct system_core core[SYSTEM_CORES_MAX];
    struct system_task task[SYSTEM_TASKS_MAX];
    struct system_schedule schedule;
    struct system_switch next; /* the schedule's next event, not yet done */
    bool (*stopped)(void);     /* true if it is to end now, wherever it is; NULL: never */
};
static inline bool system_stopped(const struct system *s)
{
    return s->stopped && s->stopped();
}

/* ---- system_draw.c ---- */

/*
 * Draws cores, tasks and what they execute from a seed. `flags`: SYSTEM_*; the draws do not depend on them. MACHINE_OK,
 * or MACHINE_CANNOT: see system_lacks. To be freed with system_free, also where it fails.
 */
int system_new(const struct model *m, uint64_t seed, unsigned flags, struct system **out, struct machine_error *err);
void system_free(struct system *s);

/* The code of a kernel; its loops have yet to be set. MACHINE_OK, or what model_need says. */
int system_code_set(const struct model *m, const char *kernel, struct system_code *out, struct machine_error *err);
/* A loop with this stall share (0 <= stall < 1) at the reference frequency, alone on its core. */
void system_loop_set(struct system_code *c, unsigned number, double stall, double overlap);
struct system_pace {
    double work;  /* per us */
    double stall; /* share of the time in which nothing executes */
};
/* `speed`: of computing, relative to the reference frequency alone on a core; 0: nothing happens. */
struct system_pace system_code_pace(const struct system_code *c, double speed);
/* The next phase of a task begins. */
void system_task_next_phase(struct system_task *t);

void system_schedule_begin(struct system_schedule *d, const struct system_task *tasks, unsigned n_tasks,
                           unsigned n_cpus, uint64_t seed);
/* The next change. */
struct system_switch system_schedule_next(struct system_schedule *d, const struct system_task *tasks);

/* ---- system_core.c ---- */

/* Advances a core to the time; if `kernel_of` is not NULL only until that thread's kernel work is done. */
void system_core_advance(struct system *s, struct system_core *k, double until, const struct system_thread *kernel_of);
/* Call it after a change of the code that the core's threads execute. */
void system_core_demand(struct system *s, struct system_core *k);
/* The thread leaves user mode or returns to it; a switch that was due meanwhile is done. */
void system_core_mode(struct system *s, unsigned cpu, enum system_mode mode);

/* Advances the system: all switches until then are done, and this CPU's core is there; others where they must be.
 * Where it is stopped on the way it is nowhere: nothing can go on from there. */
void system_advance(struct system *s, double until, unsigned cpu);
/* ... and all cores. */
void system_finish(struct system *s, double until);
static inline struct system_core *system_core_of(struct system *s, unsigned cpu)
{
    return &s->core[cpu % s->n_cores];
}
static inline struct system_thread *system_thread_of(struct system *s, unsigned cpu)
{
    return &s->core[cpu % s->n_cores].thread[cpu / s->n_cores];
}

/* ---- system_profile.c: the profiler's turns, in modelled time: what the kernel module does on a real system ---- */

struct system_sampling {
    struct system *system;
    struct profile_setup setup;
    struct profile_cpu cpu[SYSTEM_CPUS_MAX];
    struct profile_executor executor;
    struct model_random random; /* of latencies */
    unsigned sampled;           /* the CPU whose turn it is */
    struct profile_record record;
    uint64_t turns;
    double now_us; /* so far it has come: the end of the last turn, or the time until which there is no other */
    double pause_us_max;
};

/* The setup must be valid. */
void system_sampling_begin(struct system_sampling *x, struct system *s, const struct profile_setup *setup);
/* The next turn, whose record is x->record; false: it does not begin before `until`, or the system was stopped. */
bool system_sampling_turn(struct system_sampling *x, double until);
