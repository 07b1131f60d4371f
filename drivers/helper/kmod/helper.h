/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the module. One user at a time means one session, in main.c; all ioctls hold its lock.
 */
#ifndef CHARACTERIZE_HELPER_H
#define CHARACTERIZE_HELPER_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "compat.h"
#include "drivers/timing/chain_reading.h"
#include "profile_ring.h"
#include "uapi.h"

/* The beginning of every struct of uapi.h. */
struct head {
	__u32 version;
	__u32 reason;
};

static inline long refuse(void *arg, enum characterize_reason reason, long error)
{
	((struct head *)arg)->reason = reason;
	return error;
}

/* ---- support.c: what this processor and this kernel offer ---- */

/* NONE, or why nothing may be run here at all. */
enum characterize_reason support_refuses(void);
/* enum kernel_feature, or-ed. */
u32 support_features(void);
bool support_mwait(void);
/* APERF and MPERF of a CPU exist and advance. May sleep. */
bool support_aperf_mperf(unsigned int cpu);
u32 support_counter_bits(void);
u64 support_ticks(u64 us);
/* MSR_SMI_COUNT: Intel since Nehalem (SDM volume 4). 0 where there is none. */
u32 support_smis_taken(void);
/* True where that register is there and counts this machine's: a hypervisor makes its own. */
bool support_smis_counted(void);

/* A kernel of the registry, by number; checked. */
struct task {
	kernel_fn *run;
	u64 dirty;
	u32 bytes; /* of its block */
};
/* NONE and *out, or why it cannot be run. */
enum characterize_reason support_task(const struct characterize_payload *p, struct task *out);

/* ---- counters.c: performance counters, through perf ---- */

struct counters {
	unsigned int n;
	struct perf_event *event[CHARACTERIZE_COUNTERS];
};
/* Makes the events on a CPU. On failure *failed is the first that could not be had, and none is left. */
long counters_make(struct counters *c, const struct characterize_counter *spec, unsigned int n, unsigned int cpu,
		   u32 *failed, enum characterize_reason *reason);
void counters_release(struct counters *c);
/*
 * On the CPU of the events, interrupts masked: the RDPMC indices of those that are on the hardware now, in order, and
 * in *missing a bit for each that is not. Returns how many are.
 */
unsigned int counters_indices(const struct counters *c, u32 *index, u32 *missing);

/* All ones where the read faults: execution continues after the instruction, with what the registers held before. */
static __always_inline u64 counters_read(u32 index)
{
	u32 lo = ~0u, hi = ~0u;

	asm volatile("1: rdpmc\n2:\n" _ASM_EXTABLE(1b, 2b) : "+a"(lo), "+d"(hi) : "c"(index));
	return (u64)hi << 32 | lo;
}

/* ---- mask.c: the local APIC's timer ---- */

struct timer_mask {
	bool masked, x2apic, deadline_mode;
	u32 lvtt, count;
	u64 deadline;
};
/* True where masking is possible on this CPU. */
bool timer_can_be_masked(void);
/* Interrupts are off. After timer_unmask() an interrupt that fell due in between comes at once. */
void timer_mask(struct timer_mask *m);
void timer_unmask(const struct timer_mask *m);

/* ---- sample.c: the sampling loop ---- */

struct reader {
	u64 *out;          /* of the first reading */
	u32 stride;        /* words */
	u32 n;             /* counters that are read */
	bool aperf_mperf, chain;
	struct chain_reader chains;
	u32 index[CHARACTERIZE_COUNTERS];
};
/* sampling_run() with the readings that the reader requests. */
void sample(const struct sampling *p, struct sampling_log *log, struct reader *reader);

/* ---- neighbours.c: the other hyper-threads of the core, and other cores ---- */

struct neighbours;
/* Starts what the setup requests. NULL and *reason on failure, except where nothing is requested. */
struct neighbours *neighbours_start(const struct characterize_setup *s, const struct task *corunner,
				    enum characterize_reason *reason);
void neighbours_stop(struct neighbours *nb);
/* Co-runners run for another while; waits until they do, and until the hyper-threads are ready to be parked. */
void neighbours_ready(struct neighbours *nb);
/* Interrupts are off. Parks; returns how many hyper-threads wait in MWAIT. */
unsigned int neighbours_park(struct neighbours *nb);
void neighbours_unpark(struct neighbours *nb);

/* ---- repeat.c: one repetition ---- */

enum { LANES = 64 };
struct lane {
	struct characterize_payload payload;
	struct sampling_lane pace;
};

struct session {
	struct mutex lock;
	bool prepared;
	unsigned int cpu;
	u32 flags, readings, stride, dither;
	u64 period;
	struct counters counters;
	struct neighbours *neighbours;
	struct lane lane[LANES];
	unsigned int n_lanes;
	u64 *buffer;
	size_t bytes;
	atomic_t mapped; /* mappings of the buffer */
	struct profile *profile; /* NULL: none runs */
	struct profile_ring ring;
};
long repeat(struct session *s, struct characterize_run *run);

/* ---- trials.c: a workload of fixed length, again and again ---- */

/* True where the branch predictor can be made to forget. */
bool trials_have_barrier(void);
/* As the ioctl. Sleeps for as long as that lasts, a second or so. */
long trials_run(struct characterize_trials *t);

/* ---- profile.c: the remote-overhead profiler; the session's lock is held, except for reading ---- */

long profile_start(struct session *s, struct characterize_profile *arg);
/* May sleep, at most for as long as a sibling is held, and for RCU. Nothing where none runs. */
void profile_stop(struct session *s);
long profile_totals(struct session *s, struct characterize_profile_totals *t);
/* As read(2) and poll(2). Without a profile: the end. */
ssize_t profile_read(struct session *s, struct file *file, char __user *user, size_t bytes);
__poll_t profile_poll(struct session *s, struct file *file, poll_table *table);

/* ---- registers.c ---- */

/* True for the registers that may be read. */
bool register_listed(u32 number);
long register_read(struct characterize_msr *m);

#endif
