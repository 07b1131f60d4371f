/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions per cycle of the pieces, where a clock in steps leaves each repetition's own so noisy that it is not
 * told in which a sibling hyper-thread ran.
 *
 * Such a thread slows whatever it meets, so the fastest of blocks of samples are those left alone, as in neighbour.c.
 * How fast a block is, instructions over time, such a clock tells well; cycles it does not, nor does the thread leave
 * alone the chain that they are told by: IPC may go either way. Blocks are equally long in all pieces, so that bouts
 * shorter than a block do to a piece what they do to another: a ratio of a piece in which slow repetitions were left
 * out to one in which they were not is wrong.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum { RUNS_LEAST = 4, KINDS_FROM = 10, BLOCK = 12, BLOCK_LEAST = 3, BLOCKS_MOST = 20000 };
#define FULL_LEAST 0.2 /* of the blocks are at the full rate */

struct block {
    double rate; /* by which they are ordered */
    double ipc;
};

struct block_list {
    struct block *b;
    double *x; /* scratch: of twice as many */
    size_t n;
};

/* How long piece p typically is, us: a repetition that places its end far off must not bring in the next piece. */
static double rates_typical_length(const struct segmentation *o, size_t p, double *x)
{
    for (size_t k = 0; k < o->n_runs; k++)
        x[k] = segmentation_length_in(o, p, k);
    return order_median(x, o->n_runs);
}

/* What each block of repetition k says of piece p, in the first `length` us of it. */
static void add_blocks(const struct runs *r, const struct segmentation *o, size_t p, size_t k, double length,
                       size_t most, struct block_list *out)
{
    const struct run_span *s = &r->run[o->run[k]];
    const float *ipc = r->trace->channel[TRACE_IPC], *freq = r->trace->channel[TRACE_FREQ];
    double lo = segmentation_begin_in(o, p, k) + r->period,
           hi = fmin(segmentation_end_in(o, p, k), lo - r->period + length);
    double block[BLOCK], scratch[BLOCK], work = 0;
    size_t m = 0, done = 0;
    if (isnan(lo) || isnan(segmentation_end_in(o, p, k)))
        return;
    for (size_t i = s->first; i <= s->first + s->n && done < most; i++) {
        bool end = i == s->first + s->n || r->trace->time_us[i] > hi;
        if (!end && r->trace->time_us[i] >= lo && !r->invalid[i] && !isnan(ipc[i]) && !isnan(freq[i])) {
            work += (double)ipc[i] * (double)freq[i];
            block[m++] = (double)ipc[i];
        }
        if (m == BLOCK || (end && !done && m >= BLOCK_LEAST)) { /* of a short piece one block is all there is */
            out->b[out->n].rate = work / (double)m;
            out->b[out->n++].ipc = clock_centre(&r->clock, TRACE_IPC, block, m, scratch);
            work = 0;
            m = 0;
            done++;
        }
        if (end)
            break;
    }
}

/* The highest rate that enough of the blocks, which it sorts, are near to; NaN: none. */
static double rates_full_rate(struct block_list *a)
{
    qsort(a->b, a->n, sizeof *a->b, order_double_descending);
    size_t i = neighbour_fastest(&a->b->rate, sizeof *a->b / sizeof a->b->rate, a->n, FULL_LEAST, NEIGHBOUR_WINDOW);
    return i < a->n ? a->b[i + (size_t)ceil(FULL_LEAST * (double)a->n) / 2].rate : NAN;
}

/* What blocks that are left alone tell together; NaN: too few. */
static double common_ipc(struct block_list *a)
{
    size_t m = 0;
    if (a->n < RUNS_LEAST)
        return NAN;
    double full = a->n < KINDS_FROM ? NAN : rates_full_rate(a); /* too few are of one kind */
    for (size_t i = 0; i < a->n; i++)
        if (isnan(full) || fabs(a->b[i].rate / full - 1) < 2 * NEIGHBOUR_WINDOW)
            a->x[m++] = a->b[i].ipc;
    return robust_centre(a->x, m, a->x + a->n);
}

/* Rate of repetition k in piece p, 1000 instructions a us, by the samples that lie inside it; NaN: none does. */
static double own_rate(const struct runs *r, const struct segmentation *o, size_t p, size_t k)
{
    const struct run_span *s = &r->run[o->run[k]];
    const float *ipc = r->trace->channel[TRACE_IPC], *freq = r->trace->channel[TRACE_FREQ];
    double lo = segmentation_begin_in(o, p, k), hi = segmentation_end_in(o, p, k), slack = RUNS_ALIGNED * r->period;
    double work = 0, us = 0;
    for (size_t i = s->first + 1; i < s->first + s->n && r->trace->time_us[i] <= hi + slack; i++) {
        double dt = (double)r->dt[i], value = (double)ipc[i] * (double)freq[i];
        if (r->trace->time_us[i] - dt < lo - slack || r->invalid[i] || isnan(value))
            continue;
        work += value * dt;
        us += dt;
    }
    return us > 0 ? work / us : NAN;
}

/* How fast the payload runs where the chains are slowed, too: cycles are not known there, time is. */
static void find_slowed_rate(const struct runs *r, struct segmentation *o, size_t p, double *x)
{
    size_t m = 0;
    double full = NAN;
    for (size_t k = 0; k < o->n_runs; k++)
        x[m++] = own_rate(r, o, p, k);
    double rate = robust_centre(x, m, x + o->n_runs);
    for (size_t q = p + 1; q < o->n_pieces && !o->edge[q - 1].forced; q++)
        if (!o->piece[q].halt)
            full = fmax(full, o->piece[q].value[TRACE_IPC] * o->piece[q].value[TRACE_FREQ]);
    o->piece[p].rate = clock_slowed_rate(rate, full, r->clock.reading_us / r->period);
}

int rates_find(const struct runs *r, struct segmentation *o)
{
    if (!r->clock.instant || !r->has[TRACE_IPC] || !r->has[TRACE_FREQ] || o->n_runs < RUNS_LEAST)
        return 0;
    size_t most = BLOCKS_MOST + o->n_runs;
    struct block_list a = {malloc(most * sizeof *a.b), malloc(2 * most * sizeof *a.x), 0};
    int bad = !a.b || !a.x ? -1 : 0;
    for (size_t p = 0; p < o->n_pieces && !bad; p++) {
        a.n = 0;
        double length = rates_typical_length(o, p, a.x);
        for (size_t k = 0; k < o->n_runs && !o->piece[p].halt; k++)
            add_blocks(r, o, p, k, length, BLOCKS_MOST / o->n_runs + 1, &a);
        double common = common_ipc(&a);
        if (!isnan(common))
            o->piece[p].value[TRACE_IPC] = common;
    }
    for (size_t p = 0; p < o->n_pieces && !bad; p++)
        if (o->piece[p].slow_chain)
            find_slowed_rate(r, o, p, a.x);
    free(a.b);
    free(a.x);
    return bad;
}
