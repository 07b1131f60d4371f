/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/segments/segmentation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"

/*
 * What counts as a step. Significance: six standard errors, so that of ten thousand null recordings of a few thousand
 * samples, each looked at at ten scales, hardly one shows a false step. Size: clocks with spread spectrum wander by
 * 0.25 % (recordings of a W-2104), IPC ratios above 0.94 are no throttling of anything, and the voltage's unit is
 * 2^-13 V = 0.12 mV while steps of interest begin at 6 mV.
 */
static const struct change_rule rules[TRACE_CHANNELS] = {
    [TRACE_FREQ] = {true, CLOCK_STEP_LEAST, 6, 3, false, 0},
    [TRACE_IPC] = {true, 0.06, 6, 3, false, 0},
    [TRACE_VOLTS] = {false, 0.0015, 6, 3, false, 0},
    [TRACE_LVL0] = {false, 0.1, 6, 3, false, 0},
    [TRACE_LVL1] = {false, 0.1, 6, 3, false, 0},
    [TRACE_LVL2] = {false, 0.1, 6, 3, false, 0},
    [TRACE_THROTTLE] = {false, 0.1, 6, 3, false, 0},
};

const struct change_rule *segmentation_rule(int c)
{
    return &rules[c];
}

double segmentation_difference(int c, double from, double to)
{
    return rules[c].logarithm ? log(fmax(to, 1e-4) / fmax(from, 1e-4)) : to - from;
}

signed char segmentation_change(int c, const struct piece *a, const struct piece *b)
{
    double v1 = a->value[c], v2 = b->value[c];
    if (isnan(v1) || isnan(v2))
        return 0;
    double step = segmentation_difference(c, v1, v2);
    if (fabs(step) < rules[c].min_effect)
        return 0;
    return step > 0 ? 1 : -1;
}

bool segmentation_differs(const struct edge_kind *k)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (k->change[c])
            return true;
    return k->forced;
}

bool segmentation_changes_only(const struct edge_kind *k, int c, int d)
{
    for (int other = 0; other < TRACE_CHANNELS; other++)
        if (other != c && other != d && k->change[other])
            return false;
    return !k->forced;
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

/* NULL, and *bad: out of memory; of NULL, which an empty segmentation has, NULL. */
static void *copy_of(const void *list, size_t bytes, int *bad)
{
    void *copy = list ? malloc(bytes + 1) : NULL;
    *bad |= list && !copy;
    return copy ? memcpy(copy, list, bytes) : NULL;
}

int segmentation_copy(const struct segmentation *o, struct segmentation *out)
{
    size_t edges = o->n_pieces ? o->n_pieces - 1 : 0;
    int bad = 0;
    *out = *o;
    out->piece = copy_of(o->piece, o->n_pieces * sizeof *o->piece, &bad);
    out->edge = copy_of(o->edge, edges * sizeof *o->edge, &bad);
    out->run = copy_of(o->run, o->n_runs * sizeof *o->run, &bad);
    out->time = copy_of(o->time, edges * o->n_runs * sizeof *o->time, &bad);
    out->other_ghz = copy_of(o->other_ghz, o->n_runs * sizeof *o->other_ghz, &bad);
    if (bad)
        segmentation_free(out);
    return bad ? -1 : 0;
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

double segmentation_begin_in(const struct segmentation *o, size_t p, size_t k)
{
    return p ? o->time[(p - 1) * o->n_runs + k] : o->begin;
}

double segmentation_end_in(const struct segmentation *o, size_t p, size_t k)
{
    return p + 1 < o->n_pieces ? o->time[p * o->n_runs + k] : o->end;
}

double segmentation_length_in(const struct segmentation *o, size_t p, size_t k)
{
    return segmentation_end_in(o, p, k) - segmentation_begin_in(o, p, k);
}

size_t segmentation_lengths(const struct segmentation *o, size_t p, double *x)
{
    size_t m = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        double length = segmentation_length_in(o, p, k);
        if (!isnan(length))
            x[m++] = length;
    }
    return m;
}

size_t segmentation_seen_by(const struct segmentation *o, size_t e)
{
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        n += !isnan(o->time[e * o->n_runs + k]);
    return n;
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
    *sigma = ROBUST_MEDIAN_ERROR * o->noise[c] *
             sqrt(1 / fmax(1, (double)a->samples) + 1 / fmax(1, (double)b->samples));
    return segmentation_difference(c, v1, v2);
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
    if (!segmentation_differs(&o->edge[p - 1]))
        segmentation_forget_edge(o, p - 1);
}
