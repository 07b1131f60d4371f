/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons and order statistics. */
#pragma once

#include <stddef.h>

/* Scales a median absolute deviation to the standard deviation of a normal distribution (1 / Phi^-1(3/4)). */
#define MAD_TO_SIGMA 1.482602218505602

/* The median of what is not NaN; NaN of nothing. Reorders `x`. O(n). */
double order_median(double *x, size_t n);

/* The k-th smallest (from 0) of n > k values without NaN; those before it are then smaller or equal. Reorders `x`. */
double order_nth_smallest(double *x, size_t n, size_t k);

/* Median absolute deviation from `centre`, scaled to a standard deviation. O(n), needs scratch of n. */
double order_mad_sigma(const double *x, size_t n, double centre, double *scratch);

/* Returns by how much the mean of the values within `bound` of `middle` lies above it; *kept: how many they are. 0 of
 * none. */
double order_offset_within(const double *x, size_t n, double middle, double bound, size_t *kept);

/*
 * The mean of what lies within four standard deviations (by the MAD), or two and a half steps, of the median, `middle`,
 * of n values that come in such steps; NaN of nothing. Needs scratch of n. A chain spans a step of the clock more or
 * less than it should, and noise adds to that, so that the next step is never left out. Frequencies and what a reading
 * costs are both averaged by it: what the one leaves out and the other does not would put every frequency off.
 */
double order_stepped_mean(const double *x, size_t n, double middle, double step, double *scratch);
/* How far from `middle` it takes values to be no outliers. */
double order_stepped_bound(const double *x, size_t n, double middle, double step, double *scratch);

/* For qsort and bsearch, also of structs that begin with the value; ascending unless the name says otherwise. No value
 * may be NaN. */
int order_double(const void *a, const void *b);
int order_double_descending(const void *a, const void *b);
int order_size(const void *a, const void *b);     /* size_t */
int order_unsigned(const void *a, const void *b); /* unsigned, uint32_t */
/* Something by number, to be put in the order of a key; those of one key in that of their numbers. */
struct order_key {
    double key;
    size_t index;
};
int order_by_key(const void *a, const void *b);
