/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means, noise and limits of frequency readings, by chains or by counters, as their clock's resolution allows. */
#include "analysis/phases/repetitions/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "trace/from_recording.h"
#include "util/order.h"

enum { ENOUGH = 1001 }; /* values, for what is typical */

/* A frequency that the trace is about, to tell ticks from cycles; NaN: none was measured. */
static double typical_ghz(const struct trace *t)
{
    double x[ENOUGH + 1];
    size_t m = 0, step = t->n / ENOUGH + 1;
    for (size_t i = 0; t->channel[TRACE_FREQ] && i < t->n; i += step)
        if (t->channel[TRACE_FREQ][i] > 0)
            x[m++] = (double)t->channel[TRACE_FREQ][i];
    return order_median(x, m);
}

/* The usual length of a sample, us; NaN: there are no two of a repetition. */
static double typical_sample_us(const struct trace *t)
{
    double x[ENOUGH + 1];
    size_t m = 0, step = t->n / ENOUGH + 1;
    for (size_t i = 1; i < t->n; i += step)
        if (!t->run || t->run[i] == t->run[i - 1])
            x[m++] = t->time_us[i] - t->time_us[i - 1];
    return order_median(x, m);
}

struct clock_reading clock_reading_of(const struct trace *t)
{
    const char *kind = trace_get(t, "frequency"), *sampler = trace_get(t, "sampler");
    struct clock_reading r = {.instant = kind && !strcmp(kind, "instantaneous"),
                              .fixed_work = sampler && !strcmp(sampler, "fixed work")};
    r.one_clock = r.instant && r.fixed_work;
    if (!r.instant) {
        double step = trace_number(t, "clock_step_ns") * 1e-3 / typical_sample_us(t);
        r.quantum = step < 1 ? step : 0;
        return r;
    }
    double quantum = trace_number(t, "clock_step_ns") / trace_number(t, "chain_cycles") * typical_ghz(t);
    double reading = trace_number(t, "reading_us");
    double error = trace_number(t, "frequency_error");
    r.quantum = quantum < 1 ? quantum : 0;
    r.error = error < 1 ? error : 0;
    r.reading_us = reading > 0 ? reading : 0;
    return r;
}

bool clock_same_factor(double log_first, double log_second)
{
    return fabs(log_second - log_first) < 0.35 * fabs(log_first);
}

double clock_noise(const struct clock_reading *r)
{
    return r->quantum / sqrt(6);
}

double clock_uncertainty(const struct clock_reading *r)
{
    const double uneven = 0.03 / M_PI;
    return hypot(r->error, uneven * r->quantum);
}

/* How far from their median values are no outliers. */
static double clock_bound(const struct clock_reading *r, const double *x, size_t n, double *middle, double *scratch)
{
    /* where it is not known by how much a step changes a reading, the values themselves must tell */
    if (!(r->quantum > 0))
        return robust_bound(x, n, middle, scratch);
    memcpy(scratch, x, n * sizeof *x);
    *middle = order_median(scratch, n);
    return order_stepped_bound(x, n, *middle, r->quantum * fabs(*middle), scratch);
}

/* Frequencies (`times`) by the mean time of a cycle: time stamps scatter or go in steps, cycles hardly do. Else by the
 * values themselves. */
static double centre_of(const struct clock_reading *r, bool times, double *x, size_t n, double *scratch)
{
    size_t m = 0, kept;
    for (size_t i = 0; i < n; i++)
        if (times ? x[i] > 0 : !isnan(x[i]))
            x[m++] = times ? 1 / x[i] : x[i];
    double middle, bound = clock_bound(r, x, m, &middle, scratch);
    double mean = middle + order_offset_within(x, m, middle, bound, &kept);
    return times ? 1 / mean : mean;
}

double clock_frequency(const struct clock_reading *r, double *ghz, double *us, size_t n, double *scratch)
{
    if (r->instant)
        return centre_of(r, true, ghz, n, scratch);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (ghz[i] > 0 && us[i] > 0) {
            ghz[m] = 1 / ghz[i];
            us[m++] = us[i];
        }
    double cycles = 0, time = 0, middle, bound = clock_bound(r, ghz, m, &middle, scratch);
    for (size_t i = 0; i < m; i++)
        if (fabs(ghz[i] - middle) <= 2 * bound) { /* noise evens out in the sums, where its tails are left in */
            cycles += us[i] / ghz[i];
            time += us[i];
        }
    return cycles / time;
}

double clock_centre(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch)
{
    bool stepped = c == TRACE_FREQ || (c == TRACE_IPC && r->instant);
    return stepped ? centre_of(r, c == TRACE_FREQ, x, n, scratch) : robust_centre(x, n, scratch);
}

double clock_mean_of_chains(const struct trace *t, size_t begin, size_t end, double *scratch)
{
    size_t m = 0, kept;
    for (size_t i = begin; i < end; i++)
        if (t->channel[TRACE_FREQ][i] > 0)
            scratch[m++] = 1 / (double)t->channel[TRACE_FREQ][i];
    double middle = order_median(scratch, m);
    return 1 / (middle + order_offset_within(scratch, m, middle, FROM_RECORDING_SAME_CLOCK * middle, &kept));
}

double clock_middle(const struct clock_reading *r, enum trace_channel c, double *x, size_t n, double *scratch)
{
    bool stepped = c == TRACE_FREQ ? r->instant || r->quantum > 0 : c == TRACE_IPC && r->instant;
    return stepped ? centre_of(r, c == TRACE_FREQ, x, n, scratch) : order_median(x, n);
}

double clock_middle_between(const struct trace *t, enum trace_channel c, size_t begin, size_t end, double from,
                            double to, double *scratch)
{
    size_t n = 0;
    struct clock_reading clock = clock_reading_of(t);
    for (size_t i = begin; i < end && t->channel[c]; i++)
        if (t->time_us[i] > from && t->time_us[i] <= to && !isnan(t->channel[c][i]))
            scratch[n++] = (double)t->channel[c][i];
    if (!n)
        return NAN;
    const double middle = clock_middle(&clock, c, scratch, n, scratch + n);
    const double here = c == TRACE_IPC && clock.one_clock
                            ? clock_middle_between(t, TRACE_FREQ, begin, end, from, to, scratch)
                            : NAN;
    return here > 0 ? middle * clock_mean_of_chains(t, begin, end, scratch) / here : middle;
}
