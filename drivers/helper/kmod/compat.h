/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between kernels from Linux 6.1 on, in one place: the rest of the module uses the newest kernel's names,
 * or those of this header. An interface that is a macro is tested for, so that distributions that have backported it
 * are served; elsewhere the version decides. doc/kernel-helper.md names the kernels this is tested with.
 */
#ifndef CHARACTERIZE_COMPAT_H
#define CHARACTERIZE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "characterize: the module needs Linux 6.1 or newer"
#endif

#include <linux/compiler.h>
#include <linux/cpu.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <asm/processor.h>
/* cpuid_eax() moved here from <asm/cpuid.h>, and in 7.2 <asm/processor.h> does not bring it any more */
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#endif

/*
 * Set if indirect calls compare a hash in front of the function (kCFI, or FineIBT made of it), which the assembler then
 * emits for our kernels. 6.18 renamed CONFIG_CFI_CLANG. If it were renamed again, our kernels would lack the hash and
 * trap.
 */
#if defined(CONFIG_CFI) || defined(CONFIG_CFI_CLANG)
#define COMPAT_KCFI
#elif defined(__has_feature)
#if __has_feature(kcfi)
#error "characterize: kCFI by an unknown name of its configuration: calls of kernels would trap"
#endif
#endif

/* 6.16 renamed the 64-bit accessors of registers from rdmsrl to rdmsrq; 7.2 has the old names no more. */
#ifndef rdmsrq
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#define wrmsrq_safe(msr, value) wrmsrl_safe(msr, value)
#define rdmsrq_safe_on_cpu(cpu, msr, value) rdmsrl_safe_on_cpu(cpu, msr, value)
#endif

/* 6.3 made vm_flags constant outside of vm_flags_clear(). The caller, mmap(), holds the lock of the address space. */
static inline void compat_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

/* NMIs that this CPU has taken; it must not change meanwhile. 7.2 made an array of the members of irq_stat. */
static inline u32 compat_nmi_count(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
	return this_cpu_read(irq_stat.counts[IRQ_COUNT_NMI]);
#else
	return this_cpu_read(irq_stat.__nmi_count);
#endif
}

/*
 * Runs fn in a worker on that CPU, which stays online meanwhile. Returns what fn does, or -ENODEV where the CPU is
 * offline. This is what work_on_cpu_safe() did, which 6.18 has no more.
 */
static inline long compat_work_on_cpu(unsigned int cpu, long (*fn)(void *), void *arg)
{
	long error = -ENODEV;

	cpus_read_lock();
	if (cpu_online(cpu))
		error = work_on_cpu(cpu, fn, arg);
	cpus_read_unlock();
	return error;
}

/* A timer of CLOCK_MONOTONIC. 6.13 put initializing and the function into one call; 6.15 has the old one no more. */
static inline void compat_hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*fires)(struct hrtimer *),
					enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, fires, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fires;
#endif
}

#endif
