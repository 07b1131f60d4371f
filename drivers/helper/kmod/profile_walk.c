// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stack of the task that the timer's interrupt interrupted: the kernel's part with the kernel's own unwinder, the
 * user's by frame pointers. What is not in memory, or is no frame, ends the walk; nothing faults, nothing sleeps.
 */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>

#include "profile.h"

enum { WALK_KERNEL_MAX = PROFILE_STACK_MAX / 2 };

/* As arch_stack_walk() does it, which modules cannot call. */
static void walk_kernel(struct profile_record *r, struct pt_regs *regs)
{
	struct unwind_state state;

	r->stack[r->n_stack++] = regs->ip;
	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state) && r->n_stack < WALK_KERNEL_MAX;
	     unwind_next_frame(&state)) {
		unsigned long at = unwind_get_return_address(&state);

		if (!at)
			break;
		r->stack[r->n_stack++] = at;
	}
	r->n_kernel = r->n_stack;
}

/* The innermost frame, and those that %rbp leads to as long as they ascend. */
static void walk_user(struct profile_record *r, const struct pt_regs *regs)
{
	struct {
		u64 next, ip;
	} frame;
	u64 at = regs->bp;

	r->stack[r->n_stack++] = regs->ip;
	if (!user_64bit_mode((struct pt_regs *)regs))
		return;
	while (r->n_stack < PROFILE_STACK_MAX && at >= regs->sp && at % sizeof(u64) == 0) {
		if (copy_from_user_nofault(&frame, (const void __user *)at, sizeof(frame)) || !frame.ip)
			break;
		r->stack[r->n_stack++] = frame.ip;
		if (frame.next <= at)
			break;
		at = frame.next;
	}
}

void profile_walk(struct profile_record *r)
{
	struct pt_regs *regs = get_irq_regs();

	r->n_stack = r->n_kernel = 0;
	if (regs && !user_mode(regs)) {
		walk_kernel(r, regs);
		regs = current->mm && !(current->flags & PF_KTHREAD) ? task_pt_regs(current) : NULL;
	}
	if (regs && user_mode(regs) && current->mm)
		walk_user(r, regs);
}
