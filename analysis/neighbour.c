/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hyper-thread next door shares the core's units: while it runs, the kernel retires a fraction of its rate, at the
 * same frequency. It looks like throttling, and it hides throttling.
 *
 * Before the switch one kernel has settled, and nothing that a processor does by itself changes its instructions per
 * cycle. So two values there, a full and a lower one, are the neighbour's doing, and tell its share of the time and its
 * factor. At each moment after that the repetitions it leaves alone are the fastest ones: as many as its share leaves.
 * A stretch that runs at its factor of those is taken out. Where all repetitions are slow at the same moments there is
 * nothing to compare with, which is said.
 */
#include "analysis/neighbour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/robust.h"

enum { RUNS_LEAST = 10, SAMPLES_LEAST = 100, BOUT_LEAST = 3 };
#define WINDOW 0.03       /* relative: values as near to each other are one ... */
#define WINDOW_SIGMAS 4.0 /* ... or nearer than this */
#define WINDOW_MOST 0.12  /* noisier recordings tell nothing */
#define WILD 0.01         /* share of samples above the full rate that count as wild */
#define FULL_LEAST 0.05   /* share of samples at the full rate */
#define SLOW_LEAST 0.04   /* share of disturbed samples */
#define COMMON 0.9        /* of the repetitions: so many slow at a moment are no coincidence ... */
#define COMMON_SHARE 0.7  /* ... if most slow samples lie at such moments */

/* One sample a bin and repetition, aligned at the switch; SIZE_MAX: none. Of two in a bin it has the last. */
struct grid {
    size_t runs, bins, at_switch; /* the first bin after the switch */
    double begin, period;
    size_t *sample;               /* [bin * runs + run] */
};

static double ipc_at(const struct runs *r, size_t i)
{
    return r->spoilt[i] ? NAN : (double)r->trace->channel[TRACE_IPC][i];
}

/* The bin that the middle of sample i lies in; may be outside. */
static double bin_of(const struct runs *r, const struct grid *g, size_t i)
{
    return floor((r->trace->time_us[i] - 0.5 * (double)r->dt[i] - g->begin) / g->period);
}

static int make_grid(const struct runs *r, double switch_us, struct grid *g)
{
    double begin = INFINITY, end = -INFINITY;
    for (size_t k = 0; k < r->n; k++) {
        begin = fmin(begin, r->trace->time_us[r->run[k].first]);
        end = fmax(end, r->trace->time_us[r->run[k].first + r->run[k].n - 1]);
    }
    double before = floor((switch_us - begin) / r->period), after = ceil((end - switch_us) / r->period);
    *g = (struct grid){.runs = r->n, .begin = switch_us - before * r->period, .period = r->period};
    if (!(before > 0) || !(after > 0) || (before + after + 1) * (double)r->n > 8.0 * (double)r->trace->n + 1000)
        return 0; /* nothing before the switch, or mostly pauses */
    g->at_switch = (size_t)before;
    g->bins = (size_t)(before + after) + 1;
    g->sample = malloc(g->bins * g->runs * sizeof *g->sample);
    if (!g->sample)
        return -1;
    memset(g->sample, 0xff, g->bins * g->runs * sizeof *g->sample);
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = r->run[k].first + 1; i < r->run[k].first + r->run[k].n; i++) {
            double from = r->trace->time_us[i] - (double)r->dt[i];
            bool straddles = from < switch_us - 0.05 * r->period && r->trace->time_us[i] > switch_us + 0.05 * r->period;
            double bin = bin_of(r, g, i);
            if (bin >= 0 && bin < (double)g->bins && !straddles && !isnan(ipc_at(r, i)))
                g->sample[(size_t)bin * g->runs + k] = i;
        }
    return 0;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* The highest value that enough of the n values, which it sorts, are near to; NaN: none. */
static double full_rate(double *x, size_t n, double window)
{
    qsort(x, n, sizeof *x, descending);
    size_t need = (size_t)ceil(FULL_LEAST * (double)n);
    for (size_t i = (size_t)(WILD * (double)n); i + need <= n; i++)
        if (x[i + need - 1] >= x[i] * (1 - window)) {
            size_t end = i;
            while (end < n && x[end] >= x[i] * (1 - window))
                end++;
            return 0.5 * (x[(i + end) / 2] + x[(i + end - 1) / 2]);
        }
    return NAN;
}

/*
 * Share of the slow samples before the switch that lie where nearly all repetitions are slow. *begins: such a bout
 * begins within the recording.
 */
static double common_share(const struct runs *r, const struct grid *g, double below, bool *begins)
{
    size_t all = 0, common = 0, quiet = 0, bout = 0;
    *begins = false;
    for (size_t b = 0; b < g->at_switch; b++) {
        size_t slow = 0, n = 0;
        for (size_t k = 0; k < g->runs; k++) {
            size_t i = g->sample[b * g->runs + k];
            if (i == SIZE_MAX)
                continue;
            n++;
            slow += ipc_at(r, i) < below;
        }
        all += slow;
        bool together = (double)slow > COMMON * (double)n;
        common += together ? slow : 0;
        if (!n)
            continue;
        if (!together) {
            quiet = bout ? 1 : quiet + 1;
            bout = 0;
        } else if (quiet >= BOUT_LEAST && ++bout >= BOUT_LEAST) {
            *begins = true;
        }
    }
    return all ? (double)common / (double)all : 0;
}

/* The stretch before the switch: share and factor of the disturbance. x: scratch. */
static void look_before(const struct runs *r, const struct grid *g, double window, double *x, struct neighbour *out)
{
    size_t n = 0, slow = 0;
    for (size_t b = 0; b < g->at_switch; b++)
        for (size_t k = 0; k < g->runs; k++)
            if (g->sample[b * g->runs + k] != SIZE_MAX)
                x[n++] = ipc_at(r, g->sample[b * g->runs + k]);
    if (n < SAMPLES_LEAST)
        return;
    double full = full_rate(x, n, window), below = full * (1 - 2 * window);
    while (slow < n && x[n - 1 - slow] < below) /* the lowest are last */
        slow++;
    if (isnan(full) || (double)slow < SLOW_LEAST * (double)n)
        return;
    /* the samples at the ends of its bouts hold some of either: the factor is that of the most */
    out->factor = median_of(x + n - slow, slow) / full;
    out->share = (double)slow / (double)n;
    out->common = common_share(r, g, below, &out->begins) > COMMON_SHARE;
}

/* ---- in all of the recording ---- */

/* The rate at each moment of the repetitions that are left alone; NaN: too few to tell. x: scratch. */
static double undisturbed(const struct runs *r, const struct grid *g, size_t bin, double share, double *x)
{
    size_t n = 0;
    for (size_t k = 0; k < g->runs; k++)
        if (g->sample[bin * g->runs + k] != SIZE_MAX)
            x[n++] = ipc_at(r, g->sample[bin * g->runs + k]);
    double alone = (1 - share) * (double)n;
    if (alone < 3)
        return NAN;
    qsort(x, n, sizeof *x, descending);
    return x[(size_t)(alone / 2)];
}

enum state { ALONE, BETWEEN, DISTURBED, TAKEN_OUT };

static enum state state_of(double ipc, double full, double factor, double window)
{
    double ratio = ipc / full, slack = fmax(2 * window, 0.25 * (1 - factor));
    if (!(ratio < 1 - 2 * window))
        return ALONE;
    return fabs(ratio - factor) < slack ? DISTURBED : BETWEEN;
}

/* Takes the bouts out of repetition k. state: of its samples by bin. Returns whether there were any. */
static bool take_out(const struct runs *r, const struct grid *g, size_t k, enum state *state, float *ipc)
{
    const struct run_span *s = &r->run[k];
    bool any = false;
    for (size_t b = 0; b < g->bins;) {
        size_t end = b, seen = 0;
        while (end < g->bins && state[end] == DISTURBED)
            seen += g->sample[end++ * g->runs + k] != SIZE_MAX;
        if (seen >= BOUT_LEAST) {
            size_t from = b > 0 && state[b - 1] == BETWEEN ? b - 1 : b;
            size_t to = end < g->bins && state[end] == BETWEEN ? end + 1 : end;
            for (size_t i = from; i < to; i++)
                state[i] = TAKEN_OUT;
            any = true;
        }
        b = end > b ? end : b + 1;
    }
    for (size_t i = s->first; any && i < s->first + s->n; i++) {
        double bin = bin_of(r, g, i);
        if (bin >= 0 && bin < (double)g->bins && state[(size_t)bin] == TAKEN_OUT)
            ipc[i] = NAN;
    }
    return any;
}

static int mask(const struct runs *r, const struct grid *g, double window, double *x, struct neighbour *out)
{
    double *full = malloc(g->bins * sizeof *full);
    enum state *state = malloc(g->bins * sizeof *state);
    out->ipc = malloc((r->trace->n + 1) * sizeof *out->ipc);
    int bad = !full || !state || !out->ipc;
    if (!bad)
        memcpy(out->ipc, r->trace->channel[TRACE_IPC], r->trace->n * sizeof *out->ipc);
    for (size_t b = 0; b < g->bins && !bad; b++)
        full[b] = undisturbed(r, g, b, out->share, x);
    for (size_t k = 0; k < g->runs && !bad; k++) {
        for (size_t b = 0; b < g->bins; b++) {
            size_t i = g->sample[b * g->runs + k];
            /* a sample that is missing goes on as the one before it */
            state[b] = i == SIZE_MAX || isnan(full[b]) ? (b ? state[b - 1] : ALONE)
                                                       : state_of(ipc_at(r, i), full[b], out->factor, window);
        }
        out->runs += take_out(r, g, k, state, out->ipc);
    }
    free(full);
    free(state);
    return bad ? -1 : 0;
}

int neighbour_find(const struct runs *r, double switch_us, struct neighbour *out)
{
    struct grid g = {0};
    double window = fmax(WINDOW, WINDOW_SIGMAS * r->noise[TRACE_IPC]);
    memset(out, 0, sizeof *out);
    if (isnan(switch_us) || r->n < RUNS_LEAST || !r->has[TRACE_IPC] || window > WINDOW_MOST)
        return 0;
    int bad = make_grid(r, switch_us, &g);
    double *x = bad || !g.sample ? NULL : malloc((g.at_switch + 1) * g.runs * sizeof *x);
    if (!bad && g.sample && x) {
        look_before(r, &g, window, x, out);
        if (out->share > 0 && !out->common)
            bad = mask(r, &g, window, x, out);
    }
    bad = bad || (g.sample && !x);
    free(x);
    free(g.sample);
    if (bad) {
        free(out->ipc);
        out->ipc = NULL;
    }
    return bad ? -1 : 0;
}

int neighbour_tell(const struct neighbour *n, const struct runs *r, struct phases *out)
{
    if (!(n->share > 0))
        return 0;
    if (n->common)
        return warn(out, "before the switch the kernel runs at %.2f of its rate at the same moments of all "
                    "repetitions, where nothing should change: another thread on the core that keeps step with them, "
                    "or a kernel that had not settled; rates after the switch may be its doing, too", n->factor);
    return warn(out, "another thread ran on the core, as on its other hyper-thread: in %zu of %zu repetitions, and "
                "%.0f %% of the time before the switch, the kernel ran at %.2f of its rate; those samples tell no rate",
                n->runs, r->n, 100 * n->share, n->factor);
}

void neighbour_doubt(const struct neighbour *n, struct phases *out)
{
    for (size_t p = 0; n->common && n->begins && p < out->n_phases; p++) {
        struct phase *ph = &out->phases[p];
        if (ph->kind != PHASE_THROTTLE)
            continue;
        ph->kind = PHASE_UNKNOWN;
        snprintf(ph->why, sizeof ph->why, "a thread that keeps step with the repetitions runs at %.2f of the rate "
                 "before the switch, too: throttling looks the same", n->factor);
    }
}
