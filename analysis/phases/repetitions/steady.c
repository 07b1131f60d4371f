/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/steady.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* As in robust_mean: what lies so far off was disturbed. */
#define REJECT_SIGMAS 4.0
enum { REJECT_ONE_IN = 5, DRIFT_RUNS = 3 };
#define DRIFT_LEAST 0.0015

/* The mean of samples begin..end that end after `from` and up to `to` (us); NaN of none. `values`, `scratch`: room for
 * t->n. */
static double mean_within(const struct trace *t, enum trace_channel c, size_t begin, size_t end, double from, double to,
                          double *values, double *scratch)
{
    struct clock_reading clock = clock_reading_of(t);
    size_t n = 0;
    for (size_t k = begin; k < end; k++)
        if (t->time_us[k] > from && t->time_us[k] <= to && isfinite(t->channel[c][k]))
            values[n++] = (double)t->channel[c][k];
    return n ? clock_centre(&clock, c, values, n, scratch) : NAN;
}

/* The mean of each repetition that has one; returns how many. `values`, `scratch`, `means`: room for t->n. */
static size_t means_of_runs(const struct trace *t, enum trace_channel c, double *values, double *scratch, double *means)
{
    size_t runs = 0;
    for (size_t i = 0, end; i < t->n; i = end) {
        end = trace_run_end(t, i);
        double mean = mean_within(t, c, i, end, -INFINITY, INFINITY, values, scratch);
        if (!isnan(mean))
            means[runs++] = mean;
    }
    return runs;
}

/* Over repetitions: without those far from the others, unless these are many. 0, or -1: out of memory. */
static int mean_of_runs(const double *means, double slack, struct steady_value *out)
{
    out->mean = robust_mean(means, out->runs, REJECT_SIGMAS, slack, &out->used);
    if (out->used && out->runs - out->used > out->runs / REJECT_ONE_IN)
        out->mean = robust_mean(means, out->runs, INFINITY, INFINITY, &out->used);
    return out->runs && !out->used ? -1 : 0; /* half of them are near their median */
}

int steady_mean(const struct trace *t, enum trace_channel c, double slack, struct steady_value *out)
{
    *out = (struct steady_value){.mean = {NAN, NAN, NAN}};
    if (!t->channel[c] || !t->n)
        return 0;
    double *room = calloc(3 * t->n, sizeof *room);
    if (!room)
        return -1;
    double *means = room + 2 * t->n;
    out->runs = means_of_runs(t, c, room, room + t->n, means);
    int bad = mean_of_runs(means, slack, out);
    double common = clock_reading_of(t).error;
    if (c == TRACE_FREQ && common > 0) { /* what all readings have in common is not in their scatter */
        double value = out->mean.value, half = hypot(value - out->mean.lo, ESTIMATE_Z95 * common * value);
        out->mean = estimate_around(value, half);
    }
    free(room);
    return bad;
}

/* Two stretches of a repetition, us: up to and including, and behind. */
struct stretches {
    double from, to, again_from;
};

/* Of each repetition in which both are known, the mean of the second stretch as a ratio to that of the first. A mean
 * that is not above 0 is missing. `quarters`: the first quarter and the last, else these. Returns them, malloc'ed, and
 * how many in *n; NULL: out of memory. */
static double *ratios_of_runs(const struct trace *t, enum trace_channel c, bool quarters, struct stretches at,
                              size_t *n)
{
    double *ratios = calloc(t->n + 1, sizeof *ratios), *room = calloc(2 * t->n + 1, sizeof *room);
    bool bad = !ratios || !room;
    *n = 0;
    for (size_t i = 0, end; i < t->n && !bad; i = end) {
        end = trace_run_end(t, i);
        if (quarters) {
            double first = t->time_us[i], last = t->time_us[end - 1], quarter = (last - first) / 4;
            at = (struct stretches){first, first + quarter, last - quarter};
        }
        double one = mean_within(t, c, i, end, at.from, at.to, room, room + t->n);
        double other = mean_within(t, c, i, end, at.again_from, INFINITY, room, room + t->n);
        if (one > 0 && other > 0)
            ratios[(*n)++] = other / one;
    }
    free(room);
    if (bad)
        free(ratios);
    return bad ? NULL : ratios;
}

int steady_ratio(const struct trace *t, double from_us, struct steady_value *out)
{
    *out = (struct steady_value){.mean = {NAN, NAN, NAN}};
    if (!t->channel[TRACE_FREQ] || !t->n)
        return 0;
    double *ratios = ratios_of_runs(t, TRACE_FREQ, false, (struct stretches){-INFINITY, 0, from_us}, &out->runs);
    if (!ratios)
        return -1;
    out->used = out->runs;
    out->mean = robust_median(ratios, out->runs);
    free(ratios);
    return 0;
}

int steady_drift(const struct trace *t, enum trace_channel c, double *out)
{
    size_t n, up = 0, down = 0;
    *out = 0;
    if (!t->channel[c] || !t->n)
        return 0;
    double *ratios = ratios_of_runs(t, c, true, (struct stretches){0, 0, 0}, &n);
    if (!ratios)
        return -1;
    for (size_t i = 0; i < n; i++) {
        up += ratios[i] - 1 > DRIFT_LEAST;
        down += ratios[i] - 1 < -DRIFT_LEAST;
    }
    if (n >= DRIFT_RUNS && (up == n || down == n))
        *out = order_median(ratios, n) - 1;
    free(ratios);
    return 0;
}
