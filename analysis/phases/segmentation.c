/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/segmentation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "analysis/phases/segment.h"
#include "analysis/phases/series.h"

/*
 * What counts as a step. Significance: six standard errors, so that of ten thousand null recordings of a few thousand
 * samples, each looked at at ten scales, hardly one shows a false step. Size: clocks with spread spectrum wander by
 * 0.25 % (recordings of a W-2104), IPC ratios above 0.94 are no throttling of anything, and the voltage's unit is
 * 2^-13 V = 0.12 mV while steps of interest begin at 6 mV.
 */
static const struct segment_rule rules[TRACE_CHANNELS] = {
    [TRACE_FREQ] = {true, 0.004, 6, 3, false, 0},    [TRACE_IPC] = {true, 0.06, 6, 3, false, 0},
    [TRACE_VOLTS] = {false, 0.0015, 6, 3, false, 0}, [TRACE_LVL0] = {false, 0.1, 6, 3, false, 0},
    [TRACE_LVL1] = {false, 0.1, 6, 3, false, 0},     [TRACE_LVL2] = {false, 0.1, 6, 3, false, 0},
    [TRACE_THROTTLE] = {false, 0.1, 6, 3, false, 0},
};

#define SAME_EVENT 2.5 /* periods: cuts of different channels closer than this are one edge */
#define SNAP 1.6       /* periods: cuts so near the switch of kernels are the switch */

/* An edge between pieces, before repetitions place their own. */
struct boundary {
    double begin, end; /* equal, but for a halt */
    double z;
    bool halt, forced;
    const struct gap *gap; /* one repetition: its own */
};

struct boundaries {
    struct boundary *b;
    size_t n, capacity;
};

static int add_boundary(struct boundaries *l, struct boundary b)
{
    if (l->n == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 32;
        struct boundary *bigger = realloc(l->b, capacity * sizeof *bigger);
        if (!bigger)
            return -1;
        l->b = bigger;
        l->capacity = capacity;
    }
    l->b[l->n++] = b;
    return 0;
}

static int add_cuts(const struct runs *r, const struct series *s, int c, size_t first, size_t last,
                    struct boundaries *l)
{
    struct cut *cuts;
    double sigma = 0;
    struct segment_rule rule = rules[c];
    if (rule.logarithm)
        rule.least_noise = clock_noise(&r->clock) / sqrt((double)s->repetitions);
    size_t n = segment_channel(s->value[c], s->skip, first, last, &rule, &cuts, &sigma);
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
            size_t mixed = series_begin(r, s, at) < switch_us - SERIES_ALIGNED * s->period;
            if (add_cuts(r, s, c, 0, at, l) || (at + mixed < s->n && add_cuts(r, s, c, at + mixed, s->n, l)))
                return -1;
        } else if (add_cuts(r, s, c, 0, s->n, l)) {
            return -1;
        }
    }
    return 0;
}

bool segmentation_gap_is_halt(const struct runs *r, const struct gap *g)
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
        if (segmentation_gap_is_halt(r, g) &&
            add_boundary(l, (struct boundary){g->begin, g->end, INFINITY, true, false, g}))
            return -1;
    }
    return 0;
}

static int segmentation_by_begin(const void *a, const void *b)
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
        qsort(l->b, l->n, sizeof *l->b, segmentation_by_begin);
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
static int segmentation_describe(const struct runs *r, const struct series *s, const struct stretch *t, struct piece *p)
{
    size_t a = series_at(r, s, t->begin), b = series_at(r, s, t->end);
    memset(p, 0, sizeof *p);
    p->samples = b > a ? b - a : 0;
    if (t->exact_begin && a < b && series_begin(r, s, a) < t->begin - SERIES_ALIGNED * s->period)
        a++;
    if (t->exact_end && b > a && series_end(r, s, b - 1) > t->end + SERIES_ALIGNED * s->period)
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

static signed char segmentation_change(int c, const struct piece *a, const struct piece *b)
{
    double v1 = a->value[c], v2 = b->value[c];
    if (isnan(v1) || isnan(v2))
        return 0;
    double step = rules[c].logarithm ? log(fmax(v2, 1e-4) / fmax(v1, 1e-4)) : v2 - v1;
    if (fabs(step) < rules[c].min_effect)
        return 0;
    return step > 0 ? 1 : -1;
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

static bool any_change(const struct edge_kind *k)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (k->change[c])
            return true;
    return k->forced;
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
            if (segmentation_describe(r, s, &t, &o->piece[n]))
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
            if (l->b[i].halt) {
                set_kind(r, &o->piece[p], &o->piece[p + 1], l->b[i].forced, &o->edge[p]);
                set_kind(r, &o->piece[p], &o->piece[p + 2], l->b[i].forced, &o->edge[p + 1]);
                p += 2;
            } else {
                set_kind(r, &o->piece[p], &o->piece[p + 1], l->b[i].forced, &o->edge[p]);
                if (!any_change(&o->edge[p]) && !went) { /* not two neighbours at a time: the means change with it */
                    went = again = true;
                    p++;
                    continue;
                }
                went = false;
                p++;
            }
            l->b[m++] = l->b[i];
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
                    edges_place_halt(r, g, &o->piece[p], &o->piece[p + 2], b->forced ? o->switch_us : NAN, x, &length);
                    *y = *x + length;
                    last = g->end;
                }
                p += 2;
                continue;
            }
            *x = b->forced ? o->switch_us
                           : edges_place(r, o->run[k], &o->piece[p], &o->piece[p + 1], &o->edge[p], last,
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
    int bad = -1;
    if (n == 1)
        series_of_one(r, run[0], &s);
    else
        bad = series_of_many(r, run, n, switch_us, &s);
    if (n > 1 && bad) {
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

void segmentation_free(struct segmentation *o)
{
    free(o->piece);
    free(o->edge);
    free(o->run);
    free(o->time);
    free(o->other_ghz);
    memset(o, 0, sizeof *o);
}

int segmentation_copy(const struct segmentation *o, struct segmentation *out)
{
    *out = *o;
    size_t edges = o->n_pieces ? o->n_pieces - 1 : 0;
    out->piece = calloc(o->n_pieces + 1, sizeof *out->piece);
    out->edge = calloc(o->n_pieces + 1, sizeof *out->edge);
    out->run = calloc(o->n_runs + 1, sizeof *out->run);
    out->time = calloc(edges * o->n_runs + 1, sizeof *out->time);
    out->other_ghz = o->other_ghz ? calloc(o->n_runs + 1, sizeof *out->other_ghz) : NULL;
    if (!out->piece || !out->edge || !out->run || !out->time || (o->other_ghz && !out->other_ghz)) {
        segmentation_free(out);
        return -1;
    }
    if (o->other_ghz)
        memcpy(out->other_ghz, o->other_ghz, o->n_runs * sizeof *out->other_ghz);
    if (o->n_pieces) { /* an empty segmentation has no arrays */
        memcpy(out->piece, o->piece, o->n_pieces * sizeof *out->piece);
        memcpy(out->edge, o->edge, edges * sizeof *out->edge);
        memcpy(out->run, o->run, o->n_runs * sizeof *out->run);
        memcpy(out->time, o->time, edges * o->n_runs * sizeof *out->time);
    }
    return 0;
}

double segmentation_edge_time(const struct segmentation *o, size_t e)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        if (!isnan(o->time[e * o->n_runs + k])) {
            sum += o->time[e * o->n_runs + k];
            n++;
        }
    return n ? sum / (double)n : NAN;
}

static bool sees(const struct segmentation *o, int c)
{
    for (size_t p = 0; p < o->n_pieces; p++)
        if (!isnan(o->piece[p].value[c]))
            return true;
    return false;
}

/* The piece before edge e; before a halt that ends there, the one before the halt. */
static const struct piece *piece_before(const struct segmentation *o, size_t e)
{
    return o->piece[e].halt && e ? &o->piece[e - 1] : &o->piece[e];
}

/* Whether two edges change some channel the same way. */
static bool share_a_change(const struct edge_kind *a, const struct edge_kind *b)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (a->change[c] && a->change[c] == b->change[c])
            return true;
    return false;
}

void segmentation_judge_seen(struct segmentation *o)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        const struct piece *a = piece_before(o, e), *b = &o->piece[e + 1];
        struct edge_kind *edge = &o->edge[e], now = *edge;
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (!(edge->forced && c == TRACE_IPC))
                now.change[c] = segmentation_change(c, a, b);
        if (edge->forced || o->piece[e].halt || share_a_change(edge, &now))
            *edge = now;
    }
}

double segmentation_step(const struct segmentation *o, size_t e, int c, double *sigma)
{
    const struct piece *a = piece_before(o, e), *b = &o->piece[e + 1];
    double v1 = a->value[c], v2 = b->value[c];
    *sigma = 1.2533 * o->noise[c] * sqrt(1 / fmax(1, (double)a->samples) + 1 / fmax(1, (double)b->samples));
    return rules[c].logarithm ? log(fmax(v2, 1e-4) / fmax(v1, 1e-4)) : v2 - v1;
}

/*
 * Whether edge i of one segmentation changes channel c as edge j of another does. Halts, the switch of kernels and what
 * another channel shows alike are seen whatever this one does: there a change so small that noise decides whether it
 * counts as one, or which way it goes, makes no difference. Else only those repetitions would be left that noise has
 * moved the same way.
 */
static bool same_change(const struct segmentation *a, size_t i, const struct segmentation *b, size_t j, int c,
                        bool seen_anyway)
{
    enum { UNDECIDED_Z = 4 };
    signed char first = a->edge[i].change[c], second = b->edge[j].change[c];
    if (first == second || !seen_anyway)
        return first == second;
    double sigma_a, sigma_b, step_a = segmentation_step(a, i, c, &sigma_a),
                             step_b = segmentation_step(b, j, c, &sigma_b);
    if (isnan(step_a) || isnan(step_b))
        return true; /* not measured there: nothing speaks against it */
    return fabs(step_a - step_b) < UNDECIDED_Z * hypot(sigma_a, sigma_b);
}

bool segmentation_fits(const struct segmentation *model, const struct segmentation *other, size_t *edge)
{
    bool shared[TRACE_CHANNELS];
    for (int c = 0; c < TRACE_CHANNELS; c++)
        shared[c] = sees(other, c);
    size_t j = 0;
    for (size_t i = 0; i + 1 < model->n_pieces; i++) {
        bool halting = model->piece[i].halt || model->piece[i + 1].halt, visible = halting || model->edge[i].forced;
        bool same = j + 1 < other->n_pieces && model->piece[i].halt == other->piece[j].halt &&
                    model->piece[i + 1].halt == other->piece[j + 1].halt &&
                    model->edge[i].forced == other->edge[j].forced;
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            if (!shared[c])
                continue;
            visible |= model->edge[i].change[c] != 0;
            same = same &&
                   same_change(model, i, other, j, c,
                               halting || model->edge[i].forced || share_a_change(&model->edge[i], &other->edge[j]));
        }
        if (visible && !same)
            return false;
        if (edge)
            edge[i] = visible ? j : SIZE_MAX;
        j += visible;
    }
    return j + 1 == other->n_pieces;
}

static void remove_edge(struct segmentation *o, size_t e)
{
    memmove(&o->edge[e], &o->edge[e + 1], (o->n_pieces - e - 2) * sizeof *o->edge);
    memmove(&o->time[e * o->n_runs], &o->time[(e + 1) * o->n_runs],
            (o->n_pieces - e - 2) * o->n_runs * sizeof *o->time);
}

static void remove_piece(struct segmentation *o, size_t p)
{
    memmove(&o->piece[p], &o->piece[p + 1], (o->n_pieces - p - 1) * sizeof *o->piece);
    o->n_pieces--;
}

void segmentation_forget_edge(struct segmentation *o, size_t e)
{
    struct piece *a = &o->piece[e], *b = &o->piece[e + 1];
    double wa = (double)a->samples, wb = (double)b->samples;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double va = a->value[c], vb = b->value[c];
        if (isnan(va))
            a->value[c] = vb;
        else if (!isnan(vb))
            a->value[c] = (va * wa + vb * wb) / fmax(wa + wb, 1);
        if (c == TRACE_IPC && o->edge[e].change[c])
            a->value[c] = NAN; /* two codes: no one IPC */
    }
    a->samples += b->samples;
    remove_edge(o, e);
    remove_piece(o, e + 1);
}

void segmentation_forget_halt(struct segmentation *o, size_t p)
{
    for (size_t k = 0; k < o->n_runs; k++) {
        double *x = &o->time[(p - 1) * o->n_runs + k];
        *x = 0.5 * (*x + x[o->n_runs]);
    }
    o->edge[p - 1] = o->edge[p];
    remove_edge(o, p);
    remove_piece(o, p);
    if (!any_change(&o->edge[p - 1]))
        segmentation_forget_edge(o, p - 1);
}
