/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The core voltage over time: running medians over bins, of readings of which each repetition gives one. */
#include "tables/switches/voltage/volt_points.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"

/* BINS_OF_WINDOW: of the time that the readings of one median take. */
enum { BINS_OF_WINDOW = 5, POINTS_MAX = 100000 };

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
static size_t readings_in(const struct trace *v, double begin, double end, size_t *next)
{
    size_t found = 0;
    while (*next < v->n && v->time_us[*next] < begin)
        ++*next;
    for (; *next < v->n && v->time_us[*next] < end; ++*next)
        found++;
    return found;
}

/* The readings nearest to a time: from *first on. `first` is that of the time before, times ascend. */
static void move_window(const struct trace *v, size_t width, double time_us, size_t *first)
{
    while (*first + width < v->n && fabs(v->time_us[*first + width] - time_us) < fabs(v->time_us[*first] - time_us))
        ++*first;
}

static size_t bins_of(const struct trace *v, double *bin_us)
{
    double first = v->time_us[0], last = v->time_us[v->n - 1], span = last - first;
    if (!(*bin_us > 0))
        *bin_us = span > 0 ? round_number(VOLT_NEIGHBOURS * span / (double)v->n / BINS_OF_WINDOW) : 1;
    double bins = floor(last / *bin_us) - floor(first / *bin_us) + 1;
    return bins > POINTS_MAX ? POINTS_MAX : (size_t)bins;
}

int volt_points_find(const struct trace *t, const struct phases *p, double bin_us, struct volt_point **out, size_t *n,
                     size_t *readings)
{
    struct trace v;
    double near[VOLT_NEIGHBOURS];
    int bad = volts_gather(t, &v);
    size_t m = bad ? 0 : v.n, width = m < VOLT_NEIGHBOURS ? m : VOLT_NEIGHBOURS, first = 0, next = 0;
    size_t bins = m ? bins_of(&v, &bin_us) : 0;
    struct volt_point *points = bad ? NULL : calloc(bins + 1, sizeof *points);
    double usual = m > 1 ? bin_us * (double)m / (v.time_us[m - 1] - v.time_us[0]) : 0; /* readings in a bin */
    *n = 0;
    for (size_t b = 0; points && b < bins; b++) {
        struct volt_point *at = &points[*n];
        at->time_us = (floor(v.time_us[0] / bin_us) + (double)b + 0.5) * bin_us;
        const struct phase *phase = phase_at(p, at->time_us);
        bool halted = phase && phase->kind == PHASE_HALT;
        /* nobody reads while the core stands still: the neighbors are of before and after */
        if ((double)readings_in(&v, at->time_us - bin_us / 2, at->time_us + bin_us / 2, &next) < usual / 2 && halted)
            continue;
        move_window(&v, width, at->time_us, &first);
        for (size_t i = 0; i < width; i++)
            near[i] = (double)v.channel[TRACE_VOLTS][first + i];
        at->volts = robust_median(near, width);
        at->n = width;
        at->level_ghz = phase && !halted ? phase->freq_ghz.value : NAN;
        ++*n;
    }
    if (readings)
        *readings = m;
    trace_free(&v);
    *out = points;
    return points ? 0 : -1;
}
