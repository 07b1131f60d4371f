// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampling loop: drivers/native/pace.h with a row of RDPMC, or a dependent chain, for readings. There is one loop
 * for each number of counters, so that none of them holds a loop over counters, or a call.
 */
#include <asm/asm.h>
#include <asm/msr-index.h>

#include "helper.h"

#define LFENCE() asm volatile("lfence" : : : "memory")

static __always_inline u64 read_tsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (u64)hi << 32 | lo;
}

/* The same for RDMSR. */
static __always_inline u64 read_register(u32 number)
{
	u32 lo = ~0u, hi = ~0u;

	asm volatile("1: rdmsr\n2:\n" _ASM_EXTABLE(1b, 2b) : "+a"(lo), "+d"(hi) : "c"(number));
	return (u64)hi << 32 | lo;
}

/* One reading. n and aperf_mperf are constants where this is inlined. */
static __always_inline u64 read_all(struct reader *r, const unsigned int n, const bool aperf_mperf)
{
	u64 *out = r->out, at;
	unsigned int i;

	/* the payload has finished before the time is taken */
	LFENCE();
	at = read_tsc();
	out[0] = at;
	out[1] = r->blocks;
#pragma GCC unroll 12
	for (i = 0; i < n; i++)
		out[2 + i] = counters_read(r->index[i]);
	if (aperf_mperf) {
		out[2 + n] = read_register(MSR_IA32_APERF);
		out[3 + n] = read_register(MSR_IA32_MPERF);
	}
	r->out = out + r->stride;
	return at;
}

/* No deadline behind the limit, however wrong the pace. */
static __always_inline u64 run_payload(struct reader *r, const struct pace_lane *lane, const struct pace *pace, u64 now,
				       u64 until)
{
	u64 blocks = pace_run_until(lane, pace->rate, now, until < r->limit ? until : r->limit, pace->careful);

	r->blocks += blocks;
	return blocks;
}

#define SAMPLER(name, n, aperf_mperf) \
	static __always_inline u64 take_##name(void *reader, size_t i, const struct pace_lane *lane, \
					       const struct pace *pace, u64 now, u64 until, unsigned int kind, \
					       u64 *begin, u64 *blocks) \
	{ \
		*blocks = run_payload(reader, lane, pace, now, until); \
		*begin = read_all(reader, n, aperf_mperf); \
		return *begin; \
	} \
	static noinline size_t sample_##name(struct pace_lane *lane, struct pace_grid *grid, u64 end, \
					     size_t room, struct reader *reader) \
	{ \
		return pace_sample(lane, grid, end, room, CHAIN_TURNS, take_##name, reader); \
	}
#define SAMPLERS(n) SAMPLER(plain_##n, n, false) SAMPLER(msr_##n, n, true)

SAMPLERS(0)
SAMPLERS(1)
SAMPLERS(2)
SAMPLERS(3)
SAMPLERS(4)
SAMPLERS(5)
SAMPLERS(6)
SAMPLERS(7)
SAMPLERS(8)
SAMPLERS(9)
SAMPLERS(10)
SAMPLERS(11)
SAMPLERS(12)

/*
 * As in drivers/timing/timing_sample.c, and for the same reasons: inlined once for each chain, so that there is no
 * branch between the payload and the chain.
 */
static __always_inline u64 take(struct reader *r, const struct pace_lane *lane, const struct pace *pace, u64 now,
				u64 until, const unsigned int is_long, u64 (*chain)(u64 *), u64 *begin, u64 *blocks)
{
	u64 *out = r->out, ended;

	*blocks = run_payload(r, lane, pace, now, until);
	LFENCE();
	ended = pace_glance();
	chain_wait_dithered(&r->dither, r->dither_range);
	chain_wait_out_of_reach();
	out[0] = chain(&out[1]);
	out[2] = chain_word(r->blocks, is_long, out[1] - ended);
	r->out = out + r->stride;
	*begin = ended;
	return out[0];
}

static __always_inline u64 take_fine(void *r, size_t i, const struct pace_lane *lane, const struct pace *pace, u64 now,
				     u64 until, unsigned int is_long, u64 *begin, u64 *blocks)
{
	return is_long ? take(r, lane, pace, now, until, 1, kernel_chain_long, begin, blocks) :
			 take(r, lane, pace, now, until, 0, kernel_chain_short, begin, blocks);
}

static __always_inline u64 take_coarse(void *r, size_t i, const struct pace_lane *lane, const struct pace *pace,
				       u64 now, u64 until, unsigned int is_long, u64 *begin, u64 *blocks)
{
	return is_long ? take(r, lane, pace, now, until, 1, kernel_chain_longest, begin, blocks) :
			 take(r, lane, pace, now, until, 0, kernel_chain_long, begin, blocks);
}

static noinline size_t sample_fine(struct pace_lane *lane, struct pace_grid *grid, u64 end, size_t room,
				   struct reader *reader)
{
	return pace_sample(lane, grid, end, room, CHAIN_TURNS, take_fine, reader);
}

static noinline size_t sample_coarse(struct pace_lane *lane, struct pace_grid *grid, u64 end, size_t room,
				     struct reader *reader)
{
	return pace_sample(lane, grid, end, room, CHAIN_COARSE_TURNS, take_coarse, reader);
}

/* Without payload and wait. */
static u64 first_chain(struct reader *r)
{
	u64 *out = r->out;

	LFENCE();
	out[0] = r->coarse ? kernel_chain_long(&out[1]) : kernel_chain_short(&out[1]);
	out[2] = 0;
	r->out = out + r->stride;
	return out[0];
}

typedef size_t sampler(struct pace_lane *lane, struct pace_grid *grid, u64 end, size_t room, struct reader *reader);

#define ENTRY(n) { sample_plain_##n, sample_msr_##n }

static sampler *const samplers[CHARACTERIZE_COUNTERS + 1][2] = {
	ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6),
	ENTRY(7), ENTRY(8), ENTRY(9), ENTRY(10), ENTRY(11), ENTRY(12),
};

/* Readings that can still be stored. */
static size_t room(const struct reader *r)
{
	return (r->end - r->out) / r->stride;
}

size_t sample(struct pace_lane *lane, struct pace_grid *grid, u64 end, struct reader *r)
{
	if (r->chain)
		return r->coarse ? sample_coarse(lane, grid, end, room(r), r) : sample_fine(lane, grid, end, room(r), r);
	return samplers[r->n][r->aperf_mperf](lane, grid, end, room(r), r);
}

u64 sample_origin(struct reader *r)
{
	u64 *out = r->out, at;
	unsigned int i;

	r->blocks = 0;
	if (!room(r))
		return read_tsc();
	if (r->chain)
		return first_chain(r);
	at = read_all(r, 0, false);
	for (i = 0; i < r->n; i++)
		out[2 + i] = counters_read(r->index[i]);
	if (r->aperf_mperf) {
		out[2 + r->n] = read_register(MSR_IA32_APERF);
		out[3 + r->n] = read_register(MSR_IA32_MPERF);
	}
	return at;
}
