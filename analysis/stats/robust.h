/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order statistics and intervals that a few outliers do not move. Missing values (NaN) are left out. */
#pragma once

#include <stddef.h>

#include "analysis/stats/estimate.h"

/* The standard error of a median of normal values in terms of that of their mean: sqrt(pi / 2). */
#define ROBUST_MEDIAN_ERROR 1.2533

/* Values given in whole ticks come in steps of at most this, relative: one tick of the 30 that the shortest usable
 * chain takes. */
#define QUANTUM_MOST 0.035

/*
 * The mean of what lies within four standard deviations (by the MAD) of the median; NaN of nothing. Needs scratch of n.
 * A median would not do: time stamps come in steps, and the median of stepped values is one of the steps, while their
 * mean is not biased.
 */
double robust_centre(double *x, size_t n, double *scratch);
/* How far from the median, *middle, it takes values to be no outliers. */
double robust_bound(const double *x, size_t n, double *middle, double *scratch);

/* The noise of a series with steps in it, as the standard deviation of one value: from the differences of neighbors,
 * in which the steps are outliers. NaN of fewer than two. Needs scratch of n - 1, which may be x. */
double robust_step_noise(const double *x, size_t n, double *scratch);

/*
 * The mean with its 95 % limits by Student's t, after dropping values farther from the median than `reject` scaled
 * MADs (or `slack`, whichever is more). *used receives how many values were kept. One value has no limits (NaN).
 * NaN, and 0 of them, of no values and where memory is out.
 */
struct estimate robust_mean(const double *x, size_t n, double reject, double slack, size_t *used);

/*
 * The median of n values without NaN, with its 95 % limits: order statistics (Conover, Practical Nonparametric
 * Statistics, 3rd ed., section 3.2; the binomial distribution itself, so that the limits hold for few values). Fewer
 * than six have no limits (NaN), none have no median. Reorders `x`.
 */
struct estimate robust_median(double *x, size_t n);

/* The half width of a 95 % interval for the mean of n values with standard deviation sigma (Student's t); NaN if
 * n < 2. */
double robust_half_width95(double sigma, size_t n);

/*
 * Splits values into modes: groups of neighbors in order, separated by more than `gap`, each with at least `least`
 * values. Returns the number of modes (at most `max`), writes their means and sizes, the largest first.
 */
struct value_mode {
    double mean, lo, hi; /* mean: first, for order_double_descending(); lo..hi: the values that belong to it */
    size_t n;
};
size_t robust_modes(const double *x, size_t n, double gap, size_t least, struct value_mode *out, size_t max);

/*
 * Two modes that lie closer than a gap tells: the n values (NaN skipped) cut where the parts scatter least (Otsu 1979),
 * if the parts' means are at least `apart` from each other and as many as TWO_MODES_D of their common standard
 * deviations (Ashman's D; Ashman, Bird and Zepf 1994: 2 for a clean separation; halves of a uniform distribution have
 * 3.5, of a normal one 2.7), and each has `least` values or more. Returns 2, the larger first, or 0.
 */
#define TWO_MODES_D 5.0
size_t robust_two_modes(const double *x, size_t n, double apart, size_t least, struct value_mode out[2]);
