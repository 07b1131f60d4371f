/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which registers a task used, as Linux saves them when it switches to another one: XSAVE leaves out those that are in
 * their initial state. Approximate: tells neither light from heavy instructions, nor use before VZEROUPPER.
 */
#ifndef LIVE_STATE_H
#define LIVE_STATE_H

#include "schedulers/live/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct xstate_header {
    u64 xfeatures;
};
struct xregs_state {
    struct xstate_header header;
};
union fpregs_state {
    struct xregs_state xsave;
};
struct fpstate {
    union fpregs_state regs;
};
struct fpu {
    struct fpstate *fpstate;
};
#pragma clang attribute pop

/* Bits of XCR0 (shared.h), in the tracepoint x86_fpu_regs_deactivated: the current task's registers have been saved. */
static inline u64 saved_registers(const struct fpu *fpu)
{
    return fpu->fpstate->regs.xsave.header.xfeatures;
}

#endif
