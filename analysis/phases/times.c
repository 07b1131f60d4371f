/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When phases begin and how long they last, with 95 % limits: each repetition places its own edges without bias, so the
 * mean over repetitions with Student's limits holds for few and for many. A duration that comes in modes (one
 * relaxation period or two) is described by its most frequent mode, and all modes are listed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "analysis/stats/robust.h"
#include "util/order.h"
#include "util/plain_text.h"

/* Durations of which one alone may be an outlier; of which two modes may be told apart without a gap. */
enum { MANY = 8, ENOUGH_FOR_TWO = 20 };
#define REJECT 5.0 /* scaled MADs: farther edges are due to outliers */
/* A halt told on a grid lasts one of two whole numbers of periods, and only the mean of both is right: */
#define HALT_SLACK_PERIODS 1.5
#define AGREE_PERIODS 1.5     /* durations that differ by less agree */
#define MODE_GAP_PERIODS 4    /* modes are at least so far apart ... */
#define MODE_GAP_SHARE 0.05   /* ... and by at least this share of the duration */
#define TWO_APART_PERIODS 2.5 /* ... but for two that scatter by far less: beyond neighbours on the grid of samples */
#define MODE_LEAST_SHARE 0.04
/* Limits never narrower than this many periods: what remains of the assumptions (a sharp edge, a mean over exactly the
 * sample) when scatter is averaged away. */
#define HALT_PERIODS 0.025 /* the same for how soon after a halt the sampler resumes */
#define HABIT_PERIODS 0.25 /* the same where it is not known whether it resumes at once or waits for its grid */
#define SYSTEMATIC_PERIODS 0.015
/* Relative: what interruptions too short to be seen, counters read one after another, and the rounding of the file's
 * numbers leave of doubt in a frequency in any case. */
#define FREQ_SURE 1e-4
/* The switch of kernels is timed by the clock, the rest by counters, which are read up to this much later. */
#define LAG_US 0.08

static double effect_snr(const struct runs *r, const struct piece *a, const struct piece *b)
{
    double best = 0;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double v1 = a->value[c], v2 = b->value[c];
        if (!r->has[c] || isnan(v1) || isnan(v2))
            continue;
        double step = fabs(segmentation_difference(c, v1, v2));
        best = fmax(best, step / fmax(r->noise[c], 1e-3));
    }
    return best;
}

/* The standard deviation of where one repetition alone places edge e of a segmentation, us. */
static double edge_sigma(const struct runs *r, const struct segmentation *o, size_t e)
{
    const struct piece *a = &o->piece[e], *b = &o->piece[e + 1];
    if (o->edge[e].forced)
        return 0;
    if (a->halt || b->halt)
        return r->habit == SAMPLER_AT_ONCE ? 0.05 * r->period : r->period / sqrt(12);
    return r->period * fmin(2 / effect_snr(r, a, b), 10);
}

struct scratch {
    bool *main_mode; /* repetitions that have followed the most frequent mode so far */
    double *x;
    double *start; /* of each piece, and the end */
};

static void find_duration_modes(const struct runs *r, const struct segmentation *o, size_t p, struct phase *ph,
                                struct scratch *s)
{
    struct value_mode mode[PHASE_MODES_MAX];
    size_t m = segmentation_lengths(o, p, s->x);
    if (m < 3 || p + 1 == o->n_pieces)
        return;
    double *copy = s->x + o->n_runs;
    memcpy(copy, s->x, m * sizeof *copy);
    double middle = order_median(copy, m), sigma = order_mad_sigma(s->x, m, middle, copy);
    double gap = fmax(fmax(MODE_GAP_PERIODS * r->period, MODE_GAP_SHARE * middle), fmin(3 * sigma, 0.25 * middle));
    /* of few repetitions one that differs is worth telling, of many a few */
    size_t least = m < MANY ? 1 : (size_t)fmax(2, ceil(MODE_LEAST_SHARE * (double)m));
    size_t n = robust_modes(s->x, m, gap, least, mode, PHASE_MODES_MAX);
    if (n < 2 && m >= ENOUGH_FOR_TWO) /* of waits that scatter no gap is left between one and two of them */
        n = robust_two_modes(s->x, m, fmax(TWO_APART_PERIODS * r->period, 0.25 * middle), ENOUGH_FOR_TWO / 4, mode);
    if (n < 2)
        return;
    ph->n_modes = n;
    for (size_t i = 0; i < n; i++)
        ph->modes[i] = (struct phase_mode){fmax(mode[i].mean, 0), (double)mode[i].n / (double)m};
    for (size_t k = 0; k < o->n_runs; k++) {
        double d = segmentation_length_in(o, p, k);
        s->main_mode[k] &= d >= mode[0].lo && d <= mode[0].hi;
    }
}

/*
 * times.c: the time from the beginning of piece `from` to the end of piece `to`, us, with its limits (never below 0)
 * over the repetitions in the mask (NULL: all) that show both. `value`: what it is if that is known, NaN: their mean.
 */
static struct estimate times_between(const struct runs *r, const struct segmentation *o, size_t from, size_t to,
                                     const bool *mask, double value)
{
    struct estimate none = {value, NAN, NAN};
    double *x = calloc(o->n_runs + 1, sizeof *x);
    size_t m = 0;
    if (!x)
        return none; /* limits are not known */
    for (size_t k = 0; k < o->n_runs; k++) {
        double d = segmentation_end_in(o, to, k) - segmentation_begin_in(o, from, k);
        if (!isnan(d) && (!mask || mask[k]))
            x[m++] = d;
    }
    bool halted = (from && o->piece[from - 1].halt) || (to + 1 < o->n_pieces && o->piece[to + 1].halt) ||
                  o->piece[from].halt || o->piece[to].halt;
    struct estimate e = robust_mean(x, m, REJECT, (halted ? HALT_SLACK_PERIODS : 0.5) * r->period, NULL);
    double half = estimate_half(&e);
    free(x);
    if (isnan(value))
        value = fmax(0, e.value);
    if (m == 1) {
        double a = from ? edge_sigma(r, o, from - 1) : 0, b = to + 1 < o->n_pieces ? edge_sigma(r, o, to) : 0;
        half = ESTIMATE_Z95 * hypot(a, b);
    }
    half = hypot(half, SYSTEMATIC_PERIODS * r->period);
    bool from_switch = from && o->edge[from - 1].forced, to_switch = to + 1 < o->n_pieces && o->edge[to].forced;
    if (from_switch != to_switch && to + 1 < o->n_pieces)
        half = hypot(half, LAG_US);
    double habit = r->habit == SAMPLER_UNKNOWN ? HABIT_PERIODS * r->period : 0; /* alike in all repetitions */
    if (halted)
        half = hypot(half, HALT_PERIODS * r->period) + habit;
    return (struct estimate){value, isnan(half) ? NAN : fmax(0, value - half), value + half};
}

/* Frequency of a phase with limits over repetitions: each repetition's mean within its own edges. x: scratch of twice
 * as many. */
static int phase_frequency(const struct runs *r, const struct segmentation *o, size_t p, struct phase *ph, double *x)
{
    const float *freq = r->trace->channel[TRACE_FREQ], *ipc = r->trace->channel[TRACE_IPC];
    size_t m = 0, longest = 0, read = 0, unread = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        longest = longest < r->run[o->run[k]].n ? r->run[o->run[k]].n : longest;
    size_t limit = longest < 100000 ? longest : 100000;
    double *values = malloc((limit + 1) * 3 * sizeof *values), *us = values + limit + 1;
    if (!values)
        return -1;
    double one_sigma = NAN;
    for (size_t k = 0; k < o->n_runs; k++) {
        const struct run_span *s = &r->run[o->run[k]];
        double lo = segmentation_begin_in(o, p, k), hi = segmentation_end_in(o, p, k);
        if (isnan(lo) || isnan(hi) || (o->other_ghz && o->other_ghz[k]))
            continue;
        size_t past = s->first + s->n, count = 0;
        /* in the first one both phases may have run, and counters are read after the time, the later the slower */
        size_t first = trace_first_after(r->trace, s->first, past, lo);
        for (size_t i = first + 1; i < past && r->trace->time_us[i] <= hi && count < limit; i++)
            if (!r->invalid[i] && !isnan(freq[i])) {
                us[count] = (double)r->dt[i];
                values[count++] = (double)freq[i];
            } else {
                unread += ipc && !isnan(ipc[i]);
            }
        read += count;
        if (count) {
            one_sigma = ROBUST_MEDIAN_ERROR * r->noise[TRACE_FREQ] / sqrt((double)count);
            double ghz = clock_frequency(&r->clock, values, us, count, us + limit + 1);
            x[m++] = 1 / ghz; /* times have a mean without bias (clock.h) */
        }
    }
    free(values);
    if (unread > read) /* what few samples at its end say is not its frequency */
        ph->freq_ghz.value = NAN;
    if (!m || unread > read)
        return 0;
    struct estimate e = robust_mean(x, m, REJECT, 0, NULL);
    if (isnan(e.value) && !isnan(x[0]))
        return -1; /* out of memory */
    e = (struct estimate){1 / e.value, 1 / e.hi, 1 / e.lo};
    double half = m == 1 ? ESTIMATE_Z95 * one_sigma * e.value : estimate_half(&e);
    half = hypot(half, FREQ_SURE * e.value);
    half = hypot(half, ESTIMATE_Z95 * r->clock.error * e.value);
    ph->freq_ghz = (struct estimate){e.value, e.value - half, e.value + half};
    return 0;
}

/* Repetitions that show a phase and, where its duration has one mode, show it as long as the others do. */
static size_t agreement(const struct runs *r, const struct segmentation *o, size_t p, const struct phase *ph, double *x)
{
    size_t m = segmentation_lengths(o, p, x), used;
    if (ph->n_modes > 1)
        return m;
    robust_mean(x, m, REJECT, AGREE_PERIODS * r->period, &used);
    return used;
}

/*
 * A phase begins when the one before has lasted as long as it does on average in the repetitions that have followed the
 * main mode so far. Outliers are removed from the differences, not from the edges: two edges of a halt after a
 * wait that scatters, cleaned apart from each other, would be those of different repetitions.
 */
static void find_starts(const struct runs *r, const struct segmentation *o, struct phases *out, struct scratch *s)
{
    s->start[0] = o->begin;
    for (size_t p = 0; p < o->n_pieces; p++) {
        struct phase *ph = &out->phases[p];
        bool last = p + 1 == o->n_pieces;
        ph->n_modes = 0;
        find_duration_modes(r, o, p, ph, s);
        ph->start_us = s->start[p];
        ph->duration_us = times_between(r, o, p, p, s->main_mode, last ? fmax(0, o->end - s->start[p]) : NAN);
        if (isnan(ph->duration_us.value)) /* no repetition shows both ends */
            ph->duration_us.value = fmax(0, segmentation_edge_time(o, p) - s->start[p]);
        ph->duration_us.lo = fmax(0, ph->duration_us.lo - o->piece[p].sooner_us);
        s->start[p + 1] = fmin(s->start[p] + ph->duration_us.value, o->end);
    }
}

int times_find(const struct runs *r, const struct segmentation *o, struct phases *out)
{
    struct scratch s = {malloc(o->n_runs * sizeof(bool) + 1), malloc((2 * o->n_runs + 2) * sizeof(double)),
                        malloc((o->n_pieces + 2) * sizeof(double))};
    int bad = !s.main_mode || !s.x || !s.start;
    if (!bad) {
        memset(s.main_mode, 1, o->n_runs * sizeof *s.main_mode);
        find_starts(r, o, out, &s);
    }
    for (size_t p = 0; p < o->n_pieces && !bad; p++) {
        struct phase *ph = &out->phases[p];
        ph->agreeing_runs = agreement(r, o, p, ph, s.x);
        if (r->has[TRACE_FREQ] && !o->piece[p].halt)
            bad = phase_frequency(r, o, p, ph, s.x);
    }
    free(s.main_mode);
    free(s.x);
    free(s.start);
    return bad ? -1 : 0;
}

/* Transitions: whatever lies between one steady phase and the next. */

#define PLACED_PERIODS 0.015 /* what means over repetitions cannot resolve of a jump without a phase of its own */

static double transitions_level_ghz(const struct phases *out, size_t p)
{
    if (out->phases[p].level < 0 || (size_t)out->phases[p].level >= out->n_levels)
        return NAN;
    return out->levels_ghz[out->phases[p].level];
}

/* From one steady phase to the next: whatever lies between belongs to the transition. */
int times_transitions(const struct runs *r, const struct segmentation *o, struct phases *out)
{
    for (size_t i = 0; i + 1 < out->n_phases; i++) {
        size_t j = i + 1;
        if (!phases_is_steady(&out->phases[i]))
            continue;
        unsigned halts = 0;
        while (j + 1 < out->n_phases && !phases_is_steady(&out->phases[j]))
            halts += out->phases[j++].kind == PHASE_HALT;
        bool undecided = false;
        for (size_t p = i + 1; p <= j; p++)
            undecided |= out->phases[p].kind == PHASE_UNKNOWN;
        if (undecided) /* what leads to or through the undecided is undecided too */
            continue;
        if (!phases_is_steady(&out->phases[j])) {
            if (phases_warn(out, "the recording ends before the transition at %s does",
                            plain_time(out->phases[i + 1].start_us, 1).text))
                return -1;
            break;
        }
        bool steps = out->phases[i].level != out->phases[j].level;
        for (int c = TRACE_VOLTS; c < TRACE_CHANNELS; c++)
            steps |= j == i + 1 && o->edge[i].change[c];
        if (j == i + 1 && !steps)
            continue; /* another kernel, and nothing happened */
        struct transition t = {.at_us = out->phases[i + 1].start_us,
                               .halts = halts,
                               .from_ghz = transitions_level_ghz(out, i),
                               .to_ghz = transitions_level_ghz(out, j)};
        if (j > i + 1) {
            t.latency_us = times_between(r, o, i + 1, j - 1, NULL, out->phases[j].start_us - t.at_us);
            for (size_t p = i + 1; p < j; p++)
                if (out->phases[p].kind == PHASE_RAMP) { /* its ends are not edges of the repetitions */
                    t.latency_us.lo -= out->phases[p].duration_us.value - out->phases[p].duration_us.lo;
                    t.latency_us.hi += out->phases[p].duration_us.hi - out->phases[p].duration_us.value;
                }
            t.agreeing_runs = SIZE_MAX;
            for (size_t p = i + 1; p < j; p++)
                if (out->phases[p].agreeing_runs < t.agreeing_runs)
                    t.agreeing_runs = out->phases[p].agreeing_runs;
        } else {
            double half = o->n_runs > 1 ? PLACED_PERIODS * r->period : edge_sigma(r, o, i);
            /* no sample lies between the two levels; while its clock changes a core may halt, for less than shows */
            bool clock = out->phases[i].level != out->phases[j].level;
            t.latency_us = (struct estimate){0, 0, clock ? fmax(half, out->detectable_halt_us) : half};
            t.agreeing_runs = segmentation_seen_by(o, i);
        }
        if (phases_add_transition(out, t))
            return -1;
        i = j - 1;
    }
    return 0;
}
