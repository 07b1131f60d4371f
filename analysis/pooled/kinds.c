/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions in which nothing happens: the core was at the level of the second kernel already when they switched,
 * since its sibling thread runs such code, or since what ran before has not been over for long enough. They lose what
 * cold code costs, the others much more, and hardly any lies between: what the switch does, the others show.
 */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pooled/pooled.h"

#define BUSY 0.6        /* of its rate: as slow as a sibling thread makes code */
#define OVER 0.8        /* of the rate in the end: no less is left of what is lost at first */
#define APART_US 0.7    /* of lost time, between the two kinds ... */
#define APART 2.8       /* ... and standard deviations of either: a busy sibling thread scatters them */
#define LESS 0.5        /* of what the others lose: code that was throttled for less long loses more */
#define COLDER 1.5      /* than the copy of the first kernel: wider code is; nor is much gained */
#define SHARE (1.0 / 3) /* of the repetitions, at least, show what the switch does */
#define COLD_ALIKE 0.25 /* of that share: so many of the null's may lose as much */

/* The mean rate between two times, of repetition r or pooled (SIZE_MAX); NaN: none is known. */
static double mean_rate(const struct pooled *p, size_t r, double from, double to)
{
    double sum = 0, us = 0;
    for (size_t k = 0; k < p->n && p->border[k + 1] <= to + 1e-9; k++) {
        double rate = r == SIZE_MAX ? p->rate[k] : (double)p->own[r * p->n + k], d = p->border[k + 1] - p->border[k];
        if (p->border[k] < from - 1e-9 || isnan(rate))
            continue;
        sum += d * rate;
        us += d;
    }
    return us > 0 ? sum / us : NAN;
}

/* The time that repetition r loses in the first 5 us, of what it does in the next 5, in which a sibling thread is as
 * busy, if most are `over` it by then. */
static double own_lost(const struct pooled *p, size_t r, bool over)
{
    const double until = POOLED_COLD_UNTIL_US, next = mean_rate(p, r, until, 2 * until);
    const double rate = mean_rate(p, r, 0, until) / (over && next > BUSY && next < 1 / BUSY ? next : 1);
    return isnan(rate) ? 0 : until * (1 - rate);
}

/* Of all repetitions. x: receives them. */
static void all_lost(const struct pooled *p, double *x)
{
    const double until = POOLED_COLD_UNTIL_US;
    const bool over = mean_rate(p, SIZE_MAX, until, 2 * until) > OVER;
    for (size_t r = 0; r < p->n_runs; r++)
        x[r] = own_lost(p, r, over);
}

/* The share of repetitions that lose more than `us`; -1: out of memory. */
static double share_above(const struct pooled *p, double us)
{
    double *x = malloc((p->n_runs + 1) * sizeof *x), n = 0;
    if (!x)
        return -1;
    all_lost(p, x);
    for (size_t r = 0; r < p->n_runs; r++)
        n += x[r] > us;
    free(x);
    return n / fmax(1, (double)p->n_runs);
}

/* Leaves out the repetitions that lose less than that. lost: of each. */
static int leave_out(struct pooled *p, const double *lost, double least_us, struct phases *out)
{
    size_t kept = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        if (lost[r] > least_us)
            p->run[kept++] = p->run[r];
        else if (phases_discard(out, p->run[r].number,
                                "as if the core were at the level of the second kernel already: %.2f us lost", lost[r]))
            return -1;
    p->n_runs = kept;
    return pooled_again(p);
}

/* By what each repetition loses. x: 3 for each of them, the first: what it loses in ascending order. */
static int keep_switching(struct pooled *p, const struct pooled *null, double cold_us, const double *lost, double *x,
                          struct phases *out)
{
    struct value_mode mode[2];
    size_t two = pooled_two_lengths(x, p->n_runs, APART_US, APART, mode, x + p->n_runs);
    const struct value_mode *less = &mode[two && mode[1].mean < mode[0].mean], *more = less == mode ? mode + 1 : mode;
    const double between = two ? 0.5 * (less->hi + more->lo) : 0, share = (double)more->n / (double)p->n_runs;
    if (!two || fabs(less->mean) > fmin(LESS * more->mean, COLDER * cold_us) || more->mean < cold_us)
        return 0;
    double nulls = null ? share_above(null, between) : 0;
    if (nulls < 0 || nulls > COLD_ALIKE * share)
        return nulls < 0 ? -1 : 0;
    if (share >= SHARE)
        return leave_out(p, lost, between, out);
    return phases_warn(out,
                       "%zu of %zu repetitions lose %.2f us more at the switch than the others, in which the core may "
                       "be at the level of the second kernel already: a longer --warmup may show more of them",
                       more->n, p->n_runs, more->mean - less->mean);
}

int pooled_keep_switching(struct pooled *p, const struct pooled *null, double cold_us, struct phases *out)
{
    const size_t n = p->n_runs;
    double *lost = malloc((4 * n + 1) * sizeof *lost);
    if (!lost)
        return -1;
    all_lost(p, lost);
    gsl_sort(memcpy(lost + n, lost, n * sizeof *lost), 1, n);
    int bad = keep_switching(p, null, cold_us, lost, lost + n, out);
    free(lost);
    return bad;
}
