// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Holds the other hyper-threads of a core in an interrupt while one is sampled.
 *
 * Nothing here waits for another CPU without a limit of its own. The sampled CPU waits 50 us for its sibling. The
 * sibling waits until it is released, but with its own time stamp counter as the limit, for what it interrupted may own
 * a lock: once the sampled task has resumed it may spin for that lock with interrupts masked, so that the timer which
 * would release the sibling cannot fire. Then the sibling's limit ends it, two windows after the pause.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/topology.h>
#include <asm/tsc.h>

#include "profile.h"

/* On top of what the steps take: looking, counting, and whatever firmware takes of the pause. */
enum { HOLD_MARGIN_US = 100 };

/* On the sibling, in an interrupt, or on its way out of idle; interrupts are masked. */
static void hold_sibling(void *arg)
{
	struct hold_call *call = arg;
	struct profile_hold *h = call->hold;
	u32 ticket = READ_ONCE(call->ticket);
	u64 begin = rdtsc(), now = begin, limit = begin + h->paused_ticks;
	bool resumed = false;

	if (READ_ONCE(h->open) == ticket) {
		profile_switch_note(&this_cpu_ptr(h->profile->here)->switches);
		smp_store_release(&call->here, ticket);
		while (READ_ONCE(h->open) == ticket && now < limit) {
			if (!resumed && READ_ONCE(h->resumed) == ticket) {
				resumed = true;
				limit = now + h->resumed_ticks;
			}
			cpu_relax();
			now = rdtsc();
		}
		if (now >= limit)
			WRITE_ONCE(call->left, ticket);
		if (now - begin > call->ticks_max)
			WRITE_ONCE(call->ticks_max, now - begin);
	}
	smp_store_release(&call->ended, call->ended + 1);
}

void profile_hold_init(struct profile_hold *h, struct profile *p, unsigned int cpu)
{
	unsigned int i;

	h->profile = p;
	h->cpu = cpu;
	/* a pause that takes twice its time, and a window likewise, make a sample late: it is given up before */
	h->paused_ticks = support_ticks(2 * p->setup.pause_us + HOLD_ANSWER_US + HOLD_MARGIN_US);
	h->resumed_ticks = support_ticks(2 * p->setup.window_us + HOLD_MARGIN_US);
	for (i = 0; i < HOLD_SIBLINGS_MAX; i++) {
		h->call[i].hold = h;
		INIT_CSD(&h->call[i].csd, hold_sibling, &h->call[i]);
	}
}

/* A request that is still in flight, for the CPU was taken away meanwhile, is not sent a second time. */
static bool hold_send(struct hold_call *call, unsigned int sibling, u32 ticket)
{
	if (call->sent != smp_load_acquire(&call->ended))
		return false;
	call->ticket = ticket;
	call->sibling = sibling;
	if (smp_call_function_single_async(sibling, &call->csd))
		return false;
	call->sent++;
	return true;
}

/*
 * An idle one need not be waited for, which may take it 0.1 ms out of a deep sleep: it takes the pending interrupt, and
 * is held, before it can run a task.
 */
static bool hold_answered(const struct profile_hold *h, u64 limit)
{
	unsigned int i;

	for (i = 0; i < h->n; i++) {
		while (smp_load_acquire(&h->call[i].here) != h->ticket &&
		       !profile_switch_idle(h->profile, h->call[i].sibling)) {
			if (rdtsc() >= limit)
				return false;
			cpu_relax();
		}
	}
	return true;
}

bool profile_hold_begin(struct profile_hold *h)
{
	u64 begin = rdtsc(), ticks;
	unsigned int sibling;
	bool sent = true;

	h->n = 0;
	if (++h->ticket == 0)
		h->ticket = 1;
	WRITE_ONCE(h->open, h->ticket);
	/* with interrupts masked here no CPU goes offline: stop_machine() waits for this one */
	for_each_cpu_and(sibling, topology_sibling_cpumask(h->cpu), cpu_online_mask) {
		if (sibling == h->cpu)
			continue;
		sent = h->n < HOLD_SIBLINGS_MAX && hold_send(&h->call[h->n], sibling, h->ticket);
		if (!sent)
			break;
		h->n++;
	}
	if (!sent || !hold_answered(h, begin + support_ticks(HOLD_ANSWER_US))) {
		profile_hold_release(h);
		return false;
	}
	ticks = rdtsc() - begin;
	if (h->n && ticks > h->answer_ticks_max)
		WRITE_ONCE(h->answer_ticks_max, ticks);
	return true;
}

void profile_hold_resume(struct profile_hold *h)
{
	WRITE_ONCE(h->resumed, h->ticket);
}

bool profile_hold_lasts(const struct profile_hold *h)
{
	unsigned int i;

	for (i = 0; i < h->n; i++)
		if (READ_ONCE(h->call[i].left) == h->ticket)
			return false;
	return true;
}

void profile_hold_release(struct profile_hold *h)
{
	WRITE_ONCE(h->open, 0);
}

void profile_hold_drain(const struct profile_hold *h)
{
	unsigned int i;

	for (i = 0; i < HOLD_SIBLINGS_MAX; i++)
		while (h->call[i].sent != smp_load_acquire(&h->call[i].ended))
			usleep_range(50, 100);
}

u64 profile_hold_longest(const struct profile_hold *h)
{
	u64 longest = 0;
	unsigned int i;

	for (i = 0; i < HOLD_SIBLINGS_MAX; i++)
		longest = max(longest, READ_ONCE(h->call[i].ticks_max));
	return longest;
}
