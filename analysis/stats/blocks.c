/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of means where neighboring repetitions are alike: the scatter of blocks' means. */
#include "analysis/stats/blocks.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "analysis/stats/robust.h"

static const double CHANCE = 1e-4;

/* Whether a value counts: neither missing nor an outlier. */
static bool blocks_counts(double x, double centre, double far)
{
    return fabs(x - centre) <= far;
}

static size_t blocks_count(const double *x, size_t n, double centre, double far)
{
    size_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += blocks_counts(x[i], centre, far);
    return counted;
}

/* The analysis of variance of one way. sizes: of the blocks; within: squares about their own means. */
static double chance(const struct blocks *b, const size_t *sizes, size_t all, double mean, double within)
{
    double between = 0;
    for (size_t k = 0; k < b->n; k++)
        between += (double)sizes[k] * (b->mean[k] - mean) * (b->mean[k] - mean);
    double nu1 = (double)(b->n - 1), nu2 = (double)(all - b->n);
    if (!(within > 0))
        return between > 0 ? 0 : 1;
    return gsl_cdf_fdist_Q(between / nu1 / (within / nu2), nu1, nu2);
}

void blocks_cut(const double *x, size_t n, double centre, double far, struct blocks *out)
{
    size_t sizes[BLOCKS_MAX] = {0}, all = blocks_count(x, n, centre, far), seen = 0, wanted = all / BLOCKS_VALUES_LEAST;
    double mean = 0, squares[BLOCKS_MAX] = {0}, within = 0;
    *out = (struct blocks){.n = wanted < BLOCKS_MAX ? wanted : BLOCKS_MAX, .least = NAN, .most = NAN, .disagree = 1};
    if (out->n < BLOCKS_LEAST) {
        out->n = 0;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!blocks_counts(x[i], centre, far))
            continue;
        size_t k = seen++ * out->n / all;
        sizes[k]++;
        double apart = x[i] - out->mean[k];
        out->mean[k] += apart / (double)sizes[k]; /* Welford: no cancellation */
        squares[k] += apart * (x[i] - out->mean[k]);
        mean += x[i] / (double)all;
    }
    for (size_t k = 0; k < out->n; k++) {
        within += squares[k];
        out->least = fmin(out->least, out->mean[k]);
        out->most = fmax(out->most, out->mean[k]);
    }
    out->disagree = chance(out, sizes, all, mean, within);
}

void blocks_widen(const struct blocks *b, struct estimate *e)
{
    if (b->n == 0)
        return;
    double mean = 0, squares = 0;
    for (size_t k = 0; k < b->n; k++)
        mean += b->mean[k] / (double)b->n;
    for (size_t k = 0; k < b->n; k++)
        squares += (b->mean[k] - mean) * (b->mean[k] - mean);
    double half = robust_half_width95(sqrt(squares / (double)(b->n - 1)), b->n);
    e->lo = fmin(e->lo, e->value - half);
    e->hi = fmax(e->hi, e->value + half);
}

bool blocks_disagree(const struct blocks *b, double most)
{
    return b->n > 0 && b->most - b->least > most && b->disagree < CHANCE;
}
