/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sibling hyper-thread shares the core's execution units: while it runs, the kernel retires at a fraction of its
 * rate, at the same frequency. That looks like throttling, and hides throttling.
 *
 * * Before the switch one kernel has settled, and nothing that a processor does by itself changes its instructions per
 * cycle. Two values there, a full and a lower one, are therefore the sibling's doing, and give its share of the time
 * and its factor. At any later moment the repetitions that it leaves alone are the fastest ones, as many as its share
 * leaves; a stretch that runs at its factor of their rate is left out. Where all repetitions are slow at the same
 * moments there is nothing to compare with, and a warning says so.
 */
#include "analysis/phases/repetitions/neighbour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "util/order.h"

/* Repetitions and samples at least, fewer say nothing; samples in a row that begin or end a burst of interference. */
enum { RUNS_LEAST = 10, SAMPLES_LEAST = 100, BOUT_LEAST = 3 };
#define WINDOW 0.03       /* relative: rates as near to each other are one */
#define WINDOW_SIGMAS 4.0 /* rates nearer than this, or than WINDOW, are one */
#define WINDOW_MOST 0.12  /* noisier recordings tell nothing */
#define WILD 0.01         /* share of samples above the full rate that count as outliers */
#define FULL_LEAST 0.05   /* share of samples at the full rate */
#define SLOW_LEAST 0.04   /* share of disturbed samples */
#define COMMON 0.9        /* of the repetitions: so many slow at a moment are no coincidence ... */
#define COMMON_SHARE 0.7  /* ... if most slow samples lie at such moments */

/* One sample a bin and repetition, aligned at the switch: that which its middle lies in, or the last of those that lie
 * in it alone; SIZE_MAX: none. */
struct grid {
    size_t runs, bins, at_switch; /* the first bin after the switch */
    double begin, period;
    size_t *sample; /* [bin * runs + run] */
};

static double rate_at(const struct runs *r, size_t i)
{
    return r->invalid[i] ? NAN : (double)r->trace->channel[TRACE_IPC][i];
}

/* The bin that the middle of sample i lies in; may be outside. */
static double bin_of(const struct runs *r, const struct grid *g, size_t i)
{
    return floor((r->trace->time_us[i] - 0.5 * (double)r->dt[i] - g->begin) / g->period);
}

/* All bins whose middle lies in sample i, and the one that its own middle does: slow samples last for several. */
static void grid_put(const struct runs *r, size_t k, size_t i, struct grid *g)
{
    const double half = 0.5 * g->period, end = r->trace->time_us[i] - g->begin, middle = bin_of(r, g, i);
    const double first = fmax(0, fmin(middle, ceil((end - (double)r->dt[i] - half) / g->period)));
    const double last = fmin((double)g->bins - 1, fmax(middle, ceil((end - half) / g->period) - 1));
    for (double bin = first; bin <= last; bin++)
        g->sample[(size_t)bin * g->runs + k] = i;
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
        for (size_t i = r->run[k].first + 1; i < r->run[k].first + r->run[k].n; i++)
            if (!runs_straddles(r, i, switch_us) && !isnan(rate_at(r, i)))
                grid_put(r, k, i, g);
    return 0;
}

/* Another thread slows whatever it meets, so the fastest of what one code does are those that it left alone: the
 * highest value that enough of the n values, which it sorts, are near to, but for one in a hundred, which may be
 * outliers. NaN: none. */
static double full_rate(double *x, size_t n, double window)
{
    size_t need = (size_t)ceil(FULL_LEAST * (double)n), i = (size_t)(WILD * (double)n), end;
    qsort(x, n, sizeof *x, order_double_descending);
    while (i + need <= n && x[i + need - 1] < x[i] * (1 - window))
        i++;
    if (i + need > n)
        return NAN;
    end = i;
    while (end < n && x[end] >= x[i] * (1 - window))
        end++;
    return 0.5 * (x[(i + end) / 2] + x[(i + end - 1) / 2]);
}

/*
 * Share of the slow samples before the switch that lie where nearly all repetitions are slow. *begins: such a burst
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
            slow += rate_at(r, i) < below;
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

/* Two rates among the n samples, in any order: the full one is `full`, *slow are below `below`. x: scratch of n. False:
 * all are alike. */
static bool two_rates(const float *rate, const size_t *sample, size_t n, double window, double *x, double *full,
                      double *below, size_t *slow)
{
    *slow = 0;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)rate[sample[i]];
    if (n < SAMPLES_LEAST)
        return false;
    *full = full_rate(x, n, window);
    *below = *full * (1 - 2 * window);
    while (x[n - 1 - *slow] < *below) /* the lowest are last, and the full one is not below */
        ++*slow;
    return !isnan(*full) && (double)*slow >= SLOW_LEAST * (double)n;
}

/* The stretch before the switch: share and factor of the disturbance. x: scratch of twice its samples. */
static int look_before(const struct runs *r, const struct grid *g, double window, double *x, struct neighbour *out)
{
    size_t *sample = malloc((g->at_switch * g->runs + 1) * sizeof *sample);
    size_t n = 0, slow;
    double full, below;
    if (!sample)
        return -1;
    for (size_t k = 0; k < g->runs; k++)
        for (size_t b = 0; b < g->at_switch; b++)
            if (g->sample[b * g->runs + k] != SIZE_MAX)
                sample[n++] = g->sample[b * g->runs + k];
    if (two_rates(r->trace->channel[TRACE_IPC], sample, n, window, x, &full, &below, &slow)) {
        /* the samples at the ends of its bursts hold some of either: the factor is that of the most */
        out->factor = order_median(x + n - slow, slow) / full;
        out->share = (double)slow / (double)n;
        out->common = common_share(r, g, below, &out->begins) > COMMON_SHARE;
    }
    free(sample);
    return 0;
}

/* ---- in all of the recording ---- */

/* The rate at each moment of the repetitions that are left alone; NaN: too few to tell. x: scratch. */
static double undisturbed(const struct runs *r, const struct grid *g, size_t bin, double share, double *x)
{
    size_t n = 0;
    for (size_t k = 0; k < g->runs; k++)
        if (g->sample[bin * g->runs + k] != SIZE_MAX)
            x[n++] = rate_at(r, g->sample[bin * g->runs + k]);
    double alone = (1 - share) * (double)n;
    if (alone < 3)
        return NAN;
    qsort(x, n, sizeof *x, order_double_descending);
    return x[(size_t)(alone / 2)];
}

enum state { ALONE, BETWEEN, DISTURBED, TAKEN_OUT };

static enum state state_of(double rate, double full, double factor, double window)
{
    double ratio = rate / full, slack = fmax(2 * window, 0.25 * (1 - factor));
    if (!(ratio < 1 - 2 * window))
        return ALONE;
    return fabs(ratio - factor) < slack ? DISTURBED : BETWEEN;
}

/* Marks the bursts of repetition k. state: of its samples by bin. Returns whether there were any. */
static bool find_bouts(const struct grid *g, size_t k, enum state *state)
{
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
    return any;
}

/* Takes the bursts out of repetition k. Returns whether there were any. */
static bool take_out(const struct runs *r, const struct grid *g, size_t k, enum state *state, struct neighbour *out)
{
    const struct run_span *s = &r->run[k];
    bool any = find_bouts(g, k, state);
    for (size_t i = s->first; i < s->first + s->n; i++) {
        double bin = bin_of(r, g, i);
        if (!(bin >= 0 && bin < (double)g->bins))
            continue;
        if (state[(size_t)bin] == TAKEN_OUT)
            out->ipc[i] = NAN;
    }
    return any;
}

static float *copy_channel(const struct trace *t, enum trace_channel c)
{
    float *copy = malloc((t->n + 1) * sizeof *copy);
    if (copy)
        memcpy(copy, t->channel[c], t->n * sizeof *copy);
    return copy;
}

static int mask(const struct runs *r, const struct grid *g, double window, double *x, struct neighbour *out)
{
    double *full = malloc(g->bins * sizeof *full);
    enum state *state = malloc(g->bins * sizeof *state);
    out->ipc = copy_channel(r->trace, TRACE_IPC);
    int bad = !full || !state || !out->ipc;
    for (size_t b = 0; b < g->bins && !bad; b++)
        full[b] = undisturbed(r, g, b, out->share, x);
    for (size_t k = 0; k < g->runs && !bad; k++) {
        for (size_t b = 0; b < g->bins; b++) {
            size_t i = g->sample[b * g->runs + k];
            /* a sample that is missing goes on as the one before it */
            state[b] = i == SIZE_MAX || isnan(full[b]) ? (b ? state[b - 1] : ALONE)
                                                       : state_of(rate_at(r, i), full[b], out->factor, window);
        }
        out->runs += take_out(r, g, k, state, out);
    }
    free(full);
    free(state);
    return bad ? -1 : 0;
}

void neighbour_free(struct neighbour *n)
{
    free(n->ipc);
    n->ipc = NULL;
}

int neighbour_find(const struct runs *r, double switch_us, struct neighbour *out)
{
    struct grid g = {0};
    double window = fmax(WINDOW, WINDOW_SIGMAS * r->noise[TRACE_IPC]), *x = NULL;
    memset(out, 0, sizeof *out);
    if (isnan(switch_us) || r->n < RUNS_LEAST || !r->has[TRACE_IPC] || window > WINDOW_MOST)
        return 0;
    int bad = make_grid(r, switch_us, &g);
    if (!bad && g.sample) {
        x = malloc(2 * (g.at_switch + 1) * g.runs * sizeof *x);
        bad = !x || look_before(r, &g, window, x, out);
        if (!bad && out->share > 0 && !out->common)
            bad = mask(r, &g, window, x, out);
    }
    free(x);
    free(g.sample);
    if (bad)
        neighbour_free(out);
    return bad ? -1 : 0;
}

int neighbour_warn(const struct neighbour *n, const struct runs *r, struct phases *out)
{
    if (!(n->share > 0))
        return 0;
    if (n->common)
        return phases_warn(out,
                           "before the switch, where nothing should change, the kernel runs at %.2f of its rate at the "
                           "same moments of all repetitions: another thread on the core, in step with them, or a "
                           "kernel that had not settled; rates after the switch may be affected, too",
                           n->factor);
    if (!n->runs)
        return phases_warn(out,
                           "another thread ran on the core, e.g. on its SMT sibling: for %.0f %% of the time before "
                           "the switch the kernel ran at %.2f of its rate, in bursts too short to be left out",
                           100 * n->share, n->factor);
    return phases_warn(
        out,
        "another thread ran on the core, e.g. on its SMT sibling: in %zu of %zu repetitions, and for %.0f %% of the "
        "time before the switch, the kernel ran at %.2f of its rate; the rates of those samples are not used",
        n->runs, r->n, 100 * n->share, n->factor);
}

void neighbour_withdraw(const struct neighbour *n, struct phases *out)
{
    for (size_t p = 0; n->common && n->begins && p < out->n_phases; p++) {
        struct phase *ph = &out->phases[p];
        if (ph->kind != PHASE_THROTTLE)
            continue;
        ph->kind = PHASE_UNKNOWN;
        snprintf(ph->why, sizeof ph->why,
                 "a thread in step with the repetitions slows the kernel to %.2f of its rate before the switch, too, "
                 "and looks just like throttling",
                 n->factor);
    }
}
