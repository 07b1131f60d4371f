/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/umask/shares.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "util/order.h"

/* What of a sample's cycles counts, 0..1; NaN: not known. */
struct rule {
    size_t extra; /* used where slow_ipc is NaN */
    double slow_ipc;
};

static double shares_part_of(const struct trace *t, const struct rule *r, size_t i)
{
    if (!isnan(r->slow_ipc))
        return t->channel[TRACE_IPC] ? (t->channel[TRACE_IPC][i] < r->slow_ipc) : NAN;
    const struct trace_extra *e = &t->extra[r->extra];
    const char *text = t->text + e->offset[i];
    char *end;
    double value = strtod(text, &end);
    return end == text ? NAN : value;
}

/* What of the cycles of the run that begins at sample *at the rule takes; *at is moved to the next run. The cycles
 * (thousands) are added to *all where that is known; NaN: it is not. */
static double share_of_run(const struct trace *t, const struct rule *r, double to_us, size_t *at, double *all)
{
    double cycles = 0, taken = 0;
    size_t first = *at, i = first + 1;
    for (; i < t->n && (!t->run || t->run[i] == t->run[first]); i++) {
        if (t->time_us[i] <= 0 || t->time_us[i] > to_us)
            continue;
        double these = (t->time_us[i] - t->time_us[i - 1]) * (double)t->channel[TRACE_FREQ][i];
        if (!(these > 0))
            continue; /* a halt from end to end, or nothing known: no cycles to speak of */
        cycles += these;
        taken += these * shares_part_of(t, r, i);
    }
    *at = i;
    if (!(cycles > 0) || isnan(taken))
        return NAN;
    *all += cycles;
    return taken / cycles;
}

static struct estimate shares_share(const struct trace *t, const struct rule *r, double to_us, size_t *runs)
{
    struct estimate none = {NAN, NAN, NAN};
    double *shares = t->channel[TRACE_FREQ] && t->n ? malloc(t->n * sizeof *shares) : NULL;
    double cycles = 0;
    size_t n = 0;
    *runs = 0;
    if (!shares)
        return none;
    for (size_t at = 0; at < t->n;) {
        double s = share_of_run(t, r, to_us, &at, &cycles);
        if (!isnan(s))
            shares[n++] = s;
    }
    /* no share is farther from another than 1: nothing is left out, since a bit may count in some repetitions only */
    struct estimate e = robust_mean(shares, n, 0, 2, runs);
    free(shares);
    if (!n)
        return none;
    double apart = SHARES_APART_CYCLES * 1e-3 * (double)n / cycles;
    e.lo = fmin(e.lo, e.value - apart);
    e.hi = fmax(e.hi, e.value + apart);
    return e;
}

struct estimate shares_counted(const struct trace *t, size_t extra, double to_us, size_t *runs)
{
    return shares_share(t, &(struct rule){extra, NAN}, to_us, runs);
}

struct estimate shares_slow(const struct trace *t, double full_ipc, double part, size_t *runs)
{
    *runs = 0;
    if (isnan(full_ipc))
        return (struct estimate){NAN, NAN, NAN};
    return shares_share(t, &(struct rule){0, part * full_ipc}, INFINITY, runs);
}

double shares_ipc(const struct trace *t, double from_us)
{
    double *ipc = t->channel[TRACE_IPC] && t->n ? malloc(t->n * sizeof *ipc) : NULL, middle = NAN;
    size_t n = 0;
    if (!ipc)
        return NAN;
    for (size_t i = 0; i < t->n; i++)
        if (t->time_us[i] > from_us)
            ipc[n++] = (double)t->channel[TRACE_IPC][i];
    middle = order_median(ipc, n);
    free(ipc);
    return middle;
}

double shares_slow_below(const struct trace *t)
{
    const float *ipc = t->channel[TRACE_IPC];
    double *logs = ipc && t->n > 1 ? malloc(t->n * sizeof *logs) : NULL;
    if (!logs)
        return SHARES_SLOW_LEAST;
    for (size_t i = 0; i < t->n; i++)
        logs[i] = ipc[i] > 0 ? log((double)ipc[i]) : NAN;
    double sigma = robust_step_noise(logs, t->n, logs);
    free(logs);
    return isnan(sigma) ? SHARES_SLOW_LEAST
                        : fmax(SHARES_SLOW_LEAST, fmin(SHARES_SLOW, 1 - SHARES_SLOW_SIGMAS * sigma));
}
