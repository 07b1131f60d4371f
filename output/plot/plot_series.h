/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curves that a plot draws of a trace: the median over the repetitions on a common time grid, each repetition
 * thinned to what can be seen, and the range of the values. Pure functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/table/chart.h"
#include "trace/trace.h"

/*
 * The time grid of all channels of a trace. Repetitions that the analysis discarded are left out, and so is every
 * sample more than three periods after the previous one, between ordinary ones: it averages over a stretch in which the
 * core stood still, so that its value belongs neither before nor after it.
 */
struct series_grid {
    double begin_us, end_us; /* of all samples, except for what few repetitions record beyond all others */
    double period_us;        /* median distance of neighboring samples; NaN when there are no neighbors */
    double unit_us;          /* microseconds of one unit of the chart's x axis; 1 unless it is changed */
    bool *left_out;          /* of each sample: not to be drawn */
};

/*
 * Fills *g (freed by plot_series_grid_free); the repetitions listed in `skip` (ascending) are left out. Returns 0; -1:
 * out of memory, or a trace without samples.
 */
int plot_series_grid_find(const struct trace *t, const uint32_t *skip, size_t n_skip, struct series_grid *g);
void plot_series_grid_free(struct series_grid *g);

/* The following functions add curves to a new series of a chart, which has `failed` set when out of memory. */

/*
 * The median over all repetitions of the values in each bin of the time axis (one period wide, at most `bins` bins).
 * Bins with fewer than a fifth of the usual number of values break the line: there the core was mostly halted. Of a
 * channel read at most once a repetition it is the running median of 21 neighbors in time, broken where they are more
 * than six times as far apart as in the mean. A series with a band gets the middle 80 % of each bin's values as limits.
 */
void plot_series_median(const struct trace *t, const struct series_grid *g, enum trace_channel channel, size_t bins,
                        struct chart *c, struct chart_series *s);

/*
 * The repetitions themselves, of which every n-th is drawn so that the points stay below `budget`; returns how many. A
 * repetition of more than `bins` * 2 samples is thinned to the smallest and largest value of each bin. Gaps break the
 * line. A value that is alone between two gaps is drawn as a short stroke.
 */
size_t plot_series_faint(const struct trace *t, const struct series_grid *g, enum trace_channel channel, size_t bins,
                         size_t budget, struct chart *c, struct chart_series *s);

/* Finds the `share` quantile at either end of a channel's values (0.005: the middle 99 %), in *lo and *hi; from at most
 * 100 000 values, evenly taken. Returns the number of values looked at, 0: the channel holds none. */
size_t plot_series_range(const struct trace *t, const struct series_grid *g, enum trace_channel channel, double share,
                         double *lo, double *hi);
