/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each repetition's mean of a steady state, and from those the mean of all with its limits. */
#include "analysis/phases/repetitions/steady.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* As in robust_mean: what lies so far off was disturbed. */
#define REJECT_SIGMAS 4.0
/* More than one repetition in so many left out: all are used; repetitions that rise or fall one after another drift. */
enum { REJECT_ONE_IN = 5, DRIFT_RUNS = 3 };
/* Relative: less between two repetitions is no drift. */
#define DRIFT_LEAST 0.0015
/* Of the IPC that one sample in ten exceeds: a busy sibling thread takes 20 to 50 % of it, what chains scatter by, less
 * than a tenth. */
#define SLOWED 0.85
/* The quantile of IPC that counts as the full rate. */
#define FASTEST 0.9

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

int steady_frequency(const struct trace *t, double slack, struct steady_value *out)
{
    int bad = steady_mean(t, TRACE_FREQ, 0, out);
    return bad ? bad : steady_mean(t, TRACE_FREQ, slack * out->mean.value, out);
}

/* Of each repetition in which both are known, the mean of the last quarter as a ratio to that of the first. A mean that
 * is not above 0 is missing. Returns them, malloc'ed, and how many in *n; NULL: out of memory. */
static double *ratios_of_quarters(const struct trace *t, enum trace_channel c, size_t *n)
{
    double *ratios = calloc(t->n + 1, sizeof *ratios), *room = calloc(2 * t->n + 1, sizeof *room);
    bool bad = !ratios || !room;
    *n = 0;
    for (size_t i = 0, end; i < t->n && !bad; i = end) {
        end = trace_run_end(t, i);
        double first = t->time_us[i], last = t->time_us[end - 1], quarter = (last - first) / 4;
        double one = mean_within(t, c, i, end, first, first + quarter, room, room + t->n);
        double other = mean_within(t, c, i, end, last - quarter, INFINITY, room, room + t->n);
        if (one > 0 && other > 0)
            ratios[(*n)++] = other / one;
    }
    free(room);
    if (bad)
        free(ratios);
    return bad ? NULL : ratios;
}

double steady_least_ipc(double *ipc, size_t n)
{
    return n ? SLOWED * order_nth_smallest(ipc, n, (size_t)(FASTEST * (double)(n - 1))) : 0;
}

int steady_leave_out_slowed(struct trace *t)
{
    float *ipc = t->channel[TRACE_IPC];
    if (!ipc || !t->channel[TRACE_FREQ] || !clock_reading_of(t).instant)
        return 0;
    double *x = malloc((t->n + 1) * sizeof *x);
    size_t n = 0;
    if (!x)
        return -1;
    for (size_t i = 0; i < t->n; i++)
        if (ipc[i] > 0)
            x[n++] = (double)ipc[i];
    const double least = steady_least_ipc(x, n);
    for (size_t i = 0; i < t->n; i++)
        if ((double)ipc[i] < least)
            ipc[i] = t->channel[TRACE_FREQ][i] = NAN;
    free(x);
    return 0;
}

int steady_drift(const struct trace *t, enum trace_channel c, double *out)
{
    size_t n, up = 0, down = 0;
    *out = 0;
    if (!t->channel[c] || !t->n)
        return 0;
    double *ratios = ratios_of_quarters(t, c, &n);
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
