/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the profiler (doc/profiler.md; doc/kernel-helper.md, "The profiler"): what a profile consists of. The steps
 * of a sample and its arithmetic are those of drivers/profile, which modelled systems use as well.
 */
#ifndef CHARACTERIZE_PROFILE_H
#define CHARACTERIZE_PROFILE_H

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include "drivers/profile/profile_sequence.h"
#include "helper.h"

struct profile;

/* ---- profile_switch.c: who runs on each CPU ---- */

/* Context switches of a CPU; written there with interrupts masked, read by others. */
struct profile_switches {
	seqcount_t seq;
	struct profile_task now, before;
	u64 count, at_ns; /* context switches until now, the last one's time */
};
/* From now on each context switch is noted, and who runs now. -ENOENT: this kernel has no such tracepoint. */
long profile_switch_begin(struct profile *p);
/* No probe runs any more when this returns. */
void profile_switch_end(struct profile *p);
/* Interrupts are masked: notes who runs here, which the last switch may not have reported. */
void profile_switch_note(struct profile_switches *s);
bool profile_switch_idle(struct profile *p, unsigned int cpu);
/* Interrupts are masked: who runs here, and on the other hyper-threads. */
void profile_switch_look(struct profile *p, struct profile_sight *out);

/* ---- profile_hold.c: the other hyper-threads wait ---- */

enum { HOLD_SIBLINGS_MAX = 7, HOLD_ANSWER_US = 50 };
struct hold_call {
	call_single_data_t csd;
	struct profile_hold *hold;
	unsigned int sibling;
	u32 ticket;      /* of the request that it carries */
	u32 here;        /* of the request for which the hyper-thread came, */
	u32 left;        /* and from which it went by its own clock */
	u32 sent, ended; /* those not ended are in flight */
	u64 ticks_max;   /* the longest time for which it was held */
};
/* Holds siblings of a sampled CPU. Requests are numbered, so that one who comes late finds nothing to wait for. */
struct profile_hold {
	u32 ticket;  /* of the last request */
	u32 open;    /* the request that is to be waited for; 0: none */
	u32 resumed; /* the request whose pause is over */
	u64 paused_ticks, resumed_ticks; /* nobody waits for longer until and after that */
	unsigned int cpu, n;
	struct profile *profile;
	u64 answer_ticks_max;
	struct hold_call call[HOLD_SIBLINGS_MAX];
};
void profile_hold_init(struct profile_hold *h, struct profile *p, unsigned int cpu);
/* Interrupts are masked. False: one that runs a task did not come within HOLD_ANSWER_US; nobody waits then. */
bool profile_hold_begin(struct profile_hold *h);
/* The pause is over: what is left is the window. */
void profile_hold_resume(struct profile_hold *h);
/* True where all that came are still there. */
bool profile_hold_lasts(const struct profile_hold *h);
void profile_hold_release(struct profile_hold *h);
/* Waits until no request is in flight. Sleeps. */
void profile_hold_drain(const struct profile_hold *h);
/* The longest time for which a hyper-thread was held, TSC ticks. */
u64 profile_hold_longest(const struct profile_hold *h);

/* ---- profile_count.c, profile_walk.c ---- */

/* Interrupts are masked, on the CPU of the counters: all of them before and after PROFILE_NOPS no-ops. */
void profile_count(const struct counters *c, struct profile_counts *before, struct profile_counts *after);
/* In an interrupt: the stack of what it interrupts. */
void profile_walk(struct profile_record *r);

/* ---- profile_timer.c: the turns ---- */

struct profile_here {
	struct hrtimer timer;
	struct profile *profile;
	unsigned int cpu;
	u32 place;       /* among the CPUs that have turns */
	bool has_turns;
	bool placed;     /* its first turn has been set */
	bool overdue;    /* its next turn is past still, see profile_next_turn() */
	struct profile_cpu turn;
	struct counters counters;
	struct profile_switches switches;
	struct profile_hold hold;
	u64 turns, masked_ns_max, late_ns_max;
};
/* Prepares all CPUs, gives turns to those that are online, and counts these. */
void profile_timer_init(struct profile *p);
/* Begins the turns. Not 0: p->reason, p->failed and p->failed_cpu say why not. May sleep. */
long profile_timer_begin(struct profile *p);
/* No timer runs any more when this returns, and no sibling is held or will be. Sleeps. */
void profile_timer_end(struct profile *p);

/* ---- profile.c ---- */

struct profile {
	struct profile_setup setup;
	struct characterize_counter counter[PROFILE_COUNTERS];
	struct profile_here __percpu *here; /* of each possible CPU */
	struct profile_ring *ring;
	struct tracepoint *switching;
	u64 start_ns;        /* CLOCK_MONOTONIC */
	u32 cpus, cores;     /* that have turns */
	bool starting;
	int hotplug;         /* the state, of this kind, */
	struct hlist_node node; /* and what the kernel knows this profile by there */
	u32 failed, failed_cpu; /* while starting: the counter that could not be had, and where */
	enum characterize_reason reason;
};

#endif
