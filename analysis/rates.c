/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions per cycle of the pieces, where a clock in steps leaves each repetition's own so noisy that it is not told
 * in which a thread next door ran.
 *
 * Such a thread slows whatever it meets, so of blocks of samples that come in two kinds the faster are those left alone,
 * as in neighbour.c. Blocks are equally long in all pieces, so that bouts shorter than a block do to a piece what they
 * do to another: a ratio of a piece in which slow repetitions were left out to one in which they were not is wrong.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/findings.h"
#include "analysis/robust.h"

enum { RUNS_LEAST = 10, BLOCK = 12, BLOCK_LEAST = 3, BLOCKS_MOST = 20000 };
#define KIND_APART 0.1  /* relative: milder neighbours are within the scatter */
#define KIND_LEAST 0.25 /* of the blocks: so many are no wild ones */

struct rates {
    double *x; /* of blocks; of 2 BLOCKS_MOST */
    size_t n;
};

/* What each block of repetition k says of piece p. */
static void add_blocks(const struct runs *r, const struct outline *o, size_t p, size_t k, size_t most,
                       struct rates *out)
{
    const struct run_span *s = &r->run[o->run[k]];
    double lo = begin_in(o, p, k) + r->period, hi = end_in(o, p, k), block[BLOCK], scratch[BLOCK];
    size_t m = 0, done = 0;
    for (size_t i = s->first; i <= s->first + s->n && done < most; i++) {
        bool end = i == s->first + s->n || r->trace->time_us[i] > hi;
        if (!end && r->trace->time_us[i] >= lo && !r->spoilt[i] && !isnan(r->trace->channel[TRACE_IPC][i]))
            block[m++] = (double)r->trace->channel[TRACE_IPC][i];
        if (m == BLOCK || (end && !done && m >= BLOCK_LEAST)) { /* of a short piece one block is all there is */
            out->x[out->n++] = clock_centre(&r->clock, TRACE_IPC, block, m, scratch);
            m = 0;
            done++;
        }
        if (end)
            break;
    }
}

/* What blocks that are left alone tell together; NaN: too few. */
static double common_rate(const struct rates *b)
{
    struct value_mode mode[2];
    if (b->n < RUNS_LEAST)
        return NAN;
    double centre = centre_of(b->x, b->n, b->x + b->n);
    if (find_two_modes(b->x, b->n, KIND_APART * fabs(centre), (size_t)(KIND_LEAST * (double)b->n), mode) < 2)
        return centre;
    return fmax(mode[0].mean, mode[1].mean);
}

int find_rates(const struct runs *r, struct outline *o)
{
    if (!r->clock.instant || !r->has[TRACE_IPC] || o->n_runs < RUNS_LEAST)
        return 0;
    struct rates b = {malloc(2 * (BLOCKS_MOST + o->n_runs) * sizeof *b.x), 0};
    if (!b.x)
        return -1;
    for (size_t p = 0; p < o->n_pieces; p++) {
        b.n = 0;
        for (size_t k = 0; k < o->n_runs && !o->piece[p].halt; k++)
            add_blocks(r, o, p, k, BLOCKS_MOST / o->n_runs + 1, &b);
        double common = common_rate(&b);
        if (!isnan(common))
            o->piece[p].value[TRACE_IPC] = common;
    }
    free(b.x);
    return 0;
}
