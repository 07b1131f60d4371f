// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Model-specific registers: those of this list are read, and none is written. A register that does not exist answers
 * with a fault, which is caught. Numbers: Intel SDM volume 4; AMD's from Linux, arch/x86/include/asm/msr-index.h.
 */
#include <linux/cpumask.h>
#include <linux/smp.h>

#include "helper.h"

static const u32 listed[] = {
	0x34,  /* SMI count */
	0xce,  /* platform info */
	0xe7, 0xe8, /* MPERF, APERF */
	0x198, 0x199, 0x19c, 0x1a2, /* performance status (voltage) and control, thermal status, temperature target */
	0x1ad, 0x1ae, 0x1af, /* turbo ratio limits */
	0x1b1, /* package thermal status */
	0x606, 0x610, 0x611, 0x614, 0x619, 0x639, /* RAPL: unit, package limit, energy and info, memory, cores */
	0x620, 0x621, /* uncore ratio */
	0x648, 0x649, 0x64a, 0x64b, 0x64c, 0x64f, 0x650, /* configurable power, limit reasons, second turbo limits */
	0x690, /* limit reasons of Haswell */
	0x770, 0x771, 0x774, /* hardware-controlled performance states */
	0xc0010015, 0xc0010061, 0xc0010062, 0xc0010063, /* AMD: configuration, P-states */
	0xc0010064, 0xc0010065, 0xc0010066, 0xc0010067, 0xc0010068, 0xc0010069, 0xc001006a, 0xc001006b,
	0xc0010293, 0xc0010299, 0xc001029a, 0xc001029b, /* AMD: current P-state; RAPL unit, core, package */
	0xc00102b0, 0xc00102b3, /* AMD: CPPC capabilities, request */
};

bool register_listed(u32 number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(listed); i++)
		if (listed[i] == number)
			return true;
	return false;
}

long register_read(struct characterize_msr *m)
{
	u64 value = 0;
	int error;

	m->value = 0;
	if (!register_listed(m->number))
		return refuse(m, CHARACTERIZE_REASON_MSR_NOT_LISTED, -EPERM);
	if (m->cpu >= nr_cpu_ids)
		return refuse(m, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	error = rdmsrq_safe_on_cpu(m->cpu, m->number, &value);
	if (error == -ENXIO)
		return refuse(m, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	if (error)
		return refuse(m, CHARACTERIZE_REASON_MSR_FAULT, -EIO);
	m->value = value;
	return 0;
}
