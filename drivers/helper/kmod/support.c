// SPDX-License-Identifier: GPL-2.0-or-later
/* The features of this processor and this kernel. Those that are unknown here are refused, with a reason. */
#include <linux/delay.h>
#include <linux/nospec.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xcr.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "helper.h"

static bool vendor_known(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return true;
	}
	return false;
}

/*
 * Invariant as CPUID says it (Intel SDM volume 3B, "Invariant TSC"). Hypervisors often hide the bit; there a kernel
 * that has not found the TSC unstable is believed, as in computer/cpu/tsc.h.
 */
static bool tsc_known(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC) || check_tsc_unstable() || !tsc_khz)
		return false;
	return boot_cpu_has(X86_FEATURE_HYPERVISOR) ||
	       (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC));
}

enum characterize_reason support_refuses(void)
{
	if (!vendor_known())
		return CHARACTERIZE_REASON_VENDOR;
	if (!tsc_known())
		return CHARACTERIZE_REASON_TSC;
	return CHARACTERIZE_REASON_NONE;
}

/* boot_cpu_has() is what the kernel left of CPUID (noxsave, clearcpuid=); the register state must be enabled, too. */
u32 support_features(void)
{
	u32 features = 0;

	if (!boot_cpu_has(X86_FEATURE_AVX) || !cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		return 0;
	features |= KERNEL_NEEDS_AVX;
	if (boot_cpu_has(X86_FEATURE_FMA))
		features |= KERNEL_NEEDS_FMA;
	if (boot_cpu_has(X86_FEATURE_AVX2))
		features |= KERNEL_NEEDS_AVX2;
	if (boot_cpu_has(X86_FEATURE_AVX512F) && cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL))
		features |= KERNEL_NEEDS_AVX512F | (boot_cpu_has(X86_FEATURE_AVX512VL) ? KERNEL_NEEDS_AVX512VL : 0);
	return features;
}

static enum characterize_reason missing_feature(u32 missing)
{
	if (missing & KERNEL_NEEDS_AMX_BF16)
		return CHARACTERIZE_REASON_AMX;
	if (missing & (KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AVX512VL))
		return CHARACTERIZE_REASON_NO_AVX512;
	if (missing & KERNEL_NEEDS_AVX)
		return CHARACTERIZE_REASON_NO_AVX;
	if (missing & KERNEL_NEEDS_AVX2)
		return CHARACTERIZE_REASON_NO_AVX2;
	if (missing & KERNEL_NEEDS_FMA)
		return CHARACTERIZE_REASON_NO_FMA;
	return CHARACTERIZE_REASON_NONE;
}

enum characterize_reason support_task(const struct characterize_payload *p, struct task *out)
{
	size_t count;
	const struct kernel *all = kernel_registry(&count);
	unsigned int highest;
	const struct kernel *k;

	if (p->kernel >= count || p->dirty > 1 || p->reserved)
		return CHARACTERIZE_REASON_KERNEL_NUMBER;
	k = &all[array_index_nospec(p->kernel, count)];
	highest = k->has_density ? KERNEL_DENSITY_MAX : 1;
	if (p->density > highest)
		return CHARACTERIZE_REASON_KERNEL_NUMBER;
	/* as in kernels/parse.c: others have nothing that stays in use */
	if (p->dirty && k->width < 256)
		return CHARACTERIZE_REASON_KERNEL_NUMBER;
	out->run = k->variants[array_index_nospec(p->density, highest + 1)];
	out->bytes = k->block_bytes[array_index_nospec(p->density, highest + 1)];
	out->dirty = p->dirty;
	return missing_feature(k->features & ~support_features());
}

bool support_mwait(void)
{
	return boot_cpu_has(X86_FEATURE_MWAIT) && boot_cpu_data.cpuid_level >= 5;
}

bool support_aperf_mperf(unsigned int cpu)
{
	u64 before[2], after[2];

	if (!boot_cpu_has(X86_FEATURE_APERFMPERF))
		return false;
	if (rdmsrq_safe_on_cpu(cpu, MSR_IA32_APERF, &before[0]) || rdmsrq_safe_on_cpu(cpu, MSR_IA32_MPERF, &before[1]))
		return false;
	udelay(20);
	if (rdmsrq_safe_on_cpu(cpu, MSR_IA32_APERF, &after[0]) || rdmsrq_safe_on_cpu(cpu, MSR_IA32_MPERF, &after[1]))
		return false;
	return after[0] != before[0] && after[1] != before[1];
}

/* Intel: CPUID 0AH EAX[23:16] (SDM volume 2A); AMD: 48 (APM volume 2, 13.2.2). */
u32 support_counter_bits(void)
{
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.cpuid_level >= 10)
		return (cpuid_eax(10) >> 16) & 0xff;
	return 48;
}

u64 support_ticks(u64 us)
{
	return us * tsc_khz / 1000;
}

u32 support_smis_taken(void)
{
	u64 value;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || rdmsrq_safe(MSR_SMI_COUNT, &value))
		return 0;
	return value;
}

bool support_smis_counted(void)
{
	u64 ignored;

	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && !boot_cpu_has(X86_FEATURE_HYPERVISOR) &&
	       !rdmsrq_safe(MSR_SMI_COUNT, &ignored);
}
