/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include <math.h>

#include "analysis/phases/segments/edges.h"

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

double edges_place(const struct runs *r, size_t run, const struct piece *before, const struct piece *after,
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

double edges_own_step(const struct runs *r, size_t run, int c, double lo, double t, double hi, size_t side)
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

void edges_place_halt(const struct runs *r, const struct gap *g, const struct piece *before, const struct piece *after,
                      double known, double *begin, double *length)
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
