// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Performance counters. They are perf's events, pinned to one CPU: perf chooses the hardware counter, so that the NMI
 * watchdog and other users of counters keep theirs. What is read with RDPMC is the counter on which perf has put the
 * event, looked up when interrupts are masked already: perf cannot move it then. resctrl's pseudo-locking measures the
 * same way (arch/x86/kernel/cpu/resctrl/pseudo_lock.c).
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <asm/processor.h>

#include "helper.h"

/* Event select, umask, edge, inv, cmask: IA32_PERFEVTSELx without enable, interrupt and rings (SDM volume 3B). AMD's
 * select is four bits longer (APM volume 2); of other processors perf would drop them and count something else. */
#define RAW_MASK 0xff84ffffull
#define RAW_MASK_AMD (RAW_MASK | 0xfull << 32)

static u64 raw_mask(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_AMD || boot_cpu_data.x86_vendor == X86_VENDOR_HYGON ?
	       RAW_MASK_AMD : RAW_MASK;
}

static int fill(struct perf_event_attr *attr, const struct characterize_counter *spec)
{
	static const u32 generic[] = {
		[CHARACTERIZE_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
		[CHARACTERIZE_REF_CYCLES] = PERF_COUNT_HW_REF_CPU_CYCLES,
		[CHARACTERIZE_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
	};

	if (spec->reserved)
		return -EINVAL;
	attr->size = sizeof(*attr);
	attr->pinned = 1;
	switch (spec->source) {
	case CHARACTERIZE_CYCLES:
	case CHARACTERIZE_REF_CYCLES:
	case CHARACTERIZE_INSTRUCTIONS:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = generic[spec->source];
		return spec->config ? -EINVAL : 0;
	case CHARACTERIZE_RAW:
		attr->type = PERF_TYPE_RAW;
		attr->config = spec->config;
		return spec->config & ~raw_mask() ? -EINVAL : 0;
	}
	return -EINVAL;
}

long counters_make(struct counters *c, const struct characterize_counter *spec, unsigned int n, unsigned int cpu,
		   u32 *failed, enum characterize_reason *reason)
{
	unsigned int i;

	c->n = 0;
	for (i = 0; i < n; i++) {
		struct perf_event_attr attr = {};
		struct perf_event *event;
		long error = fill(&attr, &spec[i]);

		*failed = i;
		if (error) {
			*reason = CHARACTERIZE_REASON_COUNTERS;
			counters_release(c);
			return error;
		}
		event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
		if (IS_ERR(event)) {
			error = PTR_ERR(event);
			*reason = error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV || error == -ENXIO ?
				  CHARACTERIZE_REASON_NO_PMU : CHARACTERIZE_REASON_NO_COUNTER;
			counters_release(c);
			return -EOPNOTSUPP;
		}
		c->event[c->n++] = event;
	}
	return 0;
}

void counters_release(struct counters *c)
{
	while (c->n)
		perf_event_release_kernel(c->event[--c->n]);
}

unsigned int counters_indices(const struct counters *c, u32 *index, u32 *missing)
{
	unsigned int i, n = 0;

	*missing = 0;
	for (i = 0; i < c->n; i++) {
		const struct perf_event *e = c->event[i];

		if (e->state == PERF_EVENT_STATE_ACTIVE && e->oncpu == smp_processor_id() && e->hw.idx >= 0)
			index[n++] = e->hw.event_base_rdpmc;
		else
			*missing |= 1u << i;
	}
	return n;
}
