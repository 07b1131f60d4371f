/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the frequency in a trace was obtained, and how to average such readings.
 *
 * Without cycle counters, a chain of dependent adds is timed at the end of each sample, by a clock that may advance in
 * steps (10 ns on Zen 4 and 5). The time of one chain is then one of two or three values, and so is the quotient: its
 * median is one of these, and its mean is biased, because 1/x is convex. Only the mean time of a cycle is unbiased, so
 * times are averaged and the division comes last. Where cycles are counted, a step is a smaller part of a sample; but
 * the median is still one of a few values, and time stamps that scatter by a fraction s of a sample's length bias the
 * mean quotient by s^2. So times are averaged there, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

/* Relative: clocks with spread spectrum wander by 0.25 % (recordings of a W-2104), so frequencies nearer than the first
 * are one, and steps smaller than the second are not looked for. */
#define CLOCK_WANDERS 0.0035
#define CLOCK_STEP_LEAST 0.004

/* Whether two logarithms of ratios of frequencies are those of one factor, as where a repetition runs at another
 * frequency than most from beginning to end: the second within 35 % of the first. */
bool clock_same_factor(double log_first, double log_second);

struct clock_reading {
    bool instant;      /* the frequency is that at the end of a sample, not the mean over it */
    bool fixed_work;   /* samples are pieces of work, not of time (doc/formats.md, `sampler`) ... */
    bool one_clock;    /* ... and few have a frequency: the IPC is reckoned with one clock for all of a repetition */
    double quantum;    /* relative: the change of a reading by one step of the clock; 0: negligible */
    double reading_us; /* of a sample in which the payload does not run; 0 = not known */
    double error;      /* relative standard error that all readings have in common; 0 = none known */
};

/* From the metadata: sampler, frequency, clock_step_ns, chain_cycles, reading_us, frequency_error (doc/formats.md). */
struct clock_reading clock_reading_of(const struct trace *t);

/* The standard deviation of one reading that the clock's steps alone cause, relative: 1/sqrt(6) of a step, as for the
 * difference of two times rounded down. */
double clock_noise(const struct clock_reading *r);

/* The systematic uncertainty of a mean frequency, relative, however many readings there are: the error that the
 * readings have in common, and what is left of the clock's steps where they do not quite even out
 * (drivers/timing/timing.h). */
double clock_uncertainty(const struct clock_reading *r);

/*
 * The centre of n values of a channel, without outliers: for frequencies, by the mean time of a cycle; where these are
 * instantaneous, for IPC, its mean (it is proportional to that time); neither takes the next step of the clock for an
 * outlier. For everything else robust_centre() (clock_middle: the median). NaN of nothing. Reorders x; scratch of n.
 */
double clock_centre(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch);
double clock_middle(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch);
/*
 * The frequency of n samples, GHz, of so many us each: all their cycles by all their time, without outliers. Counts
 * scatter as time stamps do, and where samples are short the mean of either ratio is off by the variance of its
 * denominator. Instantaneous ones: clock_centre(). NaN of nothing. Reorders both; scratch of n.
 */
double clock_frequency(const struct clock_reading *r, double *ghz, double *us, size_t n, double *scratch);
/* The mean clock of all chains of the samples begin..end, GHz, as trace/from_recording.h reckons their IPC with; NaN:
 * there is none. scratch: of as many. */
double clock_mean_of_chains(const struct trace *t, size_t begin, size_t end, double *scratch);
/* clock_middle() of a channel over the samples begin..end of a trace, one repetition, that end after `from` and not
 * after `to` (us); NaN: there are none. IPC that was reckoned with the repetition's one clock is that of the clock
 * there. scratch: of twice as many. */
double clock_middle_between(const struct trace *t, enum trace_channel c, size_t begin, size_t end, double from,
                            double to, double *scratch);
