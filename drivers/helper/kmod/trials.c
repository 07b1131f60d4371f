// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trials: one workload of fixed length, again and again, each time with interrupts masked. They run in a thread of
 * ordinary priority, bound to the CPU that is measured. Between two trials pending interrupts are taken and other
 * threads run, if there are any.
 *
 * A workload has no deadline. So it is found out first, with interrupts enabled, how many rounds take 0.25 ms to
 * 0.5 ms: a trial of more is run in pieces of so many, with a look at the clock in between, and given up where 5 ms are
 * over. A piece can take longer than it was found to: ten times if a core falls from its highest to its lowest
 * frequency.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/tsc.h>

#include "helper.h"
#include "kernels/workloads.h"

enum { PIECE_US = 500 };

struct trials_work {
	struct characterize_trials *t;
	workload_fn *run;
	u64 *buffer;
	struct counters counters;
	u64 counter_mask;
	u64 begin;
	struct task_struct *caller;
	struct completion done;
};

static u64 clock_now(void)
{
	return rdtsc_ordered();
}

bool trials_have_barrier(void)
{
	return boot_cpu_has(X86_FEATURE_IBPB);
}

static u64 run_rounds(const struct trials_work *w, u64 rounds, u64 first)
{
	return w->run(rounds, w->buffer, w->t->bytes - 1, first);
}

/*
 * Doubles the rounds until they take PIECE_US / 2 to PIECE_US, three times in a row: one wrong time, of a thread that
 * was preempted, makes them no fewer.
 */
static u32 rounds_of_piece(const struct trials_work *w)
{
	const u64 enough = support_ticks(PIECE_US) / 2;
	unsigned int slow = 0;
	u64 piece = 1;

	while (slow < 3 && piece < w->t->rounds) {
		u64 begin = clock_now();

		run_rounds(w, piece, 0);
		slow = clock_now() - begin < enough ? 0 : slow + 1;
		piece = slow ? piece : min(piece * 2, w->t->rounds);
		cond_resched();
	}
	return piece;
}

/* True where it came to its end. Interrupts are masked. */
static bool run_pieces(struct trials_work *w, u64 first, u64 limit)
{
	u64 left = w->t->rounds, piece;

	for (;;) {
		piece = min_t(u64, left, w->t->piece);
		w->t->value = run_rounds(w, piece, first);
		left -= piece;
		first += piece;
		if (!left)
			return true;
		if (clock_now() > limit)
			return false;
	}
}

static bool timed_pieces(struct trials_work *w, u64 first, u64 limit, struct characterize_trial *out)
{
	u64 begin, cycles = U64_MAX, after;
	u32 index, missing;
	bool whole, counted = counters_indices(&w->counters, &index, &missing) == 1;

	begin = clock_now();
	if (counted)
		cycles = counters_read(index);
	/* nothing of the workload begins before the counter has been read */
	asm volatile("lfence" : : : "memory");
	whole = run_pieces(w, first, limit);
	asm volatile("lfence" : : : "memory");
	after = counted ? counters_read(index) : U64_MAX;
	out->ticks = clock_now() - begin;
	counted = cycles != U64_MAX && after != U64_MAX;
	out->cycles = counted ? (after - cycles) & w->counter_mask : U64_MAX;
	return whole;
}

static bool masked_trial(struct trials_work *w, u64 first, struct characterize_trial *out)
{
	struct characterize_trials *t = w->t;
	struct timer_mask timer;
	unsigned long flags;
	u32 nmis, smis;
	u64 begin;
	bool whole;

	local_irq_save(flags);
	begin = clock_now();
	timer_mask(&timer);
	smis = support_smis_taken();
	nmis = compat_nmi_count();
	if (t->flags & CHARACTERIZE_TRIALS_IBPB)
		wrmsrq_safe(MSR_IA32_PRED_CMD, PRED_CMD_IBPB);
	whole = timed_pieces(w, first, begin + support_ticks(CHARACTERIZE_TRIAL_US_MAX), out);
	t->nmis += compat_nmi_count() - nmis;
	t->smis += support_smis_taken() - smis;
	timer_unmask(&timer);
	t->longest = max_t(u64, t->longest, clock_now() - begin);
	local_irq_restore(flags);
	t->masked |= CHARACTERIZE_MASKED_CLI | (timer.masked ? CHARACTERIZE_MASKED_TIMER : 0);
	return whole;
}

/* 0, or why no further trial is made. */
static u32 ends(const struct trials_work *w)
{
	if (signal_pending(w->caller))
		return CHARACTERIZE_ENDED_SIGNAL;
	if (clock_now() - w->begin > support_ticks(CHARACTERIZE_TRIALS_US_MAX))
		return CHARACTERIZE_ENDED_CALL;
	return 0;
}

static void run_all(struct trials_work *w)
{
	struct characterize_trials *t = w->t;
	const u32 wanted = t->n;
	u32 i;

	t->piece = rounds_of_piece(w);
	w->begin = clock_now();
	for (i = 0; i < wanted && !t->ended; i++) {
		t->ended = ends(w);
		if (!t->ended && t->spoil)
			workload_get(WORKLOAD_SPOIL)->run(t->spoil, NULL, 0, (u64)i * t->spoil);
		if (!t->ended && !masked_trial(w, i * t->step, &t->trial[i]))
			t->ended = CHARACTERIZE_ENDED_TRIAL;
		if (t->ended)
			break;
		if (t->trial[i].cycles == U64_MAX)
			t->counted &= ~CHARACTERIZE_COUNTED_CYCLES;
		cond_resched();
	}
	t->n = i;
}

static int trials_thread(void *arg)
{
	struct trials_work *w = arg;

	run_all(w);
	complete(&w->done);
	return 0;
}

/* Waits for its end; the CPU stays online meanwhile. */
static long run_in_thread(struct trials_work *w)
{
	const unsigned int cpu = w->t->cpu;
	struct task_struct *thread;

	thread = kthread_create_on_node(trials_thread, w, cpu_to_node(cpu), "characterize-trials/%u", cpu);
	if (IS_ERR(thread))
		return refuse(w->t, CHARACTERIZE_REASON_MEMORY, -ENOMEM);
	kthread_bind(thread, cpu);
	get_task_struct(thread);
	wake_up_process(thread);
	wait_for_completion(&w->done);
	/* until it has left the module's code */
	kthread_stop(thread);
	put_task_struct(thread);
	return 0;
}

static long run_on_cpu(struct trials_work *w)
{
	long error;

	cpus_read_lock();
	error = cpu_online(w->t->cpu) ? run_in_thread(w) : refuse(w->t, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	cpus_read_unlock();
	return error;
}

static long check_trials(struct characterize_trials *t)
{
	enum characterize_reason reason = support_refuses();

	if (reason)
		return refuse(t, reason, -EOPNOTSUPP);
	if (t->flags & ~(u32)CHARACTERIZE_TRIALS_IBPB || t->reserved)
		return refuse(t, CHARACTERIZE_REASON_FLAGS, -EINVAL);
	if (t->workload >= WORKLOAD_SPOIL || t->spoil > CHARACTERIZE_SPOIL_MAX || !t->n ||
	    t->n > CHARACTERIZE_TRIALS_MAX || !t->rounds || t->rounds > CHARACTERIZE_TRIAL_ROUNDS_MAX)
		return refuse(t, CHARACTERIZE_REASON_TRIALS, -EINVAL);
	if (t->cpu >= nr_cpu_ids || !cpu_online(t->cpu))
		return refuse(t, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	if (t->workload == WORKLOAD_LOAD ?
		    !is_power_of_2(t->bytes) || t->bytes < CHARACTERIZE_TRIAL_BYTES_MIN ||
			    t->bytes > CHARACTERIZE_TRIAL_BYTES_MAX :
		    t->bytes != 0)
		return refuse(t, CHARACTERIZE_REASON_TRIAL_BUFFER, -EINVAL);
	if (t->flags & CHARACTERIZE_TRIALS_IBPB && !trials_have_barrier())
		return refuse(t, CHARACTERIZE_REASON_NO_IBPB, -EOPNOTSUPP);
	return 0;
}

/* Words 0, 1, 2...; pages of their own, so that lines begin where the buffer does. */
static bool provide_words(struct trials_work *w)
{
	u64 i;

	if (!w->t->bytes)
		return true;
	w->buffer = kvmalloc(w->t->bytes, GFP_KERNEL);
	for (i = 0; w->buffer && i < w->t->bytes / sizeof(*w->buffer); i++)
		w->buffer[i] = i;
	return w->buffer;
}

/* Cycles where perf has a counter for them; without one there are ticks alone. */
static void provide_counter(struct trials_work *w)
{
	const struct characterize_counter cycles = { .source = CHARACTERIZE_CYCLES };
	enum characterize_reason ignored;
	const u32 bits = support_counter_bits();
	u32 failed;

	if (!counters_make(&w->counters, &cycles, 1, w->t->cpu, &failed, &ignored))
		w->t->counted |= CHARACTERIZE_COUNTED_CYCLES;
	w->counter_mask = bits && bits < 64 ? BIT_ULL(bits) - 1 : U64_MAX;
	if (support_smis_counted())
		w->t->counted |= CHARACTERIZE_COUNTED_SMIS;
}

long trials_run(struct characterize_trials *t)
{
	struct trials_work w = { .t = t, .caller = current };
	long error;

	memset((char *)t + offsetof(struct characterize_trials, ended), 0,
	       sizeof(*t) - offsetof(struct characterize_trials, ended));
	error = check_trials(t);
	if (error)
		return error;
	w.run = workload_get(array_index_nospec(t->workload, WORKLOAD_SPOIL))->run;
	init_completion(&w.done);
	if (!provide_words(&w))
		return refuse(t, CHARACTERIZE_REASON_MEMORY, -ENOMEM);
	provide_counter(&w);
	error = run_on_cpu(&w);
	counters_release(&w.counters);
	kvfree(w.buffer);
	if (!error && !t->n && t->ended == CHARACTERIZE_ENDED_TRIAL)
		return refuse(t, CHARACTERIZE_REASON_TRIAL_TIME, -EINVAL);
	return error;
}
