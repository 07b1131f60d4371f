/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians, trimmed means, their limits, and modes of samples with outliers. */
#include "analysis/stats/robust.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include "util/order.h"

double robust_step_noise(const double *x, size_t n, double *scratch)
{
    for (size_t i = 1; i < n; i++)
        scratch[i - 1] = fabs(x[i] - x[i - 1]);
    return MAD_TO_SIGMA * order_median(scratch, n > 1 ? n - 1 : 0) / M_SQRT2;
}

static double smallest_above_zero(const double *x, size_t n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0 && x[i] < least)
            least = x[i];
    return least;
}

double robust_bound(const double *x, size_t n, double *middle, double *scratch)
{
    enum { ENOUGH = 1001 }; /* values that set the bound; it need not be exact */
    size_t step = n / ENOUGH + 1, m = 0;
    double deviation = 0;
    for (size_t i = 0; i < n; i += step)
        if (!isnan(x[i]))
            scratch[m++] = x[i];
    *middle = order_median(scratch, m);
    m = 0;
    for (size_t i = 0; i < n; i += step)
        if (!isnan(x[i])) {
            scratch[m++] = fabs(x[i] - *middle);
            deviation += scratch[m - 1];
        }
    if (!m)
        return NAN;
    /* where more than half of the values are equal the MAD is 0: the mean deviation then sets the bound */
    double quantum = smallest_above_zero(scratch, m), spread = order_median(scratch, m);
    double bound = fmax(4 * MAD_TO_SIGMA * spread, 3 * deviation / (double)m);
    if (spread <= 0 && quantum < QUANTUM_MOST * fabs(*middle)) /* stepped values: the next step is no outlier */
        bound = fmax(bound, 1.5 * quantum);
    return bound;
}

double robust_centre(double *x, size_t n, double *scratch)
{
    size_t kept;
    double middle, bound = robust_bound(x, n, &middle, scratch);
    return middle + order_offset_within(x, n, middle, bound, &kept);
}

double robust_half_width95(double sigma, size_t n)
{
    if (n < 2)
        return NAN;
    return gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) * sigma / sqrt((double)n);
}

struct estimate robust_median(double *x, size_t n)
{
    struct estimate e = {order_median(x, n), NAN, NAN};
    size_t rank = 0; /* the first that the median is below with more than 2.5 % probability; the limit is before it */
    for (size_t end = n; rank < end;) {
        size_t middle = (rank + end) / 2;
        if (gsl_cdf_binomial_P((unsigned)middle, 0.5, (unsigned)n) <= 0.025)
            rank = middle + 1;
        else
            end = middle;
    }
    if (rank > 0) {
        e.lo = order_nth_smallest(x, n, rank - 1);
        e.hi = order_nth_smallest(x, n, n - rank);
    }
    return e;
}

struct estimate robust_mean(const double *x, size_t n, double reject, double slack, size_t *used)
{
    struct estimate e = {NAN, NAN, NAN};
    double *scratch = malloc((n ? n : 1) * sizeof *scratch);
    size_t kept = 0;
    if (used)
        *used = 0;
    if (!scratch)
        return e;
    memcpy(scratch, x, n * sizeof *x);
    double centre = order_median(scratch, n);
    double bound = fmax(reject * order_mad_sigma(x, n, centre, scratch), slack);
    double mean = order_offset_within(x, n, centre, bound, &kept), squares = 0;
    free(scratch);
    if (!kept)
        return e;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i] - centre) <= bound)
            squares += (x[i] - centre - mean) * (x[i] - centre - mean);
    e.value = centre + mean;
    if (kept > 1) {
        double h = robust_half_width95(sqrt(squares / (double)(kept - 1)), kept);
        e.lo = e.value - h;
        e.hi = e.value + h;
    }
    if (used)
        *used = kept;
    return e;
}

static int by_size(const void *a, const void *b)
{
    const struct value_mode *x = a, *y = b;
    return x->n > y->n ? -1 : x->n < y->n;
}

size_t robust_modes(const double *x, size_t n, double gap, size_t least, struct value_mode *out, size_t max)
{
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    size_t m = 0, found = 0;
    if (!sorted)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            sorted[m++] = x[i];
    gsl_sort(sorted, 1, m);
    for (size_t first = 0, i = 1; i <= m; i++) {
        if (i < m && sorted[i] - sorted[i - 1] <= gap)
            continue;
        if (i - first >= least && found < max) {
            double sum = 0;
            for (size_t k = first; k < i; k++)
                sum += sorted[k] - sorted[first];
            out[found++] = (struct value_mode){sorted[first] + sum / (double)(i - first), sorted[first], sorted[i - 1],
                                               i - first};
        }
        first = i;
    }
    free(sorted);
    qsort(out, found, sizeof *out, by_size);
    return found;
}

/* Mean and sum of squares about it of sorted[a..b), from sums of the values and of their squares. */
static double scatter_between(const double *sum, const double *squares, size_t a, size_t b, double *mean)
{
    double n = (double)(b - a);
    *mean = (sum[b] - sum[a]) / n;
    return fmax(0, squares[b] - squares[a] - n * *mean * *mean);
}

size_t robust_two_modes(const double *x, size_t n, double apart, size_t least, struct value_mode out[2])
{
    double *sorted = malloc((3 * n + 3) * sizeof *sorted), best = INFINITY, mean[2] = {0, 0}, a, b;
    size_t m = 0, at = 0;
    if (!sorted)
        return 0;
    double *sum = sorted + n + 1, *squares = sum + n + 1;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            sorted[m++] = x[i];
    gsl_sort(sorted, 1, m);
    sum[0] = squares[0] = 0;
    for (size_t i = 0; i < m; i++) { /* about the smallest: the squares of large values would lose digits */
        double d = sorted[i] - sorted[0];
        sum[i + 1] = sum[i] + d;
        squares[i + 1] = squares[i] + d * d;
    }
    for (size_t k = least ? least : 1; k + least <= m && k < m; k++) {
        double within = scatter_between(sum, squares, 0, k, &a) + scatter_between(sum, squares, k, m, &b);
        if (within < best) {
            best = within;
            at = k;
            mean[0] = a + sorted[0];
            mean[1] = b + sorted[0];
        }
    }
    bool two = at && mean[1] - mean[0] >= apart;
    if (two) {
        double first = scatter_between(sum, squares, 0, at, &a) / (double)at;
        double second = scatter_between(sum, squares, at, m, &b) / (double)(m - at);
        two = mean[1] - mean[0] > TWO_MODES_D * sqrt(0.5 * (first + second));
    }
    if (two) {
        out[0] = (struct value_mode){mean[0], sorted[0], sorted[at - 1], at};
        out[1] = (struct value_mode){mean[1], sorted[at], sorted[m - 1], m - at};
        qsort(out, 2, sizeof *out, by_size);
    }
    free(sorted);
    return two ? 2 : 0;
}
