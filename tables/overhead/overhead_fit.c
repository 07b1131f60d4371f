/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead/overhead_fit.h"

#include <math.h>

#include <gsl/gsl_interp.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"

const char overhead_no_rise[] = "the frequency did not rise while observed";
const char overhead_gradual[] = "the frequency rose gradually";
const char overhead_assumption[] = "performance proportional to frequency";

/* Sections on either side of the slowest one that tell the rate there, and the fewest that do. */
enum { NEIGHBOURS = 16, NEIGHBOURS_LEAST = 4, READINGS_LEAST = 8 };
enum { SETTLED_SECTIONS = 3 }; /* in a row: fewer may be alike by chance */
#define SETTLED 0.01           /* relative: a section at the settled rate takes what the others do but for this */
#define RUN_IN_US 5.0          /* the first sections run the sampling loop itself in, which costs work */
#define SLOW 1.5               /* times its neighbours' cost: such a section is looked at whatever they seem to say */

/* ---- down ---- */

/* When so much work was done, between two readings by interpolation. `work` lies within the curve after its zero. */
static double time_of(const struct work_curve *c, double work)
{
    size_t lo = gsl_interp_bsearch(c->work, work, c->zero, c->n - 1), hi = lo + 1;
    /* the search ends where work[lo] <= work < work[hi] */
    double along = (work - c->work[lo]) / (c->work[hi] - c->work[lo]);
    return c->time_us[lo] + along * (c->time_us[hi] - c->time_us[lo]);
}

/* Mean frequency of readings first..last (both included) without wild ones. */
static double overhead_fit_mean_ghz(const struct work_curve *c, size_t first, size_t last)
{
    const struct clock_reading clock = {.instant = c->instant, .quantum = c->quantum};
    size_t n = 0;
    for (size_t i = first; i <= last; i++)
        c->scratch[n++] = c->ghz[i];
    return clock_centre(&clock, TRACE_FREQ, c->scratch, n, c->scratch + n);
}

/* Time per instruction of sections first..last, both included, without wild ones. */
static double cost(const struct work_curve *c, size_t first, size_t last)
{
    size_t n = 0;
    for (size_t i = first; i <= last; i++) {
        double work = c->work[i] - c->work[i - 1];
        c->scratch[n++] = work > 0 ? (c->time_us[i] - c->time_us[i - 1]) / work : NAN;
    }
    return robust_centre(c->scratch, n, c->scratch + n);
}

/* Time that section i took more than its work takes at `usual` time per instruction. */
static double overhead_fit_lost(const struct work_curve *c, size_t i, double usual)
{
    return c->time_us[i] - c->time_us[i - 1] - (c->work[i] - c->work[i - 1]) * usual;
}

/* When the first of some sections in a row begins that all run at the settled rate. */
static double settled_from(const struct work_curve *c, double usual)
{
    size_t alike = 0;
    for (size_t i = c->zero + 1; i < c->n; i++) {
        alike = fabs(overhead_fit_lost(c, i, usual)) <= SETTLED * (c->time_us[i] - c->time_us[i - 1]) ? alike + 1 : 0;
        if (alike == SETTLED_SECTIONS)
            return c->time_us[i - SETTLED_SECTIONS];
    }
    return INFINITY;
}

static double most_lost(const struct work_curve *c, double usual, double half_us, double settle_us)
{
    double most = 0;
    for (size_t i = c->zero + 1; i < c->n; i++) {
        double begin = c->time_us[i - 1], into = begin < half_us ? begin : begin - half_us;
        /* a section that lies in both halves belongs to neither */
        if (into >= settle_us && (begin >= half_us || c->time_us[i] <= half_us))
            most = fmax(most, overhead_fit_lost(c, i, usual));
    }
    return most;
}

const char *overhead_down(const struct work_curve *c, double settle_us, struct overhead_down *out)
{
    if (c->n < c->zero + READINGS_LEAST)
        return "too few readings";
    double all = c->work[c->n - 1], end = c->time_us[c->n - 1];
    if (!(all > 0))
        return "no work was done";
    double half = time_of(c, all / 2), three = time_of(c, all * 3 / 4);
    size_t settled = c->zero + 1;
    while (settled + 1 < c->n && c->time_us[settled - 1] < half)
        settled++;
    double usual = cost(c, settled, c->n - 1);
    *out = (struct overhead_down){
        .us = half - (end - half),
        .drift_us = (three - half) - (end - three),
        .quarter_us = end - three,
        .settled_us = settled_from(c, usual),
        .lost_us = most_lost(c, usual, half, settle_us),
        .high_ghz = c->zero > 0 ? overhead_fit_mean_ghz(c, 1, c->zero) : NAN,
        .low_ghz = overhead_fit_mean_ghz(c, settled, c->n - 1),
    };
    return NULL;
}

/* ---- up ---- */

/* cost() as a plain mean: quick, but an interruption shows in it. */
static double plain_cost(const struct work_curve *c, size_t first, size_t last)
{
    return (c->time_us[last] - c->time_us[first - 1]) / (c->work[last] - c->work[first - 1]);
}

/* A section with its neighbours. */
struct place {
    size_t first, i, last;
    double plain_gain; /* of the rate across it, by plain means */
};

static struct place overhead_fit_place_of(const struct work_curve *c, size_t begin, size_t i)
{
    struct place p = {i >= begin + NEIGHBOURS ? i - NEIGHBOURS : begin, i,
                      i + NEIGHBOURS < c->n ? i + NEIGHBOURS : c->n - 1, 0};
    p.plain_gain = plain_cost(c, p.first, i - 1) / plain_cost(c, i + 1, p.last) - 1;
    return p;
}

/* Whether a section is worth a closer look: the rate seems to rise across it, or it is slow itself. */
static bool promising(const struct work_curve *c, const struct place *p, double least_gain)
{
    return p->plain_gain >= least_gain / 2 || plain_cost(c, p->i, p->i) > SLOW * plain_cost(c, p->first, p->i - 1);
}

/* Takes a section for the change if the rate rises across it. Returns whether it does. */
static bool overhead_fit_examine(const struct work_curve *c, const struct place *p, double least_gain,
                                 struct overhead_up *out)
{
    double before = cost(c, p->first, p->i - 1), after = cost(c, p->i + 1, p->last), gain = before / after - 1;
    if (!(gain >= least_gain))
        return false;
    double took = c->time_us[p->i] - c->time_us[p->i - 1], work = c->work[p->i] - c->work[p->i - 1];
    double longest = 0, least = INFINITY;
    for (size_t i = p->first; i < p->i; i++) {
        longest = fmax(longest, c->time_us[i] - c->time_us[i - 1]);
        least = fmin(least, c->work[i] - c->work[i - 1]);
    }
    *out = (struct overhead_up){.us = overhead_fit_lost(c, p->i, (before + after) / 2),
                                .low_us = overhead_fit_lost(c, p->i, before),
                                .late = took > longest,
                                .cut = took > longest && work < least,
                                .at_us = c->time_us[p->i],
                                .gain = gain};
    return true;
}

/* Whether the last sections are faster than the first ones. */
static bool rose(const struct work_curve *c, size_t begin, double least_gain)
{
    size_t some = c->n > begin + 2 * NEIGHBOURS ? NEIGHBOURS : (c->n - begin) / 2;
    return some && cost(c, begin, begin + some - 1) / cost(c, c->n - some, c->n - 1) - 1 >= least_gain;
}

const char *overhead_up(const struct work_curve *c, double least_gain, struct overhead_up *out)
{
    struct overhead_up here;
    double most_us = -INFINITY, most_gain = -INFINITY;
    size_t begin = c->zero + 1;
    if (c->n < c->zero + READINGS_LEAST)
        return "too few readings";
    while (begin < c->n && c->time_us[begin - 1] < RUN_IN_US)
        begin++;
    for (size_t i = begin + NEIGHBOURS_LEAST; i + NEIGHBOURS_LEAST < c->n; i++) {
        struct place p = overhead_fit_place_of(c, begin, i);
        if (!promising(c, &p, least_gain) || !overhead_fit_examine(c, &p, least_gain, &here))
            continue;
        bool slow = here.us > (1 - 1 / SLOW) * (c->time_us[i] - c->time_us[i - 1]);
        if (slow ? here.us > most_us : isinf(most_us) && p.plain_gain > most_gain) {
            most_us = slow ? here.us : most_us;
            most_gain = fmax(most_gain, p.plain_gain);
            *out = here;
        }
    }
    if (!isinf(most_us) || !isinf(most_gain))
        return NULL;
    return rose(c, begin, least_gain) ? overhead_gradual : overhead_no_rise;
}

void overhead_up_choose(const struct overhead_up *up, size_t n, double *us)
{
    size_t late = 0, cut = 0;
    for (size_t i = 0; i < n; i++) {
        late += up[i].late;
        cut += up[i].cut;
    }
    for (size_t i = 0; i < n; i++)
        us[i] = up[i].late && 2 * cut > late ? up[i].low_us : up[i].us;
}

/* ---- over the repetitions ---- */

void overhead_spread(double *x, size_t n, double far_us, struct overhead_spread *out, size_t *first)
{
    size_t used = 0, begin = 0;
    *out = (struct overhead_spread){{NAN, NAN, NAN}, NAN, NAN, NAN, 0, 0};
    if (first)
        *first = 0;
    if (!n)
        return;
    gsl_sort(x, 1, n);
    double middle = gsl_stats_median_from_sorted_data(x, 1, n);
    while (fabs(x[begin] - middle) > far_us && begin + 1 < n)
        begin++;
    out->mean = robust_mean(x, n, 0, far_us, &used);
    out->n = used;
    out->far = n - used;
    if (!used)
        return;
    out->median = gsl_stats_median_from_sorted_data(x + begin, 1, used);
    out->p5 = gsl_stats_quantile_from_sorted_data(x + begin, 1, used, 0.05);
    out->p95 = gsl_stats_quantile_from_sorted_data(x + begin, 1, used, 0.95);
    if (first)
        *first = begin;
}

static double overhead_fit_half_width(const struct estimate *e)
{
    return isfinite(e->lo) && isfinite(e->hi) ? (e->hi - e->lo) / 2 : 0;
}

struct estimate overhead_breakeven(const struct estimate *down, const struct estimate *up, const struct estimate *high,
                                   const struct estimate *low)
{
    struct estimate e = {NAN, NAN, NAN};
    double step = high->value - low->value, total = down->value + up->value;
    /* a value without limits is one that nobody knows the error of: nothing follows from it */
    if (!(step > 0) || !isfinite(total) || !isfinite(down->hi - down->lo) || !isfinite(up->hi - up->lo))
        return e;
    double factor = high->value / step;
    /* its derivatives by the two frequencies */
    double by_high = -low->value / (step * step), by_low = high->value / (step * step);
    double width = hypot(factor * hypot(overhead_fit_half_width(down), overhead_fit_half_width(up)),
                         total * hypot(by_high * overhead_fit_half_width(high), by_low * overhead_fit_half_width(low)));
    if (factor * total - width > 0)
        e = (struct estimate){factor * total, factor * total - width, factor * total + width};
    return e;
}

bool overhead_levels_differ(const struct estimate *high, const struct estimate *step)
{
    return step->lo > OVERHEAD_SAME_LEVEL * high->value;
}

bool overhead_is_cost(struct estimate *e)
{
    if (isnan(e->hi) ? !(e->value < -OVERHEAD_RESOLUTION_US) : e->hi >= 0)
        return true;
    if (e->value < -OVERHEAD_RESOLUTION_US)
        return false;
    e->hi = 0;
    return true;
}
