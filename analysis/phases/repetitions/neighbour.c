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
 *
 * * Where chains of adds tell the frequency, each reading scatters, and the sibling slows the chains, too. Instructions
 * per time are exact there and replace instructions per cycle: if the chains are not slower by the same factor as the
 * kernel, it is not the frequency that moves, and the readings of those samples do not measure it.
 */
#include "analysis/phases/repetitions/neighbour.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "util/order.h"

enum { RUNS_LEAST = 10, SAMPLES_LEAST = 100, BOUT_LEAST = 3 };
#define WINDOW_SIGMAS 4.0  /* rates nearer than this, or than NEIGHBOUR_WINDOW, are one */
#define WINDOW_MOST 0.12   /* noisier recordings tell nothing */
#define ALONE_LEAST 0.006  /* relative: of long samples, below the full rate: those still count as left alone */
#define WILD 0.01          /* share of samples above the full rate that count as outliers */
#define FULL_LEAST 0.05    /* share of samples at the full rate */
#define SLOW_LEAST 0.04    /* share of disturbed samples */
#define ANOTHER 0.25       /* of the logarithm of a factor: so far off it is another one ... */
#define ANOTHER_SIGMAS 3.0 /* ... beyond what readings scatter */
#define LEFT 0.03          /* of the readings: so many may be disturbed of those that seem not to be */
#define DOUBT_TOLD 0.002
#define MIXED 0.1        /* share of samples, and of repetitions */
#define COMMON 0.9       /* of the repetitions: so many slow at a moment are no coincidence ... */
#define COMMON_SHARE 0.7 /* ... if most slow samples lie at such moments */

/* One sample a bin and repetition, aligned at the switch; SIZE_MAX: none. Of two in a bin it has the last. */
struct grid {
    size_t runs, bins, at_switch; /* the first bin after the switch */
    double begin, period;
    size_t *sample;    /* [bin * runs + run] */
    const float *rate; /* of each sample of the trace: instructions per cycle, or per time */
};

static double rate_at(const struct runs *r, const struct grid *g, size_t i)
{
    return r->invalid[i] ? NAN : (double)g->rate[i];
}

/* The bin that the middle of sample i lies in; may be outside. */
static double neighbour_bin_of(const struct runs *r, const struct grid *g, size_t i)
{
    return floor((r->trace->time_us[i] - 0.5 * (double)r->dt[i] - g->begin) / g->period);
}

static int make_grid(const struct runs *r, double switch_us, const float *rate, struct grid *g)
{
    double begin = INFINITY, end = -INFINITY;
    for (size_t k = 0; k < r->n; k++) {
        begin = fmin(begin, r->trace->time_us[r->run[k].first]);
        end = fmax(end, r->trace->time_us[r->run[k].first + r->run[k].n - 1]);
    }
    double before = floor((switch_us - begin) / r->period), after = ceil((end - switch_us) / r->period);
    *g = (struct grid){.runs = r->n, .begin = switch_us - before * r->period, .period = r->period, .rate = rate};
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
            double bin = neighbour_bin_of(r, g, i);
            if (bin >= 0 && bin < (double)g->bins && !runs_straddles(r, i, switch_us) && !isnan(rate_at(r, g, i)))
                g->sample[(size_t)bin * g->runs + k] = i;
        }
    return 0;
}

size_t neighbour_fastest(const double *x, size_t stride, size_t n, double share, double window)
{
    size_t need = (size_t)ceil(share * (double)n);
    for (size_t i = (size_t)(WILD * (double)n); i + need <= n; i++)
        if (x[(i + need - 1) * stride] >= x[i * stride] * (1 - window))
            return i;
    return SIZE_MAX;
}

/* The highest value that enough of the n values, which it sorts, are near to; NaN: none. */
static double neighbour_full_rate(double *x, size_t n, double window)
{
    qsort(x, n, sizeof *x, order_double_descending);
    size_t i = neighbour_fastest(x, 1, n, FULL_LEAST, window), end = i;
    while (end < n && x[end] >= x[i] * (1 - window))
        end++;
    return i < n ? 0.5 * (x[(i + end) / 2] + x[(i + end - 1) / 2]) : NAN;
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
            slow += rate_at(r, g, i) < below;
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
    *full = neighbour_full_rate(x, n, window);
    *below = *full * (1 - 2 * window);
    while (x[n - 1 - *slow] < *below) /* the lowest are last, and the full one is not below */
        ++*slow;
    return !isnan(*full) && (double)*slow >= SLOW_LEAST * (double)n;
}

/* Frequencies of the samples whose rate is below `below`, or is not; *rate_mean: of their rates. Returns how many. */
static size_t neighbour_collect(const struct trace *t, const float *rate, const size_t *sample, size_t n, double below,
                                bool slow, double *x, double *rate_mean)
{
    size_t m = 0;
    *rate_mean = 0;
    for (size_t i = 0; i < n; i++)
        if (((double)rate[sample[i]] < below) == slow) {
            *rate_mean += (double)rate[sample[i]];
            x[m++] = (double)t->channel[TRACE_FREQ][sample[i]];
        }
    *rate_mean /= fmax(1, (double)m);
    return m;
}

/* Whether many repetitions have samples below `below` and others. */
static bool is_mixed(const struct trace *t, const float *rate, const size_t *sample, size_t n, double below)
{
    size_t runs = 0, mixed = 0;
    for (size_t i = 0, end; i < n; i = end) {
        size_t slow = 0;
        for (end = i; end < n && t->run[sample[end]] == t->run[sample[i]]; end++)
            slow += (double)rate[sample[end]] < below;
        runs++;
        mixed += (double)slow > MIXED * (double)(end - i) && (double)slow < (1 - MIXED) * (double)(end - i);
    }
    return (double)mixed > MIXED * (double)runs;
}

/* What the chains say of samples in which the kernel is slow. */
struct chains {
    bool other;         /* they are not slower by the factor by which the kernel is ... */
    bool slowed;        /* ... but slower: such samples are taken out */
    double uncertainty; /* by so much, relative, the frequency may be above what the chains tell that are left */
};

/* Slow are samples whose rate is below `below`. Without doubt are repetitions slow throughout. x: scratch of 2 n. */
static struct chains judge_chains(const struct trace *t, const struct clock_reading *clock, const float *rate,
                                  const size_t *sample, size_t n, double below, double *x)
{
    double ghz[2], mean[2], noise = 0, share = 0;
    for (int slow = 0; slow < 2; slow++) {
        size_t m = neighbour_collect(t, rate, sample, n, below, slow == 1, x, &mean[slow]);
        ghz[slow] = clock_centre(clock, TRACE_FREQ, x, m, x + n);
        neighbour_collect(t, rate, sample, n, below, slow == 1, x, &mean[slow]); /* in place of what that has left */
        noise = hypot(noise, order_mad_sigma(x, m, ghz[slow], x + n) / ghz[slow] / sqrt(fmax(1, (double)m)));
        share = (double)m / (double)n;
    }
    double kernel = log(mean[1] / mean[0]), chain = log(ghz[1] / ghz[0]);
    double slower = fmax(0, ghz[0] / ghz[1] - 1);
    struct chains c = {fabs(chain - kernel) > fmax(ANOTHER * fabs(kernel), ANOTHER_SIGMAS * noise),
                       slower > CLOCK_STEP_LEAST, 0};
    if (c.other || is_mixed(t, rate, sample, n, below))
        c.uncertainty = (c.other && c.slowed ? LEFT : share) * slower;
    return c;
}

/* The stretch before the switch: share and factor of the disturbance. x: scratch of twice its samples. */
static int look_before(const struct runs *r, const struct grid *g, double window, bool judge, double *x,
                       struct neighbour *out)
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
    if (two_rates(g->rate, sample, n, window, x, &full, &below, &slow)) {
        /* the samples at the ends of its bouts hold some of either: the factor is that of the most */
        struct chains c = {.other = true};
        out->factor = order_median(x + n - slow, slow) / full;
        if (judge)
            c = judge_chains(r->trace, &r->clock, g->rate, sample, n, below, x);
        out->uncertainty = c.uncertainty;
        out->slowed = c.other && c.slowed;
        out->share = c.other ? (double)slow / (double)n : 0;
        out->common = c.other && common_share(r, g, below, &out->begins) > COMMON_SHARE;
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
            x[n++] = rate_at(r, g, g->sample[bin * g->runs + k]);
    double alone = (1 - share) * (double)n;
    if (alone < 3)
        return NAN;
    qsort(x, n, sizeof *x, order_double_descending);
    return x[(size_t)(alone / 2)];
}

enum state { ALONE, BETWEEN, DISTURBED, TAKEN_OUT };

static enum state neighbour_state_of(double rate, double full, double factor, double window)
{
    double ratio = rate / full, slack = fmax(2 * window, 0.25 * (1 - factor));
    if (!(ratio < 1 - 2 * window))
        return ALONE;
    return fabs(ratio - factor) < slack ? DISTURBED : BETWEEN;
}

/* Marks the bouts of repetition k. state: of its samples by bin. Returns whether there were any. */
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

/* Whether the chain at the end of bin b may be disturbed: in a bout, in what is too short to be sure of, and before
 * either. */
static bool chain_disturbed(const struct grid *g, const enum state *state, size_t b)
{
    for (size_t i = b; i < g->bins && i <= b + 1; i++) {
        size_t from = i, to = i;
        if (state[i] == TAKEN_OUT)
            return true;
        while (from > 0 && state[i] != ALONE && state[from - 1] != ALONE && i - from < BOUT_LEAST)
            from--;
        while (to < g->bins && state[to] != ALONE && to - i < BOUT_LEAST)
            to++;
        if (to > i && (i < g->at_switch || to - from < BOUT_LEAST))
            return true;
    }
    return false;
}

/* Takes the bouts out of repetition k. Returns whether there were any. */
static bool take_out(const struct runs *r, const struct grid *g, size_t k, enum state *state, struct neighbour *out)
{
    const struct run_span *s = &r->run[k];
    bool any = find_bouts(g, k, state);
    for (size_t i = s->first; i < s->first + s->n; i++) {
        double bin = neighbour_bin_of(r, g, i);
        if (!(bin >= 0 && bin < (double)g->bins))
            continue;
        if (state[(size_t)bin] == TAKEN_OUT)
            out->ipc[i] = NAN;
        if (out->freq && chain_disturbed(g, state, (size_t)bin))
            out->freq[i] = NAN;
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
    out->freq = out->slowed ? copy_channel(r->trace, TRACE_FREQ) : NULL;
    int bad = !full || !state || !out->ipc || (out->slowed && !out->freq);
    for (size_t b = 0; b < g->bins && !bad; b++)
        full[b] = undisturbed(r, g, b, out->share, x);
    for (size_t k = 0; k < g->runs && !bad; k++) {
        for (size_t b = 0; b < g->bins; b++) {
            size_t i = g->sample[b * g->runs + k];
            /* a sample that is missing goes on as the one before it */
            state[b] = i == SIZE_MAX || isnan(full[b])
                           ? (b ? state[b - 1] : ALONE)
                           : neighbour_state_of(rate_at(r, g, i), full[b], out->factor, window);
        }
        out->runs += take_out(r, g, k, state, out);
    }
    free(full);
    free(state);
    return bad ? -1 : 0;
}

/* What the steps of the clock make rates scatter by, relative. x: scratch of t->n. */
static double steps_noise(const struct trace *t, double *x)
{
    const char *step = trace_get(t, "clock_step_ns");
    size_t n = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->run[i] == t->run[i - 1])
            x[n++] = t->time_us[i] - t->time_us[i - 1];
    return step && n ? strtod(step, NULL) * 1e-3 / order_median(x, n) / sqrt(6) : 0;
}

/* What rates of neighbouring samples scatter by, relative, if half of them are of one kind: the lower quartile of their
 * differences is 0.3186 of a standard deviation. x: scratch of t->n. */
static double rates_noise(const struct trace *t, const float *rate, double *x)
{
    double steps = steps_noise(t, x);
    size_t n = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->run[i] == t->run[i - 1] && rate[i] > 0 && rate[i - 1] > 0)
            x[n++] = fabs(log((double)rate[i] / (double)rate[i - 1]));
    return fmax(n ? order_nth_smallest(x, n, n / 4) / (0.3186 * sqrt(2)) : 0, steps);
}

/* Instructions per time of each sample, where chains tell the frequency; NULL: out of memory. */
static float *rates_of(const struct trace *t)
{
    float *rate = malloc((t->n + 1) * sizeof *rate);
    for (size_t i = 0; rate && i < t->n; i++)
        rate[i] = t->channel[TRACE_IPC][i] * t->channel[TRACE_FREQ][i];
    return rate;
}

void neighbour_free(struct neighbour *n)
{
    free(n->ipc);
    free(n->freq);
    n->ipc = n->freq = NULL;
}

/* By one measure of the rate; noise: what a sample of it scatters by, relative. Chains are judged where they are it. */
static int find_by(const struct runs *r, double switch_us, const float *rate, double noise, bool judge,
                   struct neighbour *out)
{
    struct grid g = {0};
    double window = fmax(NEIGHBOUR_WINDOW, WINDOW_SIGMAS * noise), *x = NULL;
    int bad = window <= WINDOW_MOST && make_grid(r, switch_us, rate, &g);
    if (!bad && g.sample) {
        x = malloc(2 * (g.at_switch + 1) * g.runs * sizeof *x);
        bad = !x || look_before(r, &g, window, judge, x, out);
        if (!bad && out->share > 0 && !out->common && judge == out->slowed)
            bad = mask(r, &g, window, x, out);
    }
    free(x);
    free(g.sample);
    return bad ? -1 : 0;
}

/* By instructions per time, and what the chains say of it. */
static int find_by_chains(const struct runs *r, double switch_us, struct neighbour *out)
{
    float *rate = rates_of(r->trace);
    double *x = malloc((r->trace->n + 1) * sizeof *x);
    int bad = !rate || !x ? -1 : find_by(r, switch_us, rate, rates_noise(r->trace, rate, x), true, out);
    free(rate);
    free(x);
    return bad;
}

int neighbour_find(const struct runs *r, double switch_us, struct neighbour *out)
{
    memset(out, 0, sizeof *out);
    if (isnan(switch_us) || r->n < RUNS_LEAST || !r->has[TRACE_IPC])
        return 0;
    int bad = r->clock.instant && r->has[TRACE_FREQ] ? find_by_chains(r, switch_us, out) : 0;
    if (!bad && !out->slowed && !out->common) { /* what does not slow the chains, cycles tell */
        const struct neighbour by_chains = *out;
        *out = (struct neighbour){0};
        bad = find_by(r, switch_us, r->trace->channel[TRACE_IPC], r->noise[TRACE_IPC], false, out);
        out->uncertainty = by_chains.uncertainty;
        out->factor = out->share > 0 ? out->factor : by_chains.factor;
    }
    if (bad)
        neighbour_free(out);
    return bad;
}

int neighbour_warn(const struct neighbour *n, const struct runs *r, struct phases *out)
{
    if (!(n->share > 0))
        return n->uncertainty > DOUBT_TOLD
                   ? phases_warn(out,
                                 "before the switch, the kernel sometimes runs at %.2f of its rate while the frequency "
                                 "chains slow by the same factor: either the frequency drifts or another thread on the "
                                 "core slows both; the frequency limits cover both cases",
                                 n->factor)
                   : 0;
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
