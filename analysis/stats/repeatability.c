/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spread, mode and refinement of the durations of trials. */
#include "analysis/stats/repeatability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

double repeatability_half_sample_mode(const double *x, size_t n)
{
    while (n > 2) {
        size_t half = (n + 1) / 2, best = 0;
        if (n == 3)
            return x[1] - x[0] < x[2] - x[1] ? x[0] : x[1];
        for (size_t i = 1; i + half <= n; i++)
            if (x[i + half - 1] - x[i] < x[best + half - 1] - x[best])
                best = i;
        x += best;
        n = half;
    }
    return x[0];
}

/* The most frequent of values in ascending order, the smallest of these; *times: how often. */
static double most_frequent(const double *sorted, size_t n, size_t *times)
{
    double value = sorted[0];
    *times = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] == sorted[i];)
            end++;
        if (end - i > *times) {
            *times = end - i;
            value = sorted[i];
        }
    }
    return value;
}

/* The smallest of the distances that `part` of all do not exceed: nearest rank. */
static double nearest_rank(const double *sorted, size_t n, double part)
{
    size_t rank = (size_t)ceil(part * (double)n);
    return sorted[rank > 0 ? rank - 1 : 0];
}

struct repeatability repeatability_of(const double *duration, size_t n, double resolution, double *scratch)
{
    struct repeatability r = {.n = n};
    size_t times;

    if (n == 0)
        return (struct repeatability){.mode = NAN, .spread = NAN, .p50 = NAN, .p90 = NAN, .p99 = NAN, .max = NAN};
    memcpy(scratch, duration, n * sizeof *scratch);
    qsort(scratch, n, sizeof *scratch, order_double);
    r.spread = (scratch[n - 1] - scratch[0]) / scratch[0];
    r.mode = most_frequent(scratch, n, &times);
    r.repeats = (double)times >= REPEATS_LEAST * (double)n && (times > 1 || n == 1);
    if (!r.repeats)
        r.mode = repeatability_half_sample_mode(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(duration[i] - r.mode) / r.mode;
    qsort(scratch, n, sizeof *scratch, order_double);
    r.p50 = nearest_rank(scratch, n, 0.5);
    r.p90 = nearest_rank(scratch, n, 0.9);
    r.p99 = nearest_rank(scratch, n, 0.99);
    r.max = scratch[n - 1];
    /* scratch[] holds distances that were rounded the same way */
    double near = fmax(resolution / r.mode, r.repeats ? 0 : r.p50);
    while (fabs(duration[r.to_mode] - r.mode) / r.mode > near)
        r.to_mode++;
    return r;
}
