/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts one recording where its channels step, and judges which pieces and halts are real. */
#include "analysis/phases/segments/segmentation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

#define SAME_EVENT 2.5 /* periods: cuts of different channels closer than this are one edge */
#define SNAP 1.6       /* periods: cuts so near the switch of kernels are the switch */

/* ---- what is cut: one repetition, or the means of many on a common time axis ---- */

struct series {
    size_t n;
    float *value[TRACE_CHANNELS];
    const uint8_t *skip;
    double *end; /* of each sample; NULL: one repetition, times are the trace's */
    bool owned;
    size_t base;        /* one repetition: index of its first sample in the trace */
    size_t repetitions; /* of which each sample is the mean */
    double begin, period;
};

/* When sample i begins and ends, us. */
static double series_end(const struct runs *r, const struct series *s, size_t i)
{
    return s->end ? s->end[i] : r->trace->time_us[s->base + i];
}

static double series_begin(const struct runs *r, const struct series *s, size_t i)
{
    return i ? series_end(r, s, i - 1) : s->begin;
}

static void series_free(struct series *s)
{
    for (int c = 0; s->owned && c < TRACE_CHANNELS; c++)
        free(s->value[c]);
    free(s->end);
}

/* A repetition as it is. Returns 0. */
static int series_of_one(const struct runs *r, size_t run, struct series *s)
{
    const struct run_span *span = &r->run[run];
    *s = (struct series){
        .n = span->n, .skip = r->invalid + span->first, .base = span->first, .repetitions = 1, .period = r->period};
    for (int c = 0; c < TRACE_CHANNELS; c++)
        s->value[c] = r->has[c] ? r->trace->channel[c] + span->first : NULL;
    s->begin = r->trace->time_us[span->first] - r->period;
    return 0;
}

/*
 * Means over repetitions, without outliers, in bins of one period; a bin edge lies at time 0. Samples that hold some
 * of both kernels of the switch (us, NaN = none) give no IPC. Returns 0; -1: out of memory; SERIES_NO_COMMON_TIME: the
 * repetitions pause for so long that a common time line would be mostly empty.
 */
enum { SERIES_NO_COMMON_TIME = 1 };
static int series_of_many(const struct runs *r, const size_t *run, size_t n, double switch_us, struct series *s)
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

/* The first sample that begins at or after t. */
static size_t series_at(const struct runs *r, const struct series *s, double t)
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

/* ---- where ---- */

/* An edge between pieces, before repetitions place their own. */
struct boundary {
    double begin, end; /* equal, but for a halt */
    double z;
    bool halt, forced;
    const struct gap *gap; /* one repetition: its own */
};

struct boundaries {
    struct boundary *b;
    size_t n;
};

static int add_boundary(struct boundaries *l, struct boundary b)
{
    if (!list_room(&l->b, l->n, sizeof *l->b))
        return -1;
    l->b[l->n++] = b;
    return 0;
}

static int add_cuts(const struct runs *r, const struct series *s, int c, size_t first, size_t last,
                    struct boundaries *l)
{
    struct cut *cuts;
    double sigma = 0;
    struct change_rule rule = *segmentation_rule(c);
    if (rule.logarithm)
        rule.least_noise = clock_noise(&r->clock) / sqrt((double)s->repetitions);
    size_t n = change_points_find(s->value[c], s->skip, first, last, &rule, &cuts, &sigma);
    if (n == SIZE_MAX)
        return -1;
    int bad = 0;
    for (size_t i = 0; i < n && !bad; i++) {
        double t = series_begin(r, s, cuts[i].at);
        /* a change of IPC alone is believed less than one of the clock when their places are weighed */
        double z = c == TRACE_IPC ? 0.5 * cuts[i].z : cuts[i].z;
        bad = add_boundary(l, (struct boundary){t, t, z, false, false, NULL});
    }
    free(cuts);
    return bad;
}

static int find_cuts(const struct runs *r, const struct series *s, double switch_us, struct boundaries *l)
{
    size_t at = isnan(switch_us) ? 0 : series_at(r, s, switch_us);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        if (!s->value[c] || c == TRACE_VOLTS) /* the voltage may ramp: volts.c looks at it */
            continue;
        if (c == TRACE_IPC && at > 0 && at < s->n) { /* another kernel has another IPC: each for itself */
            size_t mixed = series_begin(r, s, at) < switch_us - RUNS_ALIGNED * s->period;
            if (add_cuts(r, s, c, 0, at, l) || (at + mixed < s->n && add_cuts(r, s, c, at + mixed, s->n, l)))
                return -1;
        } else if (add_cuts(r, s, c, 0, s->n, l)) {
            return -1;
        }
    }
    return 0;
}

/* Halts that more than half of the repetitions show at one place: where most of them have no ordinary sample. */
static int find_common_halts(const struct runs *r, const size_t *run, size_t n, const struct series *s,
                             struct boundaries *l)
{
    int *cover = calloc(s->n + 2, sizeof *cover);
    bool *member = calloc(r->n, sizeof *member);
    int bad = !cover || !member, depth = 0;
    for (size_t k = 0; k < n && !bad; k++)
        member[run[k]] = true;
    for (size_t k = 0; k < r->n_gaps && !bad; k++) {
        const struct gap *g = &r->gap[k];
        if (!member[g->run])
            continue;
        double first = round((g->begin - s->begin) / s->period), last = round((g->end - s->begin) / s->period);
        first = fmax(0, fmin(first, (double)s->n));
        last = fmax(first + 1, fmin(last, (double)s->n + 1));
        cover[(size_t)first]++;
        cover[(size_t)last]--;
    }
    size_t begin = 0;
    bool inside = false;
    for (size_t i = 0; i <= s->n && !bad; i++) {
        depth += cover[i];
        bool now = (size_t)depth * 2 > n;
        if (now && !inside)
            begin = i;
        else if (!now && inside)
            bad = add_boundary(l, (struct boundary){s->begin + (double)begin * s->period,
                                                    s->begin + (double)i * s->period, INFINITY, true, false, NULL});
        inside = now;
    }
    free(cover);
    free(member);
    return bad ? -1 : 0;
}

static int find_own_halts(const struct runs *r, size_t run, struct boundaries *l)
{
    for (size_t k = 0; k < r->run[run].n_gaps; k++) {
        const struct gap *g = &r->gap[r->run[run].first_gap + k];
        if (runs_gap_is_halt(r, g) && add_boundary(l, (struct boundary){g->begin, g->end, INFINITY, true, false, g}))
            return -1;
    }
    return 0;
}

static int boundary_by_begin(const void *a, const void *b)
{
    const struct boundary *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Cuts of several channels at one place are one edge; what lies at a halt or at the switch belongs to that. */
static void merge_boundaries(struct boundaries *l, double period)
{
    if (l->n)
        qsort(l->b, l->n, sizeof *l->b, boundary_by_begin);
    size_t m = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct boundary *b = &l->b[i], *last = m ? &l->b[m - 1] : NULL;
        double reach = period * ((b->forced || (last && last->forced)) ? SNAP : SAME_EVENT);
        if (!last || b->begin - last->end > reach || (b->halt && last->halt)) {
            l->b[m++] = *b;
            continue;
        }
        if (last->halt || last->forced) {
            if (b->halt && !last->halt) { /* a halt right after the switch begins at it */
                b->begin = last->begin;
                b->forced = true;
                *last = *b;
            } else if (last->halt && b->forced && b->begin - last->begin <= reach) {
                last->begin = b->begin; /* as does one in a sample that begins with it, or holds it */
                last->forced = true;
            }
            continue;
        }
        if (b->halt || b->forced || b->z > last->z)
            *last = *b;
    }
    l->n = m;
}

/* A stretch between two boundaries; one whose place is known exactly leaves no mixed samples inside it. */
struct stretch {
    double begin, end;
    bool exact_begin, exact_end;
};

/*
 * Means of the samples within a stretch. A sample at an edge found in the data may hold some of either state, whichever
 * side it was counted to: the first and last are left out where others remain.
 */
static int describe_piece(const struct runs *r, const struct series *s, const struct stretch *t, struct piece *p)
{
    size_t a = series_at(r, s, t->begin), b = series_at(r, s, t->end);
    memset(p, 0, sizeof *p);
    p->samples = b > a ? b - a : 0;
    if (t->exact_begin && a < b && series_begin(r, s, a) < t->begin - RUNS_ALIGNED * s->period)
        a++;
    if (t->exact_end && b > a && series_end(r, s, b - 1) > t->end + RUNS_ALIGNED * s->period)
        b--;
    if (!t->exact_begin && b > a + 1)
        a++;
    if (!t->exact_end && b > a + 1)
        b--;
    if (p->samples >= 10 && b > a + 2) {
        a++;
        b--;
    }
    for (int c = 0; c < TRACE_CHANNELS; c++)
        p->value[c] = NAN;
    if (a >= b)
        return 0;
    size_t step = (b - a) / 400001 + 1;
    double *x = malloc(((b - a) / step + 1) * 2 * sizeof *x);
    if (!x)
        return -1;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        size_t m = 0;
        for (size_t i = a; s->value[c] && i < b; i += step)
            if (!isnan(s->value[c][i]) && !(s->skip && s->skip[i]))
                x[m++] = (double)s->value[c][i];
        p->value[c] = clock_centre(&r->clock, (enum trace_channel)c, x, m, x + m);
    }
    free(x);
    return 0;
}

static void set_kind(const struct runs *r, const struct piece *a, const struct piece *b, bool forced,
                     struct edge_kind *k)
{
    memset(k, 0, sizeof *k);
    k->forced = forced;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (r->has[c] && !(forced && c == TRACE_IPC))
            k->change[c] = segmentation_change(c, a, b);
}

/* Pieces between the boundaries; a halt is a piece between two edges. Boundaries across which nothing differs go. */
static int make_pieces(const struct runs *r, const struct series *s, struct boundaries *l, struct segmentation *o)
{
    size_t most = 2 * l->n + 1;
    o->piece = calloc(most, sizeof *o->piece);
    o->edge = calloc(most, sizeof *o->edge);
    if (!o->piece || !o->edge)
        return -1;
    double end = series_end(r, s, s->n - 1);
    for (bool again = true; again;) {
        again = false;
        size_t n = 0;
        double from = s->begin;
        for (size_t i = 0; i <= l->n; i++) {
            const struct stretch t = {from, i < l->n ? l->b[i].begin : end, i && l->b[i - 1].forced,
                                      i < l->n && l->b[i].forced};
            if (describe_piece(r, s, &t, &o->piece[n]))
                return -1;
            n++;
            if (i == l->n)
                break;
            if (l->b[i].halt) {
                o->piece[n] = (struct piece){.halt = true};
                for (int c = 0; c < TRACE_CHANNELS; c++)
                    o->piece[n].value[c] = NAN;
                n++;
            }
            from = l->b[i].end;
        }
        o->n_pieces = n;
        size_t p = 0, m = 0;
        bool went = false;
        for (size_t i = 0; i < l->n; i++) {
            const struct boundary *b = &l->b[i];
            set_kind(r, &o->piece[p], &o->piece[p + 1], b->forced, &o->edge[p]);
            if (b->halt)
                set_kind(r, &o->piece[p], &o->piece[p + 2], b->forced, &o->edge[p + 1]);
            else /* not two neighbours at a time: the means change with it */
                went = !went && !segmentation_differs(&o->edge[p]);
            p += b->halt ? 2 : 1;
            if (went && !b->halt)
                again = true;
            else
                l->b[m++] = *b;
        }
        l->n = m;
    }
    return 0;
}

/* The gap of a repetition that is the halt expected between lo and hi; NULL if it has none. */
static const struct gap *own_gap(const struct runs *r, size_t run, const struct boundary *b, double lo, double hi,
                                 const struct edge_kind *across)
{
    const struct gap *best = NULL;
    double best_score = 0;
    for (size_t k = 0; k < r->run[run].n_gaps; k++) {
        const struct gap *g = &r->gap[r->run[run].first_gap + k];
        if (g->end <= lo || g->begin >= hi)
            continue;
        double overlap = fmin(g->end, b->end + r->period) - fmax(g->begin, b->begin - r->period);
        double score = overlap > 0 ? overlap : 0;
        double step = log(g->freq_after / g->freq_before);
        if (g->level_changes && across->change[TRACE_FREQ] * step > 0)
            score += 1e-3; /* elsewhere than most, but the same change */
        if (score > best_score) {
            best_score = score;
            best = g;
        }
    }
    return best;
}

/* Each repetition's own edges, in order. */
static void edges_place_all(const struct runs *r, const struct boundaries *l, struct segmentation *o)
{
    bool many = o->n_runs > 1;
    for (size_t k = 0; k < o->n_runs; k++) {
        double last = o->begin;
        size_t p = 0;
        for (size_t i = 0; i < l->n; i++) {
            const struct boundary *b = &l->b[i];
            double limit = i + 1 < l->n ? l->b[i + 1].begin - r->period : o->end;
            double *x = &o->time[p * o->n_runs + k];
            if (b->halt) {
                double *y = x + o->n_runs, length;
                const struct gap *g = b->gap ? b->gap
                                             : own_gap(r, o->run[k], b, last, fmax(limit, b->end), &o->edge[p + 1]);
                *x = *y = NAN;
                if (g) {
                    segmentation_place_halt(r, g, &o->piece[p], &o->piece[p + 2], b->forced ? o->switch_us : NAN, x,
                                            &length);
                    *y = *x + length;
                    last = g->end;
                }
                p += 2;
                continue;
            }
            *x = b->forced ? o->switch_us
                           : segmentation_place(r, o->run[k], &o->piece[p], &o->piece[p + 1], &o->edge[p], last,
                                                fmax(limit, b->end + r->period), b->begin, many);
            if (*x < last - r->period) /* before the edge before: this repetition does not show it */
                *x = NAN;
            if (!isnan(*x))
                last = fmax(last, *x);
            p++;
        }
    }
}

int segmentation_find(const struct runs *r, const size_t *run, size_t n, double switch_us, struct segmentation *o)
{
    struct series s = {0};
    struct boundaries l = {0};
    memset(o, 0, sizeof *o);
    int bad = n == 1 ? series_of_one(r, run[0], &s) : series_of_many(r, run, n, switch_us, &s);
    if (bad) {
        series_free(&s);
        return bad == SERIES_NO_COMMON_TIME ? 0 : -1;
    }
    bad = -1;
    o->begin = s.begin;
    o->end = series_end(r, &s, s.n - 1);
    o->switch_us = switch_us > o->begin + 3 * r->period && switch_us < o->end - 3 * r->period ? switch_us : NAN;
    if (find_cuts(r, &s, o->switch_us, &l))
        goto out;
    if (!isnan(o->switch_us) &&
        add_boundary(&l, (struct boundary){o->switch_us, o->switch_us, INFINITY, false, true, NULL}))
        goto out;
    if (n == 1 ? find_own_halts(r, run[0], &l) : find_common_halts(r, run, n, &s, &l))
        goto out;
    merge_boundaries(&l, r->period);
    if (make_pieces(r, &s, &l, o))
        goto out;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        o->noise[c] = r->noise[c];
    for (size_t p = 0; p < o->n_pieces; p++)
        o->piece[p].samples *= n; /* each of the series stands for one of every repetition */
    o->n_runs = n;
    o->run = malloc((n + 1) * sizeof *o->run);
    o->time = malloc((o->n_pieces * n + 1) * sizeof *o->time);
    if (!o->run || !o->time)
        goto out;
    memcpy(o->run, run, n * sizeof *run);
    edges_place_all(r, &l, o);
    bad = 0;
out:
    series_free(&s);
    free(l.b);
    if (bad)
        segmentation_free(o);
    return bad;
}
