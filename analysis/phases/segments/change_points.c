/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of one channel: moving sums at many scales, then backward elimination. */
#include "analysis/phases/segments/change_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "util/list.h"
#include "util/order.h"

enum {
    NEAR = 4, /* samples that a cut may move at a time */
    FAR = 16,
    NOISE_SAMPLES = 4001, /* differences looked at for a noise estimate: its error is then below 2 % */
    SCALE_MAX = 1024,     /* longest moving sum */
    SHARP = 12            /* samples on each side within which a step must show */
};
#define QUANTUM_LEAST 1e-6 /* relative: values as close as this are equal */
#define CANDIDATE_Z 4.0    /* proposals; elimination demands more */

static inline float transform(float v, bool logarithm)
{
    return logarithm ? logf(v > 1e-4f ? v : 1e-4f) : v;
}

/* Median absolute difference of neighbours at no more than NOISE_SAMPLES places, as the sigma of one of them.
 * NaN: out of memory. */
static double difference_noise(const float *y, size_t n)
{
    if (n <= 3)
        return 0;
    size_t pairs = n - 1, step = pairs / NOISE_SAMPLES + 1, m = 0;
    double *d = malloc((pairs / step + 1) * sizeof *d);
    if (!d)
        return NAN;
    for (size_t i = 0; i < pairs; i += step)
        d[m++] = fabs((double)y[i + 1] - (double)y[i]);
    double sigma = MAD_TO_SIGMA * order_median(d, m) / M_SQRT2, sum = 0;
    size_t equal = 0;
    for (size_t i = 0; i < m; i++)
        equal += d[i] <= 0;
    /*
     * Values that come in a few steps are often equal to their neighbours, and the median says little. The mean does:
     * that of normal differences is 2 sigma / sqrt(pi), and without the largest three of a hundred (outliers and
     * real steps) 0.93 of it. Of values that are hardly ever equal it would say how many gaps there are.
     */
    size_t kept = equal * 4 > m ? m - m * 3 / 100 : 0;
    if (kept)
        order_nth_smallest(d, m, kept - 1);
    for (size_t i = 0; i < kept; i++)
        sum += d[i];
    double by_mean = kept ? sum / (double)kept * (sqrt(M_PI) / 2) / 0.93 : 0;
    free(d);
    return isnan(sigma) ? 0 : fmax(sigma, by_mean);
}

/*
 * Frequencies told in whole ticks are now one value, now the next, as chance has it. Where it is mostly the one, robust
 * measures of noise see none, and a few of the other in a row look like a state. So the noise is taken to be at least
 * that of a fair coin between the two: half a quantum. What shows them: samples alone between equal neighbours, all off
 * by the same small amount. 0: no such quanta.
 */
static double quantum_noise(const float *y, size_t n)
{
    /* Strays that tell the ticks of a reading; so many are looked at. */
    enum { ENOUGH = 3, MOST = 2000 };
    double off[MOST];
    size_t m = 0, alike = 0;
    for (size_t i = 1; i + 1 < n && m < MOST; i++) {
        double step = fabs((double)y[i] - (double)y[i - 1]);
        if (step > QUANTUM_LEAST && fabs((double)y[i + 1] - (double)y[i - 1]) < QUANTUM_LEAST)
            off[m++] = step;
    }
    if (m < ENOUGH)
        return 0;
    double quantum = order_nth_smallest(off, m, m / 2);
    for (size_t i = 0; i < m; i++)
        alike += fabs(off[i] - quantum) < 0.05 * quantum;
    return quantum < QUANTUM_MOST && alike >= ENOUGH && alike * 2 > m ? 0.5 * quantum : 0;
}

static double sample_noise(const float *y, size_t n, bool logarithm)
{
    double sigma = difference_noise(y, n);
    return logarithm && !isnan(sigma) ? fmax(sigma, quantum_noise(y, n)) : sigma;
}

double change_points_noise(const float *value, size_t n, bool logarithm)
{
    if (n < 2)
        return 0;
    size_t take = n < 4 * NOISE_SAMPLES ? n : 4 * NOISE_SAMPLES, m = 0;
    float *y = malloc((take + 1) * sizeof *y);
    if (!y)
        return NAN;
    /* stretches from the whole series, so that neighbours stay neighbours */
    size_t stride = n / take ? n / take : 1;
    for (size_t block = 0; block < n && m < take; block += 64 * stride)
        for (size_t i = block; i < n && i < block + 64 && m < take; i++)
            if (!isnan(value[i]))
                y[m++] = transform(value[i], logarithm);
    double sigma = sample_noise(y, m, logarithm);
    free(y);
    return sigma;
}

/* The series without what is missing, skipped, or sticks out alone. */
struct clean {
    size_t n;
    float *y;
    uint32_t *index; /* into the original, relative to first */
    double *sum;     /* prefix sums, n + 1 */
    double sigma;
};

/* Of five values without NaN. Of two pairs neither the lowest nor the highest is it: it is the middle one of those next
 * to them and the fifth value. */
static float median5(const float *p)
{
    float lower = fmaxf(fminf(p[0], p[1]), fminf(p[3], p[4])), upper = fminf(fmaxf(p[0], p[1]), fmaxf(p[3], p[4]));
    return fmaxf(fminf(lower, upper), fminf(fmaxf(lower, upper), p[2]));
}

/*
 * Drops samples that stick out of their five neighbours (Hampel's identifier; Hampel 1974): one or two outliers are
 * no state. Real states of three samples or more pass.
 */
static size_t drop_outliers(float *y, uint32_t *index, size_t n, double bound)
{
    if (n < 5 || !(bound > 0))
        return n;
    float before1 = y[0], before2 = y[0]; /* original values, since y is overwritten after */
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        float own = y[i];
        bool keep = true;
        if (i >= 2 && i + 2 < n) {
            const float window[5] = {before2, before1, own, y[i + 1], y[i + 2]};
            keep = fabs((double)own - (double)median5(window)) <= bound;
        }
        before2 = before1;
        before1 = own;
        if (keep) {
            y[m] = own;
            index[m++] = index[i];
        }
    }
    return m;
}

static void clean_free(struct clean *c)
{
    free(c->y);
    free(c->index);
    free(c->sum);
}

static int clean_series(const float *value, const uint8_t *skip, size_t first, size_t last,
                        const struct change_rule *rule, struct clean *c)
{
    size_t n = last - first, m = 0;
    memset(c, 0, sizeof *c);
    c->y = calloc(n + 1, sizeof *c->y);
    c->index = malloc((n + 1) * sizeof *c->index);
    if (!c->y || !c->index)
        return -1;
    for (size_t i = 0; i < n; i++) {
        float v = value[first + i];
        if (isnan(v) || (skip && skip[first + i]))
            continue;
        c->y[m] = transform(v, rule->logarithm);
        c->index[m++] = (uint32_t)i;
    }
    double own = sample_noise(c->y, m, rule->logarithm), sigma = fmax(own, rule->least_noise);
    if (isnan(own))
        return -1;
    m = drop_outliers(c->y, c->index, m, fmax(5 * sigma, 0.5 * rule->min_effect));
    /* Quantised or noiseless recordings: a floor keeps significance finite; min_effect still guards. */
    c->sigma = fmax(sigma, rule->min_effect / 50);
    c->n = m;
    c->sum = malloc((m + 1) * sizeof *c->sum);
    if (!c->sum)
        return -1;
    c->sum[0] = 0;
    for (size_t i = 0; i < m; i++)
        c->sum[i + 1] = c->sum[i] + (double)c->y[i];
    return 0;
}

static double change_points_mean(const struct clean *c, size_t a, size_t b)
{
    return (c->sum[b] - c->sum[a]) / (double)(b - a);
}

static double moving_step(const struct clean *c, size_t k, size_t w)
{
    return (c->sum[k + w] - 2 * c->sum[k] + c->sum[k - w]) / (double)w;
}

/* The scatter of the moving steps of width w: that of white noise, or the one seen where there is enough to see. */
static double step_noise(const struct clean *c, size_t w)
{
    double white = c->sigma * sqrt(2.0 / (double)w);
    if (c->n < 64 * w)
        return white;
    size_t places = c->n - 2 * w + 1, step = places / NOISE_SAMPLES + 1, m = 0;
    double *d = malloc((places / step + 1) * sizeof *d);
    if (!d)
        return white;
    for (size_t i = 0; i < places; i += step)
        d[m++] = fabs(moving_step(c, i + w, w));
    double seen = MAD_TO_SIGMA * order_median(d, m);
    free(d);
    return fmax(white, fmin(seen, 4 * white));
}

struct positions {
    size_t *at, n;
};

static int add_position(struct positions *p, size_t at)
{
    if (!list_room(&p->at, p->n, sizeof *p->at))
        return -1;
    p->at[p->n++] = at;
    return 0;
}

/*
 * The shortest moving sums propose every local maximum: a small step a few samples before a large one is a maximum of
 * its own, but would not be the largest within the width.
 */
static int propose_each(const struct clean *c, size_t w, double least, struct positions *p)
{
    double before = 0, here = fabs(moving_step(c, w, w));
    for (size_t k = w; k + w <= c->n; k++) {
        double after = k + 1 + w <= c->n ? fabs(moving_step(c, k + 1, w)) : 0;
        if (here > least && here >= before && here > after && add_position(p, k))
            return -1;
        before = here;
        here = after;
    }
    return 0;
}

/* Local maxima of the moving step of width w, at most half of all, that are large enough to propose. */
static int propose(const struct clean *c, size_t w, const struct change_rule *rule, struct positions *p)
{
    double least = fmax(CANDIDATE_Z * step_noise(c, w), 0.6 * rule->min_effect);
    if (w <= 4)
        return propose_each(c, w, least, p);
    size_t stride = w >= 8 ? w / 4 : 1, best = 0;
    double best_step = 0;
    for (size_t k = w; k + w <= c->n; k += stride) {
        double step = fabs(moving_step(c, k, w));
        if (best && k - best > w) {
            if (add_position(p, best))
                return -1;
            best = 0;
            best_step = 0;
        }
        if (step > least && step > best_step) {
            best = k;
            best_step = step;
        }
    }
    return best ? add_position(p, best) : 0;
}

static int propose_all(const struct clean *c, const struct change_rule *rule, struct positions *p)
{
    for (size_t w = 3; w <= SCALE_MAX && 2 * w <= c->n; w = w < 4 ? 4 : 2 * w)
        if (propose(c, w, rule, p))
            return -1;
    if (p->n)
        qsort(p->at, p->n, sizeof *p->at, order_size);
    size_t m = 0;
    for (size_t i = 0; i < p->n; i++)
        if (!m || p->at[i] > p->at[m - 1])
            p->at[m++] = p->at[i];
    p->n = m;
    return 0;
}

/*
 * The stretch that cut `at` divides, without the samples on this side of the neighbouring cuts: those may hold some of
 * the state beyond, and one such sample next to a large step outweighs a small step.
 */
static void own_stretch(const struct clean *c, size_t at, size_t *before, size_t *after)
{
    if (*before > 0 && at - *before > 3)
        ++*before;
    if (*after<c->n && * after - at> 3)
        --*after;
}

/* Moves a cut to where the means before and after fit best (least squares), between its neighbours. */
static size_t change_points_place(const struct clean *c, size_t before, size_t at, size_t after, size_t reach)
{
    size_t lo = at > before + 1 + reach ? at - reach : before + 1;
    size_t hi = at + reach < after ? at + reach : after - 1;
    double best = -1;
    size_t where = at;
    for (size_t k = lo; k <= hi; k++) {
        double left = c->sum[k] - c->sum[before], right = c->sum[after] - c->sum[k];
        double whole = (c->sum[after] - c->sum[before]) / (double)(after - before);
        left -= whole * (double)(k - before); /* about the common mean: differences of large sums lose digits */
        right -= whole * (double)(after - k);
        double fit = left * left / (double)(k - before) + right * right / (double)(after - k);
        if (fit > best) {
            best = fit;
            where = k;
        }
    }
    return where;
}

static void place_cuts(const struct clean *c, struct positions *p, size_t reach)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t before = i ? p->at[i - 1] : 0, after = i + 1 < p->n ? p->at[i + 1] : c->n;
        own_stretch(c, p->at[i], &before, &after);
        if (after - before > 2)
            p->at[i] = change_points_place(c, before, p->at[i], after, reach);
    }
}

/* What speaks for cut i; 0 if it must go in any case. */
static double worth(const struct clean *c, const struct positions *p, size_t i, const struct change_rule *rule,
                    struct cut *out)
{
    size_t at = p->at[i], before = i ? p->at[i - 1] : 0, after = i + 1 < p->n ? p->at[i + 1] : c->n;
    size_t left = at - before, right = after - at;
    if (!left || !right)
        return 0;
    size_t clean_before = before, clean_after = after;
    own_stretch(c, at, &clean_before, &clean_after);
    double effect = change_points_mean(c, at, clean_after) - change_points_mean(c, clean_before, at);
    double z = fabs(effect) / (c->sigma * sqrt(1.0 / (double)left + 1.0 / (double)right));
    /* near the cut, but not the sample on either side of it, which may hold some of both */
    size_t l = left < SHARP ? left : SHARP, r = right < SHARP ? right : SHARP;
    size_t trim_l = l > 3, trim_r = r > 3;
    double near = change_points_mean(c, at + trim_r, at + r) - change_points_mean(c, at - l, at - trim_l);
    double near_z = fabs(near) / (c->sigma * sqrt(1.0 / (double)(l - trim_l) + 1.0 / (double)(r - trim_r)));
    if (out)
        *out = (struct cut){at, effect, z};
    if (fabs(effect) < rule->min_effect || (!rule->gradual && near * effect <= 0))
        return 0;
    /* a drift differs over long means and hardly near the cut; noise may hide a part of a small step near by */
    if (!rule->gradual && fabs(near) < 0.5 * fabs(effect) && fabs(near) + 2 * fabs(near) / near_z < fabs(effect))
        return 0;
    if (left < rule->min_length || right < rule->min_length)
        return fmin(z, rule->min_z * 0.5); /* a state too short to be believed: one of its two cuts goes */
    return z;
}

/* Removes cuts that do not stand, the weakest of each neighbourhood first; true if any went. */
static bool eliminate(const struct clean *c, struct positions *p, const struct change_rule *rule, double *z)
{
    bool any = false;
    for (size_t i = 0; i < p->n; i++)
        z[i] = worth(c, p, i, rule, NULL);
    size_t m = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool weakest = (!i || z[i] <= z[i - 1]) && (i + 1 == p->n || z[i] <= z[i + 1]);
        if (weakest && z[i] < rule->min_z) {
            any = true;
            if (i + 1 < p->n) /* of two that tie only one goes at a time */
                z[i + 1] = fmax(z[i + 1], nextafter(z[i], INFINITY));
            continue;
        }
        p->at[m++] = p->at[i];
    }
    p->n = m;
    return any;
}

/*
 * When one of the cuts of a state too short to be believed has gone, the next one may move to where that was, because
 * the larger step is there, and go for the same reason; its own step would be lost. So all candidates that are a
 * state's length away from the cuts come back, and do not move far.
 */
static void propose_again(const struct positions *candidates, const struct change_rule *rule, struct positions *p)
{
    size_t before = p->n, next = 0; /* next: the first cut at or after the candidate */
    for (size_t i = 0; i < candidates->n; i++) {
        size_t at = candidates->at[i];
        while (next < before && p->at[next] < at)
            next++;
        bool close = (next < before && p->at[next] - at < rule->min_length) ||
                     (next > 0 && at - p->at[next - 1] < rule->min_length);
        if (!close)
            p->at[p->n++] = at;
    }
    if (p->n > before)
        qsort(p->at, p->n, sizeof *p->at, order_size);
}

/* Places the cuts and removes those that do not stand; what is left may move by `reach` samples. */
static void settle(const struct clean *c, struct positions *p, const struct change_rule *rule, double *z, size_t reach)
{
    place_cuts(c, p, NEAR);
    for (int round = 0; round < 4; round++) {
        while (eliminate(c, p, rule, z))
            ;
        place_cuts(c, p, reach);
    }
    while (eliminate(c, p, rule, z))
        ;
}

size_t change_points_find(const float *value, const uint8_t *skip, size_t first, size_t last,
                          const struct change_rule *rule, struct cut **cuts, double *sigma)
{
    struct clean c;
    struct positions p = {NULL, 0}, candidates = {NULL, 0};
    double *z = NULL;
    size_t result = SIZE_MAX;
    *cuts = NULL;
    if (clean_series(value, skip, first, last, rule, &c) || propose_all(&c, rule, &candidates))
        goto out;
    *sigma = c.sigma;
    size_t most = 2 * candidates.n + 1; /* never more than the candidates beside those that are left */
    p.at = malloc(most * sizeof *p.at);
    z = malloc(most * sizeof *z);
    *cuts = malloc(most * sizeof **cuts);
    if (!p.at || !z || !*cuts)
        goto out;
    for (; p.n < candidates.n; p.n++)
        p.at[p.n] = candidates.at[p.n];
    settle(&c, &p, rule, z, FAR);
    propose_again(&candidates, rule, &p);
    settle(&c, &p, rule, z, NEAR);
    for (size_t i = 0; i < p.n; i++) {
        worth(&c, &p, i, rule, &(*cuts)[i]);
        (*cuts)[i].at = first + c.index[p.at[i]];
    }
    result = p.n;
out:
    if (result == SIZE_MAX) {
        free(*cuts);
        *cuts = NULL;
    }
    free(z);
    free(p.at);
    free(candidates.at);
    clean_free(&c);
    return result;
}
