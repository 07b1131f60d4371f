/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns counts into the meaning of a umask. Shares of core cycles: those in which an event counted, and those in which
 * the code ran slower than it can. The meaning of a counter bit, derived from what made it count: a bit that counts all
 * cycles of 256-bit FMA and none of anything else reads "heavy 256". Nothing that was published goes into a reading;
 * what is documented can then be compared with it. Kinds of code are distinguished by width and weight, as license
 * analysts do (Skylake-SP dissertation, 3.2.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "tables/table/table.h"
#include "trace/trace.h"

/* ---- shares ---- */

/*
 * The share of the core cycles from time 0 to to_us (ends of samples) that the trace's extra column `extra` counted:
 * of each run the counts over the cycles, then the mean over the runs with its 95 % limits, which are never closer than
 * what the readings of two counters are apart. Cycles are frequency times time; so
 * the first sample of a run, whose beginning is not in a trace, is left out. *runs receives how many runs
 * could be used: those in which the column was never empty. NaN, and 0 runs: none.
 */
struct estimate umask_shares_counted(const struct trace *t, size_t extra, double to_us, size_t *runs);
/* The same for the cycles in all samples whose IPC is below `part` of full_ipc. */
struct estimate umask_shares_slow(const struct trace *t, double full_ipc, double part, size_t *runs);
/* The part of the full IPC below which a sample of this trace surely runs at a reduced rate: by the noise of its IPC
 * from one sample to the next. 0.75 to 0.95. */
double umask_shares_slow_below(const struct trace *t);
/* The IPC of all samples from from_us on, their median: payload instructions per core cycle. NaN: none. */
double umask_shares_ipc(const struct trace *t, double from_us);

/* ---- meanings ---- */

/* Kinds of code that a documented event is said to count. */
enum meaning_document { MEANING_UNDOCUMENTED, MEANING_LEVEL_0, MEANING_LEVEL_1, MEANING_LEVEL_2, MEANING_THROTTLED };
/* The documented meaning of the event of this name; MEANING_UNDOCUMENTED also where only its name is, or it is NULL.
 * After the name may stand a colon and words, as in the column `documented` of the table. */
enum meaning_document umask_document_of(const char *event);
/* In words: "up to 128 bit, light 256"; "" where it is not documented. */
const char *umask_document_text(enum meaning_document d);

/* ---- rows of the table ---- */

/* Settings with the events of drivers/events/events.h, events_stalls, where the processor's are known:
 * "CYCLE_ACTIVITY.STALLS_L2_MISS 0xa3:0x05:cmask=5". */
enum { UMASK_STALLS = 2 };
extern const char *const umask_stall_settings[UMASK_STALLS];

/* Fills the columns `reading` and `disagrees`. Returns 0, or -1: out of memory. Pure. */
int umask_conclude(struct table *t);
/* The meaning of each single bit, and whether the documented umasks behave as documented. */
void umask_findings(FILE *out, const struct table *t);
