/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels and groups of active cores from steady frequencies. */
#include "tables/frequency/frequency_levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

/* Shares of what may be disturbed before a frequency is said to float: see the header. */
#define AGAIN_MOST 0.25
#define UNSTEADY_MOST 0.25
#define OF_MANY 2.5      /* times the limits: many are compared */
#define ONE_LEVEL 0.0068 /* relative: 1.5 times FREQUENCY_SAME */

static double or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

static bool frequency_levels_same(const struct frequency_point *a, const struct frequency_point *b)
{
    return estimates_frequency_same(a->ghz, a->half_width, b->ghz, b->half_width);
}

static int by_kernel_and_cores(const void *x, const void *y)
{
    const struct frequency_point *a = x, *b = y;
    if (a->kernel != b->kernel)
        return a->kernel < b->kernel ? -1 : 1;
    return (a->cores > b->cores) - (a->cores < b->cores);
}

/* The points of each kernel: kernel k has points[first[k]] up to points[first[k + 1]]. */
struct view {
    struct frequency_point *points;
    size_t n, first[FREQUENCY_KERNELS_MAX + 1];
};

static void frequency_levels_look(struct view *v, struct frequency_point *points, size_t n)
{
    size_t i = 0;
    qsort(points, n, sizeof *points, by_kernel_and_cores);
    v->points = points;
    v->n = n;
    for (size_t k = 0; k <= FREQUENCY_KERNELS_MAX; k++) {
        while (i < n && points[i].kernel < k)
            i++;
        v->first[k] = i;
    }
}

static bool frequency_levels_measured(const struct view *v, size_t kernel)
{
    return v->first[kernel] < v->first[kernel + 1];
}

/* ---- two kernels side by side ---- */

struct comparison {
    size_t both;        /* numbers of cores: with both kernels */
    size_t apart, open; /* ... where they surely differ; where they may do so by a whole step */
    double relative;    /* by how much a is faster, summed over them */
    double squares;     /* ... of its half widths */
};

/* Whether two kernels are of one level: 1; of two: 0; what there is does not tell: -1. */
static int frequency_levels_one_level(const struct comparison *c)
{
    double mean = fabs(c->relative) / (double)c->both, half = sqrt(c->squares) / (double)c->both;
    if (!c->both)
        return 1;
    if (c->apart || mean > fmax(FREQUENCY_SAME, OF_MANY * half))
        return 0;
    return !c->open && mean + half < ONE_LEVEL ? 1 : -1;
}

static struct comparison frequency_levels_compare(const struct view *v, size_t a, size_t b)
{
    struct comparison c = {0};
    size_t i = v->first[a], k = v->first[b];
    while (i < v->first[a + 1] && k < v->first[b + 1]) {
        const struct frequency_point *x = &v->points[i], *y = &v->points[k];
        if (x->cores != y->cores) {
            i += x->cores < y->cores;
            k += x->cores > y->cores;
            continue;
        }
        const double relative = x->ratio / y->ratio - 1;
        const double half = hypot(or_zero(x->ratio_half), or_zero(y->ratio_half)) / y->ratio;
        c.both++;
        c.apart += fabs(relative) > fmax(FREQUENCY_UNSTEADY, OF_MANY * half);
        c.open += fabs(relative) + half >= 2 * FREQUENCY_UNSTEADY;
        c.relative += relative;
        c.squares += half * half;
        i++;
        k++;
    }
    return c;
}

/* ---- whether it floats ---- */

static void floats(struct frequency_levels *out, size_t of, size_t all, const char *what)
{
    out->verdict = FREQUENCY_FLOATS;
    snprintf(out->why, sizeof out->why, "the frequency floats: %zu of %zu %s", of, all, what);
}

static void judge_again(const struct frequency_again *again, size_t n, struct frequency_levels *out)
{
    size_t moved = 0;
    for (size_t i = 0; i < n; i++)
        moved += !estimates_frequency_same(again[i].before, again[i].before_half, again[i].after, again[i].after_half);
    if ((double)moved > AGAIN_MOST * (double)n)
        floats(out, moved, n, "frequencies had changed on remeasurement");
}

static void judge_limits(const struct view *v, struct frequency_levels *out)
{
    size_t unsteady = 0;
    for (size_t i = 0; i < v->n; i++)
        unsteady += v->points[i].half_width > FREQUENCY_UNSTEADY * v->points[i].ghz;
    if ((double)unsteady > UNSTEADY_MOST * (double)v->n) { /* which of the two it is the limits do not tell */
        out->verdict = FREQUENCY_FLOATS;
        snprintf(out->why, sizeof out->why,
                 "the frequency floats, or its readings are noisy: the limits of %zu of %zu frequencies are wider than "
                 "%g %%",
                 unsteady, v->n, 100 * FREQUENCY_UNSTEADY);
    }
}

static bool all_alike(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!frequency_levels_same(&v->points[i], &v->points[k]))
                return false;
    return true;
}

static void frequency_levels_judge(const struct view *v, const struct frequency_again *again, size_t n_again,
                                   struct frequency_levels *out)
{
    if (v->n == 0) {
        out->verdict = FREQUENCY_NOTHING;
        return;
    }
    judge_again(again, n_again, out);
    if (out->verdict == FREQUENCY_STEPS)
        judge_limits(v, out);
    if (out->verdict == FREQUENCY_STEPS && all_alike(v))
        out->verdict = FREQUENCY_ALIKE;
}

/* ---- levels ---- */

static int counted_level(const struct frequency_point *p)
{
    for (int level = 0; level < 3; level++)
        if (p->share[level] > 0.5)
            return level;
    return -1;
}

static bool take_counted_levels(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (counted_level(&v->points[i]) < 0)
            return false;
    for (size_t i = 0; i < v->n; i++)
        v->points[i].level = counted_level(&v->points[i]);
    return v->n > 0;
}

/* The kernels that were measured, fastest first: by how many others they are faster than, at the same cores. */
static size_t rank_kernels(const struct view *v, size_t *order)
{
    double lead[FREQUENCY_KERNELS_MAX] = {0};
    size_t n = 0;
    for (size_t a = 0; a < FREQUENCY_KERNELS_MAX; a++) {
        if (!frequency_levels_measured(v, a))
            continue;
        for (size_t b = 0; b < FREQUENCY_KERNELS_MAX; b++) {
            struct comparison c = frequency_levels_compare(v, a, b);
            lead[a] += c.both ? c.relative / (double)c.both : 0;
        }
        size_t at = n++;
        for (; at > 0 && lead[order[at - 1]] < lead[a]; at--)
            order[at] = order[at - 1];
        order[at] = a;
    }
    return n;
}

/* Each kernel is compared with the first one of the level at hand, not with its neighbour: otherwise many small
 * differences would add up to none. */
static void levels_from_ratios(const struct view *v)
{
    size_t order[FREQUENCY_KERNELS_MAX];
    size_t n = rank_kernels(v, order), first = 0;
    int level = 0;
    for (size_t i = 0; i < n; i++) {
        struct comparison c = frequency_levels_compare(v, order[first], order[i]);
        int same_level = frequency_levels_one_level(&c);
        if (same_level < 0)
            return; /* what is slower may be of one level more */
        if (!same_level) {
            level++;
            first = i;
        }
        for (size_t p = v->first[order[i]]; p < v->first[order[i] + 1]; p++)
            v->points[p].level = level;
    }
}

static bool has_ratios(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(v->points[i].ratio))
            return false;
    return true;
}

/* ---- groups of active cores ---- */

/* Sets first and last of a kernel's points. */
static void group_kernel(struct frequency_point *p, size_t n)
{
    size_t first = 0;
    double sum = 0;
    for (size_t i = 0; i <= n; i++) {
        double mean = i > first ? sum / (double)(i - first) : 0;
        if (i == n || (i > first && !estimates_frequency_same(mean, p[i - 1].half_width, p[i].ghz, p[i].half_width))) {
            for (size_t k = first; k < i; k++) {
                p[k].first = p[first].cores;
                p[k].last = p[i - 1].cores;
            }
            first = i;
            sum = 0;
        }
        if (i < n)
            sum += p[i].ghz;
    }
}

/* Whether some kernel's group ends between two neighbouring numbers of cores. */
static bool ends_between(const struct view *v, unsigned before, unsigned after)
{
    for (size_t i = 1; i < v->n; i++) {
        const struct frequency_point *a = &v->points[i - 1], *b = &v->points[i];
        if (a->kernel == b->kernel && a->cores <= before && b->cores >= after && a->last != b->last)
            return true;
    }
    return false;
}

static int common_groups(const struct view *v, struct frequency_levels *out)
{
    unsigned *cores = calloc(v->n, sizeof *cores);
    size_t n = 0;
    out->groups = calloc(v->n, sizeof *out->groups);
    if (!cores || !out->groups) {
        free(cores);
        return -1;
    }
    for (size_t i = 0; i < v->n; i++)
        cores[i] = v->points[i].cores;
    qsort(cores, v->n, sizeof *cores, order_unsigned);
    for (size_t i = 0; i < v->n; i++)
        if (n == 0 || cores[i] != cores[n - 1])
            cores[n++] = cores[i];
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || ends_between(v, cores[i - 1], cores[i]))
            out->groups[out->n_groups++].first = cores[i];
        out->groups[out->n_groups - 1].last = cores[i];
    }
    free(cores);
    return 0;
}

int frequency_analyse(struct frequency_point *points, size_t n, const struct frequency_again *again, size_t n_again,
                      struct frequency_levels *out)
{
    struct view v;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        points[i].level = -1;
        points[i].first = points[i].last = 0;
    }
    frequency_levels_look(&v, points, n);
    frequency_levels_judge(&v, again, n_again, out);
    bool steps = out->verdict == FREQUENCY_STEPS || out->verdict == FREQUENCY_ALIKE;
    out->counted = take_counted_levels(&v);
    if (!out->counted && has_ratios(&v))
        levels_from_ratios(&v);
    for (size_t i = 0; i < n; i++)
        if (points[i].level >= (int)out->n_levels)
            out->n_levels = (size_t)points[i].level + 1;
    if (!steps)
        return 0;
    for (size_t k = 0; k < FREQUENCY_KERNELS_MAX; k++)
        if (frequency_levels_measured(&v, k))
            group_kernel(points + v.first[k], v.first[k + 1] - v.first[k]);
    return common_groups(&v, out);
}

void frequency_levels_free(struct frequency_levels *l)
{
    free(l->groups);
    memset(l, 0, sizeof *l);
}
