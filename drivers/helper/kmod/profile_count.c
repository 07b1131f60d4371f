// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters of the profiler: perf's counters of a CPU, read with RDPMC before and after no-ops. */
#include <asm/asm.h>
#include <asm/barrier.h>

#include "profile.h"

/* All counters of the hardware at one moment: the reads are neither reordered with what precedes nor what follows. */
static __always_inline void count_now(const u32 *index, struct profile_counts *out)
{
	unsigned int i;

	asm volatile("lfence" : : : "memory");
	for (i = 0; i < PROFILE_COUNTERS; i++) {
		u32 lo = 0, hi = 0;

		/* a fault, as of a counter that a hypervisor takes away, reads as 0 */
		asm volatile("1: rdpmc\n2:\n" _ASM_EXTABLE(1b, 2b) : "+a"(lo), "+d"(hi) : "c"(index[i]));
		out->count[i] = (u64)hi << 32 | lo;
	}
	asm volatile("lfence" : : : "memory");
}

void profile_count(const struct counters *c, struct profile_counts *before, struct profile_counts *after)
{
	u32 index[CHARACTERIZE_COUNTERS], missing = 0;

	*before = *after = (struct profile_counts){};
	if (c->n != PROFILE_COUNTERS || counters_indices(c, index, &missing) != PROFILE_COUNTERS) {
		before->missing = after->missing = missing ? missing : (1u << PROFILE_COUNTERS) - 1;
		return;
	}
	count_now(index, before);
	asm volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(PROFILE_NOPS) : "memory");
	count_now(index, after);
}
