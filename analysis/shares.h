/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of core cycles: those in which an event counted, and those in which the code ran slower than it can. */
#ifndef CHARACTERIZE_SHARES_H
#define CHARACTERIZE_SHARES_H

#include "analysis/phases.h"
#include "analysis/trace.h"

/* A sample belongs to reduced rate when its IPC is below this part of the full rate's: between 1, and the 1/2 that is
 * the mildest throttling that was published (Skylake-SP dissertation, section 3.2.2). */
#define SHARES_SLOW 0.75

/*
 * The share of the core cycles from from_us to to_us (ends of samples) that the trace's extra column `extra` counted:
 * of each run the counts over the cycles, then the mean over the runs with its 95 % limits. Cycles are frequency times
 * time; so the first sample of a run, whose beginning a trace does not tell, is left out. *runs receives how many runs
 * could be used: those in which the column was never empty. NaN, and 0 runs: none.
 */
struct estimate shares_counted(const struct trace *t, size_t extra, double from_us, double to_us, size_t *runs);
/* The same for the cycles in samples whose IPC is below SHARES_SLOW of full_ipc. */
struct estimate shares_slow(const struct trace *t, double full_ipc, double from_us, double to_us, size_t *runs);
/* The IPC of all samples from from_us to to_us, their median: payload instructions per core cycle. NaN: none. */
double shares_ipc(const struct trace *t, double from_us, double to_us);

#endif
