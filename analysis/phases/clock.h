/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the frequency of a trace was read, and what readings of it tell together.
 *
 * A machine without counters times a chain of dependent adds at the end of each sample, by a clock that may advance in
 * steps (10 ns on Zen 4 and 5). The time of one chain is then one of two or three values, and so is the quotient: its
 * median is one of these, and its mean is biased, since 1/x is curved. Only the mean time of a cycle is right. So times
 * are averaged and the division comes last. Where cycles are counted a step is a smaller part of a sample; but there,
 * too, the median is one of a few values, and where time stamps scatter by s of a sample's length the mean quotient is
 * by s^2 too high: times are averaged as well.
 */
#ifndef CHARACTERIZE_ANALYSIS_CLOCK_H
#define CHARACTERIZE_ANALYSIS_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

/* Relative: clocks with spread spectrum wander by 0.25 % (recordings of a W-2104), so frequencies nearer than the first
 * are one, and steps smaller than the second are not looked for. */
#define CLOCK_WANDERS 0.0035
#define CLOCK_STEP_LEAST 0.004

struct clock_reading {
    bool instant;      /* the frequency is that at the end of a sample, not the mean over it */
    double quantum;    /* relative: by how much one step more of the clock changes a reading; 0: by little */
    double reading_us; /* of a sample in which the payload does not run; 0 = not known */
    double error;      /* relative standard error that all readings have in common; 0 = none known */
};

/* From the metadata: frequency, clock_step_ns, chain_cycles, reading_us, frequency_error (doc/formats.md). */
struct clock_reading clock_reading_of(const struct trace *t);

/* The standard deviation that steps alone give one reading, relative: 1/sqrt(6) of a step, that of a difference of two
 * readings rounded down, on average over where in a step it ends. */
double clock_noise(const struct clock_reading *r);

/* By how much (relative) means of frequencies may differ although the core's does not, however many there are: what the
 * readings have in common, and what is left of the steps where they do not quite even out (drivers/timing/timing.h). */
double clock_doubt(const struct clock_reading *r);

/*
 * What n values of a channel tell together, wild ones left out: frequencies by the mean time of a cycle; where they are
 * instantaneous, IPC by its mean (it is proportional to that time), and neither mistakes the next step of the clock for
 * a wild value; else and of other channels robust_centre(), or the median. NaN of nothing. Reorders x; scratch of n.
 */
double clock_centre(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch);
double clock_middle(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch);

#endif
