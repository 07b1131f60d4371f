/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings that do not stand are withdrawn: phases become unknown with a reason, transitions go (private to
 * analysis/). */
#pragma once

#include "analysis/phases/phases.h"

#define WITHDRAW_SAME_US 0.5 /* times nearer than this are one */
#define WITHDRAW_NEAR_US 5.0 /* phases begin and end so near where the transitions do that they are part of */

/* Makes a phase unknown: without an IPC ratio, and no ramp. */
void withdraw_phase(struct phase *ph, const char *why);

/* Removes transition i, and nothing else. */
void withdraw_forget_transition(struct phases *p, size_t i);

/* Removes transition i. The change at which it ends is no change: the steady phase after it becomes unknown. */
void withdraw_transition(struct phases *p, size_t i, const char *why);

/* Before a phase is withdrawn that may be a halt: transitions no longer count it. */
void withdraw_halt(struct phases *p, const struct phase *ph);

/* To be called after any of these: transitions without a halt or another frequency go whose phases are all unknown (and
 * none only in part the switch itself), a slow phase that no rise of the frequency follows is steady, and levels at
 * which only unknown phases are go. */
void withdraw_orphans(struct phases *p);

/* One unknown phase before the switch and one after it, in place of all: no levels and no transitions. */
void withdraw_all(struct phases *p, const char *why);

/*
 * implausible.c: withdraws what no processor is known to do, and another thread on the core does: throttling twice
 * alike at one switch, throttling at a higher frequency than before and after, more phases than any switch has; with a
 * warning where there are several. 0, or -1: out of memory.
 */
int implausible_withdraw(struct phases *p);
