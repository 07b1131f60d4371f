/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double series_end(const struct runs *r, const struct series *s, size_t i)
{
    return s->end ? s->end[i] : r->trace->time_us[s->base + i];
}

double series_begin(const struct runs *r, const struct series *s, size_t i)
{
    return i ? series_end(r, s, i - 1) : s->begin;
}

void series_free(struct series *s)
{
    for (int c = 0; s->owned && c < TRACE_CHANNELS; c++)
        free(s->value[c]);
    free(s->end);
}

int series_of_one(const struct runs *r, size_t run, struct series *s)
{
    const struct run_span *span = &r->run[run];
    *s = (struct series){
        .n = span->n, .skip = r->invalid + span->first, .base = span->first, .repetitions = 1, .period = r->period};
    for (int c = 0; c < TRACE_CHANNELS; c++)
        s->value[c] = r->has[c] ? r->trace->channel[c] + span->first : NULL;
    s->begin = r->trace->time_us[span->first] - r->period;
    return 0;
}

int series_of_many(const struct runs *r, const size_t *run, size_t n, double switch_us, struct series *s)
{
    double begin = INFINITY, end = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        const struct run_span *span = &r->run[run[k]];
        begin = fmin(begin, r->trace->time_us[span->first] - r->period);
        end = fmax(end, r->trace->time_us[span->first + span->n - 1]);
    }
    double first_bin = floor(begin / r->period + 1e-6);
    *s = (struct series){.owned = true, .begin = first_bin * r->period, .repetitions = n, .period = r->period};
    double bins = ceil(end / r->period) - first_bin;
    size_t most = 0;
    for (size_t k = 0; k < n; k++)
        most = r->run[run[k]].n > most ? r->run[run[k]].n : most;
    if (!(bins >= 1 && bins < 8 * (double)most + 1000))
        return SERIES_NO_COMMON_TIME;
    s->n = (size_t)bins;
    size_t *cursor = calloc(n, sizeof *cursor), *stop = calloc(n, sizeof *stop);
    double *values = malloc((n * 8 + 8) * 2 * sizeof *values);
    s->end = malloc(s->n * sizeof *s->end);
    int bad = !cursor || !stop || !values || !s->end;
    for (int c = 0; c < TRACE_CHANNELS && !bad; c++)
        if (r->has[c]) {
            s->value[c] = malloc(s->n * sizeof(float));
            bad |= !s->value[c];
        }
    for (size_t k = 0; k < n && !bad; k++)
        cursor[k] = r->run[run[k]].first;
    for (size_t bin = 0; bin < s->n && !bad; bin++) {
        double limit = s->begin + (double)(bin + 1) * r->period;
        s->end[bin] = limit;
        for (size_t k = 0; k < n; k++) { /* samples whose middle lies in the bin */
            const struct run_span *span = &r->run[run[k]];
            stop[k] = cursor[k];
            while (stop[k] < span->first + span->n &&
                   r->trace->time_us[stop[k]] - 0.5 * (double)r->dt[stop[k]] < limit && stop[k] - cursor[k] < 8)
                stop[k]++;
        }
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            size_t m = 0;
            for (size_t k = 0; s->value[c] && k < n; k++)
                for (size_t i = cursor[k]; i < stop[k]; i++)
                    if (!r->invalid[i] && !(c == TRACE_IPC && runs_straddles(r, i, switch_us)))
                        values[m++] = (double)r->trace->channel[c][i];
            /* few repetitions have a sample while most of them are halted: those say little */
            if (s->value[c])
                s->value[c][bin] = m * 4 >= n
                                       ? (float)clock_centre(&r->clock, (enum trace_channel)c, values, m, values + m)
                                       : NAN;
        }
        memcpy(cursor, stop, n * sizeof *cursor);
    }
    free(cursor);
    free(stop);
    free(values);
    return bad ? -1 : 0;
}

size_t series_at(const struct runs *r, const struct series *s, double t)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (series_end(r, s, mid) > t + 0.25 * s->period)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}
