// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who runs on each CPU, who ran there before, and how many context switches there were: noted by a probe on the
 * tracepoint sched_switch, as ftrace and perf attach theirs.
 */
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "profile.h"

/* The caller is in an RCU read section, or the task is its own. */
static void switch_identify(struct profile_task *out, const struct task_struct *t)
{
	*out = (struct profile_task){ .pid = t->pid };
	if (!t->pid)
		return;
	out->tgid = t->tgid;
	out->start_ns = t->start_boottime;
	memcpy(out->comm, t->comm, sizeof(out->comm));
	out->comm[sizeof(out->comm) - 1] = 0;
#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	out->cgroup = cgroup_id(task_dfl_cgroup((struct task_struct *)t));
	rcu_read_unlock();
#endif
}

void profile_switch_note(struct profile_switches *s)
{
	raw_write_seqcount_begin(&s->seq);
	switch_identify(&s->now, current);
	raw_write_seqcount_end(&s->seq);
}

/* Interrupts are masked and the run queue is locked: it takes no lock, and calls nothing that does. */
static void switch_probe(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			 unsigned int prev_state)
{
	struct profile *p = data;
	struct profile_switches *s = &this_cpu_ptr(p->here)->switches;

	raw_write_seqcount_begin(&s->seq);
	s->before = s->now;
	switch_identify(&s->now, next);
	s->at_ns = ktime_get_mono_fast_ns();
	s->count++;
	raw_write_seqcount_end(&s->seq);
}

static void switch_note_here(void *arg)
{
	profile_switch_note(&this_cpu_ptr(((struct profile *)arg)->here)->switches);
}

static void switch_find(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_switch"))
		*(struct tracepoint **)found = tp;
}

long profile_switch_begin(struct profile *p)
{
	long error;

	check_trace_callback_type_sched_switch(switch_probe);
#ifdef CONFIG_TRACEPOINTS
	for_each_kernel_tracepoint(switch_find, &p->switching);
#endif
	if (!p->switching)
		return -ENOENT;
	error = tracepoint_probe_register(p->switching, switch_probe, p);
	if (!error)
		on_each_cpu(switch_note_here, p, 1);
	return error;
}

void profile_switch_end(struct profile *p)
{
	tracepoint_probe_unregister(p->switching, switch_probe, p);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

/* A copy that was not changed meanwhile; a writer that is at it all the time shows as one more switch. */
static void switch_copy(const struct profile_switches *from, struct profile_task *now, struct profile_task *before,
			u64 *count, u64 *at_ns)
{
	unsigned int seq, tries = 0;

	do {
		seq = raw_seqcount_begin(&from->seq);
		*now = from->now;
		*before = from->before;
		*count = from->count;
		*at_ns = from->at_ns;
	} while (read_seqcount_retry(&from->seq, seq) && ++tries < 4);
	*count += tries == 4;
}

static u32 switch_since_us(u64 now_ns, u64 at_ns)
{
	return now_ns > at_ns ? min_t(u64, (now_ns - at_ns) / 1000, U32_MAX) : 0;
}

bool profile_switch_idle(struct profile *p, unsigned int cpu)
{
	return READ_ONCE(per_cpu_ptr(p->here, cpu)->switches.now.pid) == 0;
}

static bool switch_core_active(struct profile *p, unsigned int first)
{
	unsigned int cpu;

	for_each_cpu(cpu, topology_sibling_cpumask(first))
		if (!profile_switch_idle(p, cpu))
			return true;
	return false;
}

/* Counts the active cores of this package, which decide its turbo bins: looks once at each of its CPUs. */
static u32 switch_active_cores(struct profile *p, unsigned int here)
{
	u32 active = 0;
	unsigned int cpu;

	for_each_cpu_and(cpu, topology_core_cpumask(here), cpu_online_mask)
		if (cpu == cpumask_first(topology_sibling_cpumask(cpu)))
			active += switch_core_active(p, cpu);
	return active;
}

void profile_switch_look(struct profile *p, struct profile_sight *out)
{
	unsigned int here = smp_processor_id(), cpu;
	u64 at_ns, count, now_ns;

	*out = (struct profile_sight){ .other_cpu = PROFILE_NO_CPU };
	profile_switch_note(&this_cpu_ptr(p->here)->switches);
	now_ns = ktime_get_mono_fast_ns();
	switch_copy(&this_cpu_ptr(p->here)->switches, &out->task, &out->before, &out->switches, &at_ns);
	out->since_us = switch_since_us(now_ns, at_ns);
	/* the first sibling is named; a switch on any of them counts */
	for_each_cpu_and(cpu, topology_sibling_cpumask(here), cpu_online_mask) {
		struct profile_task now, before;

		if (cpu == here)
			continue;
		switch_copy(&per_cpu_ptr(p->here, cpu)->switches, &now, &before, &count, &at_ns);
		out->other_switches += count;
		if (out->other_cpu != PROFILE_NO_CPU)
			continue;
		out->other_cpu = cpu;
		out->other = now;
		out->other_before = before;
		out->other_since_us = switch_since_us(now_ns, at_ns);
	}
	out->active_cores = switch_active_cores(p, here);
}
