// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampling loop: drivers/native/sampling.h with a row of RDPMC, or a dependent chain, for readings. There is one
 * loop for each number of counters, so that none of them holds a loop over counters, or a call.
 */
#include <asm/asm.h>
#include <asm/msr-index.h>

#include "helper.h"

/* As counters_read(), of RDMSR. */
static __always_inline u64 read_register(u32 number)
{
	u32 lo = ~0u, hi = ~0u;

	asm volatile("1: rdmsr\n2:\n" _ASM_EXTABLE(1b, 2b) : "+a"(lo), "+d"(hi) : "c"(number));
	return (u64)hi << 32 | lo;
}

/* One reading. n and aperf_mperf are constants where this is inlined. */
static __always_inline u64 read_all(struct reader *r, size_t number, u64 blocks, const unsigned int n,
				    const bool aperf_mperf)
{
	u64 *out = r->out + number * r->stride, at = sampling_stamp();
	unsigned int i;

	out[0] = at;
	out[1] = blocks;
#pragma GCC unroll 12
	for (i = 0; i < n; i++)
		out[2 + i] = counters_read(r->index[i]);
	if (aperf_mperf) {
		out[2 + n] = read_register(MSR_IA32_APERF);
		out[3 + n] = read_register(MSR_IA32_MPERF);
	}
	return at;
}

#define SAMPLER(name, n, aperf_mperf) \
	static __always_inline u64 read_##name(void *reader, size_t i, u64 blocks, unsigned int doubled) \
	{ \
		return read_all(reader, i, blocks, n, aperf_mperf); \
	} \
	static noinline void sample_##name(const struct sampling *p, struct sampling_log *log, struct reader *reader) \
	{ \
		sampling_run(p, log, read_##name, reader); \
	}
#define SAMPLERS(n) SAMPLER(plain_##n, n, false) SAMPLER(msr_##n, n, true)

#define EACH_COUNT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12)
EACH_COUNT(SAMPLERS)

static noinline void sample_chain(const struct sampling *p, struct sampling_log *log, struct reader *r)
{
	sampling_run(p, log, chain_read, &r->chains);
}

typedef void sampler(const struct sampling *p, struct sampling_log *log, struct reader *reader);

#define ENTRY(n) { sample_plain_##n, sample_msr_##n },

static sampler *const samplers[CHARACTERIZE_COUNTERS + 1][2] = { EACH_COUNT(ENTRY) };

void sample(const struct sampling *p, struct sampling_log *log, struct reader *r)
{
	if (r->chain)
		sample_chain(p, log, r);
	else
		samplers[r->n][r->aperf_mperf](p, log, r);
}
