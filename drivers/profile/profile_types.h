/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Input and output of the remote-overhead profiler, the same for the kernel module, for a modelled system and for
 * programs: numbers of fixed width, no holes. doc/profiler.md is the definition. */
#pragma once

#include <linux/types.h>

enum {
    PROFILE_LEVELS = 3, /* the license counters know levels 0, 1 and 2 */
    PROFILE_BINS_MAX = 64,
    PROFILE_NOPS = 1000,
    PROFILE_STACK_MAX = 64,
    /* microseconds */
    PROFILE_MEAN_US_MIN = 4000, /* a sample is over before the next CPU's turn comes */
    PROFILE_MEAN_US_MAX = 10000000,
    PROFILE_PAUSE_US_MIN = 50,
    PROFILE_PAUSE_US_MAX = 1500, /* interrupts are masked for so long */
    PROFILE_WINDOW_US_MIN = 20,
    PROFILE_WINDOW_US_MAX = 200,
    PROFILE_DUTY_PERCENT_MAX = 5,
};
#define PROFILE_NO_CPU 0xffffffffu
#define PROFILE_NO_BIN 0xffffffffu
#define PROFILE_NO_LEVEL 0xffu
#define PROFILE_ONE 0x10000u /* fractions have 16 fractional bits, as the dissertation's (section 4.5) */

/* The counters of each CPU, in this order. */
enum profile_counter {
    PROFILE_CYCLES,
    PROFILE_REF,          /* reference cycles */
    PROFILE_LEVEL1,       /* cycles at license level 1, */
    PROFILE_LEVEL2,       /* and 2; those at level 0 are the rest: there are but four programmable counters */
    PROFILE_STALL_LOADS,  /* stalled while a demand load misses the L2 cache */
    PROFILE_STALL_STORES, /* bound on stores */
    PROFILE_COUNTERS
};
struct profile_counts {
    __u64 count[PROFILE_COUNTERS];
    __u32 missing; /* bit per counter that was not on the hardware */
    __u32 reserved;
};

/* Turbo frequencies with up to so many active cores; bins ascend by cores. */
struct profile_bin {
    __u32 cores;
    __u32 khz[PROFILE_LEVELS]; /* 0: the level has no frequency of its own, that of the level below holds */
};

enum {
    PROFILE_SOURCES = 1u << 0,   /* the last step too: what splits delay from hyper-threading */
    PROFILE_STACKS = 1u << 1,    /* of code that demands a level */
    PROFILE_REHEARSAL = 1u << 2, /* timers and pauses, but no counters: levels and frequencies are unknown */
    PROFILE_FLAGS = 7,
};
struct profile_setup {
    __u64 seed;
    __u32 flags;
    __u32 mean_us;   /* between two samples, whichever CPUs; each interval is 0.5 to 1.5 of it */
    __u32 pause_us;  /* longer than the processor keeps a level after the last wide instruction */
    __u32 window_us; /* after the pause until the level is read again */
    __u32 ref_khz;   /* at which reference cycles count */
    __u32 n_bins;    /* 0: no table; the frequency after the pause is then taken for the ideal one */
    struct profile_bin bin[PROFILE_BINS_MAX];
};

struct profile_task {
    __u32 pid, tgid; /* of the initial namespace; pid 0: idle, or there is no such CPU */
    __u64 start_ns;  /* when it was started, since boot: tells a number that was used again */
    __u64 cgroup;    /* of the unified hierarchy; 0: unknown */
    char comm[16];
};

/* The tasks on the sampled CPU and on its sibling. */
struct profile_sight {
    struct profile_task task, other;
    struct profile_task before, other_before; /* who ran there before the last switch; pid 0 also when unknown */
    __u64 switches, other_switches;           /* until now, on either CPU */
    __u32 since_us, other_since_us;           /* since the last switch there */
    __u32 other_cpu;                          /* PROFILE_NO_CPU: the core has no sibling online */
    __u32 active_cores;                       /* those that run a task now; 0: unknown */
};

/* The outcome of a turn. */
enum profile_outcome {
    PROFILE_TAKEN,
    PROFILE_IDLE,      /* nothing ran on the CPU */
    PROFILE_SWITCHED,  /* a context switch on either hyper-thread */
    PROFILE_UNCOUNTED, /* a counter was not on the hardware */
    PROFILE_NOT_HELD,  /* the sibling did not come */
    PROFILE_LATE,      /* the timer came after twice the window, or the pause took twice its time */
    PROFILE_UNSETTLED, /* the level was changing before the pause, or still reduced after it */
    PROFILE_OFF_TABLE, /* faster than the table has it: it is of another processor */
    PROFILE_OUTCOMES
};
enum {
    PROFILE_NOT_LIMITED = 1u << 0,    /* the clock was below what the level permits: power, heat or a governor */
    PROFILE_MEASURED_IDEAL = 1u << 1, /* no table: ideal_khz is what was measured after the pause */
    PROFILE_SHARED = 1u << 2,         /* the last step was taken: level_shared and what follows from it are valid */
};

/* A turn. Frequencies in kHz, 0: unknown; fractions in units of 1 / PROFILE_ONE. */
struct profile_record {
    __u64 number;  /* of the turn */
    __u64 time_ns; /* when it began, CLOCK_MONOTONIC */
    __u32 cpu;
    __u32 outcome; /* enum profile_outcome */
    __u32 flags;
    __u32 n_stack;                   /* entries of stack, innermost first */
    __u32 n_kernel;                  /* of them, the first so many are the kernel's */
    __u32 bin;                       /* of the table */
    __u8 level_actual, level_paused; /* before the pause, at its end */
    __u8 level_ideal, level_shared;  /* after it, of this thread alone; of both */
    __u32 actual_khz, ideal_khz, shared_khz;
    __u32 stall;                        /* share of the window's cycles, as it would be at actual_khz */
    __u32 speedup, speedup_shared;      /* eq. 4.3, from actual_khz to ideal_khz, to shared_khz */
    __u32 pause_ns, window_ns, held_ns; /* how long it took; how long the sibling was held in all */
    struct profile_sight sight;
    struct profile_counts window; /* counts of the window */
    __u64 stack[PROFILE_STACK_MAX];
};
