/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a change of the frequency costs, in time, and after which time it has paid (Gottschlag's dissertation, "AVX
 * Overhead Mitigation", sections 5.2.1 to 5.2.3). Pure functions on curves of work done against time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "probes/overhead.h"

/*
 * Down, from a curve that begins with the switch: the code's work is halved, and what its first half took longer than
 * its second is the cost. That is "the same code twice, first minus second" with nothing in between (5.2.1). The second
 * half must run at the settled level: drift_us tells.
 *
 * Interruptions are looked for where either half has run for settle_us, which is after the change: in the change they
 * cannot be told from it. What is overlooked in the second half then makes up for what is overlooked in the first.
 */
struct overhead_down {
    double us;
    double drift_us;   /* the third quarter of the work took so much longer than the fourth: 0 when settled */
    double quarter_us; /* what the fourth quarter took */
    double settled_us; /* from then on the rate is that of the end; INFINITY if it never is */
    double lost_us;    /* most that a section lost where interruptions are looked for */
    double high_ghz;   /* before the switch; NaN without readings there */
    double low_ghz;    /* in the second half */
};
/* Returns NULL, or in a few words why the repetition is of no use. settle_us: INFINITY = look for no interruptions. */
const char *overhead_down(const struct work_curve *c, double settle_us, struct overhead_down *out);

/*
 * Up, from a curve that begins when the last code that needed the lower level ends. The sections between the readings
 * are the short pieces of code. The slowest one, against what the same work took in the sections before it (a lower
 * bound: all of its work at the low frequency) and after it (an upper bound: all at the high one): the mean of the two
 * (5.2.2). Sections count across which the rate rises by at least `least_gain` (relative): an interruption is slow,
 * too, but the rate after it is that before it. Where no section is slow, the core does not halt: then it is the one
 * across which the rate rises most.
 *
 * Where the section is cut short by a reading that comes right after the halt, as soon as it is late, all of its work
 * was done at the low frequency and the lower bound is the truth: low_us. One reading that is late tells it apart from
 * one that waits for a given amount of work only where it did less (cut): so overhead_up_choose() takes what most do.
 */
struct overhead_up {
    double us, low_us; /* the mean of the two bounds; the lower one */
    bool late;         /* the section took longer than those before it */
    bool cut;          /* ... and did less work than any of them */
    double at_us;      /* end of the slowest section */
    double gain;       /* rate after it over that before it, less 1 */
};
const char *overhead_up(const struct work_curve *c, double least_gain, struct overhead_up *out);
/* The cost of each of n repetitions, into us. */
void overhead_up_choose(const struct overhead_up *up, size_t n, double *us);

/*
 * The distribution over the repetitions. What lies farther than `far_us` from the median is left out and counted
 * (5.2.1: 100 us, which leaves out repetitions in which something else ran). Interruptions that are shorter hit both
 * halves alike, so that the mean stays; they widen its limits.
 */
#define OVERHEAD_FAR_US 100.0
struct overhead_spread {
    struct estimate mean; /* limits by Student's t */
    double median, p5, p95;
    size_t n, far;
};
/* Sorts x: the n kept are then x[*first] to x[*first + n - 1]; first may be NULL. */
void overhead_spread(double *x, size_t n, double far_us, struct overhead_spread *out, size_t *first);

/*
 * The time after which a change up has paid for itself and the change down that must follow (5.2.3, equation 5.2):
 * p_high T / (p_high - p_low), T = down + up, where the performance p is proportional to the frequency: the assumption
 * (code that is never stalled by memory, s = 0 in equation 4.3). The limits follow from those of the four, which are
 * taken as independent (propagation of errors, first order). NaN where low is not below high, or where its limits
 * include 0: then the costs are lost in the noise.
 */
struct estimate overhead_breakeven(const struct estimate *down, const struct estimate *up, const struct estimate *high,
                                   const struct estimate *low);
/* Why overhead_up() finds nothing in a curve whose frequency stays where it is. */
extern const char overhead_no_rise[];
/* ... or rises in no section by itself, but over many, as the end of a ramp. */
extern const char overhead_gradual[];
/* The assumption in one line. */
extern const char overhead_assumption[];

/* Whether there is a step between two levels: one that with its limits is above this part of the frequency. A step is
 * at least 100 MHz, 2 % of 5 GHz; what code does to the chain that measures the frequency is up to 1 %. */
#define OVERHEAD_SAME_LEVEL 0.01
bool overhead_levels_differ(const struct estimate *high, const struct estimate *step);

/*
 * A cost down that is below 0 by its limits is none: the first execution gained something, such as a while at the high
 * level before the core went down. Up to OVERHEAD_RESOLUTION_US below 0 the method itself is not exact: the limits are
 * then stretched to 0. Returns whether it is a cost; one without limits is where it is above -OVERHEAD_RESOLUTION_US.
 */
#define OVERHEAD_RESOLUTION_US 0.3
bool overhead_is_cost(struct estimate *e);
