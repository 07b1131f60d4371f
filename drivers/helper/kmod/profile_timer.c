// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The turns: a timer on each CPU, which executes the steps of drivers/profile/profile_sequence.c in its interrupt and
 * sets itself for the next. Only that CPU starts it, so that none has to wake another. What is not an interrupt
 * runs in the kernel's hotplug thread of that CPU, also at the start and at the end of a profile.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/topology.h>
#include <asm/tsc.h>

#include "profile.h"
#include "profile_ring.h"

/* A CPU that was away for long looks for its next turn in several steps, so far apart. */
#define CATCH_UP_NS NSEC_PER_MSEC

/* ---- who executes the steps; all in the interrupt of the sampled CPU ---- */

static u64 timer_now(void *with)
{
	return ktime_get_ns();
}

static void timer_look(void *with, struct profile_sight *out)
{
	struct profile_here *c = with;

	profile_switch_look(c->profile, out);
	/* a sibling that left by its own clock is as good as another task */
	out->other_switches += !profile_hold_lasts(&c->hold);
}

static void timer_count(void *with, struct profile_counts *before, struct profile_counts *after)
{
	profile_count(&((struct profile_here *)with)->counters, before, after);
}

static bool timer_hold(void *with)
{
	return profile_hold_begin(&((struct profile_here *)with)->hold);
}

static void timer_release(void *with)
{
	profile_hold_release(&((struct profile_here *)with)->hold);
}

static void timer_walk(void *with, struct profile_record *r)
{
	profile_walk(r);
}

static void timer_store(void *with, const struct profile_record *r)
{
	struct profile_here *c = with;

	WRITE_ONCE(c->turns, c->turns + 1);
	profile_ring_put(c->profile->ring, r, ktime_get_ns());
}

static struct profile_executor timer_executor(struct profile_here *c)
{
	return (struct profile_executor){
		.with = c,
		.now_ns = timer_now,
		.look = timer_look,
		.count = timer_count,
		.hold = timer_hold,
		.release = timer_release,
		.walk = timer_walk,
		.store = timer_store,
	};
}

/* ---- the timer ---- */

static void timer_spin(u32 us)
{
	u64 limit = rdtsc() + support_ticks(us);

	while (rdtsc() < limit)
		cpu_relax();
}

/* The time at which the timer is to fire for this CPU's next turn. */
static u64 timer_find_turn(struct profile_here *c, u64 now_ns)
{
	const struct profile *p = c->profile;
	const u64 elapsed_ns = now_ns - p->start_ns;

	if (!c->placed)
		profile_first_turn(&c->turn, &p->setup, c->place, p->cpus);
	c->placed = true;
	if (c->turn.turn_ns <= elapsed_ns)
		profile_next_turn(&c->turn, &p->setup, p->cpus, elapsed_ns);
	c->overdue = c->turn.turn_ns < elapsed_ns;
	return c->overdue ? now_ns + CATCH_UP_NS : p->start_ns + c->turn.turn_ns;
}

/* A turn that begins a quarter of an interval late would run into the next CPU's. */
static bool timer_missed(const struct profile_here *c, u64 late_ns)
{
	return c->turn.stage == PROFILE_BETWEEN && late_ns > c->profile->setup.mean_us * (NSEC_PER_USEC / 4);
}

static u64 timer_step(struct profile_here *c, u64 late_ns)
{
	const struct profile_setup *s = &c->profile->setup;
	const struct profile_executor e = timer_executor(c);
	struct profile_action action = { .deed = PROFILE_DONE };

	if (timer_missed(c, late_ns))
		profile_miss(&c->turn, &e);
	else
		action = profile_step(&c->turn, s, &e);
	while (action.deed == PROFILE_SPIN) {
		timer_spin(action.us);
		action = profile_step(&c->turn, s, &e);
	}
	if (action.deed == PROFILE_DONE)
		return timer_find_turn(c, ktime_get_ns());
	if (c->turn.stage == PROFILE_ALONE)
		profile_hold_resume(&c->hold);
	return ktime_get_ns() + action.us * NSEC_PER_USEC;
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct profile_here *c = container_of(timer, struct profile_here, timer);
	u64 begin_ns = ktime_get_ns(), set_ns = ktime_to_ns(hrtimer_get_expires(timer)), next_ns, masked_ns;
	u64 late_ns = begin_ns > set_ns ? begin_ns - set_ns : 0;

	if (late_ns > c->late_ns_max)
		WRITE_ONCE(c->late_ns_max, late_ns);
	next_ns = c->overdue ? timer_find_turn(c, begin_ns) : timer_step(c, late_ns);
	masked_ns = ktime_get_ns() - begin_ns;
	if (masked_ns > c->masked_ns_max)
		WRITE_ONCE(c->masked_ns_max, masked_ns);
	hrtimer_set_expires(timer, ns_to_ktime(next_ns));
	return HRTIMER_RESTART;
}

/* ---- CPUs that come and go: in the hotplug thread of that CPU, which stays there ---- */

static bool timer_counters(struct profile *p, struct profile_here *c)
{
	u32 index[CHARACTERIZE_COUNTERS], failed = 0, missing;
	unsigned long flags;

	counters_release(&c->counters);
	if (p->setup.flags & PROFILE_REHEARSAL)
		return true;
	if (!counters_make(&c->counters, p->counter, PROFILE_COUNTERS, c->cpu, &failed, &p->reason)) {
		local_irq_save(flags);
		counters_indices(&c->counters, index, &missing);
		local_irq_restore(flags);
		if (!missing)
			return true;
		failed = __ffs(missing);
		p->reason = CHARACTERIZE_REASON_COUNTER_BUSY;
	}
	p->failed = failed;
	p->failed_cpu = c->cpu;
	return false;
}

static int timer_cpu_comes(unsigned int cpu, struct hlist_node *node)
{
	struct profile *p = hlist_entry(node, struct profile, node);
	struct profile_here *c = per_cpu_ptr(p->here, cpu);
	unsigned long flags;

	if (!c->has_turns)
		return 0;
	/* later a CPU without counters is no reason to keep it offline: its turns are not counted */
	if (!timer_counters(p, c) && p->starting)
		return -EOPNOTSUPP;
	local_irq_save(flags);
	hrtimer_start(&c->timer, ns_to_ktime(timer_find_turn(c, ktime_get_ns())), HRTIMER_MODE_ABS_PINNED_HARD);
	local_irq_restore(flags);
	return 0;
}

static int timer_cpu_goes(unsigned int cpu, struct hlist_node *node)
{
	struct profile *p = hlist_entry(node, struct profile, node);
	struct profile_here *c = per_cpu_ptr(p->here, cpu);
	const struct profile_executor e = timer_executor(c);
	unsigned long flags;

	if (!c->has_turns)
		return 0;
	hrtimer_cancel(&c->timer);
	local_irq_save(flags);
	profile_call_off(&c->turn, &e);
	local_irq_restore(flags);
	return 0;
}

void profile_timer_init(struct profile *p)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct profile_here *c = per_cpu_ptr(p->here, cpu);

		c->profile = p;
		c->cpu = cpu;
		c->turn.record.cpu = cpu;
		seqcount_init(&c->switches.seq);
		profile_hold_init(&c->hold, p, cpu);
		compat_hrtimer_setup(&c->timer, timer_fires, HRTIMER_MODE_ABS_PINNED_HARD);
	}
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct profile_here *c = per_cpu_ptr(p->here, cpu);

		c->has_turns = true;
		c->place = p->cpus++;
		p->cores += cpu == cpumask_first_and(topology_sibling_cpumask(cpu), cpu_online_mask);
	}
	cpus_read_unlock();
}

/* Requests that came too late still look whether they are to be waited for. */
static void timer_drain(struct profile *p)
{
	unsigned int cpu;

	cpuhp_remove_multi_state(p->hotplug);
	for_each_possible_cpu(cpu)
		profile_hold_drain(&per_cpu_ptr(p->here, cpu)->hold);
}

long profile_timer_begin(struct profile *p)
{
	long error = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "characterize:profile", timer_cpu_comes,
					     timer_cpu_goes);

	p->reason = CHARACTERIZE_REASON_MEMORY;
	if (error < 0)
		return error;
	p->hotplug = error;
	p->start_ns = ktime_get_ns();
	p->starting = true;
	/* where it fails on one CPU it is undone on the others */
	error = cpuhp_state_add_instance(p->hotplug, &p->node);
	p->starting = false;
	if (error)
		timer_drain(p);
	return error;
}

void profile_timer_end(struct profile *p)
{
	cpuhp_state_remove_instance(p->hotplug, &p->node);
	timer_drain(p);
}
