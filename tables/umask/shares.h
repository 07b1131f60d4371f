/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of core cycles: those in which an event counted, and those in which the code ran slower than it can. */
#pragma once

#include "analysis/phases/phases.h"
#include "trace/trace.h"

/* A sample belongs to reduced rate when its IPC is below this part of the full rate's, where noise allows it:
 * throttling to one half is the mildest that was published (Skylake-SP dissertation, section 3.2.2), and a sample of
 * IPC noise more than SHARES_SLOW_SIGMAS away is below it by chance once in a million. Never less than
 * SHARES_SLOW_LEAST. */
#define SHARES_SLOW 0.95
#define SHARES_SLOW_LEAST 0.75
#define SHARES_SLOW_SIGMAS 5
/* Two counters are not read at once: a share is not told to better than so many cycles of all. */
#define SHARES_APART_CYCLES 40

/*
 * The share of the core cycles from time 0 to to_us (ends of samples) that the trace's extra column `extra` counted:
 * of each run the counts over the cycles, then the mean over the runs with its 95 % limits, which are never closer than
 * what the readings of two counters are apart. Cycles are frequency times
 * time; so the first sample of a run, whose beginning a trace does not tell, is left out. *runs receives how many runs
 * could be used: those in which the column was never empty. NaN, and 0 runs: none.
 */
struct estimate shares_counted(const struct trace *t, size_t extra, double to_us, size_t *runs);
/* The same for the cycles in all samples whose IPC is below `part` of full_ipc. */
struct estimate shares_slow(const struct trace *t, double full_ipc, double part, size_t *runs);
/* The part of the full IPC below which a sample of this trace surely runs at a reduced rate: by the noise of its IPC
 * from one sample to the next. SHARES_SLOW_LEAST to SHARES_SLOW. */
double shares_slow_below(const struct trace *t);
/* The IPC of all samples from from_us on, their median: payload instructions per core cycle. NaN: none. */
double shares_ipc(const struct trace *t, double from_us);
