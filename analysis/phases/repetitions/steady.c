/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/steady.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* As in robust_mean: what lies so far off was disturbed. */
#define REJECT_SIGMAS 4.0
enum { REJECT_ONE_IN = 5, DRIFT_RUNS = 3 };
#define DRIFT_LEAST 0.0015

/* The mean of samples begin..end that end after `from` and up to `to` (us), but for what is marked; NaN of none. In
 * *left_out how many are marked. `values`, `scratch`: room for t->n. */
static double mean_within(const struct trace *t, enum trace_channel c, const bool *marked, size_t begin, size_t end,
                          double from, double to, double *values, double *scratch, size_t *left_out)
{
    struct clock_reading clock = clock_reading_of(t);
    size_t n = 0;
    *left_out = 0;
    for (size_t k = begin; k < end; k++) {
        if (!(t->time_us[k] > from && t->time_us[k] <= to))
            continue;
        if (isfinite(t->channel[c][k]) && !marked[k])
            values[n++] = (double)t->channel[c][k];
        *left_out += marked[k];
    }
    return n ? clock_centre(&clock, c, values, n, scratch) : NAN;
}

/* The mean of each repetition that has one, but for what is marked; returns how many, and in *shared of how many all is
 * marked. `values`, `scratch`, `means`: room for t->n. */
static size_t means_of_runs(const struct trace *t, enum trace_channel c, const bool *marked, double *values,
                            double *scratch, double *means, size_t *shared)
{
    size_t runs = 0;
    *shared = 0;
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t left_out;
        end = trace_run_end(t, i);
        double mean = mean_within(t, c, marked, i, end, -INFINITY, INFINITY, values, scratch, &left_out);
        *shared += isnan(mean) && left_out;
        if (!isnan(mean))
            means[runs++] = mean;
    }
    return runs;
}

/* Over repetitions: without those far from the others, unless these are many. */
static void mean_of_runs(double *means, double slack, struct steady_value *out)
{
    if (out->runs)
        out->mean = robust_mean(means, out->runs, REJECT_SIGMAS, slack, &out->used);
    if (out->runs - out->used > out->runs / REJECT_ONE_IN)
        out->mean = robust_mean(means, out->runs, INFINITY, INFINITY, &out->used);
}

int steady_mean(const struct trace *t, enum trace_channel c, double slack, struct steady_value *out)
{
    *out = (struct steady_value){.mean = {NAN, NAN, NAN}};
    if (!t->channel[c] || !t->n)
        return 0;
    double *room = calloc(3 * t->n, sizeof *room);
    bool *marked = calloc(t->n, sizeof *marked);
    double doubt = 0;
    if (!room || !marked || (c == TRACE_FREQ && neighbour_mark(t, marked, &doubt))) {
        free(room);
        free(marked);
        return -1;
    }
    double *means = room + 2 * t->n;
    out->runs = means_of_runs(t, c, marked, room, room + t->n, means, &out->shared);
    free(marked);
    mean_of_runs(means, slack, out);
    double common = clock_reading_of(t).error;
    if (c == TRACE_FREQ && common > 0) { /* what all readings have in common is not in their scatter */
        double value = out->mean.value, half = hypot(value - out->mean.lo, ESTIMATE_Z95 * common * value);
        out->mean = estimate_around(value, half);
    }
    out->mean.hi += doubt * out->mean.value;
    free(room);
    return 0;
}

int steady_ratio(const struct trace *t, double from_us, struct steady_value *out)
{
    *out = (struct steady_value){.mean = {NAN, NAN, NAN}};
    if (!t->channel[TRACE_FREQ] || !t->n)
        return 0;
    double *room = calloc(3 * t->n, sizeof *room), *ratios = room ? room + 2 * t->n : NULL;
    bool *none = calloc(t->n, sizeof *none);
    int bad = !room || !none ? -1 : 0;
    for (size_t i = 0, end; i < t->n && !bad; i = end) {
        size_t unused;
        end = trace_run_end(t, i);
        double before = mean_within(t, TRACE_FREQ, none, i, end, -INFINITY, 0, room, room + t->n, &unused);
        double after = mean_within(t, TRACE_FREQ, none, i, end, from_us, INFINITY, room, room + t->n, &unused);
        if (before > 0 && after > 0)
            ratios[out->runs++] = after / before;
    }
    out->used = out->runs;
    if (!bad)
        out->mean = robust_median(ratios, out->runs);
    free(room);
    free(none);
    return bad;
}

int steady_drift(const struct trace *t, enum trace_channel c, double *out)
{
    *out = 0;
    if (!t->channel[c] || !t->n)
        return 0;
    double *room = calloc(3 * t->n, sizeof *room), *changes = room ? room + 2 * t->n : NULL;
    bool *none = calloc(t->n, sizeof *none);
    int bad = !room || !none ? -1 : 0;
    size_t n = 0, up = 0, down = 0;
    for (size_t i = 0, end; i < t->n && !bad; i = end) {
        size_t unused;
        end = trace_run_end(t, i);
        double from = t->time_us[i], quarter = (t->time_us[end - 1] - from) / 4, to = t->time_us[end - 1] - quarter;
        double first = mean_within(t, c, none, i, end, from, from + quarter, room, room + t->n, &unused);
        double last = mean_within(t, c, none, i, end, to, INFINITY, room, room + t->n, &unused);
        if (!(first > 0) || !(last > 0))
            continue;
        changes[n] = last / first - 1;
        up += changes[n] > DRIFT_LEAST;
        down += changes[n] < -DRIFT_LEAST;
        n++;
    }
    if (!bad && n >= DRIFT_RUNS && (up == n || down == n))
        *out = order_median(changes, n);
    free(room);
    free(none);
    return bad;
}
