/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/relaxation/relaxation_fit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "util/order.h"

/* The rate for each GHz of the samples that tell both, which makes frequencies of the others' rates. NaN: none does. x:
 * scratch. */
static double usual_ratio(const struct trace *t, struct sights_span s, double *x)
{
    size_t m = 0;
    for (size_t i = s.first + 1; i < s.last; i++)
        if (t->channel[TRACE_FREQ][i] > 0 && t->channel[TRACE_IPC][i] > 0)
            x[m++] = (double)t->channel[TRACE_IPC][i] / (double)t->channel[TRACE_FREQ][i];
    return m ? order_median(x, m) : NAN;
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
    const bool one_clock = clock_reading_of(t).one_clock;
    const double ratio = one_clock ? usual_ratio(t, s, w->scratch) : NAN;
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
