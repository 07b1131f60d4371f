/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether repetitions begin and end as either kernel does when it is held alone. */
#include "analysis/pooled/ends.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* Rounds later that a repetition may be compared with; rounds at least; standard errors (99.9 %, few rounds). */
enum { NEAR_BY = 3, ROUNDS_LEAST = 4 };
#define SURE 3.5
#define MOST 0.75 /* of the rounds */

/* The samples of a repetition; none: *first is *past. The runs of a trace are in ascending order. */
static void samples_of(const struct trace *t, uint32_t run, size_t *first, size_t *past)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (t->run[middle] < run)
            lo = middle + 1;
        else
            hi = middle;
    }
    *first = lo;
    *past = lo < t->n && t->run[lo] == run ? trace_run_end(t, lo) : lo;
}

/* A median with limits for few rounds, and many recordings that are asked: 3.5 standard errors by the MAD, and no
 * narrower than those of order statistics, where rounds are of two kinds. Reorders x. */
static struct estimate sure_median(double *x, size_t n, double *scratch)
{
    struct estimate e = robust_median(x, n);
    double half = SURE * ROBUST_MEDIAN_ERROR * order_mad_sigma(x, n, e.value, scratch) / sqrt((double)n);
    return (struct estimate){e.value, isnan(e.lo) ? NAN : fmin(e.lo, e.value - half),
                             isnan(e.hi) ? NAN : fmax(e.hi, e.value + half)};
}

int ends_compare(const struct trace *t, double from_us, double to_us, const struct trace *beside, struct ends *out)
{
    size_t runs = trace_count_runs(beside), m[2] = {0, 0}, n = 0;
    double *x = malloc((3 * runs + 2 * (t->n > beside->n ? t->n : beside->n) + runs + 1) * sizeof *x);
    if (!x)
        return -1;
    double *scratch = x + 3 * runs, *ghz = x + 2 * runs;
    for (size_t first = 0, past; first < beside->n && t->run; first = past) {
        size_t a, b;
        past = trace_run_end(beside, first);
        if (beside->run[first] == 0) /* the first repetition of all begins in a state of its own */
            continue;
        samples_of(t, beside->run[first], &a, &b);
        for (uint32_t later = 1; a == b && later <= NEAR_BY; later++) /* where that one was invalid */
            samples_of(t, beside->run[first] + later, &a, &b);
        if (a == b)
            continue;
        const double own = clock_middle_between(t, TRACE_FREQ, a, b, from_us, to_us, scratch),
                     other = clock_middle_between(beside, TRACE_FREQ, first, past, -INFINITY, INFINITY, scratch),
                     ipc = clock_middle_between(t, TRACE_IPC, a, b, from_us, to_us, scratch),
                     other_ipc = clock_middle_between(beside, TRACE_IPC, first, past, -INFINITY, INFINITY, scratch);
        if (own > 0 && other > 0)
            x[m[0]++] = log(own / other);
        if (ipc > 0 && other_ipc > 0)
            x[runs + m[1]++] = log(ipc / other_ipc);
        if (own > 0)
            ghz[n++] = own;
    }
    out->clock = sure_median(x, m[0], scratch);
    out->below = out->above = out->middle_half = 0;
    if (m[0])
        out->middle_half = order_nth_smallest(x, m[0], m[0] - 1 - m[0] / 4) - order_nth_smallest(x, m[0], m[0] / 4);
    for (size_t i = 0; i < m[0] && m[0] >= ROUNDS_LEAST; i++) {
        out->below += x[i] < -ENDS_OFF ? 1 / (double)m[0] : 0;
        out->above += x[i] > ENDS_OFF ? 1 / (double)m[0] : 0;
    }
    out->ipc = sure_median(x + runs, m[1], scratch);
    out->ghz = order_median(ghz, n);
    free(x);
    return 0;
}

bool ends_differ(const struct estimate *e, double least)
{
    return e->lo > least || e->hi < -least;
}

bool ends_mostly_differ(const struct ends *e)
{
    return fmax(e->below, e->above) > MOST - 1e-9 && fabs(e->clock.value) > e->middle_half;
}
