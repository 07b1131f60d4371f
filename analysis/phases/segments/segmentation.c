/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the pieces of a segmentation begin and end in each repetition, by integrals over a few samples. */
#include "analysis/phases/segments/segmentation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"

/*
 * What counts as a step. Significance: six standard errors, so that of ten thousand null recordings of a few thousand
 * samples, each looked at at ten scales, hardly one shows a false step. Size: clocks with spread spectrum wander by
 * 0.25 % (recordings of a W-2104), IPC ratios above 0.94 are no throttling of anything, and the voltage's unit is
 * 2^-13 V = 0.12 mV while steps of interest begin at 6 mV.
 */
static const struct change_rule rules[TRACE_CHANNELS] = {
    [TRACE_FREQ] = {true, CLOCK_STEP_LEAST, 6, 3, false, 0},
    [TRACE_IPC] = {true, 0.06, 6, 3, false, 0},
    [TRACE_VOLTS] = {false, 0.0015, 6, 3, false, 0},
    [TRACE_LVL0] = {false, 0.1, 6, 3, false, 0},
    [TRACE_LVL1] = {false, 0.1, 6, 3, false, 0},
    [TRACE_LVL2] = {false, 0.1, 6, 3, false, 0},
    [TRACE_THROTTLE] = {false, 0.1, 6, 3, false, 0},
};

const struct change_rule *segmentation_rule(int c)
{
    return &rules[c];
}

double segmentation_difference(int c, double from, double to)
{
    return rules[c].logarithm ? log(fmax(to, 1e-4) / fmax(from, 1e-4)) : to - from;
}

signed char segmentation_change(int c, const struct piece *a, const struct piece *b)
{
    double v1 = a->value[c], v2 = b->value[c];
    if (isnan(v1) || isnan(v2))
        return 0;
    double step = segmentation_difference(c, v1, v2);
    if (fabs(step) < rules[c].min_effect)
        return 0;
    return step > 0 ? 1 : -1;
}

bool segmentation_differs(const struct edge_kind *k)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (k->change[c])
            return true;
    return k->forced;
}

bool segmentation_changes_only(const struct edge_kind *k, int c, int d)
{
    for (int other = 0; other < TRACE_CHANNELS; other++)
        if (other != c && other != d && k->change[other])
            return false;
    return !k->forced;
}

void segmentation_free(struct segmentation *o)
{
    free(o->piece);
    free(o->edge);
    free(o->run);
    free(o->time);
    free(o->other_ghz);
    memset(o, 0, sizeof *o);
}

double segmentation_edge_time(const struct segmentation *o, size_t e)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        if (!isnan(o->time[e * o->n_runs + k])) {
            sum += o->time[e * o->n_runs + k];
            n++;
        }
    return n ? sum / (double)n : NAN;
}

double segmentation_begin_in(const struct segmentation *o, size_t p, size_t k)
{
    return p ? o->time[(p - 1) * o->n_runs + k] : o->begin;
}

double segmentation_end_in(const struct segmentation *o, size_t p, size_t k)
{
    return p + 1 < o->n_pieces ? o->time[p * o->n_runs + k] : o->end;
}

double segmentation_length_in(const struct segmentation *o, size_t p, size_t k)
{
    return segmentation_end_in(o, p, k) - segmentation_begin_in(o, p, k);
}

size_t segmentation_lengths(const struct segmentation *o, size_t p, double *x)
{
    size_t m = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        double length = segmentation_length_in(o, p, k);
        if (!isnan(length))
            x[m++] = length;
    }
    return m;
}

size_t segmentation_seen_by(const struct segmentation *o, size_t e)
{
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        n += !isnan(o->time[e * o->n_runs + k]);
    return n;
}

static bool sees(const struct segmentation *o, int c)
{
    for (size_t p = 0; p < o->n_pieces; p++)
        if (!isnan(o->piece[p].value[c]))
            return true;
    return false;
}

/* The piece before edge e; before a halt that ends there, the one before the halt. */
static const struct piece *piece_before(const struct segmentation *o, size_t e)
{
    return o->piece[e].halt && e ? &o->piece[e - 1] : &o->piece[e];
}

/* Whether two edges change some channel the same way. */
static bool share_a_change(const struct edge_kind *a, const struct edge_kind *b)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (a->change[c] && a->change[c] == b->change[c])
            return true;
    return false;
}

void segmentation_judge_seen(struct segmentation *o)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        const struct piece *a = piece_before(o, e), *b = &o->piece[e + 1];
        struct edge_kind *edge = &o->edge[e], now = *edge;
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (!(edge->forced && c == TRACE_IPC))
                now.change[c] = segmentation_change(c, a, b);
        if (edge->forced || o->piece[e].halt || share_a_change(edge, &now))
            *edge = now;
    }
}

double segmentation_step(const struct segmentation *o, size_t e, int c, double *sigma)
{
    const struct piece *a = piece_before(o, e), *b = &o->piece[e + 1];
    double v1 = a->value[c], v2 = b->value[c];
    *sigma = ROBUST_MEDIAN_ERROR * o->noise[c] *
             sqrt(1 / fmax(1, (double)a->samples) + 1 / fmax(1, (double)b->samples));
    return segmentation_difference(c, v1, v2);
}

/*
 * Whether edge i of one segmentation changes channel c as edge j of another does. Halts, the switch of kernels and what
 * another channel shows alike are seen whatever this one does: there a change so small that noise decides whether it
 * counts as one, or which way it goes, makes no difference. Else only those repetitions would be left that noise has
 * moved the same way.
 */
static bool same_change(const struct segmentation *a, size_t i, const struct segmentation *b, size_t j, int c,
                        bool seen_anyway)
{
    /* Standard errors by which two steps must differ to be told apart. */
    enum { UNDECIDED_Z = 4 };
    signed char first = a->edge[i].change[c], second = b->edge[j].change[c];
    if (first == second || !seen_anyway)
        return first == second;
    double sigma_a, sigma_b, step_a = segmentation_step(a, i, c, &sigma_a),
                             step_b = segmentation_step(b, j, c, &sigma_b);
    if (isnan(step_a) || isnan(step_b))
        return true; /* not measured there: nothing speaks against it */
    return fabs(step_a - step_b) < UNDECIDED_Z * hypot(sigma_a, sigma_b);
}

bool segmentation_fits(const struct segmentation *model, const struct segmentation *other, size_t *edge)
{
    bool shared[TRACE_CHANNELS];
    for (int c = 0; c < TRACE_CHANNELS; c++)
        shared[c] = sees(other, c);
    size_t j = 0;
    for (size_t i = 0; i + 1 < model->n_pieces; i++) {
        bool halting = model->piece[i].halt || model->piece[i + 1].halt, visible = halting || model->edge[i].forced;
        bool same = j + 1 < other->n_pieces && model->piece[i].halt == other->piece[j].halt &&
                    model->piece[i + 1].halt == other->piece[j + 1].halt &&
                    model->edge[i].forced == other->edge[j].forced;
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            if (!shared[c])
                continue;
            visible |= model->edge[i].change[c] != 0;
            same = same &&
                   same_change(model, i, other, j, c,
                               halting || model->edge[i].forced || share_a_change(&model->edge[i], &other->edge[j]));
        }
        if (visible && !same)
            return false;
        if (edge)
            edge[i] = visible ? j : SIZE_MAX;
        j += visible;
    }
    return j + 1 == other->n_pieces;
}

static void remove_edge(struct segmentation *o, size_t e)
{
    memmove(&o->edge[e], &o->edge[e + 1], (o->n_pieces - e - 2) * sizeof *o->edge);
    memmove(&o->time[e * o->n_runs], &o->time[(e + 1) * o->n_runs],
            (o->n_pieces - e - 2) * o->n_runs * sizeof *o->time);
}

static void remove_piece(struct segmentation *o, size_t p)
{
    memmove(&o->piece[p], &o->piece[p + 1], (o->n_pieces - p - 1) * sizeof *o->piece);
    o->n_pieces--;
}

void segmentation_forget_edge(struct segmentation *o, size_t e)
{
    struct piece *a = &o->piece[e], *b = &o->piece[e + 1];
    double wa = (double)a->samples, wb = (double)b->samples;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double va = a->value[c], vb = b->value[c];
        if (isnan(va))
            a->value[c] = vb;
        else if (!isnan(vb))
            a->value[c] = (va * wa + vb * wb) / fmax(wa + wb, 1);
        if (c == TRACE_IPC && o->edge[e].change[c])
            a->value[c] = NAN; /* two codes: no one IPC */
    }
    a->samples += b->samples;
    remove_edge(o, e);
    remove_piece(o, e + 1);
}

void segmentation_forget_halt(struct segmentation *o, size_t p)
{
    for (size_t k = 0; k < o->n_runs; k++) {
        double *x = &o->time[(p - 1) * o->n_runs + k];
        *x = 0.5 * (*x + x[o->n_runs]);
    }
    o->edge[p - 1] = o->edge[p];
    remove_edge(o, p);
    remove_piece(o, p);
    if (!segmentation_differs(&o->edge[p - 1]))
        segmentation_forget_edge(o, p - 1);
}

/*
 * Where one repetition goes from one state to the next, to a fraction of a sample.
 *
 * A sample's frequency is the mean over the sample, so the integral over a window that holds one edge tells where the
 * edge is: S = v1 x + v2 (W - x). This is unbiased wherever the window lies, and uses no sample twice. Halts are placed
 * by accounting: in the sample that spans one, cycles = f1 a + f2 b and instructions = q1 a + q2 b with a the time
 * before and b the time after the halt; where the rates differ both follow. Where only cycles are known, a sampler that
 * resumes at once is taken to have b = 0; one that waits for its grid has a and b alike on average over shifted
 * repetitions. Where it is not known which of the two it is, the second is taken, and the limits are wider (times.c).
 */

/* Samples to either side of an edge that place it, and among which it is looked for. */
enum { WINDOW_HALF = 2, NEAR = 6 };
#define STRONG_SNR 3.0 /* of one sample: a repetition then shows its own edge */
#define LLR_CLIP 8.0   /* one outlier must not decide */
#define LLR_LEAST 4.0
#define REACTION 0.025  /* periods from the end of a halt to the sample: samplers poll some twenty times a period */
#define IPC_SOLVES 0.12 /* periods: cycles and instructions together place a halt if it is better than this */
/* A sampler that resumes at once is late by up to 0.6 us, whatever its period, and alike in all repetitions: cycles and
 * instructions tell by how much if the mean over these is better than this share of a period, or of 1 us. */
#define MEAN_SOLVES 0.06

/* Steps that one sample of the channel shows over its noise. */
static double snr(const struct runs *r, int c, const struct piece *a, const struct piece *b)
{
    double v1 = a->value[c], v2 = b->value[c];
    if (!r->has[c] || isnan(v1) || isnan(v2))
        return 0;
    double step = fabs(segmentation_difference(c, v1, v2));
    double floor = c == TRACE_VOLTS ? 2e-4 : 1e-3;
    return step / fmax(r->noise[c], floor);
}

static size_t sample_after(const struct runs *r, const struct run_span *s, double t)
{
    return trace_first_after(r->trace, s->first, s->first + s->n, t);
}

/* For how much sample i speaks for the state `after` against `before` (log likelihood ratio, clipped). */
static double evidence(const struct runs *r, size_t i, const struct piece *before, const struct piece *after,
                       const bool use[TRACE_CHANNELS])
{
    double sum = 0;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        if (!use[c] || isnan(r->trace->channel[c][i]))
            continue;
        double v = (double)r->trace->channel[c][i], v1 = before->value[c], v2 = after->value[c];
        if (segmentation_rule(c)->logarithm) {
            v = log(fmax(v, 1e-4));
            v1 = log(fmax(v1, 1e-4));
            v2 = log(fmax(v2, 1e-4));
        }
        double sigma = fmax(r->noise[c], fabs(v2 - v1) / 20);
        double llr = ((v - v1) * (v - v1) - (v - v2) * (v - v2)) / (2 * sigma * sigma);
        sum += fmax(-LLR_CLIP, fmin(LLR_CLIP, llr));
    }
    return sum;
}

/* The first sample of the new state by maximum likelihood in [a, b); SIZE_MAX if the evidence is thin. */
static size_t split_at(const struct runs *r, size_t a, size_t b, const struct piece *before, const struct piece *after,
                       const bool use[TRACE_CHANNELS])
{
    double sum = 0, lowest = 0, total = 0;
    size_t at = a;
    for (size_t i = a; i < b; i++) {
        if (!r->invalid[i])
            sum += evidence(r, i, before, after, use);
        if (sum < lowest) {
            lowest = sum;
            at = i + 1;
        }
    }
    total = sum - lowest;
    /* enough on both sides of the split, where there is anything on that side */
    if (total < LLR_LEAST || (at > a && -lowest < LLR_LEAST))
        return SIZE_MAX;
    return at;
}

/*
 * The edge by the integral over the samples [a, b) in channel c. Missing values are taken for those of the state on
 * their side of sample `at`, the first of the new state.
 */
static double integrate(const struct runs *r, int c, size_t a, size_t b, size_t at, double v1, double v2)
{
    double begin = r->trace->time_us[a] - (double)r->dt[a], width = 0, sum = 0;
    for (size_t i = a; i < b; i++) {
        double v = (double)r->trace->channel[c][i];
        if (isnan(v))
            v = i < at ? v1 : v2;
        sum += (v - v2) * (double)r->dt[i];
        width += (double)r->dt[i];
    }
    return width > 0 ? begin + sum / (v1 - v2) : NAN;
}

static bool missing_near(const struct runs *r, int c, size_t at, size_t from, size_t to)
{
    const float *v = r->trace->channel[c];
    return (at > from && isnan(v[at - 1])) || (at < to && isnan(v[at]));
}

double segmentation_place(const struct runs *r, size_t run, const struct piece *before, const struct piece *after,
                          const struct edge_kind *kind, double lo, double hi, double guess, bool search)
{
    const struct run_span *s = &r->run[run];
    bool use[TRACE_CHANNELS];
    int best = -1;
    double best_snr = 0;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double own = kind->change[c] ? snr(r, c, before, after) : 0;
        use[c] = own > 0.5;
        if (own > best_snr) {
            best_snr = own;
            best = c;
        }
    }
    if (best < 0)
        return NAN;
    size_t a = sample_after(r, s, lo), b = sample_after(r, s, hi), at = sample_after(r, s, guess);
    if (best_snr >= STRONG_SNR) {
        size_t from = a, to = b;
        if (!search) {
            from = at > a + NEAR ? at - NEAR : a;
            to = at + NEAR < b ? at + NEAR : b;
        }
        at = split_at(r, from, to, before, after, use);
        if (at == SIZE_MAX)
            return NAN;
    }
    size_t from = at >= a + WINDOW_HALF ? at - WINDOW_HALF : a, to = at + WINDOW_HALF <= b ? at + WINDOW_HALF : b;
    while (from < at && r->invalid[from])
        from++;
    for (size_t i = from; i < to; i++)
        if (r->invalid[i]) {
            if (i < at)
                from = i + 1;
            else
                to = i;
        }
    if (from >= to)
        return NAN;
    for (int c = 0; c < TRACE_CHANNELS; c++) { /* the samples next to the edge place it: better if they are there */
        double own = use[c] ? snr(r, c, before, after) : 0;
        if (missing_near(r, best, at, from, to) && own >= STRONG_SNR && !missing_near(r, c, at, from, to))
            best = c;
    }
    if (r->disturbed && missing_near(r, best, at, from, to))
        return NAN; /* it may lie anywhere in what was taken out */
    double x = integrate(r, best, from, to, at, before->value[best], after->value[best]);
    if ((best == TRACE_FREQ && r->clock.instant) || best == TRACE_VOLTS)
        x += 0.5 * (double)r->dt[at < to ? at : to - 1]; /* read at the end of the sample: the edge lies within it */
    /* a strong edge outside its window is due to an outlier */
    double margin = r->period + (best_snr >= STRONG_SNR ? 0 : INFINITY);
    double window_begin = r->trace->time_us[from] - (double)r->dt[from], window_end = r->trace->time_us[to - 1];
    if (isnan(x) || x < window_begin - margin || x > window_end + margin)
        return NAN;
    /* a faint edge may be placed far off by noise, but not outside the recording */
    return fmax(r->trace->time_us[s->first] - (double)r->dt[s->first], fmin(x, r->trace->time_us[s->first + s->n - 1]));
}

static double side_mean(const struct runs *r, int c, size_t a, size_t b)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = a; i < b; i++) {
        double v = (double)r->trace->channel[c][i];
        if (isnan(v) || r->invalid[i])
            continue;
        sum += segmentation_rule(c)->logarithm ? log(fmax(v, 1e-4)) : v;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

double segmentation_own_step(const struct runs *r, size_t run, int c, double lo, double t, double hi, size_t side)
{
    const struct run_span *s = &r->run[run];
    if (!r->has[c])
        return NAN;
    size_t a = sample_after(r, s, lo) + 1, b = sample_after(r, s, hi), at = sample_after(r, s, t); /* at holds both */
    size_t from = at > a && at - a > side ? at - side : a, to = b > at + 1 && b - at - 1 > side ? at + 1 + side : b;
    return side_mean(r, c, at + 1, to) - side_mean(r, c, from, at);
}

/* The standard deviation, us, up to which cycles and instructions of one repetition are to place its halt. */
static double solves_below(const struct runs *r)
{
    if (r->habit != SAMPLER_AT_ONCE)
        return IPC_SOLVES * r->period;
    return MEAN_SOLVES * fmin(r->period, 1) * sqrt((double)r->n);
}

void segmentation_place_halt(const struct runs *r, const struct gap *g, const struct piece *before,
                             const struct piece *after, double known, double *begin, double *length)
{
    double wait = r->habit == SAMPLER_AT_ONCE ? 0 : 0.5; /* periods from its end to the next sample, on average */
    double dt = g->end - g->begin, f1 = before->value[TRACE_FREQ], f2 = after->value[TRACE_FREQ];
    double i1 = before->value[TRACE_IPC], i2 = after->value[TRACE_IPC], a, b;
    if (isnan(f1))
        f1 = g->freq_before;
    if (isnan(f2))
        f2 = g->freq_after;
    bool rates = !isnan(g->rate) && i1 > 0 && i2 > 0;
    if (isnan(g->clock) || isnan(f1) || isnan(f2) || r->clock.instant) {
        /* no account of cycles to draw on: the work, or time stamps alone */
        double ran = rates && wait > 0 && r->clock.instant ? 0.5 * dt * g->rate * (1 / (f1 * i1) + 1 / (f2 * i2))
                                                           : r->period;
        a = isnan(known) ? 0.5 * fmin(ran, dt) : fmin(fmax(0, known - g->begin), dt);
        b = wait * fmin(ran, dt);
    } else {
        double cycles = g->clock * dt, apart = rates ? fabs(i2 - i1) / fmax(i1, i2) : 0;
        /* of the whole running time in the sample, a half comes after the halt where the sampler waits */
        b = fmax(fmin(REACTION * r->period, cycles / f2), 2 * wait * cycles / (f1 + f2));
        a = (cycles - f2 * b) / f1;
        /* how far the noise of the IPC moves the solution: a guess is better than a wide miss */
        double sigma = r->noise[TRACE_IPC] * (g->rate * dt / f1) / fabs(i2 - i1);
        if (!isnan(known)) {
            a = fmin(fmax(0, known - g->begin), cycles / f1);
            b = (cycles - f1 * a) / f2;
        } else if (apart > 0 && sigma < solves_below(r)) {
            /* noise carries a solution past either end, and cut off there it would not average out */
            double all = a + b, beyond = 3 * sigma, least = fmax(0, all - r->period), most = fmin(all, r->period);
            a = (i2 * cycles - g->rate * dt) / (f1 * (i2 - i1));
            a = fmax(least - beyond, fmin(a, fmax(most, least) + beyond));
            b = (cycles - f1 * a) / f2;
        }
    }
    *begin = g->begin + a;
    *length = fmax(0, dt - a - b);
}
