/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/steady.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/stats/robust.h"

/* As in robust_mean: what lies so far off was disturbed. */
#define REJECT_SIGMAS 4.0
enum { REJECT_ONE_IN = 5 };

/* The mean of each repetition that has one, but for what is marked; returns how many, and in *shared of how many all is
 * marked. `values`, `scratch`, `means`: room for t->n. */
static size_t means_of_runs(const struct trace *t, enum trace_channel c, const bool *marked, double *values,
                            double *scratch, double *means, size_t *shared)
{
    size_t runs = 0;
    *shared = 0;
    struct clock_reading clock = clock_reading_of(t);
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t n = 0, left_out = 0;
        end = trace_run_end(t, i);
        for (size_t k = i; k < end; k++) {
            if (isfinite(t->channel[c][k]) && !marked[k])
                values[n++] = (double)t->channel[c][k];
            left_out += marked[k];
        }
        *shared += !n && left_out;
        if (n)
            means[runs++] = clock_centre(&clock, c, values, n, scratch);
    }
    return runs;
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
    if (out->runs)
        out->mean = robust_mean(means, out->runs, REJECT_SIGMAS, slack, &out->used);
    if (out->runs - out->used > out->runs / REJECT_ONE_IN)
        out->mean = robust_mean(means, out->runs, INFINITY, INFINITY, &out->used);
    double common = clock_reading_of(t).error;
    if (c == TRACE_FREQ && common > 0) { /* what all readings have in common is not in their scatter */
        double value = out->mean.value, half = hypot(value - out->mean.lo, ESTIMATE_Z95 * common * value);
        out->mean = estimate_around(value, half);
    }
    out->mean.hi += doubt * out->mean.value;
    free(room);
    return 0;
}
