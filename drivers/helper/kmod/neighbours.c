// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything that runs beside a repetition: co-runners keep other cores busy with a kernel, and the other hyper-threads
 * of the measured core are parked in MWAIT, so that they take nothing from it.
 *
 * Each is a kernel thread bound to its CPU, at ordinary priority. Co-runners run slices of 0.1 ms, between which others
 * get their turn, and fall asleep half a second after the last repetition. A parked hyper-thread has its interrupts
 * masked, but only while the measured one has: it parks when that one has masked its own, and released before
 * these come on again. It leaves after 10 ms in any case if something wakes it. With interrupts masked only a store, an
 * NMI or an SMI ends MWAIT, so that a hypervisor that holds the measured one holds both.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/fpu/api.h>
#include <asm/tsc.h>

#include "helper.h"

/*
 * No x86 core has more than 8 hyper-threads. Chosen: a co-runner's slice, above; the time until woken co-runners have
 * their frequency; how long an armed hyper-thread waits to be parked, and the measured one for those that it parks.
 */
enum { SIBLINGS_MAX = 7, SLICE_US = 100, SETTLE_MS = 5, ARM_US = 20000, PARK_US = 2000 };
#define AWAKE_FOR (HZ / 2)

enum parking { RELEASED, ARMED, PARK };

struct neighbours {
	/* alone in its cache line: the parked wait for a store to it */
	u32 word ____cacheline_aligned_in_smp;
	atomic_t waiting ____cacheline_aligned_in_smp; /* threads that watch the word */
	atomic_t parked; /* of them, those in MWAIT */
	struct task corunner;
	unsigned long awake_until;
	atomic_t asleep; /* co-runners */
	unsigned int n_parkers, n_corunners;
	struct task_struct *parker[SIBLINGS_MAX];
	struct task_struct *corunners[];
};

/* Until a store to the word, or something that cannot be masked. Intel SDM volume 2, MONITOR, MWAIT; hint 0 is C1. */
static void wait_for_store(u32 *word)
{
	asm volatile("monitor" : : "a"(word), "c"(0), "d"(0) : "memory");
	if (READ_ONCE(*word) == PARK)
		asm volatile("mwait" : : "a"(0), "c"(0) : "memory");
}

static void park_once(struct neighbours *nb)
{
	u64 limit = rdtsc() + support_ticks(ARM_US);
	unsigned long flags;

	preempt_disable();
	atomic_inc(&nb->waiting);
	while (READ_ONCE(nb->word) == ARMED && rdtsc() < limit)
		cpu_relax();
	local_irq_save(flags);
	limit = rdtsc() + support_ticks(CHARACTERIZE_MASKED_US_MAX);
	if (READ_ONCE(nb->word) == PARK) {
		atomic_inc(&nb->parked);
		while (READ_ONCE(nb->word) == PARK && rdtsc() < limit)
			wait_for_store(&nb->word);
		atomic_dec(&nb->parked);
	}
	local_irq_restore(flags);
	atomic_dec(&nb->waiting);
	preempt_enable();
}

/* Sleeps until it is woken or `busy` holds. Returns false when the thread is to end. */
#define SLEEP_UNTIL(busy) \
({ \
	set_current_state(TASK_INTERRUPTIBLE); \
	if (!kthread_should_stop() && !(busy)) \
		schedule(); \
	__set_current_state(TASK_RUNNING); \
	!kthread_should_stop(); \
})

static int parker_thread(void *arg)
{
	struct neighbours *nb = arg;

	/* one that comes when the others are parked already would come too late */
	while (SLEEP_UNTIL(READ_ONCE(nb->word) == ARMED)) {
		if (READ_ONCE(nb->word) == ARMED)
			park_once(nb);
		cond_resched();
	}
	return 0;
}

static bool awake(const struct neighbours *nb)
{
	return time_before(jiffies, READ_ONCE(nb->awake_until));
}

static int corunner_thread(void *arg)
{
	struct neighbours *nb = arg;

	while (!kthread_should_stop()) {
		if (!awake(nb)) {
			atomic_inc(&nb->asleep);
			SLEEP_UNTIL(awake(nb));
			atomic_dec(&nb->asleep);
			continue;
		}
		kernel_fpu_begin();
		nb->corunner.run(4, rdtsc() + support_ticks(SLICE_US), NULL, nb->corunner.dirty, NULL);
		kernel_fpu_end();
		cond_resched();
	}
	return 0;
}

static bool same_core(unsigned int a, unsigned int b)
{
	return cpumask_test_cpu(b, topology_sibling_cpumask(a));
}

static enum characterize_reason check(const struct characterize_setup *s)
{
	unsigned int i, k;

	if (s->n_corunners > CHARACTERIZE_CORUNNERS)
		return CHARACTERIZE_REASON_CORUNNERS;
	for (i = 0; i < s->n_corunners; i++) {
		unsigned int cpu = s->corunner_cpu[i];

		if (cpu >= nr_cpu_ids || !cpu_online(cpu))
			return CHARACTERIZE_REASON_CPU_NUMBER;
		if (same_core(cpu, s->cpu))
			return CHARACTERIZE_REASON_CORUNNERS;
		for (k = 0; k < i; k++)
			if (s->corunner_cpu[k] == cpu)
				return CHARACTERIZE_REASON_CORUNNERS;
	}
	return CHARACTERIZE_REASON_NONE;
}

static struct task_struct *start(int (*thread)(void *), struct neighbours *nb, unsigned int cpu, const char *name)
{
	struct task_struct *t = kthread_create_on_node(thread, nb, cpu_to_node(cpu), "%s/%u", name, cpu);

	if (!IS_ERR(t)) {
		kthread_bind(t, cpu);
		wake_up_process(t);
	}
	return t;
}

static enum characterize_reason start_all(struct neighbours *nb, const struct characterize_setup *s)
{
	unsigned int i, cpu;

	for (i = 0; i < s->n_corunners; i++) {
		struct task_struct *t = start(corunner_thread, nb, s->corunner_cpu[i], "characterize");

		if (IS_ERR(t))
			return CHARACTERIZE_REASON_MEMORY;
		nb->corunners[nb->n_corunners++] = t;
	}
	if (!(s->flags & CHARACTERIZE_PARK_SIBLING))
		return CHARACTERIZE_REASON_NONE;
	for_each_cpu(cpu, topology_sibling_cpumask(s->cpu)) {
		struct task_struct *t;

		if (cpu == s->cpu || !cpu_online(cpu) || nb->n_parkers == SIBLINGS_MAX)
			continue;
		t = start(parker_thread, nb, cpu, "characterize-park");
		if (IS_ERR(t))
			return CHARACTERIZE_REASON_MEMORY;
		nb->parker[nb->n_parkers++] = t;
	}
	return nb->n_parkers ? CHARACTERIZE_REASON_NONE : CHARACTERIZE_REASON_NO_SIBLING;
}

struct neighbours *neighbours_start(const struct characterize_setup *s, const struct task *corunner,
				    enum characterize_reason *reason)
{
	struct neighbours *nb;

	*reason = check(s);
	if (*reason)
		return NULL;
	if (!s->n_corunners && !(s->flags & CHARACTERIZE_PARK_SIBLING))
		return NULL;
	if (s->flags & CHARACTERIZE_PARK_SIBLING && !support_mwait()) {
		*reason = CHARACTERIZE_REASON_NO_SIBLING;
		return NULL;
	}
	/* rounded up to a power of two such memory is aligned to its size */
	nb = kzalloc(roundup_pow_of_two(struct_size(nb, corunners, s->n_corunners)), GFP_KERNEL);
	if (!nb) {
		*reason = CHARACTERIZE_REASON_MEMORY;
		return NULL;
	}
	nb->corunner = *corunner;
	nb->awake_until = jiffies + AWAKE_FOR;
	cpus_read_lock();
	*reason = start_all(nb, s);
	cpus_read_unlock();
	if (*reason) {
		neighbours_stop(nb);
		return NULL;
	}
	return nb;
}

void neighbours_stop(struct neighbours *nb)
{
	if (!nb)
		return;
	while (nb->n_corunners)
		kthread_stop(nb->corunners[--nb->n_corunners]);
	while (nb->n_parkers)
		kthread_stop(nb->parker[--nb->n_parkers]);
	kfree(nb);
}

/* Gives up after about 10 ms: then fewer wait than there are, and the result says so. */
static void wait_for(const atomic_t *count, unsigned int wanted)
{
	int tries;

	for (tries = 0; tries < 100 && atomic_read(count) != wanted; tries++)
		usleep_range(50, 100);
}

void neighbours_ready(struct neighbours *nb)
{
	unsigned int i;

	if (!nb)
		return;
	WRITE_ONCE(nb->awake_until, jiffies + AWAKE_FOR);
	if (atomic_read(&nb->asleep)) {
		for (i = 0; i < nb->n_corunners; i++)
			wake_up_process(nb->corunners[i]);
		msleep(SETTLE_MS);
	}
	if (!nb->n_parkers)
		return;
	wait_for(&nb->waiting, 0);
	WRITE_ONCE(nb->word, ARMED);
	for (i = 0; i < nb->n_parkers; i++)
		wake_up_process(nb->parker[i]);
	wait_for(&nb->waiting, nb->n_parkers);
}

unsigned int neighbours_park(struct neighbours *nb)
{
	unsigned int wanted;
	u64 limit;

	if (!nb || !nb->n_parkers)
		return 0;
	wanted = atomic_read(&nb->waiting);
	limit = rdtsc() + support_ticks(PARK_US);
	WRITE_ONCE(nb->word, PARK);
	while (atomic_read(&nb->parked) < wanted && rdtsc() < limit)
		cpu_relax();
	return atomic_read(&nb->parked);
}

void neighbours_unpark(struct neighbours *nb)
{
	if (nb)
		WRITE_ONCE(nb->word, RELEASED);
}
