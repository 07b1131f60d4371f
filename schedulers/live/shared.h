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

/* Set before the program is loaded. */
struct live_config {
    policy_u32 specialize, marks; /* whether */
    policy_u32 timed;             /* whether decisions are timed */
    policy_u32 fault;             /* LIVE_FAULT_...: what a test wants to go wrong */
    policy_u32 n_cpus;            /* the highest number of a CPU, and 1 */
    policy_u32 n_cores;           /* physical cores that are online */
    policy_u32 first_wide;        /* the core that is wide at first */
    policy_u32 n_nodes;           /* NUMA nodes with CPUs that are online, at least 1 */
    policy_u64 slice_ns;
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
};

/* One of the tasks that are there, threads each. */
struct live_task {
    policy_u32 id, class;
    char name[16]; /* any bytes up to the first 0 */
    struct live_counts counts;
};

/* Written by the scheduler alone. */
struct live_state {
    struct live_counts counts[LIVE_CPUS_MAX][LIVE_CLASSES];
    policy_u64 decision_ns[LIVE_CPUS_MAX]; /* time that decisions took on a CPU, if timed */
    policy_u64 widened, narrowed;          /* cores, times */
    policy_u64 phases_ended[2];            /* by a system call, by timeout */
    policy_u32 wide_cores;
    policy_u32 exit_kind; /* enum scx_exit_kind; 0: it runs */
    policy_u64 exit_code;
    char exit_reason[64], exit_text[256];
};

#endif
