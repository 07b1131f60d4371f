/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What must be said beside the phases: a throttle right after the switch so short that it may be none; and one of less
 * than three samples, which is not listed, since neither its length nor its ratio could be told.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/findings.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum { RUNS_LEAST = 4 };
#define SLOW_START 0.8 /* of the full rate: the cost of a switch itself stays well above (measured: 0.91) */
#define COLD_US 1.5    /* fetching the code of another kernel was seen to slow its first 0.8 us to 0.6 of the rate */
#define WARN_Z 6.0

/* IPC of the first sample that begins at the switch or later; NaN = none. */
static double first_ipc(const struct runs *r, size_t run, double switch_us)
{
    const struct run_span *s = &r->run[run];
    for (size_t i = s->first + 1; i < s->first + s->n; i++)
        if (r->trace->time_us[i - 1] >= switch_us - RUNS_ALIGNED * r->period)
            return r->invalid[i] ? NAN : (double)r->trace->channel[TRACE_IPC][i];
    return NAN;
}

int short_throttle_warn(const struct runs *r, const struct segmentation *o, struct phases *out)
{
    size_t p = 0, m = 0;
    while (p + 1 < o->n_pieces && !o->edge[p].forced)
        p++;
    if (p + 1 >= o->n_pieces || !r->has[TRACE_IPC] || o->n_runs < RUNS_LEAST)
        return 0;
    const struct phase *first = &out->phases[p + 1];
    /* own measurements only: a model fetches no code, and of other recordings it is not known */
    bool own = trace_get(r->trace, "sampler") && !out->modelled;
    if (own && first->kind == PHASE_THROTTLE && first->duration_us.value < COLD_US)
        return phases_warn(out,
                           "the throttling right after the switch lasts only %.2g us, as cold code would; compare a "
                           "switch that changes no level, such as 128fma:128or",
                           first->duration_us.value);
    double full = o->piece[p + 1].value[TRACE_IPC];
    if (!phases_is_steady(first))
        return 0;
    double *x = calloc(3 * o->n_runs + 1, sizeof *x);
    if (!x)
        return -1;
    for (size_t k = 0; k < o->n_runs; k++) {
        double ipc = first_ipc(r, o->run[k], o->switch_us);
        if (!isnan(ipc) && full > 0)
            x[m++] = ipc / full;
    }
    double ratio = robust_centre(x, m, x + o->n_runs), sigma = order_mad_sigma(x, m, ratio, x + o->n_runs);
    free(x);
    if (m < RUNS_LEAST || !(ratio < SLOW_START) || (1 - ratio) * sqrt((double)m) < WARN_Z * sigma)
        return 0;
    return phases_warn(out,
                       "the first sample after the switch runs at %.2f of the full rate: throttling or cold code, too "
                       "short for samples of %.3g us; a shorter --period would show which",
                       ratio, r->period);
}
