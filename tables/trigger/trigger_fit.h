/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a burst of code has requested a license level, read from what the core does after it and in it. Pure: from
 * traces of sequences "plain code, burst, plain code".
 */
#pragma once

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

/*
 * tables/trigger/trigger_course.c: when a burst has settled, and when the plain code behind it is back where it was:
 * between these two times the plain code shows what the burst has asked for.
 */

/* One repetition. Times in microseconds, exact to about a bin. */
struct trigger_course {
    struct sight steady; /* the burst in its last quarter */
    double bin_us;       /* the bins that were used */
    double settled_us;   /* from its first instruction until it runs as in that quarter; 0: at once */
    double after_us;     /* after its last instruction, until plain code runs at full rate on the lowest level there */
    double back_us;      /* ... until it leaves this level; INFINITY: not within the recording; NaN: it is the one that
                        * plain code has anyway */
};

/*
 * Looks at a burst that begins at begin_us < 0 and ends at 0. `plain`: how the plain code runs alone. Medians are taken
 * in bins of bin_us, or longer ones, up to 70 us, where the frequency scatters by more than 1 % in these and no
 * counters tell levels; one bin that differs from both its neighbours is an accident. Returns NULL, or a few words that
 * say why the repetition tells nothing.
 */
const char *trigger_course(const struct trace *t, struct sights_span s, double begin_us, double bin_us,
                           const struct sight *plain, struct trigger_course *out);

/* What n repetitions of the same burst tell together. */
struct trigger_pilot {
    struct sight plain, steady;  /* medians */
    bool counted;                /* levels are counted */
    bool lower;                  /* the burst or what follows it has a lower level or frequency than plain code */
    bool stays;                  /* in most repetitions in which it was lower the plain code was not back at the end */
    double bin_us;               /* the longest */
    double settled_us, after_us; /* the longest of those that are not far from the median */
    /* the shortest, likewise, the median, and the longest; INFINITY, 0, 0: not lower */
    double back_us, back_usual_us, back_most_us;
};
/* n >= 1, at most 64. */
void trigger_pilot(const struct trigger_course *c, size_t n, const struct sight *plain, struct trigger_pilot *out);

/* Whether two sights are of one level: by the counters where both have them, else of frequencies within 1 %. */
bool trigger_same_level(const struct sight *a, const struct sight *b);
