// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/characterize: runs the kernels that are built into this module, by number, with interrupts masked, and hands
 * over what the counters said meanwhile. doc/kernel-helper.md says what it may do and what it never does.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include "helper.h"
#include "kernels/registry_hash.h"

static struct session the_session = {
	.lock = __MUTEX_INITIALIZER(the_session.lock),
	.ring = PROFILE_RING_INIT(the_session.ring),
};
static unsigned long users;

static const char *const reason_text[] = {
#define REASON_TEXT(name, text) text,
	CHARACTERIZE_REASONS(REASON_TEXT)
};

/* ---- the ioctls ---- */

static long say_hello(struct session *s, void *arg)
{
	const struct characterize_counter cycles = { .source = CHARACTERIZE_CYCLES };
	struct characterize_hello *h = arg;
	enum characterize_reason reason = support_refuses();
	struct counters one = { 0 };
	unsigned int cpu = raw_smp_processor_id();
	u32 ignored;

	h->kernels = kernel_shared_count();
	h->registry = kernel_registry_hash();
	h->tsc_khz = tsc_khz;
	h->features = support_features();
	h->counter_bits = support_counter_bits();
	h->can = 0;
	if (reason)
		return refuse(h, reason, -EOPNOTSUPP);
	if (!counters_make(&one, &cycles, 1, cpu, &ignored, &reason)) {
		counters_release(&one);
		h->can |= CHARACTERIZE_CAN_PMU;
	}
	if (support_aperf_mperf(cpu))
		h->can |= CHARACTERIZE_CAN_APERF_MPERF;
	if (support_mwait())
		h->can |= CHARACTERIZE_CAN_MWAIT;
	if (timer_can_be_masked())
		h->can |= CHARACTERIZE_CAN_MASK_TIMER;
	if (trials_have_barrier())
		h->can |= CHARACTERIZE_CAN_IBPB;
	return 0;
}

static long tell_reason(struct session *s, void *arg)
{
	struct characterize_reason_text *r = arg;

	strscpy_pad(r->text, r->reason < ARRAY_SIZE(reason_text) ? reason_text[r->reason] : "unknown reason number",
		    sizeof(r->text));
	return 0;
}

static long try_counter(struct session *s, void *arg)
{
	struct characterize_try *t = arg;
	enum characterize_reason reason = support_refuses();
	struct counters one = { 0 };
	u32 ignored;
	long error;

	if (reason)
		return refuse(t, reason, -EOPNOTSUPP);
	if (t->reserved)
		return refuse(t, CHARACTERIZE_REASON_FLAGS, -EINVAL);
	if (t->cpu >= nr_cpu_ids || !cpu_online(t->cpu))
		return refuse(t, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	error = counters_make(&one, &t->counter, 1, t->cpu, &ignored, &reason);
	counters_release(&one);
	return error ? refuse(t, reason, error) : 0;
}

static void finish(struct session *s)
{
	neighbours_stop(s->neighbours);
	s->neighbours = NULL;
	counters_release(&s->counters);
	s->n_lanes = 0;
	s->prepared = false;
}

static long check_setup(const struct session *s, struct characterize_setup *p)
{
	const u32 known = CHARACTERIZE_APERF_MPERF | CHARACTERIZE_CHAIN | CHARACTERIZE_PARK_SIBLING |
			  CHARACTERIZE_STEADY;
	const bool chain = p->flags & CHARACTERIZE_CHAIN;
	enum characterize_reason reason = support_refuses();

	if (reason)
		return refuse(p, reason, -EOPNOTSUPP);
	if (s->profile)
		return refuse(p, CHARACTERIZE_REASON_PROFILE_RUNS, -EBUSY);
	if (p->flags & ~known || p->dither > (chain ? CHARACTERIZE_DITHER_MAX : 0) ||
	    (p->flags & CHARACTERIZE_STEADY && !chain) ||
	    (chain && (p->n_counters || p->flags & CHARACTERIZE_APERF_MPERF)))
		return refuse(p, CHARACTERIZE_REASON_FLAGS, -EINVAL);
	if (p->cpu >= nr_cpu_ids || !cpu_online(p->cpu))
		return refuse(p, CHARACTERIZE_REASON_CPU_NUMBER, -EINVAL);
	if (p->period < support_ticks(1) * CHARACTERIZE_PERIOD_NS_MIN / 1000 ||
	    p->period > support_ticks(CHARACTERIZE_PERIOD_US_MAX))
		return refuse(p, CHARACTERIZE_REASON_PERIOD, -EINVAL);
	if (!p->readings || p->readings > CHARACTERIZE_READINGS_MAX)
		return refuse(p, CHARACTERIZE_REASON_READINGS, -EINVAL);
	if (p->n_counters > CHARACTERIZE_COUNTERS)
		return refuse(p, CHARACTERIZE_REASON_COUNTERS, -EINVAL);
	if (p->flags & CHARACTERIZE_APERF_MPERF && !support_aperf_mperf(p->cpu))
		return refuse(p, CHARACTERIZE_REASON_NO_APERF, -EOPNOTSUPP);
	return 0;
}

static long provide_buffer(struct session *s, struct characterize_setup *p)
{
	size_t bytes;

	p->stride = p->flags & CHARACTERIZE_CHAIN ? sizeof(struct chain_raw) / sizeof(u64) :
		    2 + p->n_counters + (p->flags & CHARACTERIZE_APERF_MPERF ? 2 : 0);
	bytes = PAGE_ALIGN(((size_t)p->readings + 1) * p->stride * sizeof(u64));
	p->bytes = bytes;
	if (s->buffer && s->bytes == bytes)
		return 0;
	if (atomic_read(&s->mapped))
		return refuse(p, CHARACTERIZE_REASON_MAPPED, -EBUSY);
	vfree(s->buffer);
	s->buffer = vmalloc_user(bytes);
	s->bytes = s->buffer ? bytes : 0;
	return s->buffer ? 0 : refuse(p, CHARACTERIZE_REASON_MEMORY, -ENOMEM);
}

static long prepare(struct session *s, void *arg)
{
	struct characterize_setup *p = arg;
	enum characterize_reason reason = CHARACTERIZE_REASON_NONE;
	struct task corunner = { 0 };
	long error;

	finish(s);
	p->failed = 0;
	error = check_setup(s, p);
	if (error)
		return error;
	if (p->n_corunners) {
		reason = support_task(&p->corunner, &corunner);
		if (reason)
			return refuse(p, reason, reason == CHARACTERIZE_REASON_KERNEL_NUMBER ? -EINVAL : -EOPNOTSUPP);
	}
	error = provide_buffer(s, p);
	if (error)
		return error;
	error = counters_make(&s->counters, p->counter, p->n_counters, p->cpu, &p->failed, &reason);
	if (error)
		return refuse(p, reason, error);
	s->neighbours = neighbours_start(p, &corunner, &reason);
	if (reason) {
		finish(s);
		return refuse(p, reason, reason == CHARACTERIZE_REASON_NO_SIBLING ? -EOPNOTSUPP :
				 reason == CHARACTERIZE_REASON_MEMORY ? -ENOMEM : -EINVAL);
	}
	s->cpu = p->cpu;
	s->flags = p->flags;
	s->dither = p->dither;
	s->period = p->period;
	s->readings = p->readings;
	s->stride = p->stride;
	s->prepared = true;
	return 0;
}

static long run(struct session *s, void *arg)
{
	if (!s->prepared)
		return refuse(arg, CHARACTERIZE_REASON_NOT_PREPARED, -EINVAL);
	return repeat(s, arg);
}

static long read_register(struct session *s, void *arg)
{
	return register_read(arg);
}

static long run_trials(struct session *s, void *arg)
{
	if (s->profile)
		return refuse(arg, CHARACTERIZE_REASON_PROFILE_RUNS, -EBUSY);
	return trials_run(arg);
}

static long start_profile(struct session *s, void *arg)
{
	finish(s);
	return profile_start(s, arg);
}

static long tell_totals(struct session *s, void *arg)
{
	return profile_totals(s, arg);
}

/* Copies the struct in, calls, and copies it back whatever came of it: the reason is in it. */
static long call(unsigned long user, size_t size, long (*fn)(struct session *s, void *arg))
{
	struct session *s = &the_session;
	struct head *h = memdup_user((void __user *)user, size);
	long error;

	if (IS_ERR(h))
		return PTR_ERR(h);
	if (fn != tell_reason)
		h->reason = CHARACTERIZE_REASON_NONE;
	if (h->version != CHARACTERIZE_VERSION) {
		error = refuse(h, CHARACTERIZE_REASON_VERSION, -EPROTO);
	} else if (mutex_lock_interruptible(&s->lock)) {
		error = refuse(h, CHARACTERIZE_REASON_INTERRUPTED, -EINTR);
	} else {
		error = fn(s, h);
		mutex_unlock(&s->lock);
	}
	if (copy_to_user((void __user *)user, h, size))
		error = -EFAULT;
	kfree(h);
	return error;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long user)
{
	/* the size of the struct is part of the number */
	static const struct {
		unsigned int command;
		long (*fn)(struct session *s, void *arg);
	} calls[] = {
		{ CHARACTERIZE_IOC_HELLO, say_hello },
		{ CHARACTERIZE_IOC_REASON, tell_reason },
		{ CHARACTERIZE_IOC_TRY, try_counter },
		{ CHARACTERIZE_IOC_PREPARE, prepare },
		{ CHARACTERIZE_IOC_RUN, run },
		{ CHARACTERIZE_IOC_MSR, read_register },
		{ CHARACTERIZE_IOC_TRIALS, run_trials },
		{ CHARACTERIZE_IOC_PROFILE_START, start_profile },
		{ CHARACTERIZE_IOC_PROFILE_TOTALS, tell_totals },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].command == command)
			return call(user, _IOC_SIZE(command), calls[i].fn);
	if (command != CHARACTERIZE_IOC_FINISH && command != CHARACTERIZE_IOC_PROFILE_STOP)
		return -ENOTTY;
	mutex_lock(&the_session.lock);
	if (command == CHARACTERIZE_IOC_FINISH)
		finish(&the_session);
	else
		profile_stop(&the_session);
	mutex_unlock(&the_session.lock);
	return 0;
}

/* ---- the buffer, for reading only ---- */

static void count_mapping(struct vm_area_struct *vma)
{
	atomic_inc(&the_session.mapped);
}

static void uncount_mapping(struct vm_area_struct *vma)
{
	atomic_dec(&the_session.mapped);
}

static const struct vm_operations_struct mapping_ops = {
	.open = count_mapping,
	.close = uncount_mapping,
};

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct session *s = &the_session;
	int error;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	/* under the lock of the address space; no ioctl takes that while it holds the session's */
	mutex_lock(&s->lock);
	error = s->buffer && !vma->vm_pgoff ? remap_vmalloc_range(vma, s->buffer, 0) : -EINVAL;
	if (!error) {
		/* nor may mprotect() make it writable later */
		compat_vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
		vma->vm_ops = &mapping_ops;
		count_mapping(vma);
	}
	mutex_unlock(&s->lock);
	return error;
}

/* ---- the device ---- */

static ssize_t device_read(struct file *file, char __user *user, size_t bytes, loff_t *position)
{
	return profile_read(&the_session, file, user, bytes);
}

static __poll_t device_poll(struct file *file, poll_table *table)
{
	return profile_poll(&the_session, file, table);
}

static int device_open(struct inode *inode, struct file *file)
{
	/* a node that was handed into a container gives nothing away there */
	if (!capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (test_and_set_bit(0, &users))
		return -EBUSY;
	return nonseekable_open(inode, file);
}

/* After the last close and the last unmap. */
static int device_release(struct inode *inode, struct file *file)
{
	struct session *s = &the_session;

	mutex_lock(&s->lock);
	profile_stop(s);
	finish(s);
	vfree(s->buffer);
	s->buffer = NULL;
	s->bytes = 0;
	mutex_unlock(&s->lock);
	clear_bit_unlock(0, &users);
	return 0;
}

static const struct file_operations device_ops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read = device_read,
	.poll = device_poll,
	.unlocked_ioctl = device_ioctl,
	.mmap = device_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = CHARACTERIZE_DEVICE,
	.fops = &device_ops,
	.mode = 0600,
};

module_misc_device(device);

MODULE_DESCRIPTION("Samples built-in SIMD kernels with interrupts masked");
MODULE_LICENSE("GPL");
MODULE_VERSION(RELEASE);
