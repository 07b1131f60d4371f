/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks at both times alternate, and all must say so, which those of a clock that floats, or of a neighbor that comes
 * and goes, hardly ever do; mostly the first two are alike. */
#include "tables/switches/later.h"

#include <math.h>
#include <stdio.h>

#include "tables/switches/alone.h"

enum { LOOKS = 4, TRIES = 3 };
#define FIRST_REPETITION 0x40000000u /* numbers that no other repetition of a model has */
#define APART 0.01                   /* relative: by so much all that is seen late differs from all that is seen soon */

enum { LATER_RATE, LATER_CLOCK, LATER_BOTH };

static double sampled_us(const struct transition_setup *s)
{
    return fmax(ALONE_CHAINS_US, 4 * s->period_us);
}

/* The rate and the frequency of the second kernel `us` after the switch; NaN: not told. */
static int look_after(struct sequence *q, const struct later *x, double rest_us, double us, double seen[LATER_BOTH],
                      bool *stopped, struct machine_error *err)
{
    const struct transition_setup *s = x->setup;
    const struct segment segments[3] = {{s->from, rest_us, false}, {s->to, us, false}, {s->to, sampled_us(s), true}};
    seen[LATER_RATE] = seen[LATER_CLOCK] = NAN;
    for (unsigned k = 0; k < TRIES && isnan(seen[LATER_RATE]) && !*stopped; k++) {
        struct kernel_alone one = {0};
        bool valid;
        int status = alone_see(q, segments, 3, 2, &one, &valid, err);
        if (status)
            return status;
        seen[LATER_RATE] = valid && one.n_ipc ? one.ipc[0] : NAN;
        seen[LATER_CLOCK] = valid && one.n_ghz ? one.ghz[0] : NAN;
        *stopped = x->progress(x->data, 0, 0) != 0;
    }
    return MACHINE_OK;
}

/* What the looks at one of the two times have seen of one of the two. */
struct looks {
    double lo, hi;
};

/* Whether all of the later ones differ from all of the others the same way. A frequency that rises is none of those of
 * a recording that awaits no higher one. */
static bool looks_apart(const struct looks soon[LATER_BOTH], const struct looks late[LATER_BOTH], bool falls_only,
                        int *which)
{
    for (int c = 0; c < LATER_BOTH; c++) {
        bool up = late[c].lo > soon[c].hi * (1 + APART), down = late[c].hi < soon[c].lo * (1 - APART);
        if (down || (up && !(c == LATER_CLOCK && falls_only))) {
            *which = c;
            return true;
        }
    }
    return false;
}

int later_moves(const struct later *x, bool *moves, bool *took_seconds, char *why, size_t why_size,
                struct machine_error *err)
{
    struct sequence q;
    struct machine_setup m = x->setup->machine;
    struct looks looks[2][LATER_BOTH];
    int which = LATER_RATE;
    bool stopped = false;
    for (int i = 0; i < 2 * LATER_BOTH; i++)
        looks[i / LATER_BOTH][i % LATER_BOTH] = (struct looks){INFINITY, 0};
    *moves = *took_seconds = false;
    m.period_us = x->setup->period_us;
    int status = sequence_begin(&q, x->machine, &m, sampled_us(x->setup), err);
    if (status)
        return status;
    q.patient = true;
    q.repetition = FIRST_REPETITION + x->number * 2 * LOOKS * TRIES;
    for (unsigned k = 0; k < LOOKS && (!k || *moves) && !status && !stopped; k++) {
        *took_seconds = k > 0;
        for (int late = 0; late < 2 && !status && !stopped; late++) {
            double seen[LATER_BOTH];
            /* what takes long to come takes long to go: the first kernel runs for as long before the next look */
            status = look_after(&q, x, k && !late ? SLOWEST_US : x->setup->warmup_us,
                                late ? SLOWEST_US : x->setup->observe_us, seen, &stopped, err);
            for (int c = 0; c < LATER_BOTH; c++) {
                struct looks *l = &looks[late][c];
                l->lo = fmin(l->lo, isnan(seen[c]) ? -INFINITY : seen[c]);
                l->hi = fmax(l->hi, isnan(seen[c]) ? INFINITY : seen[c]);
            }
        }
        *moves = !status && !stopped && looks_apart(looks[0], looks[1], x->falls_only, &which);
    }
    sequence_end(&q);
    const struct looks *soon = &looks[0][which], *late = &looks[1][which];
    if (*moves && which == LATER_RATE)
        snprintf(why, why_size, "the code still ran at %.2f of its long-run rate",
                 (soon->lo + soon->hi) / (late->lo + late->hi));
    else if (*moves)
        snprintf(why, why_size, "still at %.3f GHz, against %.3f GHz in the long run", 0.5 * (soon->lo + soon->hi),
                 0.5 * (late->lo + late->hi));
    return status;
}
