/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits a trace into repetitions and finds lost time, interruptions and halts in them by accounting of cycles. */
#include "analysis/phases/repetitions/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/segments/change_points.h"
#include "analysis/stats/robust.h"
#include "util/list.h"
#include "util/order.h"

/* Samples to either side whose medians a sample is compared with; so few right beside it tell a step. */
enum { NEIGHBOURS = 24, REFERENCE = 3 };
#define GRID_TOLERANCE 0.15 /* periods */
#define GRID_LOST 0.35      /* periods: a grid less regular than this is none */
#define LONG_SAMPLE 1.75    /* periods: longer samples are looked into; grids shifted at time 0 make some of 1.5 */
#define LOST_LEAST 0.5      /* periods */
#define SOFT_LEAST 0.2      /* periods, in a sample of ordinary length */
#define PAUSE_PERIODS 2.5   /* a sample so much longer than its neighbours lost time, whatever the counters say */

static int runs_split(const struct trace *t, struct runs *r)
{
    bool only_volts = true;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        only_volts = only_volts && (c == TRACE_VOLTS || !t->channel[c]);
    for (size_t first = 0, end; first < t->n; first = end) {
        end = trace_run_end(t, first);
        if (only_volts ? end - first <= 2 : !trace_measured(t, first, end))
            continue;
        if (!list_room(&r->run, r->n, sizeof *r->run))
            return -1;
        r->run[r->n++] = (struct run_span){t->run ? t->run[first] : 0, first, end - first, 0, 0};
    }
    return 0;
}

/* NaN: out of memory. */
static double typical_length(const struct runs *r)
{
    size_t total = 0, m = 0;
    for (size_t k = 0; k < r->n; k++)
        total += r->run[k].n - 1;
    size_t step = total / 100001 + 1, count = 0;
    double *d = malloc((total / step + 1) * sizeof *d);
    if (!d)
        return NAN;
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = r->run[k].first + 1; i < r->run[k].first + r->run[k].n; i++)
            if (count++ % step == 0)
                d[m++] = r->trace->time_us[i] - r->trace->time_us[i - 1];
    double period = order_median(d, m);
    free(d);
    return period > 0 ? period : 1.0;
}

static void measure_lengths(struct runs *r)
{
    for (size_t k = 0; k < r->n; k++) {
        const struct run_span *s = &r->run[k];
        r->dt[s->first] = (float)r->period;
        for (size_t i = s->first + 1; i < s->first + s->n; i++)
            r->dt[i] = (float)(r->trace->time_us[i] - r->trace->time_us[i - 1]);
    }
}

/* Speeds of a sample: of the clock, and of the payload where both channels are there. */
static double clock_of(const struct runs *r, size_t i)
{
    const float *freq = r->trace->channel[TRACE_FREQ];
    return freq ? (double)freq[i] : NAN;
}

static double rate_of(const struct runs *r, size_t i)
{
    const float *freq = r->trace->channel[TRACE_FREQ], *ipc = r->trace->channel[TRACE_IPC];
    return freq && ipc ? (double)freq[i] * (double)ipc[i] : NAN;
}

/* Medians of up to `want` ordinary samples before (step -1) or after (+1) sample i of run s: of their clock, payload
 * rate and length. */
static size_t medians_beside(const struct runs *r, const struct run_span *s, size_t i, int step, size_t want,
                             double *clock, double *rate, double *length)
{
    double c[NEIGHBOURS], q[NEIGHBOURS], d[NEIGHBOURS];
    size_t m = 0;
    for (size_t k = i + (size_t)step; k >= s->first && k < s->first + s->n && m < want; k += (size_t)step) {
        if (!m && r->invalid[k] && k != s->first) /* holds lost time, too, and describes no state */
            continue;
        if (k == s->first) { /* its length is not known */
            if (m)
                break;
        } else if (r->dt[k] > LONG_SAMPLE * r->period && m && r->dt[k] > 2 * d[0]) {
            break; /* another gap: what lies beyond may be another state */
        }
        c[m] = clock_of(r, k);
        q[m] = rate_of(r, k);
        d[m++] = (double)r->dt[k];
        if (k == 0)
            break;
    }
    double scratch[NEIGHBOURS];
    *clock = clock_middle(&r->clock, TRACE_FREQ, c, m, scratch);
    *rate = order_median(q, m);
    *length = order_median(d, m);
    return m;
}

/* Time that the sample did not need at the speeds seen around it: the least and the most that they allow. */
static void lost_time(double dt, double speed, double before, double after, double *least, double *most)
{
    if (isnan(before))
        before = after;
    if (isnan(after))
        after = before;
    *least = dt * (1 - speed / fmin(before, after));
    *most = dt * (1 - speed / fmax(before, after));
}

static bool differs(double a, double b, double noise, size_t n)
{
    double bound = fmax(CLOCK_STEP_LEAST, 5.5 * ROBUST_MEDIAN_ERROR * noise * sqrt(2.0 / (double)(n ? n : 1)));
    return !isnan(a) && !isnan(b) && fabs(log(a / b)) > bound;
}

/* Judges one suspicious sample; true if it holds lost time. Clock reads split from their counters are put right. */
static bool examine(struct runs *r, uint32_t run, size_t i, struct gap *g)
{
    const struct run_span *s = &r->run[run];
    double cb, ca, qb, qa, lb, la, dt = (double)r->dt[i], clock = clock_of(r, i), rate = rate_of(r, i);
    medians_beside(r, s, i, -1, REFERENCE, &cb, &qb, &lb);
    medians_beside(r, s, i, 1, REFERENCE, &ca, &qa, &la);
    double local = fmax(r->period, fmax(isnan(lb) ? 0 : lb, isnan(la) ? 0 : la));
    bool is_long = dt > LONG_SAMPLE * r->period && dt > 1.3 * fmin(isnan(lb) ? dt : lb, isnan(la) ? dt : la);
    double least = NAN, most = NAN, rate_least = NAN, rate_most = NAN;
    bool moved = false;
    /* the low mean that belongs to this long sample may have been written one sample early; chains tell no means */
    if (is_long && !r->clock.instant && i > s->first + 1 && !isnan(clock) && !isnan(cb)) {
        double before = clock_of(r, i - 1), two, unused_rate, unused_length;
        medians_beside(r, s, i - 1, -1, REFERENCE, &two, &unused_rate, &unused_length);
        double ref = isnan(two) ? cb : two;
        double least_ref = fmin(ref, isnan(ca) ? ref : ca);
        if (before < 0.8 * ref && clock > 0.9 * least_ref && r->dt[i - 1] < LONG_SAMPLE * r->period) {
            clock = before;
            rate = rate_of(r, i - 1);
            moved = true;
            cb = two;
            qb = unused_rate;
            r->invalid[i - 1] = 1;
        }
    }
    if (!isnan(clock))
        lost_time(dt, clock, cb, ca, &least, &most);
    if (!isnan(rate))
        lost_time(dt, rate, qb, qa, &rate_least, &rate_most);
    double bound = fmax(LOST_LEAST * r->period, 6 * r->noise[TRACE_FREQ] * dt);
    *g = (struct gap){.run = run,
                      .sample = i,
                      .begin = r->trace->time_us[i] - dt,
                      .end = r->trace->time_us[i],
                      .clock = clock,
                      .rate = rate,
                      .moved = moved};
    if (is_long && least > bound) {
        g->lost = 0.5 * (least + most);
    } else if (is_long && rate_least > fmax(bound, 6 * hypot(r->noise[TRACE_FREQ], r->noise[TRACE_IPC]) * dt)) {
        g->lost = 0.5 * (rate_least + rate_most);
    } else if (is_long && dt > PAUSE_PERIODS * local) {
        g->lost = dt - local;
    } else if (!r->clock.instant && !isnan(least) &&
               least > fmax(SOFT_LEAST * r->period, 6 * r->noise[TRACE_FREQ] * dt)) {
        g->lost = 0.5 * (least + most);
        g->soft = true;
    } else {
        return false;
    }
    g->running = !r->clock.instant && !(least > 0.1 * dt) && !isnan(least);
    size_t nb = medians_beside(r, s, i, -1, NEIGHBOURS, &cb, &qb, &lb),
           na = medians_beside(r, s, i, 1, NEIGHBOURS, &ca, &qa, &la);
    size_t fewer = nb < na ? nb : na;
    g->freq_before = cb;
    g->freq_after = ca;
    g->level_changes = fewer >= 2 && differs(cb, ca, r->noise[TRACE_FREQ], fewer);
    r->invalid[i] = 1;
    return true;
}

/* A sample that lost time is longer by it; one that only looks slow is an outlier. */
static bool one_loss(const struct runs *r, const struct gap *earlier, const struct gap *later)
{
    const struct gap *soft = earlier->soft ? earlier : later;

    if (earlier->running || later->running || (earlier->soft && later->soft))
        return false;
    return !soft->soft || soft->end - soft->begin > r->period + 0.5 * soft->lost;
}

/*
 * Time lost in two samples in a row is lost once: a clock read that fell into the halt has cut it in two. Joins the gap
 * of the later sample to that of the earlier one.
 */
static void join_gaps(struct gap *g, const struct gap *later)
{
    double d1 = g->end - g->begin, d2 = later->end - later->begin, all = d1 + d2;

    g->clock = (g->clock * d1 + later->clock * d2) / all;
    g->rate = (g->rate * d1 + later->rate * d2) / all;
    g->lost += later->lost;
    g->running = g->running && later->running;
    g->soft = g->soft && later->soft;
    g->sample = later->sample;
    g->end = later->end;
    g->freq_after = later->freq_after;
    /* the later one was looked at with the samples before both: its verdict is that of both */
    g->level_changes = later->level_changes;
}

/* A halt within a sample lowers its mean frequency; halts while a clock changes last for tens of microseconds: a mean
 * that is lower for longer is that of a lower clock. */
#define SOFT_MOST_US 1000.0F

static int find_gaps(struct runs *r)
{
    const float *freq = r->has[TRACE_FREQ] ? r->trace->channel[TRACE_FREQ] : NULL;
    /* what the steps of a clock do to a reading is no lost time */
    const float lowest = (float)(1 - fmax(0.15, 6 * clock_noise(&r->clock)));
    for (uint32_t k = 0; k < r->n; k++) {
        struct run_span *s = &r->run[k];
        float last = NAN;
        s->first_gap = r->n_gaps;
        for (size_t i = s->first + 1; i < s->first + s->n; i++) {
            bool low = freq && freq[i] < lowest * last && r->dt[i] * (1 - freq[i] / last) < SOFT_MOST_US;
            if (freq && !low && !isnan(freq[i]))
                last = freq[i];
            struct gap g;
            if ((!low && r->dt[i] <= (float)(LONG_SAMPLE * r->period)) || !examine(r, k, i, &g)) {
                if (low)
                    last = freq[i];
                continue;
            }
            if (!list_room(&r->gap, r->n_gaps, sizeof *r->gap))
                return -1;
            const struct gap *before = r->n_gaps > s->first_gap ? &r->gap[r->n_gaps - 1] : NULL;
            if (before && before->sample + 1 == i) {
                if (one_loss(r, before, &g) && !g.moved) {
                    join_gaps(&r->gap[r->n_gaps - 1], &g);
                    continue;
                }
                if (g.soft && !before->soft)
                    continue; /* an outlier next to lost time: no gap of its own */
                /* the same before it; or a low mean written one sample early, which is part of this gap */
                if (before->soft && !g.soft)
                    r->n_gaps--;
            }
            r->gap[r->n_gaps++] = g;
        }
        s->n_gaps = r->n_gaps - s->first_gap;
    }
    return 0;
}

/* How far samples of ordinary length stray from the period, as a share of it. */
static double wobble_of(const struct runs *r)
{
    double sum = 0;
    size_t n = 0, step = r->trace->n / 4096 + 1;
    for (size_t i = 0; i < r->trace->n; i += step)
        if (r->dt[i] > 0.5f * (float)r->period && r->dt[i] < 1.5f * (float)r->period) {
            sum += fabs((double)r->dt[i] / r->period - 1);
            n++;
        }
    return n ? sum / (double)n : INFINITY;
}

/*
 * When a sample that is due during a halt is taken. If at once, gaps last no whole number of periods, or the sample
 * after a gap is a short one, which ends at the next point of the grid.
 */
static enum sampler_habit find_habit(const struct runs *r)
{
    enum { ENOUGH = 4 };
    const char *sampler = trace_get(r->trace, "sampler");
    if (sampler)
        return strcmp(sampler, "resumes at once") ? SAMPLER_WAITS : SAMPLER_AT_ONCE;
    if (r->n < ENOUGH)
        return SAMPLER_UNKNOWN; /* the halts of few repetitions may all lie alike on the grid */
    size_t off = 0, cut_short = 0, all = 0;
    double wobble = wobble_of(r), tolerance = fmax(GRID_TOLERANCE, 3 * wobble);
    for (size_t k = 0; k < r->n_gaps; k++) {
        const struct gap *g = &r->gap[k];
        const struct run_span *s = &r->run[g->run];
        if (g->soft)
            continue;
        double periods = (g->end - g->begin) / r->period;
        size_t next = g->sample + 1;
        off += fabs(periods - round(periods)) > tolerance;
        cut_short += next < s->first + s->n && r->dt[next] < (float)((1 - GRID_TOLERANCE - 4 * wobble) * r->period);
        all++;
    }
    if (all < ENOUGH)
        return SAMPLER_UNKNOWN;
    if ((double)cut_short > 0.25 * (double)all)
        return SAMPLER_AT_ONCE;
    if (tolerance > GRID_LOST)
        return SAMPLER_UNKNOWN; /* no grid to be off */
    return (double)off > 0.5 * (1 - 2 * tolerance) * (double)all ? SAMPLER_AT_ONCE : SAMPLER_WAITS;
}

/* What the halts that show by themselves are like, so that those that noise hides can be distinguished from
 * interruptions. */
static int find_typical(struct runs *r)
{
    enum { ENOUGH = 3 };
    double *x = malloc((2 * r->n_gaps + 2) * sizeof *x);
    size_t m = 0;
    r->typical_lost = r->typical_step = NAN;
    if (!x)
        return -1;
    for (size_t k = 0; k < r->n_gaps; k++)
        if (r->gap[k].level_changes && !r->gap[k].soft) {
            x[m] = r->gap[k].lost;
            x[r->n_gaps + 1 + m++] = fabs(log(r->gap[k].freq_after / r->gap[k].freq_before));
        }
    if (m >= ENOUGH) {
        r->typical_lost = order_median(x, m);
        r->typical_step = order_median(x + r->n_gaps + 1, m);
    }
    free(x);
    return 0;
}

static int sort_gaps(struct runs *r)
{
    struct order_key *p = malloc((r->n_gaps + 1) * sizeof *p);
    r->by_begin = malloc((r->n_gaps + 1) * sizeof *r->by_begin);
    if (p && r->by_begin) {
        for (size_t k = 0; k < r->n_gaps; k++) {
            p[k] = (struct order_key){r->gap[k].begin, k};
            r->longest = fmax(r->longest, r->gap[k].end - r->gap[k].begin);
        }
        qsort(p, r->n_gaps, sizeof *p, order_by_key);
        for (size_t k = 0; k < r->n_gaps; k++)
            r->by_begin[k] = p[k].index;
    }
    bool bad = !p || !r->by_begin;
    free(p);
    return bad ? -1 : 0;
}

static bool only_volts(const struct runs *r)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (c != TRACE_VOLTS && r->has[c])
            return false;
    return true;
}

int runs_prepare(const struct trace *t, struct runs *r)
{
    memset(r, 0, sizeof *r);
    r->trace = t;
    r->dt = malloc((t->n + 1) * sizeof *r->dt);
    r->invalid = calloc(t->n + 1, 1);
    if (!r->dt || !r->invalid || runs_split(t, r))
        return -1;
    r->clock = clock_reading_of(t);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        bool relative = c == TRACE_FREQ || c == TRACE_IPC; /* as in struct runs */
        for (size_t i = 0; t->channel[c] && i < t->n && !r->has[c]; i++)
            r->has[c] = !isnan(t->channel[c][i]);
        double noise = r->has[c] ? change_points_noise(t->channel[c], t->n, relative) : 0;
        if (isnan(noise))
            return -1;
        if (r->has[c])
            r->noise[c] = fmax(noise, relative ? clock_noise(&r->clock) : 0);
    }
    r->period = typical_length(r);
    if (isnan(r->period))
        return -1;
    measure_lengths(r);
    /* of a voltage alone, read at instants, no sample can hold lost time */
    if (only_volts(r))
        return 0;
    if (find_gaps(r) || find_typical(r) || sort_gaps(r))
        return -1;
    r->habit = find_habit(r);
    return 0;
}

void runs_free(struct runs *r)
{
    free(r->run);
    free(r->dt);
    free(r->invalid);
    free(r->gap);
    free(r->by_begin);
    memset(r, 0, sizeof *r);
}

bool runs_straddles(const struct runs *r, size_t i, double switch_us)
{
    double end = r->trace->time_us[i], slack = RUNS_ALIGNED * r->period;
    return end > switch_us + slack && end - (double)r->dt[i] < switch_us - slack;
}

bool runs_gap_is_halt(const struct runs *r, const struct gap *g)
{
    if (g->running)
        return false;
    if (g->level_changes)
        return true;
    double step = fabs(log(g->freq_after / g->freq_before));
    if (!g->soft && fabs(g->lost - r->typical_lost) < fmax(r->period, 0.15 * r->typical_lost) &&
        step > 0.5 * r->typical_step && step < 1.5 * r->typical_step)
        return true; /* as long as the others and with a step like theirs, if not above the noise */
    if (r->n < 3)
        return false;
    size_t same = 0, lo = 0, hi = r->n_gaps; /* repetitions that lose time here: the gaps that begin early enough ... */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->gap[r->by_begin[mid]].begin > g->begin - r->longest)
            hi = mid;
        else
            lo = mid + 1;
    }
    for (size_t k = lo; k < r->n_gaps && r->gap[r->by_begin[k]].begin < g->end; k++) { /* ... to end within this one */
        const struct gap *o = &r->gap[r->by_begin[k]];
        bool alike = fabs(o->lost - g->lost) < fmax(2 * r->period, 0.3 * g->lost);
        if (o->end > g->begin && alike) /* gaps of one repetition do not overlap: each counts for one */
            same++;
    }
    return same >= 2 && same * 2 > r->n;
}
