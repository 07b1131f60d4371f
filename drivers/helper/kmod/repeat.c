// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One repetition. It runs in a worker on the CPU that is measured, which need not be that of the caller. All that is
 * run with interrupts masked ends by the TSC: after the segments requested, and after 10 ms at the latest. Between two
 * checks of it lie 20 us of a kernel at its full rate, or one reading. A hypervisor or firmware that takes the CPU away
 * in between keeps interrupts waiting for as long as it likes: what was measured before it is still returned, and what
 * is stored never depends on how much time has passed, only on the room that is left.
 */
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/hardirq.h>
#include <asm/tsc.h>

#include "helper.h"

enum {
	WARM_US = 2000,      /* a new kernel runs so long before its rate is taken (drivers/native/native.c) */
	STRETCHES = 20,      /* its rate is that of the fastest of so many, of CHARACTERIZE_SAMPLE_US_MAX */
	BLOCKS_MAX = 1 << 16,
	CALIBRATIONS = 5,    /* tries, where the CPU was taken away until the time was over */
	RELAX_US = 4000,     /* twice the 2 ms that Intel's manual gives for a license to lapse */
};

struct work {
	struct session *s;
	struct characterize_run *run;
	struct lane *lanes[CHARACTERIZE_SEGMENTS];
	struct reader reader;
	u64 limit;
	struct lane *fresh;  /* to be calibrated, instead of a repetition */
};

static u64 now(void)
{
	return rdtsc_ordered();
}

/* ---- interrupts and registers ---- */

/*
 * kernel_fpu_begin() leaves in the vector registers what their last user left there. Upper halves in use would make
 * narrow code slow, and are themselves what is measured: they are cleared. Registers 16 to 31 are reached by EVEX only;
 * writing their lower 128 bits clears the rest.
 */
static void clear_vectors(u32 features)
{
	if (!(features & KERNEL_NEEDS_AVX))
		return;
	if (features & KERNEL_NEEDS_AVX512F && boot_cpu_has(X86_FEATURE_AVX512VL)) {
		asm volatile("vpxord %%xmm16, %%xmm16, %%xmm16\n\tvpxord %%xmm17, %%xmm17, %%xmm17\n\t"
			     "vpxord %%xmm18, %%xmm18, %%xmm18\n\tvpxord %%xmm19, %%xmm19, %%xmm19\n\t"
			     "vpxord %%xmm20, %%xmm20, %%xmm20\n\tvpxord %%xmm21, %%xmm21, %%xmm21\n\t"
			     "vpxord %%xmm22, %%xmm22, %%xmm22\n\tvpxord %%xmm23, %%xmm23, %%xmm23\n\t"
			     "vpxord %%xmm24, %%xmm24, %%xmm24\n\tvpxord %%xmm25, %%xmm25, %%xmm25\n\t"
			     "vpxord %%xmm26, %%xmm26, %%xmm26\n\tvpxord %%xmm27, %%xmm27, %%xmm27\n\t"
			     "vpxord %%xmm28, %%xmm28, %%xmm28\n\tvpxord %%xmm29, %%xmm29, %%xmm29\n\t"
			     "vpxord %%xmm30, %%xmm30, %%xmm30\n\tvpxord %%xmm31, %%xmm31, %%xmm31" : : : "memory");
	}
	asm volatile("vzeroupper" : : : "memory");
}

static u32 nmis_taken(void)
{
	return compat_nmi_count();
}

/* Runs `inside` with vector registers usable, preemption off and interrupts masked. */
static long masked(struct work *w, void (*inside)(struct work *w))
{
	struct characterize_run *run = w->run;
	struct timer_mask timer;
	unsigned long flags;
	u32 nmis, smis, features = support_features();

	if (!irq_fpu_usable())
		return refuse(run, CHARACTERIZE_REASON_KERNEL_FPU, -EAGAIN);
	kernel_fpu_begin();
	local_irq_save(flags);
	run->cut = 0;
	run->begin_tsc = now();
	timer_mask(&timer);
	w->limit = run->begin_tsc + support_ticks(CHARACTERIZE_MASKED_US_MAX);
	run->parked = w->fresh ? 0 : neighbours_park(w->s->neighbours);
	clear_vectors(features);
	smis = support_smis_taken();
	nmis = nmis_taken();
	inside(w);
	run->nmis = nmis_taken() - nmis;
	run->smis = support_smis_taken() - smis;
	clear_vectors(features);
	neighbours_unpark(w->s->neighbours);
	timer_unmask(&timer);
	run->end_tsc = now();
	local_irq_restore(flags);
	kernel_fpu_end();
	run->masked = CHARACTERIZE_MASKED_CLI | (timer.masked ? CHARACTERIZE_MASKED_TIMER : 0);
	return 0;
}

/* ---- what must be known of a kernel before it is sampled ---- */

static u64 at_least_one(u64 n)
{
	return n ? n : 1;
}

/*
 * Blocks that take half to all of CHARACTERIZE_SAMPLE_US_MAX: doubled until they do, three times in a row. One wrong
 * time, of a CPU that was taken away or of a clock that was corrected, makes them neither fewer nor more than twice as
 * many.
 */
static u64 blocks_of_stretch(const struct sampling_lane *p, u64 end)
{
	const u64 enough = support_ticks(CHARACTERIZE_SAMPLE_US_MAX) / 2;
	unsigned int slow = 0;
	u64 blocks = 1;

	while (slow < 3 && blocks < BLOCKS_MAX && now() < end) {
		u64 begin = now();

		p->run(blocks, 0, NULL, p->dirty, NULL);
		slow = now() - begin < enough ? 0 : slow + 1;
		blocks = slow ? blocks : blocks * 2;
	}
	return blocks;
}

/* As native_lane_measure() of user space does it, in integers. No sample takes longer than a stretch. */
static void calibrate(struct work *w)
{
	struct sampling_lane *p = &w->fresh->pace;
	const u64 usual = w->s->period / SAMPLING_A_PERIOD, end = w->limit;
	u64 begin, blocks, best = U64_MAX;
	unsigned int i;

	p->run(1, now() + support_ticks(WARM_US), NULL, p->dirty, NULL);
	blocks = blocks_of_stretch(p, end);
	for (i = 0; i < STRETCHES && now() < end; i++) {
		begin = now();
		p->run(blocks, 0, NULL, p->dirty, NULL);
		best = min(best, at_least_one(now() - begin));
	}
	w->run->cut = i < STRETCHES ? CHARACTERIZE_CUT_TIME : 0;
	p->blocks = at_least_one(min((blocks * usual + best - 1) / best, blocks));
}

static bool same_payload(const struct characterize_payload *a, const struct characterize_payload *b)
{
	return a->kernel == b->kernel && a->density == b->density && a->dirty == b->dirty;
}

static struct lane *find_lane(struct session *s, const struct characterize_payload *p)
{
	unsigned int i;

	for (i = 0; i < s->n_lanes; i++)
		if (same_payload(&s->lane[i].payload, p))
			return &s->lane[i];
	return NULL;
}

/* ---- the recording ---- */

static void record(struct work *w)
{
	struct characterize_run *run = w->run;
	struct sampling p = { .n = run->n_segments, .zero = run->zero, .limit = w->limit, .room = w->s->readings };
	struct sampling_log log = {};
	u64 ticks = 0;
	unsigned int i;

	for (i = 0; i < run->n_segments; i++) {
		p.stretch[i] = (struct sampling_stretch){ .lane = &w->lanes[i]->pace, .ticks = run->segment[i].ticks,
							  .blocks = run->segment[i].blocks,
							  .sampled = run->segment[i].sampled };
		ticks += run->segment[i].ticks;
	}
	sample(&p, &log, &w->reader);
	run->n = log.n;
	run->zero_reading = log.zero_reading;
	run->zero_tsc = log.zero_tsc;
	run->cut = (log.cut ? CHARACTERIZE_CUT_ROOM : 0) |
		   (run->begin_tsc + ticks > w->limit || now() > w->limit ? CHARACTERIZE_CUT_TIME : 0);
	for (i = 0; i < run->n_segments; i++) {
		run->last[i] = log.last[i];
		run->blocks[i] = log.blocks[i];
	}
	if (run->last_register)
		run->register_valid = !rdmsrq_safe(run->last_register, &run->register_value);
}

/* ---- around it ---- */

/* Readings were taken without the missing counters, at the front of each: the words go where they belong. */
static void spread(u64 *reading, size_t n, u32 stride, unsigned int counters, u32 missing, bool aperf_mperf)
{
	size_t i;

	for (i = 0; i < n; i++, reading += stride) {
		unsigned int from = 2 + counters - hweight32(missing), c;

		if (aperf_mperf) {
			reading[2 + counters + 1] = reading[from + 1];
			reading[2 + counters] = reading[from];
		}
		for (c = counters; c-- > 0;)
			reading[2 + c] = missing & 1u << c ? U64_MAX : reading[--from];
	}
}

static void spread_all(struct work *w)
{
	const struct session *s = w->s;
	const struct characterize_run *run = w->run;

	if (run->missing)
		spread(s->buffer, run->n, s->stride, s->counters.n, run->missing,
		       s->flags & CHARACTERIZE_APERF_MPERF);
}

static void set_up_reader(struct work *w)
{
	const struct session *s = w->s;
	struct reader *r = &w->reader;

	r->out = s->buffer;
	r->stride = s->stride;
	r->chain = s->flags & CHARACTERIZE_CHAIN;
	r->chains = (struct chain_reader){ .out = (struct chain_raw *)s->buffer, .random = now(),
					   .choice = { .steady_from = s->flags & CHARACTERIZE_STEADY ? 0 : 1,
						       .dither = s->dither } };
	r->aperf_mperf = s->flags & CHARACTERIZE_APERF_MPERF;
	r->n = counters_indices(&s->counters, r->index, &w->run->missing);
}

static void calibrate_inside(struct work *w)
{
	set_up_reader(w);
	calibrate(w);
}

static void record_inside(struct work *w)
{
	set_up_reader(w);
	record(w);
}

static long calibrate_new(struct work *w)
{
	struct characterize_run *run = w->run;
	struct session *s = w->s;
	bool ran = false;
	unsigned int i, tries;

	if (s->n_lanes + run->n_segments > LANES)
		s->n_lanes = 0; /* rarely so many; they are calibrated again */
	for (i = 0; i < run->n_segments; i++) {
		const struct characterize_payload *p = &run->segment[i].payload;
		struct task task;
		struct lane *lane;
		long error;

		if (find_lane(s, p))
			continue;
		error = support_task(p, &task);
		if (error)
			return refuse(run, error, -EOPNOTSUPP);
		lane = &s->lane[s->n_lanes];
		*lane = (struct lane){ .payload = *p, .pace = { .run = task.run, .dirty = task.dirty } };
		lane->pace.code = (const volatile unsigned char *)task.run;
		lane->pace.lines = at_least_one(task.bytes / SAMPLING_LINE);
		w->fresh = lane;
		error = masked(w, calibrate_inside);
		for (tries = 1; !error && run->cut && tries < CALIBRATIONS; tries++)
			error = masked(w, calibrate_inside);
		w->fresh = NULL;
		if (error)
			return error;
		s->n_lanes++;
		ran = true;
	}
	if (ran)
		usleep_range(RELAX_US, RELAX_US + 500);
	for (i = 0; i < run->n_segments; i++)
		w->lanes[i] = find_lane(s, &run->segment[i].payload);
	return 0;
}

static long on_cpu(void *arg)
{
	struct work *w = arg;
	long error = calibrate_new(w);

	if (error)
		return error;
	neighbours_ready(w->s->neighbours);
	error = masked(w, record_inside);
	/* an error left the hyper-threads armed */
	neighbours_unpark(w->s->neighbours);
	if (!error)
		spread_all(w);
	if (w->run->cut & CHARACTERIZE_CUT_ROOM)
		w->s->n_lanes = 0; /* a kernel may have become faster than it was when it was measured */
	return error;
}

/* The segments make one recording, and end in time. */
static long check(const struct session *s, struct characterize_run *run)
{
	u64 ticks = 0;
	unsigned int i, recordings = 0;

	if (!run->n_segments || run->n_segments > CHARACTERIZE_SEGMENTS || run->zero >= run->n_segments ||
	    run->reserved)
		return refuse(run, CHARACTERIZE_REASON_SEGMENTS, -EINVAL);
	if (run->last_register && !register_listed(run->last_register))
		return refuse(run, CHARACTERIZE_REASON_MSR_NOT_LISTED, -EPERM);
	for (i = 0; i < run->n_segments; i++) {
		const struct characterize_segment *g = &run->segment[i];
		struct task ignored;
		enum characterize_reason reason = support_task(&g->payload, &ignored);

		if (reason)
			return refuse(run, reason, reason == CHARACTERIZE_REASON_KERNEL_NUMBER ? -EINVAL : -EOPNOTSUPP);
		if (g->sampled > 1 || g->reserved)
			return refuse(run, CHARACTERIZE_REASON_SEGMENTS, -EINVAL);
		/* each by itself first: the sum must not wrap */
		if (g->ticks > support_ticks(CHARACTERIZE_MASKED_US_MAX))
			return refuse(run, CHARACTERIZE_REASON_TOO_LONG, -EINVAL);
		ticks += g->ticks;
		recordings += g->sampled && (!i || !run->segment[i - 1].sampled);
	}
	if (ticks > support_ticks(CHARACTERIZE_MASKED_US_MAX))
		return refuse(run, CHARACTERIZE_REASON_TOO_LONG, -EINVAL);
	if (recordings > 1)
		return refuse(run, CHARACTERIZE_REASON_SEGMENTS, -EINVAL);
	return 0;
}

static void clear_results(struct characterize_run *run)
{
	memset((char *)run + offsetof(struct characterize_run, n), 0,
	       sizeof(*run) - offsetof(struct characterize_run, n));
}

long repeat(struct session *s, struct characterize_run *run)
{
	struct work w = { .s = s, .run = run };
	long error;

	clear_results(run);
	error = check(s, run);
	if (!error)
		error = compat_work_on_cpu(s->cpu, on_cpu, &w);
	if (error == -ENODEV) /* taken offline meanwhile */
		return refuse(run, CHARACTERIZE_REASON_CPU_NUMBER, error);
	return error;
}
