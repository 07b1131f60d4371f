/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a core speeds up after the code that slowed it has ended, in one repetition whose states before and after are
 * known. Pure: from traces of sequences that end in plain code.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "tables/relaxation/relaxation.h"
#include "util/order.h"

/* The first samples of a recording run the sampling loop in. */
#define SETTLE_US 5.0
/* Until then code that has just begun to run may be slow without a break: nothing has interrupted it. */
#define EARLY_US 20.0
/* A rise by this part of the way from slow to fast counts: a level may lie between, midway ... */
#define RISE_PART 0.3
/* ... unless noise (standard deviations) takes samples farther than half of that. */
#define RISE_SIGMAS 3.0
/* By no more standard deviations than so many does a sample count for a side: a wild one must not decide. */
#define CLIP_SIGMAS 4.0
/* The mean of the samples after a rise lies so many standard deviations above the slow level, or there is none. */
#define SURE_SIGMAS 5.0
/* Time lost in a sample is an interruption from so many standard deviations on. */
#define LOST_SIGMAS 6.0
/* Of that: a sample of code that has not yet got going. */
#define COLD_PART 0.3
/* The shortest halt that a sample tells by what it lost, us: shorter ones drown in the jitter of readings. */
#define HALT_LEAST_US 0.4
/* An end of the window that no sample covers, us: something interrupted the core until it was over. */
#define UNCOVERED_US 20.0
/* A repetition's own level is read in its first 40 us: waits that are shorter are not measured. */
#define OWN_US 40.0
#define OWN_SIGMAS 5.0    /* by so many standard deviations it differs from the common one ... */
#define OWN_DIFFERS 0.002 /* ... and by this part of it: less does not matter */
#define OWN_ABOVE 0.3     /* of the way from slow to fast: beyond it the repetition began at the faster level */
/* Samples that a split may be off by where noise is as large as the step; at most: */
#define UNSURE 6.0
#define UNSURE_MOST 10.0
/* NEAR: samples around a split that tell the rates there; OWN_LEAST, OWN_MOST: those that tell a repetition's level. */
enum { NEAR = 50, OWN_LEAST = 8, OWN_MOST = 100 };

/* ---- the samples of a window ---- */

/* The samples of one repetition in a window of time, with what they hold. */
struct window {
    size_t n;
    double *begin, *end; /* us after the start of the window */
    double *rate;        /* payload instructions per ns */
    double *freq;
    double *weight; /* 1, or less of a short sample: at the switch of kernels it may be tiny */
    double *scratch;
};

/* The rate for each GHz of the samples that tell both, which makes frequencies of the others' rates: of those of one
 * window, for other code than the window's has another rate. NaN: none does. x: scratch. */
static double usual_ratio(const struct trace *t, struct sights_span s, double from_us, double to_us, double *x)
{
    size_t m = 0;
    for (size_t i = s.first + 1; i < s.last; i++)
        if (t->time_us[i - 1] >= from_us && t->time_us[i] <= to_us && t->channel[TRACE_FREQ][i] > 0 &&
            t->channel[TRACE_IPC][i] > 0)
            x[m++] = (double)t->channel[TRACE_IPC][i] / (double)t->channel[TRACE_FREQ][i];
    return m ? order_median(x, m) : NAN;
}

/* 0, or -1: out of memory. */
static int window_open(struct window *w, const struct trace *t, struct sights_span s, double from_us, double to_us)
{
    size_t n = s.last - s.first;
    double *all = malloc((6 * n + 6) * sizeof *all);
    if (!all)
        return -1;
    *w = (struct window){0, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n};
    /* few samples have a chain, but all are the same work, which is done as fast as the clock runs: reckoned with one
     * clock for all, their IPC is their rate */
    const bool one_clock = clock_reading_of(t).one_clock;
    const double ratio = one_clock ? usual_ratio(t, s, from_us, to_us, w->scratch) : NAN;
    for (size_t i = s.first + 1; i < s.last; i++) {
        double ipc = (double)t->channel[TRACE_IPC][i];
        double freq = one_clock ? ipc / ratio : (double)t->channel[TRACE_FREQ][i];
        if (t->time_us[i - 1] < from_us || t->time_us[i] > to_us || isnan(freq) || isnan(ipc))
            continue;
        w->begin[w->n] = t->time_us[i - 1] - from_us;
        w->end[w->n] = t->time_us[i] - from_us;
        w->scratch[w->n] = w->end[w->n] - w->begin[w->n];
        w->rate[w->n] = one_clock ? ipc : ipc * freq;
        w->freq[w->n++] = freq;
    }
    double usual = order_median(w->scratch, w->n);
    for (size_t i = 0; i < w->n; i++)
        w->weight[i] = fmin(1, (w->end[i] - w->begin[i]) / usual);
    return 0;
}

static void window_close(struct window *w)
{
    free(w->begin);
}

/* Time that something else took in sample i: it holds so much less than at the rate `slow`. */
static double time_lost(const struct window *w, size_t i, double slow)
{
    double length = w->end[i] - w->begin[i];
    return length - length * w->rate[i] / slow;
}

/* ---- the rise ---- */

/* The standard deviation of one sample's frequency, from one sample to the next; NaN: too few. Readings by a clock in
 * steps are mostly equal, so that their median difference does not tell it: it is no less than the steps make it. */
static double window_noise(const struct trace *t, const struct window *w, double slow)
{
    struct clock_reading clock = clock_reading_of(t);

    if (w->n < 2)
        return NAN;
    return fmax(robust_step_noise(w->freq, w->n, w->scratch), slow * clock_noise(&clock));
}

/* The part of the step by which a rise counts. */
static double part_of_step(double noise_of_step)
{
    return fmin(fmax(RISE_PART, RISE_SIGMAS * noise_of_step), 1);
}

/*
 * The first sample of the faster ones; w->n: none. A sample counts for the side that it is nearer to, and by no more
 * than noise takes it beyond either: a wild one must not decide, nor must noise that is cut off on one side only.
 */
static size_t best_split(const struct window *w, const struct relaxation_levels *l, double noise)
{
    double step = l->fast - l->slow, part = part_of_step(noise / step) * step;
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
static bool rises_at(const struct window *w, size_t k, const struct relaxation_levels *l, double noise)
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

static double median_rate(const struct window *w, size_t first, size_t last)
{
    size_t m = 0;
    for (size_t i = first; i < last && i < w->n; i++)
        w->scratch[m++] = w->rate[i];
    return order_median(w->scratch, m);
}

/* When the rise began, near sample k, give or take a few: where a halt cut a sample short, or by the share of the
 * faster rate in it. */
static double place(const struct window *w, size_t k, double slow, size_t unsure)
{
    double most = HALT_LEAST_US, at = NAN, fast = median_rate(w, k + 1, k + 1 + NEAR / 2);
    for (size_t j = k - 1 > unsure ? k - 1 - unsure : 0; j <= k + unsure && j < w->n; j++) {
        double lost = time_lost(w, j, slow);
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
static void find_interruptions(const struct window *w, size_t last, double slow, struct relaxation_rise *out)
{
    for (size_t i = 0; i < last; i++)
        w->scratch[i] = w->rate[i];
    double *rest = malloc((last + 1) * sizeof *rest), before = 0;
    double noise = rest ? order_mad_sigma(w->scratch, last, slow, rest) / slow : 0;
    free(rest);
    bool cold = true;
    for (size_t i = 0; i < last; i++) {
        double length = w->end[i] - w->begin[i], lost = time_lost(w, i, slow);
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
static struct relaxation_levels own_levels(const struct trace *t, const struct window *w,
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
    struct window w;
    *out = (struct relaxation_rise){NAN, 0, NAN, NAN, NAN};
    if (window_open(&w, t, s, from_us, to_us))
        return -1;
    double noise = window_noise(t, &w, levels->slow), ratio = noise / (levels->fast - levels->slow);
    struct relaxation_levels own = own_levels(t, &w, levels, noise);
    out->noise = ratio;
    size_t k = best_split(&w, &own, noise);
    if (k > 0 && k < w.n && !rises_at(&w, k, &own, noise))
        k = w.n;
    bool rises = k > 0 && k < w.n;
    double slow = k > 0 ? median_rate(&w, k > NEAR ? k - NEAR : 0, k) : NAN;
    if (rises && levels->tau_us > 0) /* the split is where a ramp has come halfway to what counts as a rise */
        out->at_us = 0.5 * (w.begin[k - 1] + w.end[k - 1]) + levels->tau_us * log1p(-0.5 * part_of_step(ratio));
    else if (rises)
        out->at_us = place(&w, k, slow, (size_t)fmin(UNSURE_MOST, UNSURE * ratio * ratio));
    if (k > 0)
        find_interruptions(&w, rises ? k - 1 : k, median_rate(&w, 0, k), out);
    double covered = w.n ? w.end[w.n - 1] : 0;
    if (!rises && to_us - from_us - covered > UNCOVERED_US) { /* so long that the window was over after it */
        if (!out->interruptions++)
            out->first_us = covered;
        out->last_us = covered;
    }
    window_close(&w);
    return 0;
}
