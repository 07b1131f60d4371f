/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/shares.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/robust.h"

/* What of a sample's cycles counts, 0..1; NaN: not known. */
struct rule {
    size_t extra;    /* used where full_ipc is NaN */
    double full_ipc;
};

static double part_of(const struct trace *t, const struct rule *r, size_t i)
{
    if (!isnan(r->full_ipc))
        return t->channel[TRACE_IPC] ? (t->channel[TRACE_IPC][i] < SHARES_SLOW * r->full_ipc) : NAN;
    const struct trace_extra *e = &t->extra[r->extra];
    const char *text = t->text + e->offset[i];
    char *end;
    double value = strtod(text, &end);
    return end == text ? NAN : value;
}

/* Cycles of the run that begins at sample *at, and those that the rule takes; *at is moved to the next run. */
static double share_of_run(const struct trace *t, const struct rule *r, double from_us, double to_us, size_t *at)
{
    double cycles = 0, taken = 0;
    size_t first = *at, i = first + 1;
    for (; i < t->n && (!t->run || t->run[i] == t->run[first]); i++) {
        if (t->time_us[i] <= from_us || t->time_us[i] > to_us)
            continue;
        double these = (t->time_us[i] - t->time_us[i - 1]) * (double)t->channel[TRACE_FREQ][i];
        if (!(these > 0))
            continue; /* a halt from end to end, or nothing known: no cycles to speak of */
        cycles += these;
        taken += these * part_of(t, r, i);
    }
    *at = i;
    return cycles > 0 ? taken / cycles : NAN;
}

static struct estimate share(const struct trace *t, const struct rule *r, double from_us, double to_us, size_t *runs)
{
    struct estimate none = {NAN, NAN, NAN};
    double *shares = t->channel[TRACE_FREQ] && t->n ? malloc(t->n * sizeof *shares) : NULL;
    size_t n = 0;
    *runs = 0;
    if (!shares)
        return none;
    for (size_t at = 0; at < t->n;) {
        double s = share_of_run(t, r, from_us, to_us, &at);
        if (!isnan(s))
            shares[n++] = s;
    }
    /* no share is farther from another than 1: nothing is left out, since a bit may count in some repetitions only */
    struct estimate e = mean_estimate(shares, n, 0, 2, runs);
    free(shares);
    return n ? e : none;
}

struct estimate shares_counted(const struct trace *t, size_t extra, double from_us, double to_us, size_t *runs)
{
    struct rule r = {extra, NAN};
    return share(t, &r, from_us, to_us, runs);
}

struct estimate shares_slow(const struct trace *t, double full_ipc, double from_us, double to_us, size_t *runs)
{
    struct rule r = {0, full_ipc};
    if (isnan(full_ipc)) {
        *runs = 0;
        return (struct estimate){NAN, NAN, NAN};
    }
    return share(t, &r, from_us, to_us, runs);
}

double shares_ipc(const struct trace *t, double from_us, double to_us)
{
    double *ipc = t->channel[TRACE_IPC] && t->n ? malloc(t->n * sizeof *ipc) : NULL, middle = NAN;
    size_t n = 0;
    if (!ipc)
        return NAN;
    for (size_t i = 0; i < t->n; i++)
        if (t->time_us[i] > from_us && t->time_us[i] <= to_us)
            ipc[n++] = (double)t->channel[TRACE_IPC][i];
    middle = median_of(ipc, n);
    free(ipc);
    return middle;
}
