/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of means where neighboring repetitions are alike: the scatter of blocks' means. */
#include "analysis/stats/blocks.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_statistics_double.h>

#include "analysis/stats/robust.h"

/* Blocks at most and at least, and values in each: Student's t of 3 to 7 degrees of freedom. */
enum { BLOCKS_MAX = 8, BLOCKS_LEAST = 4, VALUES_LEAST = 4 };

static bool counts(double x, double centre, double far)
{
    return fabs(x - centre) <= far; /* false for missing ones, too */
}

void blocks_widen(const double *x, size_t n, double centre, double far, struct estimate *e)
{
    double mean[BLOCKS_MAX] = {0};
    size_t size[BLOCKS_MAX] = {0}, all = 0, seen = 0;
    for (size_t i = 0; i < n; i++)
        all += counts(x[i], centre, far);
    const size_t blocks = all / VALUES_LEAST < BLOCKS_MAX ? all / VALUES_LEAST : BLOCKS_MAX;
    if (blocks < BLOCKS_LEAST)
        return;
    for (size_t i = 0; i < n; i++)
        if (counts(x[i], centre, far)) {
            size_t k = seen++ * blocks / all;
            mean[k] += (x[i] - mean[k]) / (double)++size[k]; /* Welford: no cancellation */
        }
    double half = robust_half_width95(gsl_stats_sd(mean, 1, blocks), blocks);
    e->lo = fmin(e->lo, e->value - half);
    e->hi = fmax(e->hi, e->value + half);
}
