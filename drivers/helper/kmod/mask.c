// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Masks the local APIC's timer. With the interrupt flag cleared no interrupt is taken anyway; but a timer interrupt
 * that becomes pending lowers the rate at which some cores retire (a finding of the authors of nanoBench, Abel and
 * Reineke, ISPASS 2020), so that the timer is kept from raising one.
 *
 * Only the timer: it is what comes in each repetition. The entry of the performance counters must stay, since perf and
 * the NMI watchdog wait for it.
 *
 * A timer that runs out while it is masked raises nothing later either, and the kernel would wait for ever. So it is
 * set off again afterwards: in deadline mode by writing the deadline that was set (one that has passed fires at once),
 * in one-shot mode by a count of 1 where it has run out. The kernel's handler can take one too many. In periodic mode a
 * tick would be lost: then it is not masked.
 *
 * Registers: Intel SDM volume 3A, 11.5.4 and 11.12. Modules cannot call apic_read() in all kernels, hence the direct
 * access, in the mode that IA32_APIC_BASE gives.
 */
#include <linux/uaccess.h>
#include <asm/apicdef.h>
#include <asm/cpufeature.h>
#include <asm/fixmap.h>
#include <asm/irq_vectors.h>

#include "helper.h"

#define TIMER_MODE (3u << 17)
#define TIMER_ONESHOT 0u
#define TIMER_DEADLINE (2u << 17)
#define TIMER_VECTOR 0xffu
#define X2APIC_ENABLED (1u << 10)

static void *mmio(u32 reg)
{
	return (void *)(fix_to_virt(FIX_APIC_BASE) + reg);
}

static u32 x2apic_msr(u32 reg)
{
	return APIC_BASE_MSR + (reg >> 4);
}

static int apic_get(bool x2apic, u32 reg, u32 *value)
{
	u64 wide;
	int error;

	if (!x2apic)
		return copy_from_kernel_nofault(value, mmio(reg), sizeof(*value));
	error = rdmsrq_safe(x2apic_msr(reg), &wide);
	*value = wide;
	return error;
}

static void apic_set(bool x2apic, u32 reg, u32 value)
{
	if (x2apic)
		wrmsrq_safe(x2apic_msr(reg), value);
	else
		*(volatile u32 *)mmio(reg) = value;
	/* the write to the deadline register must not overtake the one to the APIC (SDM volume 3A, 11.5.4.1) */
	asm volatile("mfence; lfence" : : : "memory");
}

/* The timer, if it is the kernel's and in a mode that survives being masked. */
static bool find_timer(struct timer_mask *m)
{
	u64 base;
	u32 mode;

	*m = (struct timer_mask){ 0 };
	if (!boot_cpu_has(X86_FEATURE_APIC) || rdmsrq_safe(MSR_IA32_APICBASE, &base) ||
	    !(base & MSR_IA32_APICBASE_ENABLE))
		return false;
	m->x2apic = base & X2APIC_ENABLED;
	if (apic_get(m->x2apic, APIC_LVTT, &m->lvtt) || (m->lvtt & TIMER_VECTOR) != LOCAL_TIMER_VECTOR ||
	    m->lvtt & APIC_LVT_MASKED)
		return false;
	mode = m->lvtt & TIMER_MODE;
	m->deadline_mode = mode == TIMER_DEADLINE;
	return m->deadline_mode || mode == TIMER_ONESHOT;
}

/* One that has run out, or is doing so just now, is left alone: masking could take back what is on its way. */
static bool timer_runs(struct timer_mask *m)
{
	if (m->deadline_mode)
		return !rdmsrq_safe(MSR_IA32_TSC_DEADLINE, &m->deadline) && m->deadline;
	return !apic_get(m->x2apic, APIC_TMCCT, &m->count) && m->count;
}

bool timer_can_be_masked(void)
{
	struct timer_mask m;

	return find_timer(&m);
}

void timer_mask(struct timer_mask *m)
{
	if (!find_timer(m) || !timer_runs(m))
		return;
	apic_set(m->x2apic, APIC_LVTT, m->lvtt | APIC_LVT_MASKED);
	m->masked = true;
}

void timer_unmask(const struct timer_mask *m)
{
	u32 count;

	if (!m->masked)
		return;
	apic_set(m->x2apic, APIC_LVTT, m->lvtt);
	if (m->deadline_mode) {
		wrmsrq_safe(MSR_IA32_TSC_DEADLINE, m->deadline);
	} else if (!apic_get(m->x2apic, APIC_TMCCT, &count) && !count) {
		apic_set(m->x2apic, APIC_TMICT, 1);
	}
}
