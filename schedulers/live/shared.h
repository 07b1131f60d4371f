/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler (sched.bpf.c) and the program that loads it have in common. Compiles as BPF C. */
#ifndef LIVE_SHARED_H
#define LIVE_SHARED_H

#include "schedulers/policy.h"

/* Logical CPUs, by their numbers; larger machines are refused. NUMA nodes: CPUs of more share the last one's queues. */
enum { LIVE_CPUS_MAX = 1024, LIVE_NODES_MAX = 32 };

/* Classes of tasks. */
enum { LIVE_OTHER, LIVE_WIDE, LIVE_CLASSES, LIVE_NOTHING = LIVE_CLASSES };

/* What is said of a task: until the next system call or timeout; until taken back. */
enum { LIVE_MARK_NONE, LIVE_MARK_PHASE, LIVE_MARK_HELD };
/* prctl() with this is how a task says it (include/characterize/mark.h). "AVXW", no option of Linux's own. */
enum { LIVE_PRCTL = 0x41565857 };

/* What becomes of tasks that are called "victim", in tests: nothing; they are forgotten; their queue does not exist. */
enum { LIVE_FAULT_NONE, LIVE_FAULT_STALL, LIVE_FAULT_ERROR };

/* What others' levels do to what a task is charged (G 7.4.3; Gottschlag et al., USENIX ATC 2021, section 8): nothing;
 * what it lost is not charged; the last user of that level pays for it. */
enum { LIVE_FAIR, LIVE_SUBTRACT, LIVE_ATTRIBUTE };
/* Cgroups that are accounted in another way. */
enum { LIVE_GROUPS_MAX = 16 };

/* What is counted on each CPU: cycles in all, reference cycles, floating-point instructions of 256 and of 512 bits,
 * cycles stalled on loads and on stores, cycles throttled; LIVE_LEVEL and k: cycles at license level k, from 1 on. */
enum {
    LIVE_CYCLES,
    LIVE_REF,
    LIVE_256,
    LIVE_512,
    LIVE_STALL_LOADS,
    LIVE_STALL_STORES,
    LIVE_THROTTLED,
    LIVE_LEVEL,
    LIVE_EVENTS = LIVE_LEVEL + POLICY_LEVELS_MAX
};

/* For tests where nothing counts: prctl() with this, three MHz, the cycles a microsecond at each level that are counted
 * while the task runs, and flags: LIVE_INJECT_..., and from bit 8 on the thousandths of them that stall. "AVXI". */
enum { LIVE_PRCTL_INJECT = 0x41565849, LIVE_INJECTED_LEVELS = 3, LIVE_INJECT_256 = 1, LIVE_INJECT_512 = 2 };
struct live_injected {
    policy_u64 mhz[LIVE_INJECTED_LEVELS];
    policy_u64 flags;
};

/* Of the registers that a task used, bits of XCR0: the upper halves of the 16 registers that AVX has and of those of
 * 512 bits, the tiles of AMX. Not what functions of libc leave in use: masks (5), registers from 16 on (7). */
enum { LIVE_STATE_YMM = 2, LIVE_STATE_ZMM = 6, LIVE_STATE_TILES = 18 };

/* Set before the program is loaded. */
struct live_config {
    policy_u32 specialize, marks; /* whether */
    policy_u32 timed;             /* whether decisions are timed */
    policy_u32 fault;             /* LIVE_FAULT_...: what a test wants to go wrong */
    policy_u32 accounting;        /* LIVE_FAIR, ... */
    policy_u32 counted_wide;      /* whether counters say what a task asked for */
    policy_u32 events;            /* bits of what is counted; 0: nothing */
    policy_u32 injected;          /* whether tasks say what is counted */
    policy_u32 recorded;          /* whether each accounting is recorded */
    policy_u32 n_levels;          /* of licenses */
    policy_u32 own_level[2];      /* that 256 and 512 bits cause at most */
    policy_u32 ref_khz;           /* of reference cycles */
    policy_u32 n_groups, group_accounting[LIVE_GROUPS_MAX];
    policy_u32 n_cpus;     /* the highest number of a CPU, and 1 */
    policy_u32 n_cores;    /* physical cores that are online */
    policy_u32 first_wide; /* the core that is wide at first */
    policy_u32 n_nodes;    /* NUMA nodes with CPUs that are online, at least 1 */
    policy_u64 slice_ns;
    policy_u64 registers;              /* bits of XCR0: who uses any of them is wide; 0: they are not looked at */
    policy_u32 core_of[LIVE_CPUS_MAX]; /* the first CPU of a CPU's core; LIVE_CPUS_MAX: it is offline */
    policy_u32 node_of[LIVE_CPUS_MAX]; /* from 0 */
};

/* Since the start, of each CPU and class, and of each task. */
struct live_counts {
    policy_u64 run_ns, charged_ns; /* CPU time; the same as weights charge it: of nice 0 as it is */
    policy_u64 compensated_ns;     /* CPU time that was not charged, since levels of others took it */
    policy_u64 penalty_ns;         /* charged besides, since levels of its own took it from others */
    policy_u64 migrations;         /* runs on another CPU than the last one */
    policy_u64 dispatches;         /* runs */
    policy_u64 looks, used;        /* at registers; those that found some of live_config.registers in use */
};

/* One of the tasks that are there, threads each. */
struct live_task {
    policy_u32 id, class;
    char name[16]; /* any bytes up to the first 0 */
    struct live_counts counts;
};

/* Since the start, of each CPU, where there are counters. */
struct live_accounted {
    policy_u64 unattributed_ns;  /* of what was compensated and is to be paid, for which nobody was found who would */
    policy_u64 uncounted_ns;     /* CPU time of which no counts were to be had */
    policy_u64 throttled_cycles; /* while a level was pending */
    policy_u64 records_lost;     /* for which there was no room */
};

/* Written by the program that loads it, while it schedules. */
struct live_control {
    policy_u32 off; /* whether mode specialize treats all tasks and cores alike for now */
};

/* Written by the scheduler alone. */
struct live_state {
    struct live_counts counts[LIVE_CPUS_MAX][LIVE_CLASSES];
    struct live_accounted accounted[LIVE_CPUS_MAX];
    policy_u64 decision_ns[LIVE_CPUS_MAX]; /* time that decisions took on a CPU, if timed */
    policy_u64 widened, narrowed;          /* cores, times */
    policy_u64 phases_ended[2];            /* by a system call, by timeout */
    policy_u64 called;                     /* other tasks, from wide cores to CPUs that begin to idle */
    policy_u32 wide_cores;
    policy_u32 exit_kind; /* enum scx_exit_kind; 0: it runs */
    policy_u64 exit_code;
    char exit_reason[64], exit_text[256];
};

/* One accounting, as it was decided. Where it was not counted, nothing but ns, penalty, billed and pid. */
struct live_record {
    policy_u64 counts[LIVE_EVENTS];
    struct policy_slice slice;
    policy_u64 ns, lost, penalty, billed; /* CPU time; what of it was lost; paid for others; charged, before weights */
    policy_u32 cpu, core, pid, payer;     /* payer: 0: nobody */
    policy_u32 accounting, counted, was_wide;
    policy_u32 asked, own_before, own; /* levels: by these counts; since it has the CPU before, and now */
};

#endif
