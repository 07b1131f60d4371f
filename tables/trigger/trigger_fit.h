/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a burst of code has requested a license level, read from what the core does after it and in it. Pure: from
 * traces of sequences "plain code, burst, plain code".
 */
#ifndef CHARACTERIZE_TRIGGER_FIT_H
#define CHARACTERIZE_TRIGGER_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/table/sights.h"
#include "trace/trace.h"

enum { TRIGGER_GRADES_MAX = 4 };

struct trigger_grades {
    size_t n;
    bool counted; /* grades are license levels, told by the counters; else ranks of the frequencies seen */
    double freq[TRIGGER_GRADES_MAX]; /* GHz, mean of the repetitions; NaN: a level that was not seen */
};
/*
 * Sorts repetitions into grades: by license level where all have one, else by frequency: frequencies that differ by
 * less than 1 % are one grade (levels of real parts differ by 100 MHz in 4 GHz at least, 2.5 %). Returns 0, or -1:
 * out of memory.
 */
int trigger_grade(struct sight *s, size_t n, struct trigger_grades *out);

/* Whether a further repetition reaches this grade (>= 1): nearer to it, in frequency, than to the one above. */
bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade);

/* Share of repetitions whose grade is `grade` or a lower frequency. */
double trigger_share(const struct sight *s, size_t n, int grade);
/*
 * The grade that a set of repetitions reaches: the lowest frequency that at least four in five reach while not more
 * than one in five go beyond it; -1: they do not agree.
 */
int trigger_agreed(const struct sight *s, size_t n);

/* A burst that is throttled at first. */
struct trigger_throttle {
    bool throttled;
    double ratio;    /* lowest rate against the full one, of medians over the repetitions; 1: not throttled */
    double onset_us; /* from the burst's first instruction; NaN: not throttled */
    double full_ipc; /* payload instructions per cycle at the end of the burst */
    struct estimate instructions; /* of the payload until then: at least; at most, with the first slow sample */
    double below;    /* what would have been found: a rate below this part of the full one; NaN: not known ... */
    double lasts_us; /* ... that lasts so long */
};
/*
 * Looks at bursts that begin at begin_us[i] (of span i) and end at time 0, `n` repetitions: throttled where the median
 * over the repetitions stays below 95 % of the full rate, or what noise makes of that (five standard deviations of
 * these medians, 70 % at least), for 4 us: less than half of any throttled phase that was published (9 us), longer than
 * it takes caches and the sampling loop to warm up.
 */
int trigger_throttled(const struct trace *t, const struct sights_span *s, const double *begin_us, size_t n,
                      double period_us, struct trigger_throttle *out);

#endif
