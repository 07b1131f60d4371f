/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/relaxation/relaxation_fit.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

#define EDGE_US 100.0   /* of a window: shorter than any wait that was published (D, G: 650 us and more) */
#define EARLY_US 20.0   /* of a window: the level before a wait that is shorter than that */
#define SETTLE_US 5.0   /* the first samples of a recording run the sampling loop in */
#define STEP_SEEN 0.003 /* relative: medians of a hundred samples tell so much, but not when it happened */
#define RISE_PART 0.3   /* of the way from slow to fast: a level between, midway, counts */
#define RISE_SIGMAS 3.0 /* ... unless noise takes samples farther than half of that */
#define CLIP_SIGMAS 4.0
#define SURE_SIGMAS 5.0 /* of the mean of the samples after a rise */
#define LOST_SIGMAS 6.0
#define COLD_PART 0.3 /* of that: a sample of code that has not yet got going */
#define HALT_LEAST_US 0.4
#define UNCOVERED_US 20.0
#define OWN_US 40.0 /* waits that are shorter are not measured */
#define OWN_SIGMAS 5.0
#define OWN_DIFFERS 0.002 /* relative: less does not matter */
#define OWN_ABOVE 0.3     /* of the way from slow to fast */
#define UNSURE 6.0        /* samples that a split may be off by where noise is as large as the step */
#define UNSURE_MOST 10.0
enum { NEAR = 50, OWN_LEAST = 8, OWN_MOST = 100 };

static double edge_median(const struct trace *t, const struct sights_span *s, size_t n, double from, double to,
                          double *scratch)
{
    size_t m = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = s[r].first; i < s[r].last; i++)
            if (t->time_us[i] > from && t->time_us[i] <= to)
                scratch[m++] = (double)t->channel[TRACE_FREQ][i];
    struct clock_reading clock = clock_reading_of(t);
    return clock_middle(&clock, TRACE_FREQ, scratch, m, scratch + m);
}

/* Before a wait that is shorter than the wide window, the narrow one tells. */
static double slow_level(const struct trace *t, const struct sights_span *s, size_t n, double from_us, double *scratch)
{
    double wide = edge_median(t, s, n, from_us + SETTLE_US, from_us + EDGE_US, scratch);
    double narrow = edge_median(t, s, n, from_us + SETTLE_US, from_us + EARLY_US, scratch);
    return wide > narrow * (1 + RELAXATION_STEP_LEAST) ? narrow : wide;
}

/*
 * The highest level that at least two repetitions end at (a single one may have been raised by something else): where
 * other programs start the wait again again and again, most repetitions may still be slow then. `end`: at what each
 * ends, ascending, without NaN.
 */
static double fast_level(const double *end, size_t n)
{
    size_t top = n;
    while (top > 1 && end[top - 1] > end[top - 2] * (1 + RELAXATION_STEP_LEAST))
        top--;
    if (top < 2)
        return n ? end[0] : NAN;
    size_t first = top - 1;
    while (first > 0 && end[first - 1] * (1 + RELAXATION_STEP_LEAST) > end[top - 1])
        first--;
    return 0.5 * (end[(first + top - 1) / 2] + end[(first + top) / 2]);
}

/* At what each repetition ends, ascending; returns how many have samples there. */
static size_t end_levels(const struct trace *t, const struct sights_span *s, size_t n, double to_us, double *scratch,
                         double *end)
{
    size_t m = 0;
    for (size_t r = 0; r < n; r++) {
        double level = edge_median(t, s + r, 1, to_us - EDGE_US, to_us, scratch);
        if (!isnan(level))
            end[m++] = level;
    }
    gsl_sort(end, 1, m);
    return m;
}

const char *relaxation_levels(const struct trace *t, const struct sights_span *s, size_t n, double from_us,
                              double to_us, struct relaxation_levels *out)
{
    size_t samples = 0;
    *out = (struct relaxation_levels){.slow = NAN, .fast = NAN};
    for (size_t r = 0; r < n; r++)
        samples += s[r].last - s[r].first;
    double *scratch = malloc(2 * (samples + n + 2) * sizeof *scratch);
    if (!scratch)
        return "out of memory";
    double *end = scratch + samples + 1;
    out->slow = slow_level(t, s, n, from_us, scratch);
    size_t m = end_levels(t, s, n, to_us, scratch, end);
    out->fast = fast_level(end, m);
    for (size_t r = 0; r < m; r++)
        out->rose += end[r] > out->slow * (1 + RELAXATION_STEP_LEAST);
    free(scratch);
    if (isnan(out->slow) || isnan(out->fast))
        return "too few samples";
    if (out->fast > out->slow * (1 + RELAXATION_STEP_LEAST))
        return NULL;
    out->slight = out->fast > out->slow * (1 + STEP_SEEN);
    if (out->slight)
        return "the frequency rises by less than 1 %, too little to time it in each repetition";
    return "the frequency does not rise";
}

/* ---- one repetition ---- */

/* The standard deviation of one sample's frequency, from one sample to the next; NaN: too few. Readings by a clock in
 * steps are mostly equal, so that their median difference does not tell it: it is no less than the steps make it. */
static double window_noise(const struct trace *t, const struct relaxation_window *w, double slow)
{
    struct clock_reading clock = clock_reading_of(t);

    if (w->n < 2)
        return NAN;
    return fmax(robust_step_noise(w->freq, w->n, w->scratch), slow * clock_noise(&clock));
}

/*
 * The first sample of the faster ones; w->n: none. A sample counts for the side that it is nearer to, and by no more
 * than noise takes it beyond either: a wild one must not decide, nor must noise that is cut off on one side only.
 */
static size_t best_split(const struct relaxation_window *w, const struct relaxation_levels *l, double noise)
{
    double step = l->fast - l->slow, part = fmin(fmax(RISE_PART, RISE_SIGMAS * noise / step), 1) * step;
    double sum = 0, best = 0, beyond = CLIP_SIGMAS * noise / part;
    size_t at = 0;
    for (size_t i = 0; i < w->n; i++) {
        double y = (w->freq[i] - l->slow) / part;
        sum += w->weight[i] * (1 - 2 * fmin(fmax(y, -beyond), 1 + beyond));
        if (sum > best) {
            best = sum;
            at = i + 1;
        }
    }
    return at;
}

/* Whether the samples from number k on are faster by more than noise makes a few of them. */
static bool rises_at(const struct relaxation_window *w, size_t k, const struct relaxation_levels *l, double noise)
{
    double sum = 0, n = 0;
    if (!(k > 0 && k < w->n))
        return false;
    for (size_t i = k; i < w->n; i++) {
        sum += w->weight[i] * (w->freq[i] - l->slow);
        n += w->weight[i];
    }
    /* a clock's jitter moves the frequency of a short sample by more, as much as its weight is less */
    double sure = SURE_SIGMAS * noise * sqrt((double)(w->n - k));
    return sum > fmax(sure, RISE_PART * (l->fast - l->slow) * n);
}

static double median_rate(const struct relaxation_window *w, size_t first, size_t last)
{
    size_t m = 0;
    for (size_t i = first; i < last && i < w->n; i++)
        w->scratch[m++] = w->rate[i];
    return order_median(w->scratch, m);
}

/* When the rise began, near sample k, give or take a few: where a halt cut a sample short, or by the share of the
 * faster rate in it. */
static double relaxation_fit_place(const struct relaxation_window *w, size_t k, double slow, size_t unsure)
{
    double most = HALT_LEAST_US, at = NAN, fast = median_rate(w, k + 1, k + 1 + NEAR / 2);
    for (size_t j = k - 1 > unsure ? k - 1 - unsure : 0; j <= k + unsure && j < w->n; j++) {
        double lost = relaxation_lost(w, j, slow);
        if (lost > most) {
            most = lost;
            at = w->end[j] - lost;
        }
    }
    if (!isnan(at))
        return at;
    at = w->begin[k - 1];
    for (size_t j = k - 1; j <= k && j < w->n; j++)
        at += (w->end[j] - w->begin[j]) * fmin(fmax((fast - w->rate[j]) / (fast - slow), 0), 1);
    return at;
}

/*
 * Time lost in the slow samples before number `last`; what is lost in two in a row may be one interrupt. What is lost
 * without a break from the start on is not: code that has just begun to run is slow at first.
 */
static void find_interruptions(const struct relaxation_window *w, size_t last, double slow, struct relaxation_rise *out)
{
    for (size_t i = 0; i < last; i++)
        w->scratch[i] = w->rate[i];
    double *rest = malloc((last + 1) * sizeof *rest), before = 0;
    double noise = rest ? order_mad_sigma(w->scratch, last, slow, rest) / slow : 0;
    free(rest);
    bool cold = true;
    for (size_t i = 0; i < last; i++) {
        double length = w->end[i] - w->begin[i], lost = relaxation_lost(w, i, slow);
        double least = fmax(INTERRUPTION_SEEN_US, LOST_SIGMAS * noise * length);
        double both = lost + before, least_of_both = fmax(INTERRUPTION_SEEN_US, sqrt(2) * LOST_SIGMAS * noise * length);
        before = 0;
        cold = cold && (w->end[i] < SETTLE_US || (w->end[i] < EARLY_US && lost > COLD_PART * least));
        if (w->end[i] < SETTLE_US || cold)
            continue;
        if (lost < least && both < least_of_both) {
            before = fmax(lost, 0);
            continue;
        }
        if (!out->interruptions++)
            out->first_us = w->end[i] - lost;
        out->last_us = w->end[i] - lost;
    }
}

/* The levels of a repetition that runs at other frequencies from beginning to end, by a power limit or because all
 * drift: by how much is read at its beginning, unless that is nearly at the faster level. */
static struct relaxation_levels own_levels(const struct trace *t, const struct relaxation_window *w,
                                           const struct relaxation_levels *l, double noise)
{
    struct relaxation_levels own = *l;
    struct clock_reading clock = clock_reading_of(t);
    double x[OWN_MOST], scratch[OWN_MOST];
    size_t n = 0;
    for (size_t i = 0; i < w->n && w->end[i] < OWN_US && n < OWN_MOST; i++)
        if (w->begin[i] > SETTLE_US)
            x[n++] = w->freq[i];
    double ratio = clock_middle(&clock, TRACE_FREQ, x, n, scratch) / l->slow;
    if (n < OWN_LEAST || fabs(ratio - 1) < fmax(OWN_DIFFERS, OWN_SIGMAS * noise / l->slow / sqrt((double)n)) ||
        !(ratio - 1 < OWN_ABOVE * (l->fast / l->slow - 1)))
        return own;
    own.slow *= ratio;
    own.fast *= ratio;
    return own;
}

int relaxation_find(const struct trace *t, struct sights_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out)
{
    struct relaxation_window w;
    *out = (struct relaxation_rise){NAN, 0, NAN, NAN, NAN, NAN};
    if (relaxation_window_open(&w, t, s, from_us, to_us))
        return -1;
    double noise = window_noise(t, &w, levels->slow), ratio = noise / (levels->fast - levels->slow);
    struct relaxation_levels own = own_levels(t, &w, levels, noise);
    out->noise = ratio;
    size_t k = best_split(&w, &own, noise);
    if (k > 0 && k < w.n && !rises_at(&w, k, &own, noise))
        k = w.n;
    bool rises = k > 0 && k < w.n;
    double slow = k > 0 ? median_rate(&w, k > NEAR ? k - NEAR : 0, k) : NAN;
    if (rises && levels->ramp.tau_us.value > 0) {
        double left;
        out->at_us = relaxation_ramp_begin(&w, w.begin[k], &levels->ramp, &left);
        out->left = left / levels->ramp.left;
    } else if (rises)
        out->at_us = relaxation_fit_place(&w, k, slow, (size_t)fmin(UNSURE_MOST, UNSURE * ratio * ratio));
    if (k > 0)
        find_interruptions(&w, rises ? k - 1 : k, median_rate(&w, 0, k), out);
    double covered = w.n ? w.end[w.n - 1] : 0;
    if (!rises && to_us - from_us - covered > UNCOVERED_US) { /* so long that the window was over after it */
        if (!out->interruptions++)
            out->first_us = covered;
        out->last_us = covered;
    }
    relaxation_window_close(&w);
    return 0;
}
