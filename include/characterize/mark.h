/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's own word to characterize-sched --source marks (doc/scheduler.md): the calling thread is about to run
 * 512-bit code. Needs no privileges and no library; without that scheduler it costs a system call and does nothing.
 */
#ifndef CHARACTERIZE_MARK_H
#define CHARACTERIZE_MARK_H

#include <sys/prctl.h>

enum characterize_mark {
    CHARACTERIZE_MARK_NONE,  /* takes back CHARACTERIZE_MARK_HELD */
    CHARACTERIZE_MARK_PHASE, /* until a system call or a timeout ends the phase */
    CHARACTERIZE_MARK_HELD   /* until taken back */
};

/* The number is no option of Linux's own, which refuses it; the scheduler sees it. */
static inline void characterize_mark_wide(enum characterize_mark mark)
{
    (void)prctl(0x41565857, (unsigned long)mark, 0UL, 0UL, 0UL);
}

#endif
