/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians and order statistics by selection. */
#include "util/order.h"

#include <math.h>
#include <stdbool.h>

/* Farther from the median a value is an outlier: four sigmas hold all but 0.006 % of normal noise; two and a half steps
 * hold the step to either side, with noise (order.h). */
#define WILD_SIGMAS 4.0
#define WILD_STEPS 2.5

/*
 * Moves what is below the pivot (or equal to it, with `equal`) to the front of x[lo..hi] and returns where the rest
 * begins. Without a branch on the values (Lomuto's scheme): on noise every other such branch is mispredicted.
 */
static inline size_t partition(double *x, size_t lo, size_t hi, double pivot, bool equal)
{
    size_t rest = lo;
    for (size_t i = lo; i <= hi; i++) {
        double v = x[i];
        x[i] = x[rest];
        x[rest] = v;
        rest += equal ? v <= pivot : v < pivot;
    }
    return rest;
}

/* Quickselect with the middle of three as pivot (Hoare 1961): GSL 2.7 selects only by sorting. NaN must be gone. */
double order_nth_smallest(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
        double pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
        size_t rest = partition(x, lo, hi, pivot, false);
        if (k < rest) {
            hi = rest - 1;
            continue;
        }
        if (rest == lo) { /* nothing is smaller: equal ones in front, so that it goes on where all are equal */
            rest = partition(x, lo, hi, pivot, true);
            if (k < rest)
                return x[k];
        }
        lo = rest;
    }
    return x[k];
}

double order_median(double *x, size_t n)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            x[m++] = x[i];
    if (!m)
        return NAN;
    double upper = order_nth_smallest(x, m, m / 2);
    if (m % 2)
        return upper;
    double lower = x[0]; /* selection leaves what is smaller in front: the next one is the largest of these */
    for (size_t i = 1; i < m / 2; i++)
        lower = x[i] > lower ? x[i] : lower;
    return 0.5 * (upper + lower);
}

double order_mad_sigma(const double *x, size_t n, double centre, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    return MAD_TO_SIGMA * order_median(scratch, n);
}

double order_offset_within(const double *x, size_t n, double middle, double bound, size_t *kept)
{
    double sum = 0;
    *kept = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i] - middle) <= bound) {
            sum += x[i] - middle;
            ++*kept;
        }
    return *kept ? sum / (double)*kept : 0;
}

double order_stepped_bound(const double *x, size_t n, double middle, double step, double *scratch)
{
    return fmax(WILD_SIGMAS * order_mad_sigma(x, n, middle, scratch), WILD_STEPS * step);
}

double order_stepped_mean(const double *x, size_t n, double middle, double step, double *scratch)
{
    size_t kept;
    double bound = order_stepped_bound(x, n, middle, step, scratch);
    return middle + order_offset_within(x, n, middle, bound, &kept);
}

int order_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int order_double_descending(const void *a, const void *b)
{
    return order_double(b, a);
}

int order_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

int order_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

int order_by_key(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;
    int order = order_double(&x->key, &y->key);
    return order ? order : order_size(&x->index, &y->index);
}
