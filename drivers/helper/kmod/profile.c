// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The remote-overhead profiler: it begins and ends, and says what it did. What happens in between is in interrupts
 * (profile_timer.c), and ends up in the ring that the device's reader empties.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "profile.h"

/* A reader gets so many records at a time. */
enum { READ_RECORDS = 32 };

static enum characterize_reason profile_refuses(const struct profile_setup *s)
{
	enum characterize_reason reason = support_refuses();

	/* timers, interrupts and pauses are the same everywhere */
	if (reason && !(reason == CHARACTERIZE_REASON_VENDOR && s->flags & PROFILE_REHEARSAL))
		return reason;
	if (hrtimer_resolution > 1)
		return CHARACTERIZE_REASON_NO_TIMER;
	return CHARACTERIZE_REASON_NONE;
}

static void profile_free(struct session *s, struct profile *p)
{
	unsigned int cpu;

	profile_ring_close(&s->ring);
	for_each_possible_cpu(cpu)
		counters_release(&per_cpu_ptr(p->here, cpu)->counters);
	free_percpu(p->here);
	kfree(p);
}

static struct profile *profile_allocate(struct session *s, const struct characterize_profile *arg)
{
	struct profile *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->here = alloc_percpu(struct profile_here);
	if (!p->here || profile_ring_open(&s->ring)) {
		free_percpu(p->here);
		kfree(p);
		return NULL;
	}
	p->ring = &s->ring;
	p->setup = arg->setup;
	memcpy(p->counter, arg->counter, sizeof(p->counter));
	profile_timer_init(p);
	return p;
}

/* Runs this setup if it may run on these CPUs. */
static long profile_launch(struct profile *p, struct characterize_profile *arg)
{
	if (!profile_setup_valid(&p->setup, p->cores))
		return refuse(arg, profile_setup_valid(&p->setup, U32_MAX) ? CHARACTERIZE_REASON_PROFILE_DUTY :
			      CHARACTERIZE_REASON_PROFILE_SETUP, -EINVAL);
	if (profile_switch_begin(p))
		return refuse(arg, CHARACTERIZE_REASON_NO_TRACEPOINT, -EOPNOTSUPP);
	if (!profile_timer_begin(p))
		return 0;
	profile_switch_end(p);
	arg->failed = p->failed;
	arg->failed_cpu = p->failed_cpu;
	return refuse(arg, p->reason, p->reason == CHARACTERIZE_REASON_MEMORY ? -ENOMEM :
		      p->reason == CHARACTERIZE_REASON_COUNTERS ? -EINVAL : -EOPNOTSUPP);
}

long profile_start(struct session *s, struct characterize_profile *arg)
{
	enum characterize_reason reason = profile_refuses(&arg->setup);
	struct profile *p;
	long error;

	arg->cpus = arg->cores = arg->failed = arg->failed_cpu = 0;
	if (s->profile)
		return refuse(arg, CHARACTERIZE_REASON_PROFILE_RUNS, -EBUSY);
	if (reason)
		return refuse(arg, reason, -EOPNOTSUPP);
	p = profile_allocate(s, arg);
	if (!p)
		return refuse(arg, CHARACTERIZE_REASON_MEMORY, -ENOMEM);
	arg->cpus = p->cpus;
	arg->cores = p->cores;
	error = profile_launch(p, arg);
	if (error)
		profile_free(s, p);
	else
		s->profile = p;
	return error;
}

void profile_stop(struct session *s)
{
	struct profile *p = s->profile;

	if (!p)
		return;
	s->profile = NULL;
	profile_timer_end(p);
	profile_switch_end(p);
	profile_free(s, p);
}

long profile_totals(struct session *s, struct characterize_profile_totals *t)
{
	const struct profile *p = s->profile;
	u64 hold_ticks = 0, answer_ticks = 0;
	unsigned int cpu;

	if (!p)
		return refuse(t, CHARACTERIZE_REASON_NO_PROFILE, -EINVAL);
	t->turns = t->pause_ns_max = t->late_ns_max = 0;
	for_each_possible_cpu(cpu) {
		const struct profile_here *c = per_cpu_ptr(p->here, cpu);

		t->turns += READ_ONCE(c->turns);
		t->pause_ns_max = max(t->pause_ns_max, READ_ONCE(c->masked_ns_max));
		t->late_ns_max = max(t->late_ns_max, READ_ONCE(c->late_ns_max));
		hold_ticks = max(hold_ticks, profile_hold_longest(&c->hold));
		answer_ticks = max(answer_ticks, READ_ONCE(c->hold.answer_ticks_max));
	}
	t->lost = READ_ONCE(s->ring.lost);
	t->hold_ns_max = mul_u64_u32_div(hold_ticks, 1000000, tsc_khz);
	t->answer_ns_max = mul_u64_u32_div(answer_ticks, 1000000, tsc_khz);
	t->elapsed_ns = ktime_get_ns() - p->start_ns;
	return 0;
}

/* ---- reading ---- */

/* Up to n records, at least one: waits for it unless requested not to. 0: there is no profile. The session's lock is
 * not held while the records are copied to user space: mmap() takes it under the lock of the address space. */
static ssize_t profile_take(struct session *s, struct profile_record *out, size_t n, bool wait)
{
	for (;;) {
		size_t taken;
		bool runs;

		if (wait && wait_event_interruptible(s->ring.wait, profile_ring_ready(&s->ring)))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&s->lock))
			return -ERESTARTSYS;
		taken = profile_ring_take(&s->ring, out, n);
		runs = s->profile;
		mutex_unlock(&s->lock);
		if (taken || !runs)
			return taken;
		if (!wait)
			return -EAGAIN;
	}
}

ssize_t profile_read(struct session *s, struct file *file, char __user *user, size_t bytes)
{
	size_t n = min_t(size_t, bytes / sizeof(struct profile_record), READ_RECORDS);
	struct profile_record *records;
	ssize_t taken;

	if (!n)
		return -EINVAL;
	records = kvmalloc_array(n, sizeof(*records), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	taken = profile_take(s, records, n, !(file->f_flags & O_NONBLOCK));
	if (taken > 0) {
		taken *= sizeof(*records);
		if (copy_to_user(user, records, taken))
			taken = -EFAULT;
	}
	kvfree(records);
	return taken;
}

__poll_t profile_poll(struct session *s, struct file *file, poll_table *table)
{
	poll_wait(file, &s->ring.wait, table);
	if (!profile_ring_ready(&s->ring))
		return 0;
	/* without a profile read() does not wait either: it gives the end */
	return EPOLLIN | EPOLLRDNORM | (READ_ONCE(s->ring.slot) ? 0 : EPOLLHUP);
}
