/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/voltage/volt_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/robust.h"
#include "util/order.h"

enum { LEAST_FOR_LIMITS = 6, BINS_OF_WINDOW = 5, POINTS_MAX = 100000 };

struct reading {
    double time_us, volts;
};

static int in_time(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return (x->volts > y->volts) - (x->volts < y->volts);
}

static size_t volt_points_gather(const struct trace *t, struct reading *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n && t->channel[TRACE_VOLTS]; i++)
        if (isfinite(t->channel[TRACE_VOLTS][i]) && isfinite(t->time_us[i]))
            out[n++] = (struct reading){t->time_us[i], (double)t->channel[TRACE_VOLTS][i]};
    if (n)
        qsort(out, n, sizeof *out, in_time);
    return n;
}

/* The nearest of 1, 2, 5, 10, ... in the logarithm. */
static double round_number(double x)
{
    double unit = pow(10, floor(log10(x))), lead = x / unit;
    return unit * (lead < sqrt(2) ? 1 : lead < sqrt(10) ? 2 : lead < sqrt(50) ? 5 : 10);
}

static const struct phase *phase_at(const struct phases *p, double time_us)
{
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        if (time_us >= ph->start_us && time_us < ph->start_us + ph->duration_us.value)
            return ph;
    }
    return NULL;
}

/* Readings in begin..end; *next is the first that may be: times ascend. */
static size_t readings_in(const struct reading *r, size_t n, double begin, double end, size_t *next)
{
    size_t found = 0;
    while (*next < n && r[*next].time_us < begin)
        ++*next;
    for (; *next < n && r[*next].time_us < end; ++*next)
        found++;
    return found;
}

/*
 * The rank from below (from 0) that lies below the median with 97.5 % probability: the count of values below the median
 * is binomial with 1/2.
 */
static size_t lower_rank(size_t n)
{
    size_t k = 0;
    while (k < n && gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)n) <= 0.025)
        k++;
    return k ? k - 1 : 0;
}

static struct estimate median_with_limits(const struct reading *r, size_t n)
{
    double x[VOLT_NEIGHBOURS];
    struct estimate e = {NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++)
        x[i] = r[i].volts;
    e.value = order_median(x, n);
    if (n >= LEAST_FOR_LIMITS) {
        size_t rank = lower_rank(n);
        e.lo = order_nth_smallest(x, n, rank);
        e.hi = order_nth_smallest(x, n, n - 1 - rank);
    }
    return e;
}

/* The readings nearest to a time: from *first on. `first` is that of the time before, times ascend. */
static void move_window(const struct reading *r, size_t n, size_t width, double time_us, size_t *first)
{
    while (*first + width < n && fabs(r[*first + width].time_us - time_us) < fabs(r[*first].time_us - time_us))
        ++*first;
}

static size_t bins_of(const struct reading *r, size_t n, double *bin_us)
{
    double span = r[n - 1].time_us - r[0].time_us;
    if (!(*bin_us > 0))
        *bin_us = span > 0 ? round_number(VOLT_NEIGHBOURS * span / (double)n / BINS_OF_WINDOW) : 1;
    double bins = floor(r[n - 1].time_us / *bin_us) - floor(r[0].time_us / *bin_us) + 1;
    return bins > POINTS_MAX ? POINTS_MAX : (size_t)bins;
}

int volt_points_find(const struct trace *t, const struct phases *p, double bin_us, struct volt_point **out, size_t *n,
                     size_t *readings)
{
    struct reading *r = malloc((t->n + 1) * sizeof *r);
    *out = NULL;
    *n = 0;
    if (!r)
        return -1;
    size_t m = volt_points_gather(t, r), width = m < VOLT_NEIGHBOURS ? m : VOLT_NEIGHBOURS, first = 0, next = 0,
           kept = 0;
    if (readings)
        *readings = m;
    size_t bins = m ? bins_of(r, m, &bin_us) : 0;
    struct volt_point *points = calloc(bins + 1, sizeof *points);
    double usual = m > 1 ? bin_us * (double)m / (r[m - 1].time_us - r[0].time_us) : 0; /* readings in a bin */
    for (size_t b = 0; points && b < bins; b++) {
        struct volt_point *v = &points[kept];
        v->time_us = (floor(r[0].time_us / bin_us) + (double)b + 0.5) * bin_us;
        const struct phase *phase = phase_at(p, v->time_us);
        bool halted = phase && phase->kind == PHASE_HALT;
        /* nobody reads while the core stands still: the neighbours are of before and after */
        if ((double)readings_in(r, m, v->time_us - bin_us / 2, v->time_us + bin_us / 2, &next) < usual / 2 && halted)
            continue;
        move_window(r, m, width, v->time_us, &first);
        v->volts = median_with_limits(r + first, width);
        v->n = width;
        v->level_ghz = phase && !halted ? phase->freq_ghz.value : NAN;
        kept++;
    }
    free(r);
    *out = points;
    *n = points ? kept : 0;
    return points ? 0 : -1;
}
