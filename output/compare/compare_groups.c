/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "tables/table/estimates.h"
#include "util/order.h"

#define FALSE_ALARMS 0.05 /* probability of one on the whole page */
#define IMPRECISE 10      /* times the median width of limits */
enum { OUTLIERS_FROM = 20 };

bool compare_is_small(const struct compare_cell *cell, int group)
{
    size_t own = 0, most = 0;
    for (size_t i = 0; i < cell->n; i++) {
        own += cell->values[i].group == group;
        most += cell->values[i].group == 1;
    }
    return group > 1 && 2 * own <= most;
}

static double half_width(const struct compare_value *v)
{
    return ((double)v->below + (double)v->above) / 2;
}

static int by_value(const void *a, const void *b)
{
    const struct compare_value *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* By how much both half widths are to be widened for a page of so many pairs: the quantiles of Student's t of as many
 * degrees of freedom as two means of so many repetitions have, of the normal distribution where that is not known. */
static double widening(double pairs, unsigned a, unsigned b)
{
    return estimates_widening(FALSE_ALARMS / 2 / fmax(pairs, 1), a && b ? (double)a + (double)b - 2 : 0);
}

/* By how much b lies above a beyond what limits explain; above 0: they are apart. */
static double apart_by(const struct compare_cell *cell, const struct compare_value *a, const struct compare_value *b,
                       double pairs)
{
    double half = hypot((double)a->above, (double)b->below), gap = b->value - a->value;
    /* most are nearer than that, and quantiles take long */
    double limits = gap > half ? widening(pairs, a->runs, b->runs) * half : half;
    double least = estimates_least_difference(cell->column, fmax(fabs(a->value), fabs(b->value)));
    return b->value - a->value - fmax(limits, cell->sort == COMPARE_LIMITS ? least : 0);
}

/* The median of a cell's values, or of the widths of their limits. */
static double median_of(const struct compare_cell *cell, bool widths, double *scratch)
{
    for (size_t i = 0; i < cell->n; i++)
        scratch[i] = widths ? half_width(&cell->values[i]) : cell->values[i].value;
    return order_median(scratch, cell->n);
}

/* Numbers the groups of a cell anew, in the order of their sizes: 1 is the largest. */
static int number_groups(struct compare_cell *cell)
{
    size_t n = cell->n_groups, *size = calloc(n + 1, sizeof *size);
    int *rank = calloc(n + 1, sizeof *rank);
    int bad = size && rank ? 0 : -1;
    for (size_t i = 0; !bad && i < cell->n; i++)
        size[cell->values[i].group]++;
    for (size_t g = 1; !bad && g <= n; g++) {
        rank[g] = 1;
        for (size_t other = 1; other <= n; other++)
            rank[g] += size[other] > size[g] || (size[other] == size[g] && other < g);
    }
    for (size_t i = 0; !bad && i < cell->n; i++)
        cell->values[i].group = cell->values[i].group ? rank[cell->values[i].group] : 0;
    free(size);
    free(rank);
    return bad;
}

/* Those of a large group that are far from its median. */
static void find_outliers(struct compare_cell *cell, int group, double sigmas, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n; i++)
        if (cell->values[i].group == group)
            scratch[n++] = cell->values[i].value;
    if (n < OUTLIERS_FROM)
        return;
    double middle = order_median(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - middle);
    double spread = MAD_TO_SIGMA * order_median(scratch, n);
    double least = estimates_least_difference(cell->column, middle);
    for (size_t i = 0; i < cell->n; i++) {
        struct compare_value *v = &cell->values[i];
        double off = fabs(v->value - middle), own = half_width(v) / ESTIMATE_Z95;
        v->outlier = v->group == group && off > fmax(least, sigmas * hypot(spread, own));
    }
}

static int group_cell(struct compare_cell *cell, double pairs, double outlier_sigmas, double *scratch)
{
    const struct compare_value *last = NULL;
    qsort(cell->values, cell->n, sizeof *cell->values, by_value);
    double width = median_of(cell, true, scratch);
    cell->median = median_of(cell, false, scratch);
    cell->n_groups = 0;
    for (size_t i = 0; i < cell->n; i++) {
        struct compare_value *v = &cell->values[i];
        v->outlier = false;
        v->group = 0;
        if (half_width(v) > IMPRECISE * width && cell->n > 2)
            continue;
        cell->n_groups += !last || apart_by(cell, last, v, pairs) > 0;
        v->group = (int)cell->n_groups;
        last = v;
    }
    /* of two values with limits of the median width, in 97 of 100 cases: as far beyond what is chance */
    unsigned runs = cell->n ? cell->values[cell->n / 2].runs : 0;
    double limits = (widening(pairs, runs, runs) + 1) * M_SQRT2 * width;
    cell->detectable = cell->sort == COMPARE_LIMITS
                           ? fmax(limits, estimates_least_difference(cell->column, cell->median))
                           : 1;
    if (number_groups(cell))
        return -1;
    if (cell->sort == COMPARE_LIMITS)
        for (int g = 1; g <= (int)cell->n_groups; g++)
            find_outliers(cell, g, outlier_sigmas, scratch);
    return 0;
}

int compare_group_all(struct comparison *c)
{
    double pairs = 0, values = 0, *scratch = calloc(c->n + 1, sizeof *scratch);
    int bad = scratch ? 0 : -1;
    for (size_t i = 0; i < c->n_cells; i++) {
        double n = (double)c->cells[i].n;
        pairs += c->cells[i].sort == COMPARE_LIMITS ? n * (n - 1) / 2 : 0;
        values += c->cells[i].sort == COMPARE_LIMITS ? n : 0;
    }
    double outlier_sigmas = gsl_cdf_ugaussian_Qinv(FALSE_ALARMS / 2 / fmax(values, 1));
    for (size_t i = 0; i < c->n_cells && !bad; i++)
        bad = group_cell(&c->cells[i], pairs, outlier_sigmas, scratch);
    free(scratch);
    return bad;
}
