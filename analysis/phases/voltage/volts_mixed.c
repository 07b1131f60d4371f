/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes readings of repetitions in different states apart: what most neighbors agree upon is kept. */
#include "analysis/phases/voltage/volts_mixed.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/order.h"

enum {
    SIDE = 11,       /* readings on either side whose medians tell the states a reading may be of */
    AROUND = 40,     /* readings on either side that tell a majority */
    WINDOW = 40,     /* differences of neighbours that tell the noise */
    APART = 60,      /* readings: strays farther apart than this are not of one stretch */
    STRAYS_LEAST = 6 /* times that readings leave the states around them and come back */
};
#define MINORITY_MOST 0.3  /* of 81 readings: then there is a majority (a fair coin shows one so once in 2500 times) */
#define BOUND_SIGMAS 4.0   /* once in 16000 readings by chance: six times so near each other never */
#define BOUND_LEAST 0.0015 /* V: as for a step (volts.c) */
#define MEDIAN_TO_SIGMA 1.0484 /* half of the differences of two normal values are below sigma / 1.0484 */

/*
 * The noise of one reading: where neighbours differ little. Where readings mix up to half of the differences are steps;
 * a quarter of the windows need be free of that.
 */
static double noise_of(const float *x, size_t n, double *scratch)
{
    double *window = scratch + n;
    size_t m = 0;
    for (size_t i = 0; i + WINDOW < n; i += WINDOW) {
        for (size_t k = 0; k < WINDOW; k++)
            window[k] = fabs((double)x[i + k + 1] - (double)x[i + k]);
        scratch[m++] = order_median(window, WINDOW);
    }
    return MEDIAN_TO_SIGMA * order_nth_smallest(scratch, m, m / 4);
}

static double median_between(const float *x, size_t a, size_t b, double *scratch)
{
    for (size_t i = a; i < b; i++)
        scratch[i - a] = (double)x[i];
    return order_median(scratch, b - a);
}

/* Whether reading i is neither of the state before it nor of that after it, nor between them. */
static bool strays(const float *x, size_t n, size_t i, double bound, double *scratch)
{
    if (i < SIDE || i + SIDE >= n)
        return false;
    double before = median_between(x, i - SIDE, i, scratch), after = median_between(x, i + 1, i + 1 + SIDE, scratch);
    double own = (double)x[i];
    return own < fmin(before, after) - bound || own > fmax(before, after) + bound;
}

/* The next readings that stray often, from `from` on: *first to *last. False: there are none. */
static bool next_stretch(const uint8_t *stray, size_t n, size_t from, size_t *first, size_t *last)
{
    size_t times = 0;
    for (size_t i = from; i < n; i++) {
        if (!stray[i])
            continue;
        if (times && i - *last > APART) {
            if (times >= STRAYS_LEAST)
                return true;
            times = 0;
        }
        if (!times)
            *first = i;
        times += !times || i - *last > 1;
        *last = i;
    }
    return times >= STRAYS_LEAST;
}

/* Marks what is kept of the readings a..b: what a clear majority around it agrees with. */
static void mixed_judge(const float *x, size_t n, size_t a, size_t b, double bound, uint8_t *gone, double *scratch)
{
    for (size_t i = a; i < b; i++) {
        size_t lo = i > AROUND ? i - AROUND : 0, hi = i + AROUND + 1 < n ? i + AROUND + 1 : n, off = 0;
        double middle = median_between(x, lo, hi, scratch);
        for (size_t k = lo; k < hi; k++)
            off += fabs((double)x[k] - middle) > bound;
        gone[i] = (double)off > MINORITY_MOST * (double)(hi - lo) || fabs((double)x[i] - middle) > bound;
    }
}

static void mixed_drop(struct trace *v, const uint8_t *gone)
{
    size_t m = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (gone[i])
            continue;
        v->time_us[m] = v->time_us[i];
        v->channel[TRACE_VOLTS][m++] = v->channel[TRACE_VOLTS][i];
    }
    v->n = m;
}

/*
 * Takes the minority out of a trace of voltages in order of time, and everything where a clear majority is missing.
 * least_us: shorter stretches are left alone, as at any edge that scatters a little. 0, or -1: out of memory; the
 * stretches are to be freed in any case.
 */
int volts_unmix(struct trace *v, double least_us, struct mixed_stretches *out)
{
    const float *x = v->channel[TRACE_VOLTS];
    size_t n = v->n, first = 0, last = 0, from = 0, most = n / STRAYS_LEAST + 1;
    *out = (struct mixed_stretches){0, NULL};
    if (n < 2 * AROUND)
        return 0;
    uint8_t *stray = calloc(n, 1), *gone = calloc(n, 1);
    double *scratch = malloc((n + WINDOW) * sizeof *scratch);
    out->stretch = malloc(most * sizeof *out->stretch);
    int bad = !stray || !gone || !scratch || !out->stretch ? -1 : 0;
    double bound = bad ? 0 : fmax(BOUND_LEAST, BOUND_SIGMAS * noise_of(x, n, scratch));
    for (size_t i = 0; i < n && !bad; i++)
        stray[i] = strays(x, n, i, bound, scratch);
    while (!bad && next_stretch(stray, n, from, &first, &last)) {
        /* near the ends of a recording nothing can be seen to stray */
        size_t a = first > APART ? first - SIDE : 0, b = n - last > APART ? last + SIDE + 1 : n;
        from = last + 1;
        if (v->time_us[last] - v->time_us[first] < least_us)
            continue;
        mixed_judge(x, n, a, b, bound, gone, scratch);
        size_t lo = a > AROUND ? a - AROUND : 0, hi = b + AROUND < n ? b + AROUND : n;
        out->stretch[out->n++] = (struct mixed_stretch){v->time_us[lo], v->time_us[hi - 1]};
    }
    if (!bad)
        mixed_drop(v, gone);
    free(stray);
    free(gone);
    free(scratch);
    return bad;
}

/* The stretch that holds this time; NULL: none does. */
const struct mixed_stretch *volts_mixed_at(const struct mixed_stretches *m, double time_us)
{
    for (size_t i = 0; i < m->n; i++)
        if (time_us >= m->stretch[i].begin && time_us <= m->stretch[i].end)
            return &m->stretch[i];
    return NULL;
}
