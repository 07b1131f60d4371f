/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far after a wide instruction scalar code is throttled: a fit to rates at many spacings. */
#include "tables/switches/throttle/throttle.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/golden.h"

/* STEPS: distances that are tried, evenly in the logarithm. SECTIONS: golden sections between two of them. */
enum { LEAST_POINTS = 3, STEPS = 4000, SECTIONS = 40 };
#define RESOLUTION 0.5 /* instructions: limits are no narrower */
#define ALIKE 0.02     /* relative: how far a whole range of rates may differ and still count as one */

struct fit {
    const struct throttle_point *p;
    size_t n;
    double first, last; /* smallest and largest spacing */
};

static bool usable(const struct throttle_point *p)
{
    return isfinite(p->spacing) && p->spacing >= 1 && p->ratio > 0 && p->ratio < 1;
}

/* The weighted sum of squares of the best ratio at this distance; *slope is 1 / ratio - 1. */
static double squares_at(const struct fit *f, double distance, double *slope)
{
    double gz = 0, gg = 0, sum = 0;
    for (size_t i = 0; i < f->n; i++) {
        double y = 1 / f->p[i].ratio, g = fmin(1, distance / f->p[i].spacing), w = 1 / (y * y);
        gz += w * g * (y - 1);
        gg += w * g * g;
    }
    *slope = gz / gg;
    for (size_t i = 0; i < f->n; i++) {
        double y = 1 / f->p[i].ratio, g = fmin(1, distance / f->p[i].spacing), d = (y - 1 - *slope * g) / y;
        sum += d * d;
    }
    return sum;
}

/* Distances between the smallest and the largest spacing, evenly in the logarithm. */
static double distance_of(const struct fit *f, size_t step)
{
    return f->first * pow(f->last / f->first, (double)step / STEPS);
}

static double less_squares_at(void *fit, double distance)
{
    double slope;
    return -squares_at(fit, distance, &slope);
}

/* The best distance between the neighbors of a step: the sum has kinks at the spacings, so no parabola will do. */
static double refine(struct fit *f, size_t step)
{
    double lo = distance_of(f, step ? step - 1 : 0), hi = distance_of(f, step < STEPS ? step + 1 : STEPS);
    golden_highest(less_squares_at, f, &lo, &hi, -1, SECTIONS);
    return (lo + hi) / 2;
}

static void find_limits(const struct fit *f, size_t best, struct throttle_reach *out)
{
    double slope, least = squares_at(f, distance_of(f, best), &slope);
    double bound = least * (1 + gsl_cdf_fdist_Pinv(0.95, 1, (double)f->n - 2) / ((double)f->n - 2));
    size_t lo = best, hi = best;
    while (lo > 0 && squares_at(f, distance_of(f, lo - 1), &slope) <= bound)
        lo--;
    while (hi < STEPS && squares_at(f, distance_of(f, hi + 1), &slope) <= bound)
        hi++;
    out->distance.lo = fmin(distance_of(f, lo), out->distance.value - RESOLUTION);
    out->distance.hi = fmax(distance_of(f, hi), out->distance.value + RESOLUTION);
}

/* most: the distance is no larger, if not all are alike. */
static void bounds_only(const struct fit *f, bool all_alike, double most, struct throttle_reach *out)
{
    out->distance = (struct estimate){NAN, all_alike ? f->last : NAN, all_alike ? NAN : most};
    if (!all_alike)
        out->ratio = NAN;
}

int throttle_reach_find(const struct throttle_point *p, size_t n, struct throttle_reach *out)
{
    struct throttle_point *kept = calloc(n + 1, sizeof *kept);
    struct fit f = {kept, 0, INFINITY, 0};
    double slope, least = INFINITY, lowest = INFINITY, highest = 0;
    size_t best = 0;
    if (!kept)
        return 1;
    for (size_t i = 0; i < n; i++) {
        if (!usable(&p[i]))
            continue;
        kept[f.n++] = p[i];
        f.first = fmin(f.first, p[i].spacing);
        f.last = fmax(f.last, p[i].spacing);
        lowest = fmin(lowest, p[i].ratio);
        highest = fmax(highest, p[i].ratio);
    }
    if (f.n < LEAST_POINTS || f.first == f.last) {
        free(kept);
        return -1;
    }
    for (size_t step = 0; step <= STEPS; step++) {
        double squares = squares_at(&f, distance_of(&f, step), &slope);
        if (squares < least) {
            least = squares;
            best = step;
        }
    }
    double distance = refine(&f, best);
    squares_at(&f, distance, &slope);
    *out = (struct throttle_reach){.distance = {distance, NAN, NAN}, .ratio = 1 / (1 + slope), .n = f.n};
    double least_rate = INFINITY, most_rate = 0;
    for (size_t i = 0; i < f.n; i++) {
        double expected = 1 / (1 + slope * fmin(1, distance / f.p[i].spacing));
        out->residual = fmax(out->residual, fabs(f.p[i].ratio / expected - 1));
        least_rate = fmin(least_rate, expected);
        most_rate = fmax(most_rate, expected);
    }
    out->change = most_rate / least_rate - 1;
    if (highest <= lowest * (1 + ALIKE))
        bounds_only(&f, true, NAN, out);
    else if (best == 0)
        bounds_only(&f, false, f.first, out);
    else
        find_limits(&f, best, out);
    /* no point lies surely within the reach: it, and the ratio within it, cannot be told apart */
    if (best > 0 && out->distance.lo <= f.first)
        bounds_only(&f, false, out->distance.hi, out);
    free(kept);
    return 0;
}
