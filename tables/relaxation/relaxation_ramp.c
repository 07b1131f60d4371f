/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rises that are ramps: where they begin, fitted to all repetitions together. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/golden.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "tables/relaxation/relaxation_fit.h"
#include "util/order.h"

/* The rate for each GHz of the samples that have both, which makes frequencies of the others' rates: the ratio of two
 * means, for rates and frequencies go in steps of the clock. NaN: no sample has both. x, y, scratch: of as many. */
static double usual_ratio(const struct clock_reading *clock, const struct trace *t, struct sights_span s, double *x,
                          double *y, double *scratch)
{
    size_t m = 0;
    for (size_t i = s.first + 1; i < s.last; i++)
        if (t->channel[TRACE_FREQ][i] > 0 && t->channel[TRACE_IPC][i] > 0) {
            x[m] = (double)t->channel[TRACE_IPC][i];
            y[m++] = (double)t->channel[TRACE_FREQ][i];
        }
    return clock_centre(clock, TRACE_IPC, x, m, scratch) / clock_centre(clock, TRACE_FREQ, y, m, scratch);
}

int relaxation_window_open(struct relaxation_window *w, const struct trace *t, struct sights_span s, double from_us,
                           double to_us)
{
    size_t n = s.last - s.first;
    double *all = malloc((6 * n + 6) * sizeof *all);
    if (!all)
        return -1;
    *w = (struct relaxation_window){0, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n};
    /* few samples have a chain, but all are the same work, which is done as fast as the clock runs: reckoned with one
     * clock for all, their IPC is their rate */
    const struct clock_reading clock = clock_reading_of(t);
    const bool one_clock = clock.one_clock;
    const double ratio = one_clock ? usual_ratio(&clock, t, s, w->begin, w->end, w->scratch) : NAN;
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

void relaxation_window_close(struct relaxation_window *w)
{
    free(w->begin);
}

double relaxation_lost(const struct relaxation_window *w, size_t i, double slow)
{
    double length = w->end[i] - w->begin[i];
    return length - length * w->rate[i] / slow;
}

/*
 * The place that splits a ramp best into slow and fast is a part of its time constant
 * after its beginning. So the ramp is fitted to all repetitions together, each shifted to where it begins, and then
 * looked for in each again, in turns: together that is the least-squares fit of one shape with a beginning for each
 * repetition.
 */
#define SETTLE_US 5.0 /* the first samples run the sampling loop in */
#define HALT_LEAST_US 0.4
#define CLIP_SIGMAS 4.0
#define NOISE_LEAST 1e-5   /* relative: float has seven digits */
#define SHORTEST_US 0.2    /* a shorter time constant is a rise at once: counters are read after the time */
#define CLEARLY 20.0       /* by which Schwarz's criterion must be better */
#define AFTER_PERIODS 20.0 /* looked at after the rise at first; doubled until it is over */
#define AFTER_TAUS 4.0
#define BEGIN_TAUS 1.5   /* what lies this far after determines the beginning */
#define FINE_US 0.01     /* to which a beginning is sought */
#define ENOUGH_US 0.3    /* noise moves it by so much: less than waits scatter by */
#define EARLIER_TAUS 0.6 /* than the best split of a ramp into slow and fast, which is 0.15 after its beginning */
#define LATER_TAUS 0.3
#define SCATTER_TAUS 0.1
#define UNSURE 10.0
#define SETTLED 0.1 /* of the limits of the beginning: turns go on until it moves by less */
enum {
    BINS_PER_PERIOD = 8,
    BINS_MOST = 800,
    BEFORE = 50,
    REPETITIONS_LEAST = 3,
    FEW = 12,
    TURNS = 10,
    STEPS = 5,
    GRID = 16
};

/* A repetition that rises. */
struct view {
    struct relaxation_window w;
    struct relaxation_rise *rise;
    double at;   /* its beginning */
    double left; /* mean square of what the ramp leaves after its beginning; 0: not known yet */
    bool apart;  /* far more is left than in the others: it does something else */
};

struct views {
    size_t n;
    struct view *view;
    double period; /* the usual length of a sample, us */
};

static const double *relaxation_ramp_channel(const struct relaxation_window *w, bool by_rate)
{
    return by_rate ? w->rate : w->freq;
}

static void close_views(struct views *v)
{
    for (size_t r = 0; r < v->n; r++)
        relaxation_window_close(&v->view[r].w);
    free(v->view);
}

static int open_views(const struct trace *t, const struct sights_span *s, size_t n, double to_us,
                      struct relaxation_rise *rise, struct views *v)
{
    double length = 0;
    *v = (struct views){.view = calloc(n + 1, sizeof *v->view)};
    for (size_t r = 0; v->view && r < n; r++) {
        struct view *one = &v->view[v->n];
        if (isnan(rise[r].at_us))
            continue;
        if (relaxation_window_open(&one->w, t, s[r], 0, to_us)) {
            close_views(v);
            return -1;
        }
        one->rise = &rise[r];
        one->at = rise[r].at_us;
        length += (one->w.end[one->w.n - 1] - one->w.begin[0]) / (double)one->w.n;
        v->n++;
    }
    v->period = v->n ? length / (double)v->n : 0;
    return v->view ? 0 : -1;
}

/* The mean of the last samples that end before `us`: of values in steps the median is one of these. NaN: none. */
static double before(const struct relaxation_window *w, double us, bool by_rate)
{
    double x[BEFORE], scratch[BEFORE];
    size_t last = 0, m = 0;
    while (last < w->n && w->end[last] < us)
        last++;
    for (size_t i = last > BEFORE ? last - BEFORE : 0; i < last; i++)
        if (w->begin[i] > SETTLE_US || last < BEFORE)
            x[m++] = relaxation_ramp_channel(w, by_rate)[i];
    return robust_centre(x, m, scratch);
}

/* Half the range of 90 % of the samples before the rises, relative, in standard deviations: another thread on the core
 * takes some of them far off, interrupts few. */
static double scatter(const struct views *v, bool by_rate)
{
    const double sigmas = 1.645;
    double sum = 0;
    for (size_t r = 0; r < v->n; r++) {
        const struct relaxation_window *w = &v->view[r].w;
        double middle = before(w, 0.9 * v->view[r].at, by_rate);
        size_t m = 0;
        for (size_t i = 0; i < w->n && w->end[i] < 0.9 * v->view[r].at; i++)
            if (w->begin[i] > SETTLE_US)
                w->scratch[m++] = relaxation_ramp_channel(w, by_rate)[i] / middle;
        double hi = m ? order_nth_smallest(w->scratch, m, m - 1 - m / 20) : NAN;
        sum += m ? 0.5 * (hi - order_nth_smallest(w->scratch, m, m / 20)) / sigmas : 0;
    }
    return fmax(sum / (double)v->n, NOISE_LEAST);
}

/* Whether most rises come after a halt. */
static bool halts(const struct views *v)
{
    size_t halted = 0;
    for (size_t r = 0; r < v->n; r++) {
        const struct relaxation_window *w = &v->view[r].w;
        double at = v->view[r].at, slow = before(w, at - v->period, true);
        bool found = false;
        for (size_t i = 0; i < w->n; i++)
            found = found || (w->end[i] > at - v->period && w->begin[i] < at + v->period &&
                              relaxation_lost(w, i, slow) > HALT_LEAST_US);
        halted += found;
    }
    return 2 * halted > v->n;
}

/* ---- the shape ---- */

struct curve {
    size_t n;
    double *t, *y; /* of the bins that hold any */
    double *sum, *count;
};

/* The means of all samples by the time since the beginning of their repetition's ramp. */
static void average(const struct views *v, const struct relaxation_ramp *ramp, double after, struct curve *c)
{
    double span = 1.5 * after, bins = fmin(BINS_MOST, BINS_PER_PERIOD * span / v->period), width = span / bins;
    for (size_t b = 0; b < BINS_MOST; b++)
        c->sum[b] = c->count[b] = 0;
    for (size_t r = 0; r < v->n; r++) {
        const struct relaxation_window *w = &v->view[r].w;
        if (v->view[r].apart)
            continue;
        double slow = before(w, v->view[r].at - v->period, ramp->by_rate);
        double slow_rate = ramp->by_rate ? slow : before(w, v->view[r].at - v->period, true);
        for (size_t i = 0; i < w->n; i++) {
            double t = (ramp->instant && !ramp->by_rate ? w->end[i] : 0.5 * (w->begin[i] + w->end[i])) - v->view[r].at;
            if (t <= -0.5 * after || t >= after || w->begin[i] < SETTLE_US || w->weight[i] < 1 - 0.5 ||
                relaxation_lost(w, i, slow_rate) > INTERRUPTION_SEEN_US)
                continue;
            size_t bin = (size_t)fmin((t + 0.5 * after) / width, bins - 1);
            c->sum[bin] += relaxation_ramp_channel(w, ramp->by_rate)[i] / slow;
            c->count[bin]++;
        }
    }
    c->n = 0;
    for (size_t b = 0; b < (size_t)bins; b++)
        if (c->count[b] > 0) {
            c->t[c->n] = ((double)b + 0.5) * width - 0.5 * after;
            c->y[c->n++] = c->sum[b] / c->count[b];
        }
}

/* ---- the beginning in each repetition ---- */

struct search {
    const struct relaxation_window *w;
    const struct relaxation_ramp *ramp;
    size_t first, last; /* samples */
    double slow, slow_rate;
};

static double misfit(const struct search *q, double begin)
{
    const struct relaxation_window *w = q->w;
    const struct relaxation_ramp *ramp = q->ramp;
    const double *value = relaxation_ramp_channel(w, ramp->by_rate), tau = ramp->tau_us.value,
                 most = pow(CLIP_SIGMAS, 2);
    bool instant = ramp->instant && !ramp->by_rate;
    double sum = 0, n = 0, until = NAN, edge = NAN; /* the end of the sample before, and the integral to it */
    for (size_t i = q->first; i < q->last; i++) {
        double from = w->begin[i] - begin, to = w->end[i] - begin, held;
        if (instant) {
            held = to <= 0 ? 1 : tau > 0 ? exp(-to / tau) : 0;
        } else {
            double before_it = from == until ? edge : ramp_decay_integral(from, tau);
            edge = ramp_decay_integral(to, tau);
            until = to;
            held = (edge - before_it) / (to - from);
        }
        if (relaxation_lost(w, i, q->slow_rate) > INTERRUPTION_SEEN_US)
            continue;
        double d = (value[i] / q->slow - 1 - ramp->gain * (1 - held)) / ramp->noise;
        sum += w->weight[i] * fmin(d * d, most);
        n += w->weight[i];
    }
    return n > 0 ? sum / n : NAN;
}

static double fits(void *search, double begin)
{
    return -misfit(search, begin);
}

static double usual_period(const struct relaxation_window *w)
{
    return w->n ? (w->end[w->n - 1] - w->begin[0]) / (double)w->n : 0;
}

/* What is left of one repetition, mean squares in squares of the noise. */
struct left {
    double all, behind; /* the beginning: where the shape shows */
};

static double found(struct search *q, double begin, struct left *left)
{
    left->all = misfit(q, begin);
    while (q->first < q->last && q->w->end[q->first] < begin)
        q->first++;
    left->behind = misfit(q, begin);
    return begin;
}

/* Within `earlier` and `later` of `at`, us. */
static double begin_near(const struct relaxation_window *w, double at, double earlier, double later,
                         const struct relaxation_ramp *ramp, struct left *left)
{
    double tau = ramp->tau_us.value, period = usual_period(w);
    double enough = period * pow(tau * ramp->noise / ramp->gain / ENOUGH_US, 2);
    double after = later + fmin(BEGIN_TAUS * tau, fmax(enough, BEFORE * period)), until = at - fmin(earlier, 0.3 * at);
    struct search q = {
        .w = w, .ramp = ramp, .slow = before(w, until, ramp->by_rate), .slow_rate = before(w, until, true)};
    while (q.first < w->n && (w->end[q.first] < at - earlier - BEFORE * period || w->begin[q.first] < SETTLE_US))
        q.first++;
    for (q.last = q.first; q.last < w->n && w->begin[q.last] < at + after;)
        q.last++;
    double best = INFINITY, middle = at, step = (earlier + later) / GRID;
    for (int i = 0; i <= GRID; i++) {
        double m = misfit(&q, at - earlier + step * i);
        if (m < best) {
            best = m;
            middle = at - earlier + step * i;
        }
    }
    double a = middle - step, b = middle + step;
    double least = -golden_highest(fits, &q, &a, &b, FINE_US, INT_MAX);
    return found(&q, least <= best ? 0.5 * (a + b) : middle, left);
}

/* Noise takes the best split off its place, by the samples that it takes to see the step among them. */
static double unsure(const struct relaxation_window *w, const struct relaxation_ramp *ramp)
{
    return usual_period(w) * (3 + UNSURE * pow(ramp->noise / ramp->gain, 2));
}

double relaxation_ramp_begin(const struct relaxation_window *w, double split, const struct relaxation_ramp *ramp,
                             double *left)
{
    struct left both;
    double tau = ramp->tau_us.value, off = unsure(w, ramp);
    double earlier = off + EARLIER_TAUS * tau, later = off + LATER_TAUS * tau, at = split, moved = INFINITY;
    /* frequencies that scatter more than the rates do (ramp->noise) take the split farther off than that */
    for (int i = 0; i < STEPS && !(moved > -0.5 * earlier && moved < 0.5 * later); i++) {
        double next = begin_near(w, at, earlier, later, ramp, &both);
        moved = next - at;
        at = next;
    }
    *left = both.behind;
    return at;
}

/* ---- in turns ---- */

/* Each repetition's, near where it was; the mean square that is left in those that are not apart. */
static double place_all(const struct views *v, const struct relaxation_ramp *ramp, double reach, bool keep)
{
    double sum = 0, n = 0;
    for (size_t r = 0; r < v->n; r++) {
        double off = reach + unsure(&v->view[r].w, ramp);
        struct left left;
        double at = begin_near(&v->view[r].w, v->view[r].at, off, off, ramp, &left);
        if (!v->view[r].apart) {
            sum += left.all;
            n++;
        }
        if (!keep)
            continue;
        v->view[r].at = at;
        v->view[r].left = left.behind;
    }
    return sum / n;
}

/* Returns what is usually left. */
static double set_apart(const struct views *v, double *scratch)
{
    for (size_t r = 0; r < v->n; r++)
        scratch[r] = v->view[r].left;
    double usual = order_median(scratch, v->n);
    for (size_t r = 0; r < v->n; r++)
        v->view[r].apart = v->view[r].left > RELAXATION_APART * usual;
    return usual;
}

/* One fit and one search in turn, so that `after` the rise is seen. *shift: by how much the beginnings were off alike.
 * Returns 0; 1: there is no fit. */
static int turn(const struct views *v, double after, struct curve *c, double *scratch, struct relaxation_ramp *ramp,
                double *shift)
{
    struct ramp_fit f;
    average(v, ramp, after, c);
    int status = ramp_fit(c->t, c->y, c->n, ramp->instant && !ramp->by_rate ? 0 : v->period, c->n ? c->t[0] : 0, true,
                          &f);
    if (status || !(f.from.value > 0) || !(f.to.value > f.from.value) || !isfinite(f.begin.hi) ||
        !(f.tau.hi < RAMP_TAU_KNOWN * f.tau.value) || !(f.begin.hi - f.begin.value < f.tau.value))
        return status < 0 ? -1 : 1;
    ramp->tau_us = f.tau;
    ramp->gain = f.to.value / f.from.value - 1;
    ramp->begin_half_us = f.begin.hi - f.begin.value;
    *shift = f.begin.value;
    for (size_t r = 0; r < v->n; r++)
        v->view[r].at += f.begin.value;
    place_all(v, ramp, SCATTER_TAUS * f.tau.value, true);
    ramp->left = set_apart(v, scratch);
    return 0;
}

/* As far as most repetitions were recorded. */
static double room(const struct views *v, double *scratch)
{
    for (size_t r = 0; r < v->n; r++)
        scratch[r] = v->view[r].w.end[v->view[r].w.n - 1] - v->view[r].at;
    return order_median(scratch, v->n);
}

/* Whether it describes the repetitions better than rises at once to the same frequency. */
static bool describes_better(const struct views *v, const struct relaxation_ramp *ramp)
{
    struct relaxation_ramp once = *ramp;
    double tau = ramp->tau_us.value, n = (double)v->n * (2 * BEFORE + fmin(BEGIN_TAUS * tau / v->period, BEFORE));
    once.tau_us = (struct estimate){0, 0, 0};
    return n * log(place_all(v, ramp, 0, false)) + CLEARLY + log(n) < n * log(place_all(v, &once, tau, false));
}

/* As far as `most` us after the rises: how far is found out by a few repetitions. scratch: of v->n. */
static int find(const struct views *v, struct curve *c, double most, double *scratch, struct relaxation_levels *levels)
{
    struct relaxation_ramp ramp = levels->ramp;
    struct views few = {v->n < FEW ? v->n : FEW, v->view, v->period};
    double by_freq = scatter(v, false), by_rate = scatter(v, true), after = fmin(AFTER_PERIODS * v->period, most);
    double shift = INFINITY;
    ramp.by_rate = by_rate < by_freq;
    ramp.noise = fmin(by_rate, by_freq);
    int status = turn(&few, after, c, scratch, &ramp, &shift);
    while (status >= 0 && after < most && !(status == 0 && ramp.tau_us.value * AFTER_TAUS < after)) {
        after = fmin(2 * after, most);
        status = turn(&few, after, c, scratch, &ramp, &shift);
    }
    for (size_t r = few.n; r < v->n && !status; r++)
        v->view[r].at = relaxation_ramp_begin(&v->view[r].w, v->view[r].at, &ramp, &v->view[r].left);
    for (int i = 0; i < TURNS && !status && (i < 2 || fabs(shift) > SETTLED * ramp.begin_half_us); i++)
        status = turn(v, after, c, scratch, &ramp, &shift);
    if (status || ramp.tau_us.value < SHORTEST_US || !describes_better(v, &ramp))
        return status < 0 ? -1 : 0;
    ramp.begin_half_us = hypot(ramp.begin_half_us, shift);
    levels->ramp = ramp;
    levels->fast = levels->slow * (1 + ramp.gain);
    for (size_t r = 0; r < v->n; r++)
        v->view[r].rise->at_us = v->view[r].at;
    return 0;
}

int relaxation_ramp(const struct trace *t, const struct sights_span *s, size_t n, double to_us,
                    struct relaxation_levels *levels, struct relaxation_rise *rise)
{
    struct views v;
    struct curve c = {.n = 0};
    const struct clock_reading clock = clock_reading_of(t);
    levels->ramp = (struct relaxation_ramp){.instant = clock.instant &&
                                                       !clock.one_clock}; /* relaxation_window_open() */
    if (open_views(t, s, n, to_us, rise, &v))
        return -1;
    c.t = malloc((4 * BINS_MOST + n) * sizeof *c.t);
    int status = c.t ? 0 : -1;
    levels->halts = halts(&v);
    if (!status && v.n >= REPETITIONS_LEAST && !levels->halts) {
        c.y = c.t + BINS_MOST;
        c.sum = c.y + BINS_MOST;
        c.count = c.sum + BINS_MOST;
        double *scratch = c.count + BINS_MOST;
        status = find(&v, &c, room(&v, scratch), scratch, levels);
    }
    free(c.t);
    close_views(&v);
    return status;
}
