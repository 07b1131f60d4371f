/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rise of one repetition, and how long cores wait, of many. */
#include "tables/relaxation/relaxation_fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "util/order.h"

#define WITHIN 0.15      /* of a wait: modes of one and of two are far apart; hardly any wait scatters more ... */
#define WITHIN_MOST 0.4  /* ... but for those that scatter more */
#define HALFWAY 0.22     /* of a wait: a burst in its middle makes it end at multiples of a half */
#define WINDOW 0.1       /* of a wait: what lies so close together is one mode */
#define WIDTH_SIGMAS 6.0 /* of one wait: three of what two in a row scatter by, at most */
#define WIDE_SIGMAS 4.0  /* the same of a wait that scatters so much that six reach beyond WITHIN */
#define WIDTH_LEAST_US 4.0
#define WIDTH_LEAST 0.01  /* of a wait */
#define CHANCE_MOST 0.001 /* that waits begun again at random times gather at twice the wait */
#define FIRST_OVER 1.2    /* the first wait is over */
#define REJECT 6.0
enum { TWICE_LEAST = 3, ALONE_PART = 5 /* a fifth */, RARE = 10 /* one in so many */, PEAK_PART = 4 };

static bool near(double x, double wait, double times)
{
    return fabs(x - times * wait) < WITHIN * wait;
}

/* How many of the values that follow x[i], ascending, lie close to it; with itself. */
static size_t crowd(const double *x, size_t n, size_t i)
{
    size_t end = i;
    while (end < n && x[end] <= x[i] + fmax(WIDTH_LEAST_US, WINDOW * x[i]))
        end++;
    return end - i;
}

/* The shortest wait that is not rare; NaN: none. `x`: those of uninterrupted repetitions, ascending. */
static double shortest_wait(const double *x, size_t n)
{
    size_t least = n / RARE > 2 ? n / RARE : n > 3 ? 2 : 1, most = 0, first = 0, best = 0;
    for (size_t i = 0; i < n; i++)
        most = crowd(x, n, i) > most ? crowd(x, n, i) : most;
    least = most / PEAK_PART > least ? most / PEAK_PART : least;
    if (most < least)
        return NAN;
    while (crowd(x, n, first) < least)
        first++;
    best = first;
    for (size_t i = first; i < first + crowd(x, n, first); i++)
        best = crowd(x, n, i) > crowd(x, n, best) ? i : best;
    return x[best + crowd(x, n, best) / 2];
}

/* Values of one and of two waits, and how wide their modes are. */
struct shape {
    double once;     /* NaN: none */
    double width[2]; /* on either side; 0: there is no such mode */
};

static bool belongs(const struct shape *s, int k, double x)
{
    return fabs(x - (k + 1) * s->once) < s->width[k];
}

/*
 * Whether values gather at twice the wait. Something that nobody noticed may have started waits again, at random times:
 * these then last for any time from one wait to two (and fewer of them longer). So what lies around twice the wait is
 * held against what lies elsewhere beyond one.
 */
static bool gathers_at_twice(const double *x, size_t n, const struct shape *s, double width)
{
    double from = s->once + s->width[0], to = fmax((2 + WITHIN) * s->once, 2 * s->once + width);
    unsigned here = 0, elsewhere = 0;
    for (size_t i = 0; i < n; i++) {
        bool at_twice = fabs(x[i] - 2 * s->once) < width;
        here += at_twice;
        elsewhere += !at_twice && x[i] > from && x[i] < to;
    }
    return here >= TWICE_LEAST && gsl_cdf_binomial_Q(here - 1, 2 * width / (to - from), here + elsewhere) < CHANCE_MOST;
}

/* `scratch`: room for 2 n. */
static struct shape shape_of(const double *x, size_t n, double *scratch)
{
    struct shape s = {.once = shortest_wait(x, n)};
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (near(x[i], s.once, 1))
            scratch[m++] = x[i];
    if (isnan(s.once) || !m)
        return s;
    double centre = robust_mean(scratch, m, REJECT, 0.5, NULL).value;
    double sigma = order_mad_sigma(scratch, m, centre, scratch + n);
    s.once = centre;
    double wide = fmin(WITHIN_MOST * centre, WIDE_SIGMAS * sigma);
    s.width[0] = fmin(WITHIN * centre, fmax(WIDTH_SIGMAS * sigma, fmax(WIDTH_LEAST * centre, WIDTH_LEAST_US)));
    s.width[0] = fmax(s.width[0], wide);
    if (gathers_at_twice(x, n, &s, s.width[0]))
        s.width[1] = s.width[0];
    return s;
}

/*
 * The repetitions that nothing interrupted until the first wait was over. What of the longer ones is of two waits is
 * told by those that nothing interrupted later either. What is neither mode may have been of it but for something
 * that nobody noticed: the upper limits leave these out.
 */
static void fill_shares(const struct relaxation_rise *r, size_t n, const struct shape *s, struct relaxation_waits *out)
{
    size_t all = 0, once = 0, longer = 0, longer_alone = 0;
    for (size_t i = 0; i < n; i++) {
        bool late = !(r[i].at_us < FIRST_OVER * s->once);
        if ((!out->kept && r[i].interruptions && r[i].first_us < FIRST_OVER * s->once) ||
            r[i].at_us < RELAXATION_AT_ONCE_US)
            continue;
        all++;
        once += belongs(s, 0, r[i].at_us);
        longer += late;
        longer_alone += late && (out->kept || !r[i].interruptions);
    }
    double part = longer_alone ? (double)out->mode[1].n / (double)longer_alone : 0;
    out->mode[0].share = threshold_share(once, all);
    size_t twice = (size_t)lround(fmin(part, 1) * (double)longer);
    out->mode[1].share = threshold_share(twice, all);
    if (once + twice > 0 && once + twice < all) {
        out->mode[0].share.hi = threshold_share(once, once + twice).hi;
        out->mode[1].share.hi = threshold_share(twice, once + twice).hi;
    }
}

static void fill_interrupts(const struct relaxation_rise *r, size_t n, double once, double *x,
                            struct relaxation_waits *out)
{
    for (size_t i = 0; i < n; i++) {
        double after = r[i].at_us - r[i].last_us;
        /* neither so early nor so late that the two answers would be alike */
        if (!(r[i].last_us > 2 * WITHIN * once && r[i].last_us < once * (1 - 2 * WITHIN)))
            continue;
        if (near(after, once, 1) || near(after, once, 2))
            x[out->rearmed++] = after;
        else if (near(r[i].at_us, once, 1) || near(r[i].at_us, once, 2))
            out->not_rearmed++;
    }
    size_t single = 0;
    for (size_t i = 0; i < out->rearmed; i++)
        if (near(x[i], once, 1))
            x[single++] = x[i];
    out->after_interrupt_us = robust_mean(x, single, REJECT, 0.5, NULL);
}

int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out)
{
    static const struct estimate none = {NAN, NAN, NAN};
    double *x = malloc((3 * n + 3) * sizeof *x);
    size_t clean = 0, m[2] = {0, 0};
    *out = (struct relaxation_waits){.mode = {{0, none, none, NAN}, {0, none, none, NAN}}, .after_interrupt_us = none};
    if (!x)
        return -1;
    double *y = x + n + 1;
    for (size_t i = 0; i < n; i++)
        clean += !r[i].interruptions && !isnan(r[i].at_us);
    out->kept = clean * ALONE_PART < n;
    clean = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = out->kept || !r[i].interruptions;
        out->interrupted += r[i].interruptions > 0;
        out->never += counts && isnan(r[i].at_us);
        out->at_once += counts && r[i].at_us < RELAXATION_AT_ONCE_US;
        if (counts && r[i].at_us >= RELAXATION_AT_ONCE_US)
            x[clean++] = r[i].at_us;
    }
    gsl_sort(x, 1, clean);
    struct shape shape = shape_of(x, clean, y);
    for (int k = 0; k < 2 && !isnan(shape.once); k++) {
        for (size_t i = 0; i < clean; i++)
            if (belongs(&shape, k, x[i]))
                y[m[k]++] = x[i];
        struct relaxation_mode *mode = &out->mode[k];
        mode->n = m[k];
        mode->wait_us = robust_mean(y, m[k], REJECT, 0.5, NULL);
        mode->sd_us = m[k] > 1 ? gsl_stats_sd_m(y, 1, m[k], mode->wait_us.value) : NAN;
    }
    out->others = out->at_once + clean - m[0] - m[1];
    for (size_t i = 0; i < clean; i++)
        out->close += near(x[i], shape.once, 1) || (m[1] && near(x[i], shape.once, 2));
    if (!isnan(shape.once)) {
        fill_shares(r, n, &shape, out);
        fill_interrupts(r, n, shape.once, y, out);
    }
    free(x);
    return 0;
}

int relaxation_rearmed(double at_us, double done_us, double wait_us)
{
    for (int times = 1; times <= 2; times++) {
        if (fabs(at_us + done_us - times * wait_us) < HALFWAY * wait_us)
            return 0;
        if (fabs(at_us - times * wait_us) < HALFWAY * wait_us)
            return 1;
    }
    return -1;
}

const char *relaxation_verdict(const struct estimate *share)
{
    return share->lo > 0.5 ? "yes" : share->hi < 0.5 ? "no" : "undecided";
}

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
