/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the clock, or the rate, does after the fine part of a long recording. A ramp must describe it better than steps
 * of each repetition's own do: a clock that floats in steps makes a curve of the mean of few repetitions, too. And it
 * must be the repetitions' own: most of them show it, alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/tail/tail.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum {
    BINS_LEAST = 24,
    GROUPS = 8,   /* of repetitions, each left out once */
    CUTS = 1,     /* steps of a floating clock within a repetition that are nothing to do with the switch */
    THROTTLES = 3 /* steps of a repetition's own that throttling makes, with cold code before it */
};
#define FREQ_LEAST 0.004  /* relative, by chains, which tell the clock whatever else happens ... */
#define CYCLES_LEAST 0.01 /* ... by cycles of user mode, of which interruptions too short to be seen take a part ... */
#define RATE_LEAST 0.03   /* ... as they do of the instructions */
#define SHOWN 0.75        /* of the repetitions */
#define SHOWN_Z 5.0
/* Bins: a time constant below this is a step. */
#define TAU_BINS 1.5
#define BEGIN_SURE 0.005    /* of the time constant: what bins and unseen interruptions leave of doubt in any case */
#define TAU_SURE_CHAIN 0.03 /* as RAMP_TAU_SURE, by chains, of which throttling may slow the first adds */
#define TAU_KNOWN 3.0       /* as for short ramps: a time constant whose limits reach farther is none */
#define AT_ONCE 0.01        /* of the time constant: so soon after the switch it may begin with it */
#define EDGE 0.2            /* of the bins: the two ends between which something has moved */
#define STUDENT95 2.365     /* of GROUPS - 1 degrees of freedom */

/* What of the curve was measured. */
struct curve {
    size_t n;
    double *t, *y;
    size_t *bin;
    double *scratch; /* of n_bins and twice n_runs */
};

static void free_curve(struct curve *c)
{
    free(c->t);
    free(c->bin);
}

static int make_curve(const struct tail_series *s, int c, struct curve *out)
{
    *out = (struct curve){.t = calloc(3 * s->n_bins + 2 * s->n_runs + 1, sizeof *out->t),
                          .bin = calloc(s->n_bins + 1, sizeof *out->bin)};
    if (!out->t || !out->bin) {
        free_curve(out);
        return -1;
    }
    out->y = out->t + s->n_bins;
    out->scratch = out->y + s->n_bins;
    for (size_t b = 0; b < s->n_bins; b++)
        if (!isnan(s->curve[c][b]) && !isnan(s->time[b])) {
            out->t[out->n] = s->time[b];
            out->y[out->n] = s->curve[c][b];
            out->bin[out->n++] = b;
        }
    return 0;
}

static double value_in(const struct tail_series *s, int c, size_t run, size_t bin)
{
    return s->value[c][run * s->n_bins + bin];
}

/* Whether most of n numbers agree: these are 1 where a repetition shows all of it, 0 where nothing, and *runs counts
 * those that show most of it. */
static bool alike(const double *part, size_t n, size_t *runs)
{
    double sum = 0, squares = 0;
    size_t m = 0;
    *runs = 0;
    for (size_t k = 0; k < n; k++) {
        if (isnan(part[k]))
            continue;
        *runs += part[k] > 0.5;
        sum += part[k];
        squares += part[k] * part[k];
        m++;
    }
    double mean = sum / (double)m, sigma = sqrt(fmax(0, squares / (double)m - mean * mean));
    if (!m || (double)*runs < SHOWN * (double)m)
        return false;
    return m < RAMP_RUNS_FOR_TEST ? *runs == m : mean * sqrt((double)m) >= SHOWN_Z * sigma;
}

/* ---- a ramp ---- */

/* Sums of squares of all repetitions, each with up to `cuts` steps of its own, about the ramp (NULL: about nothing). */
static double rss_of_all(const struct tail_series *s, int c, const struct curve *v, const struct ramp_fit *f,
                         size_t cuts)
{
    double rss = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        size_t n = 0;
        for (size_t i = 0; i < v->n; i++) {
            double y = value_in(s, c, k, v->bin[i]) - (f ? ramp_value(f, v->t[i]) : v->y[0]);
            if (!isnan(y))
                v->scratch[n++] = y;
        }
        rss += own_steps_rss(v->scratch, n, cuts, NULL);
    }
    return rss;
}

static bool beats_steps(const struct tail_series *s, int c, const struct curve *v, const struct ramp_fit *f,
                        bool is_free, bool uniform)
{
    double n = (double)(v->n * s->n_runs), runs = (double)s->n_runs;
    size_t beside = uniform ? 0 : CUTS, instead = uniform ? THROTTLES : CUTS + 1;
    double ramp = ramp_criterion(n, rss_of_all(s, c, v, f, beside), runs * (1 + 2 * (double)beside) + 2 + is_free);
    double steps = ramp_criterion(n, rss_of_all(s, c, v, NULL, instead), runs * (1 + 2 * (double)instead));
    return ramp + RAMP_CLEARLY < steps;
}

static bool ramp_is_theirs(const struct tail_series *s, int c, const struct curve *v, const struct ramp_fit *f,
                           size_t *runs)
{
    double *part = v->scratch;
    for (size_t k = 0; k < s->n_runs; k++) {
        double m = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
        for (size_t i = 0; i < v->n; i++) {
            double x = ramp_value(f, v->t[i]) - f->to.value, y = value_in(s, c, k, v->bin[i]) - f->to.value;
            if (isnan(y))
                continue;
            m++;
            sx += x;
            sy += y;
            sxx += x * x;
            sxy += x * y;
        }
        part[k] = (m * sxy - sx * sy) / (m * sxx - sx * sx);
    }
    return alike(part, s->n_runs, runs);
}

/*
 * A ramp that begins when it likes, but not before something tells what it was before: the best of those found from
 * beginnings at ever longer times, since on a scale of time that reaches from microseconds to a second there are many
 * that are best nearby. Returns 0; 1: there is none; -1: out of memory.
 */
static int seek_free(const struct curve *v, double after, struct ramp_fit *best)
{
    int found = 1;
    for (double from = v->t[1] - after; from < 0.5 * (v->t[v->n - 1] - after); from *= 2) {
        struct ramp_fit f;
        int status = ramp_fit(v->t, v->y, v->n, 0, after + from, true, &f);
        if (status < 0)
            return -1;
        if (status || !(f.begin.value > v->t[1]) || (!found && f.rss >= best->rss))
            continue;
        *best = f;
        found = 0;
    }
    return found;
}

/* The better of a ramp that begins with the second kernel and one that begins when it likes. *found: either fits. */
static int best_ramp(const struct curve *v, double after, struct ramp_fit *best, bool *is_free, bool *found)
{
    struct ramp_fit fit[2];
    double value[2];
    for (int i = 0; i < 2; i++) {
        int status = i ? seek_free(v, after, &fit[i]) : ramp_fit(v->t, v->y, v->n, 0, after, false, &fit[i]);
        if (status < 0)
            return -1;
        value[i] = status ? INFINITY : ramp_criterion((double)v->n, fit[i].rss, i);
    }
    *is_free = value[1] + RAMP_CLEARLY < value[0];
    *best = fit[*is_free];
    *found = isfinite(value[*is_free]);
    /* how well the beginning is known, the fit that seeks it says in any case; else the slope there */
    if (*found && !*is_free) {
        double slope = fabs(best->from.value - best->to.value) / best->tau.value;
        double doubt = estimate_half_known(&best->from) / slope;
        /* of where nothing tells what it was before, it may begin anywhere until something does */
        best->begin = (struct estimate){after, after, fmax(after + doubt, v->t[1])};
        if (isfinite(value[1]) && fit[1].begin.hi < after + best->tau.value)
            best->begin.hi = fmax(best->begin.hi, fit[1].begin.hi);
    }
    return 0;
}

static double limits_log(const struct estimate *e)
{
    return 0.5 * log(e->hi / e->lo);
}

/*
 * The limits hold what the repetitions have in common by chance, too: each of four groups of them is left out once
 * (jackknife; Student's t of three degrees of freedom). 0, or -1: out of memory.
 */
static int widen_by_groups(const struct tail_series *s, int c, const struct curve *v, double after, double sure,
                           bool is_free, struct ramp_fit *f)
{
    enum { TAU, FROM, TO, BEGIN, FIGURES };
    double sum[FIGURES] = {0}, squares[FIGURES] = {0}, half[FIGURES], *y = v->scratch, *own = y + s->n_bins;
    size_t n = 0;
    for (size_t g = 0; g < GROUPS && s->n_runs >= 2 * GROUPS; g++) {
        struct ramp_fit part;
        for (size_t i = 0; i < v->n; i++) {
            size_t m = 0;
            for (size_t k = 0; k < s->n_runs; k++)
                if (k % GROUPS != g)
                    own[m++] = value_in(s, c, k, v->bin[i]);
            y[i] = order_median(own, m);
            y[i] = isnan(y[i]) ? v->y[i] : y[i];
        }
        int status = ramp_fit(v->t, y, v->n, 0, is_free ? f->begin.value : after, is_free, &part);
        if (status < 0)
            return -1;
        if (status)
            continue;
        const double x[FIGURES] = {log(part.tau.value / f->tau.value), part.from.value - f->from.value,
                                   part.to.value - f->to.value, part.begin.value - f->begin.value};
        for (int i = 0; i < FIGURES; i++) {
            sum[i] += x[i];
            squares[i] += x[i] * x[i];
        }
        n++;
    }
    for (int i = 0; i < FIGURES; i++) {
        double deviation = n ? squares[i] - sum[i] * sum[i] / (double)n : 0;
        half[i] = n ? STUDENT95 * sqrt(fmax(0, deviation) * (double)(n - 1) / (double)n) : 0;
    }
    size_t at = 0;
    while (at + 2 < v->n && v->t[at + 1] < f->begin.value)
        at++;
    double bin = 0.5 * (v->t[at + 1] - v->t[at]);
    double tau = fmax(sure, hypot(limits_log(&f->tau), half[TAU]));
    f->tau = (struct estimate){f->tau.value, f->tau.value * exp(-tau), f->tau.value * exp(tau)};
    f->from = estimate_around(f->from.value, hypot(estimate_half(&f->from), half[FROM]));
    f->to = estimate_around(f->to.value, hypot(estimate_half(&f->to), half[TO]));
    if (is_free)
        f->begin = estimate_around(
            f->begin.value, fmax(BEGIN_SURE * f->tau.value, hypot(estimate_half(&f->begin), hypot(half[BEGIN], bin))));
    return 0;
}

static struct estimate of_repetitions(const struct estimate *e, double half)
{
    return estimate_around(e->value, hypot(estimate_half_known(e), half * fabs(e->value)));
}

static int seek_ramp(const struct tail_series *s, int c, const struct curve *v, const struct tail *x, double least,
                     struct tail_course *out)
{
    double after = x->after, sure = x->instant ? TAU_SURE_CHAIN : RAMP_TAU_SURE;
    struct ramp_fit f;
    bool is_free, found;
    size_t runs;
    if (best_ramp(v, after, &f, &is_free, &found))
        return -1;
    if (!found)
        return 0;
    double seen = fabs(ramp_value(&f, v->t[v->n - 1]) - ramp_value(&f, v->t[0])) / fabs(v->y[0]);
    size_t at = 0;
    while (at + 2 < v->n && v->t[at + 1] < f.begin.value)
        at++;
    bool slow = f.tau.value > TAU_BINS * (v->t[at + 1] - v->t[at]);
    if (!(seen >= least) || !slow || !(f.to.value > 0) || !(f.begin.value < v->t[v->n - 1]) ||
        !ramp_is_theirs(s, c, v, &f, &runs) || !beats_steps(s, c, v, &f, is_free, x->uniform))
        return 0;
    if (widen_by_groups(s, c, v, after, sure, is_free, &f))
        return -1;
    if (!(f.tau.hi < TAU_KNOWN * f.tau.value)) /* a straight line: a drift */
        return 0;
    if (f.begin.lo <= after && f.begin.value - after < AT_ONCE * f.tau.value)
        f.begin.value = after;
    f.begin.lo = fmax(f.begin.lo, fmin(after, f.begin.value));
    *out = (struct tail_course){.kind = TAIL_RAMP,
                                .from = of_repetitions(&f.from, s->half[c]),
                                .to = of_repetitions(&f.to, s->half[c]),
                                .begin = f.begin,
                                .tau = f.tau,
                                .half = s->half[c],
                                .runs = runs};
    return 0;
}

/* ---- a step, or anything else ---- */

static double mean_of(const struct tail_series *s, int c, size_t run, const struct curve *v, size_t from, size_t to)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        double y = value_in(s, c, run, v->bin[i]);
        sum += isnan(y) ? 0 : y;
        n += !isnan(y);
    }
    return n ? sum / (double)n : NAN;
}

/* A step of all repetitions, each at its own time. */
static void seek_step(const struct tail_series *s, int c, const struct curve *v, double least, struct tail_course *out)
{
    size_t cut = 0, runs, m = 0;
    double *part = v->scratch + s->n_bins, *at = part + s->n_runs;
    (void)own_steps_best(v->y, 0, v->n, &cut);
    if (cut < 2 || cut + 2 > v->n)
        return;
    double *copy = v->scratch;
    memcpy(copy, v->y, cut * sizeof *copy);
    double from = order_median(copy, cut);
    memcpy(copy, v->y + cut, (v->n - cut) * sizeof *copy);
    double to = order_median(copy, v->n - cut), step = to - from;
    if (!(fabs(step) / from >= least))
        return;
    for (size_t k = 0; k < s->n_runs; k++) {
        size_t own = 0, n = 0;
        for (size_t i = 0; i < v->n; i++) {
            double y = value_in(s, c, k, v->bin[i]);
            v->scratch[n++] = isnan(y) ? v->y[i] : y;
        }
        (void)own_steps_best(v->scratch, 0, n, &own);
        part[k] = own ? (mean_of(s, c, k, v, own, v->n) - mean_of(s, c, k, v, 0, own)) / step : NAN;
        if (own && part[k] > 0.5)
            at[m++] = 0.5 * (v->t[own - 1] + v->t[own]);
    }
    double none = rss_of_all(s, c, v, NULL, 0);
    bool sharp = rss_of_all(s, c, v, NULL, 1) < 0.25 * none; /* one cut leaves little */
    if (!alike(part, s->n_runs, &runs) || !sharp)
        return;
    double width = v->t[cut] - v->t[cut - 1];
    struct estimate when = robust_median(at, m);
    *out = (struct tail_course){
        .kind = TAIL_STEP,
        .from = estimate_around(from, s->half[c] * from),
        .to = estimate_around(to, s->half[c] * to),
        .begin = {when.value, fmin(when.lo, when.value - width), fmax(when.hi, when.value + width)},
        .half = s->half[c],
        .runs = runs};
}

/* Whether what is last is not what is first, alike in all. */
static void seek_moves(const struct tail_series *s, int c, const struct curve *v, double least, struct tail_course *out)
{
    size_t edge = (size_t)(EDGE * (double)v->n), runs;
    double *part = v->scratch + s->n_bins, *copy = part + s->n_runs;
    for (size_t k = 0; k < s->n_runs; k++)
        part[k] = mean_of(s, c, k, v, v->n - edge, v->n) - mean_of(s, c, k, v, 0, edge);
    memcpy(copy, part, s->n_runs * sizeof *copy);
    double step = order_median(copy, s->n_runs);
    for (size_t k = 0; k < s->n_runs; k++)
        part[k] /= step;
    if (!(fabs(step) / v->y[0] >= least) || !alike(part, s->n_runs, &runs))
        return;
    out->kind = TAIL_MOVES;
    out->from = estimate_around(v->y[0], s->half[c] * v->y[0]);
    out->to = estimate_around(v->y[v->n - 1], s->half[c] * v->y[0]);
    out->runs = runs;
}

int tail_describe(const struct tail_series *s, int c, struct tail *x)
{
    struct tail_course *out = &x->course[c];
    struct curve v;
    double least = c == TAIL_RATE ? RATE_LEAST : x->instant || x->uniform ? FREQ_LEAST : CYCLES_LEAST;
    *out = (struct tail_course){.kind = TAIL_MISSING, .from = {NAN, NAN, NAN}, .to = {NAN, NAN, NAN}};
    if (make_curve(s, c, &v))
        return -1;
    int bad = 0;
    if (v.n >= BINS_LEAST) {
        memcpy(v.scratch, v.y, v.n * sizeof *v.y);
        double middle = order_median(v.scratch, v.n);
        out->kind = TAIL_CONSTANT;
        out->from = out->to = estimate_around(middle, s->half[c] * middle);
        out->half = s->half[c];
        out->runs = s->n_runs;
        bad = seek_ramp(s, c, &v, x, least, out);
        if (!bad && out->kind == TAIL_CONSTANT)
            seek_step(s, c, &v, least, out);
        if (!bad && out->kind == TAIL_CONSTANT)
            seek_moves(s, c, &v, least, out);
    }
    free_curve(&v);
    return bad;
}
