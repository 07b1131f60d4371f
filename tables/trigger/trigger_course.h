/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a burst of code has settled, and when the plain code behind it is back where it was: between these two times
 * the plain code shows what the burst has asked for. Pure: from traces of sequences "plain code, burst, plain code".
 */
#ifndef CHARACTERIZE_TRIGGER_COURSE_H
#define CHARACTERIZE_TRIGGER_COURSE_H

#include "tables/trigger/trigger_fit.h"

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

#endif
