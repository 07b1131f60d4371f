/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages in which a unit wakes, from the first uses after idle times, and their JSON form. */
#include "analysis/wake/wake.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/estimate_json.h"
#include "analysis/stats/robust.h"
#include "util/error.h"
#include "util/json_lines.h"
#include "util/order.h"

/* Levels that a time may be at; points beyond a border that place it; points of a trend; strays that make no stage. */
enum { GRID = 512, BEYOND = 3, TREND_POINTS = 4, STRAYS = WAKE_STAGE_LEAST / 2 };

#define SIGMA_LEAST 0.02 /* of log(first_us): the clock's drift is no stage */
#define CAPPED 3.0       /* standard deviations beyond which a point counts no more */
#define RATIO_LEAST 1.1  /* between the times of neighboring stages */
#define TREND 1.05       /* between the first and the last third of a stage */
#define STRAY_SHARE 0.15 /* of the points beyond a boundary: fewer of the other level are outliers */

/* Sorted by idle time: its logarithms of first_us, and the stretch that each belongs to. */
struct wake_series {
    size_t n;
    double *idle, *y, *scratch;
    unsigned char *stay; /* n x GRID: on the way to this point the level did not change */
    size_t *best;        /* the level from which each point is reached if it changed */
    size_t begin[WAKE_STAGES_MOST + 1], n_stages;
    double level[WAKE_STAGES_MOST], spread[WAKE_STAGES_MOST];
    double sigma;
};

/* 0, or 1: out of memory. */
static int wake_sort(const struct wake_point *p, size_t n, struct wake_series *s)
{
    struct order_key *keys = malloc(n * sizeof *keys);
    if (keys == NULL)
        return 1;
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct order_key){p[i].idle_us, i};
    qsort(keys, n, sizeof *keys, order_by_key);
    for (size_t i = 0; i < n; i++) {
        s->idle[i] = keys[i].key;
        s->y[i] = log(p[keys[i].index].first_us);
    }
    free(keys);
    return 0;
}

/* Cuts the series; more cuts than there may be stages are counted, not kept. Returns the number of stretches. */
static size_t wake_cut(struct wake_series *s)
{
    /* a stage has WAKE_STAGE_LEAST points, and no level beyond half as many; single points may be anywhere */
    memcpy(s->scratch, s->y, s->n * sizeof *s->y);
    qsort(s->scratch, s->n, sizeof *s->scratch, order_double);
    double lowest = s->scratch[STRAYS], highest = s->scratch[s->n - 1 - STRAYS], cost[GRID];
    double step = fmax(s->sigma, (highest - lowest) / (GRID - 1)), cap = CAPPED * CAPPED;
    s->sigma = step;
    size_t levels = (size_t)ceil((highest - lowest) / step) + 1, cheapest = 0;
    if (levels > GRID)
        levels = GRID;
    memset(cost, 0, sizeof cost);
    for (size_t i = 0; i < s->n; i++) {
        double change = cost[cheapest] + cap * WAKE_STAGE_LEAST;
        s->best[i] = cheapest;
        cheapest = 0;
        for (size_t k = 0; k < levels; k++) {
            double off = (s->y[i] - lowest) / step - (double)k, loss = fmin(off * off, cap);
            s->stay[i * GRID + k] = cost[k] <= change;
            cost[k] = fmin(cost[k], change) + loss;
            cheapest = cost[k] < cost[cheapest] ? k : cheapest;
        }
    }
    size_t found = 1, k = cheapest;
    for (size_t i = s->n; i-- > 1;) {
        if (s->stay[i * GRID + k])
            continue;
        k = s->best[i];
        if (found < WAKE_STAGES_MOST)
            s->begin[WAKE_STAGES_MOST - found] = i;
        found++;
    }
    return found;
}

/* Level and spread of a stretch. */
static void wake_level(struct wake_series *s, size_t stage)
{
    size_t begin = s->begin[stage], n = s->begin[stage + 1] - begin;
    memcpy(s->scratch, s->y + begin, n * sizeof *s->y);
    s->level[stage] = order_median(s->scratch, n);
    s->spread[stage] = fmax(s->sigma, order_mad_sigma(s->y + begin, n, s->level[stage], s->scratch));
}

static double least_ratio(const struct wake_series *s)
{
    return fmax(log(RATIO_LEAST), 2 * s->sigma);
}

/* Neighbors of one level, in the end, are one stage. */
static void merge(struct wake_series *s)
{
    for (size_t i = 0; i < s->n_stages; i++)
        wake_level(s, i);
    for (size_t i = 0; i + 1 < s->n_stages;) {
        if (fabs(s->level[i + 1] - s->level[i]) >= least_ratio(s)) {
            i++;
            continue;
        }
        memmove(s->begin + i + 1, s->begin + i + 2, (s->n_stages - i - 1) * sizeof *s->begin);
        s->n_stages--;
        for (size_t k = i; k < s->n_stages; k++)
            wake_level(s, k);
        i = i > 0 ? i - 1 : 0;
    }
}

/* Returns true if a point lies on the level of a stage, and closer to it than to that of the other one. */
static bool is_on(const struct wake_series *s, size_t i, size_t stage, size_t other)
{
    double off = fabs(s->y[i] - s->level[stage]);
    return off <= 4 * s->spread[stage] && (other == stage || off < fabs(s->y[i] - s->level[other]));
}

/* Goes outward from the cut in front of point `cut`, at most to `end` (exclusive). Returns the farthest point on the
 * level of the stage beyond the cut, as long as such points are not as rare as outliers. None: the cut itself. */
static size_t reach(const struct wake_series *s, size_t cut, size_t end, bool up, size_t own, size_t beyond)
{
    size_t seen = 0, reached = cut;
    for (size_t k = 1; up ? cut + k <= end : cut >= end + k; k++) {
        size_t i = up ? cut + k - 1 : cut - k;
        if (!is_on(s, i, beyond, own))
            continue;
        seen++;
        if ((double)seen >= STRAY_SHARE * (double)k)
            reached = up ? i + 1 : i;
    }
    return reached;
}

/*
 * Goes outward from the stretch in which both levels occur (or the cut). Returns the BEYOND-th idle time at which there
 * is a point on the stage's own level. One would do if each idle time were kept to exactly; where they scatter by about
 * as much as they are apart, it happens that both levels occur in perfect order around another time than the boundary.
 */
static size_t outward(const struct wake_series *s, size_t at, size_t end, bool up, size_t own, size_t other)
{
    size_t reached = up ? (at < end ? at : end - 1) : at > end ? at - 1 : end, seen = 0;
    for (size_t i = reached; seen < BEYOND; i = up ? i + 1 : i - 1) {
        if (is_on(s, i, own, other) && (seen == 0 || s->idle[i] != s->idle[reached])) {
            reached = i;
            seen++;
        }
        if (i == (up ? end - 1 : end))
            break;
    }
    return reached;
}

/* The idle time between stages i and i + 1. */
static struct estimate wake_boundary(const struct wake_series *s, size_t i, size_t *from, size_t *to)
{
    size_t cut = s->begin[i + 1];
    *from = reach(s, cut, s->begin[i], false, i, i + 1);
    *to = reach(s, cut, s->begin[i + 2], true, i + 1, i);
    size_t lo = outward(s, *from, s->begin[i], false, i, i + 1);
    size_t hi = outward(s, *to, s->begin[i + 2], true, i + 1, i);
    double before = s->idle[cut - 1], after = s->idle[cut];
    double middle = before > 0 ? sqrt(before * after) : 0.5 * (before + after);
    return (struct estimate){middle, fmin(s->idle[lo], middle), fmax(s->idle[hi], middle)};
}

static void describe(struct wake_series *s, struct wake_stages *out)
{
    size_t last = s->n_stages - 1, mixed_from = 0, mixed_to = 0; /* around the boundary in front of the stage */
    out->n = s->n_stages;
    for (size_t i = 0; i <= last; i++) {
        struct wake_stage *stage = &out->stage[i];
        size_t kept = 0, next_from = SIZE_MAX, next_to = SIZE_MAX; /* after the last stage nothing mixes */
        stage->idle_from_us = i > 0 ? out->stage[i - 1].idle_to_us : (struct estimate){s->idle[0], NAN, NAN};
        stage->idle_to_us = i < last ? wake_boundary(s, i, &next_from, &next_to) : (struct estimate){NAN, NAN, NAN};
        for (size_t p = s->begin[i]; p < s->begin[i + 1]; p++) {
            bool after = p >= next_from, before = i > 0 && p >= mixed_from && p < mixed_to;
            if ((after && is_on(s, p, i + 1, i)) || (before && is_on(s, p, i - 1, i)))
                out->mixed++;
            else if (is_on(s, p, i, i))
                s->scratch[kept++] = s->y[p];
            else
                out->discarded++;
        }
        stage->n = kept;
        struct estimate level = robust_median(s->scratch, kept);
        stage->first_us = (struct estimate){exp(level.value), exp(level.lo), exp(level.hi)};
        mixed_from = next_from;
        mixed_to = next_to;
    }
}

/* Returns true if first_us keeps changing within a stage: the medians of its outer thirds differ by more than TREND,
 * and by more than four standard errors, computed from the noise between neighbors. */
static bool has_trend(struct wake_series *s, size_t stage)
{
    size_t begin = s->begin[stage], n = s->begin[stage + 1] - begin, third = n / 3;
    if (third < TREND_POINTS)
        return false;
    double noise = robust_step_noise(s->y + begin, n, s->scratch);
    memcpy(s->scratch, s->y + begin, third * sizeof *s->y);
    double first = order_median(s->scratch, third);
    memcpy(s->scratch, s->y + begin + n - third, third * sizeof *s->y);
    double off = fabs(order_median(s->scratch, third) - first);
    return off > log(TREND) && off > 4 * M_SQRT2 * ROBUST_MEDIAN_ERROR * noise / sqrt((double)third);
}

static void wake_warn(struct wake_series *s, struct wake_stages *out)
{
    static const double most = 0.1;
    size_t trends = 0;
    for (size_t i = 0; i < s->n_stages; i++)
        trends += has_trend(s, i);
    if (trends > 0)
        snprintf(out->warning[out->n_warnings++], WAKE_TEXT_MAX,
                 "within %zu of %zu stages first_us keeps changing with idle_us: it changes gradually there, and the "
                 "boundaries of such stages are not thresholds",
                 trends, s->n_stages);
    if ((double)out->discarded > most * (double)out->points)
        snprintf(out->warning[out->n_warnings++], WAKE_TEXT_MAX,
                 "%zu of %zu points are on no stage's level: first_us does not change in stages, or was disturbed",
                 out->discarded, out->points);
    if (out->detectable_ratio > WAKE_SCATTERS)
        snprintf(
            out->warning[out->n_warnings++], WAKE_TEXT_MAX,
            "first_us scatters so much that stages less than a factor of %.2g apart are not seen; repeat on a less "
            "busy machine",
            out->detectable_ratio);
    if (out->n > 1 && (double)out->mixed > 2 * most * (double)out->points)
        snprintf(out->warning[out->n_warnings++], WAKE_TEXT_MAX,
                 "%zu of %zu points are on the level of the neighboring stage: the idle times were not exact, or the "
                 "boundary moves",
                 out->mixed, out->points);
}

static int analyse(const struct wake_point *p, struct wake_series *s, struct wake_stages *out, char *why, size_t size)
{
    if (wake_sort(p, s->n, s) != 0)
        return 1;
    s->sigma = fmax(SIGMA_LEAST, robust_step_noise(s->y, s->n, s->scratch));
    s->n_stages = wake_cut(s);
    if (s->n_stages > WAKE_STAGES_MOST)
        return error_line(why, size, "first_us changes %zu times over idle_us: these are not stages", s->n_stages - 1);
    size_t *begin = s->begin; /* the cuts stand at the end, in order */
    memmove(begin + 1, begin + WAKE_STAGES_MOST - s->n_stages + 1, (s->n_stages - 1) * sizeof *begin);
    begin[0] = 0;
    begin[s->n_stages] = s->n;
    merge(s);
    describe(s, out);
    out->detectable_ratio = exp(fmax(least_ratio(s), CAPPED * s->sigma));
    wake_warn(s, out);
    return 0;
}

struct estimate wake_blur_time(struct estimate us, double step_us)
{
    return (struct estimate){us.value, fmax(0, us.lo - step_us), us.hi + step_us};
}

bool wake_scatters(const struct wake_stages *s)
{
    return s->n == 1 && s->detectable_ratio > WAKE_SCATTERS;
}

void wake_blur(struct wake_stages *s, double step_us)
{
    if (!(step_us > 0))
        return;
    s->step_us = step_us;
    for (size_t i = 0; i + 1 < s->n;) {
        struct wake_stage *a = &s->stage[i], *b = a + 1;
        if (fabs(a->first_us.value - b->first_us.value) > 2 * step_us) {
            i++;
            continue;
        }
        double n = (double)(a->n + b->n);
        a->first_us.value = (a->first_us.value * (double)a->n + b->first_us.value * (double)b->n) / n;
        a->first_us.lo = fmin(a->first_us.lo, b->first_us.lo);
        a->first_us.hi = fmax(a->first_us.hi, b->first_us.hi);
        a->idle_to_us = b->idle_to_us;
        a->n += b->n;
        memmove(b, b + 1, (s->n - i - 2) * sizeof *b);
        s->n--;
    }
    for (size_t i = 0; i < s->n; i++)
        s->stage[i].first_us = wake_blur_time(s->stage[i].first_us, step_us);
}

int wake_find(const struct wake_point *points, size_t n, struct wake_stages *out, char *why, size_t size)
{
    memset(out, 0, sizeof *out);
    out->points = n;
    if (n < WAKE_POINTS_LEAST)
        return error_line(why, size, "%zu point%s too few to find stages; at least %d are needed", n,
                          n == 1 ? " is" : "s are", WAKE_POINTS_LEAST);
    if (n > WAKE_POINTS_MOST)
        return error_line(why, size, "%zu points are too many; at most %d are analyzed", n, WAKE_POINTS_MOST);
    for (size_t i = 0; i < n; i++)
        if (!(points[i].idle_us >= 0 && points[i].first_us > 0 && isfinite(points[i].idle_us + points[i].first_us)))
            return error_line(why, size, "point %zu: idle_us must not be below 0, and first_us must be above 0", i + 1);
    struct wake_series s = {.n = n,
                            .idle = malloc(n * sizeof(double)),
                            .y = malloc(n * sizeof(double)),
                            .scratch = malloc(n * sizeof(double)),
                            .stay = malloc(n * GRID),
                            .best = malloc(n * sizeof(size_t))};
    int status = s.idle == NULL || s.y == NULL || s.scratch == NULL || s.stay == NULL || s.best == NULL
                     ? 1
                     : analyse(points, &s, out, why, size);
    if (status > 0)
        (void)error_line(why, size, "out of memory");
    free(s.idle);
    free(s.y);
    free(s.scratch);
    free(s.stay);
    free(s.best);
    return status;
}

enum { DIGITS = 6 };

char *wake_to_json(const struct wake_stages *s, const struct wake_source *source)
{
    bool failed = false;
    json_t *root = json_pack("{s:s, s:o, s:o, s:o}", "format", "characterize-wake/1", "unit",
                             json_lines_text(source->unit), "cpu", json_lines_text(source->cpu), "machine",
                             json_lines_text(source->machine));
    if (source->environment != NULL)
        json_lines_put(root, "environment", json_lines_text(source->environment), &failed);
    json_lines_put(root, "points", json_integer((json_int_t)s->points), &failed);
    json_lines_put(root, "discarded", json_integer((json_int_t)s->discarded), &failed);
    json_lines_put(root, "mixed", json_integer((json_int_t)s->mixed), &failed);
    json_t *list = json_lines_array(root, "stages", &failed);
    for (size_t i = 0; i < s->n; i++) {
        const struct wake_stage *stage = &s->stage[i];
        json_t *o = json_object();
        estimate_json_put(o, "first_us", "first_us_ci95", &stage->first_us, DIGITS, &failed);
        estimate_json_put(o, "idle_from_us", "idle_from_us_ci95", &stage->idle_from_us, DIGITS, &failed);
        estimate_json_put(o, "idle_to_us", "idle_to_us_ci95", &stage->idle_to_us, DIGITS, &failed);
        json_lines_put(o, "n", json_integer((json_int_t)stage->n), &failed);
        json_lines_push(list, o, &failed);
    }
    json_lines_put(
        root, "detectable",
        json_pack("{s:o, s:i}", "ratio", json_lines_rounded(s->detectable_ratio, DIGITS), "points", WAKE_STAGE_LEAST),
        &failed);
    list = json_lines_array(root, "warnings", &failed);
    for (size_t i = 0; i < s->n_warnings; i++)
        json_lines_push(list, json_lines_text(s->warning[i]), &failed);
    return json_lines_dump(root, failed);
}
