/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From counts to the meaning of a umask. Shares of core cycles: those in which an event counted, and those in which the
 * code ran slower than it can. The meaning of a counter bit, derived from what made it count: a bit that counts all cycles of 256-bit FMA and none of
 * anything else reads "heavy 256". Nothing that was published goes into a reading; what is documented can then be held
 * against it. Kinds of code are told by width and weight, as license analysts do (Skylake-SP dissertation, 3.2.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "tables/table/table.h"
#include "trace/trace.h"

/* ---- shares ---- */

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

/* ---- meanings ---- */

enum { READINGS_KINDS_MAX = 12, READINGS_TEXT_MAX = 200 };

/* A kind of code that was run. */
struct meaning_kind {
    unsigned width; /* bits; 8192 = tiles */
    bool heavy;
    double lo, hi; /* lowest and highest share of the cycles counted, among the kernels of this kind, when steady */
};
/* A change of code. */
struct meaning_change {
    double share; /* of the cycles around it that were counted */
    double slow;  /* of them, those in which the code ran at a reduced rate; NaN = not known */
    double other; /* up to so much of `slow` may be something else than throttling; NaN = not known */
};
struct meaning_input {
    size_t n_kinds, n_changes;
    struct meaning_kind kinds[READINGS_KINDS_MAX];
    const struct meaning_change *changes;
};

/* Sorts a kernel's share into its kind. False: there is no room for another kind. */
bool meaning_add(struct meaning_input *r, unsigned width, bool heavy, double share);

/* From these shares on a bit counts a kind of code, and up to these it does not; between them it counts in part. */
#define MEANING_COUNTS 0.9
#define MEANING_COUNTS_NOT 0.1
enum meaning_answer { MEANING_NO, MEANING_PARTLY, MEANING_YES };
enum meaning_answer meaning_counts(const struct meaning_kind *k);

/*
 * The reading: "up to 128 bit, light 256"; "heavy 512"; "everything" where it counts all that was run; "throttled"
 * where it counts nothing that runs steadily, and at changes as many cycles as ran at a reduced rate for that;
 * "changes" where it counts others there; "nothing".
 */
void meaning_text(const struct meaning_input *r, char out[READINGS_TEXT_MAX]);

/* Kinds of code that a documented event is said to count. */
enum meaning_document { MEANING_UNDOCUMENTED, MEANING_LEVEL_0, MEANING_LEVEL_1, MEANING_LEVEL_2, MEANING_THROTTLED };
/* What the event of this name is documented to count; MEANING_UNDOCUMENTED also where only its name is, or it is NULL.
 * Behind the name may stand a colon and words, as in the column `documented` of the table. */
enum meaning_document meaning_document_of(const char *event);
/* In words: "up to 128 bit, light 256"; "" where it is not documented. */
const char *meaning_document_text(enum meaning_document d);
/* How measurement and documentation disagree: "heavy 256 is counted; heavy 512 is not"; "" where they do not. */
void meaning_disagreement(const struct meaning_input *r, enum meaning_document d, char out[READINGS_TEXT_MAX]);

/* ---- rows of the table ---- */

/* Fills the columns `reading` and `disagrees`. Returns 0, or -1: out of memory. Pure. */
int umask_conclude(struct table *t);
/* What each single bit counts, and whether the documented umasks behave as documented. */
void umask_findings(FILE *out, const struct table *t);
