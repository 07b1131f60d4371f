/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed number of timers, of which the first to expire is known at any time; in the header, as the engine requests
 * every row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "schedulers/simulate/params.h"

struct timers {
    size_t leaves;
    int64_t *at;    /* ps; SIM_FOREVER: it is not set */
    size_t *winner; /* a tournament */
};

/* False: out of memory. timers_free in any case. */
static inline bool timers_init(struct timers *t, size_t n)
{
    *t = (struct timers){.leaves = 1};
    while (t->leaves < n)
        t->leaves *= 2;
    t->at = malloc(t->leaves * sizeof(*t->at));
    t->winner = malloc(2 * t->leaves * sizeof(*t->winner));
    if (t->at == NULL || t->winner == NULL)
        return false;
    for (size_t i = 0; i < t->leaves; i++) {
        t->at[i] = SIM_FOREVER;
        t->winner[t->leaves + i] = i;
    }
    for (size_t i = t->leaves - 1; i > 0; i--)
        t->winner[i] = t->winner[2 * i];
    return true;
}

static inline void timers_free(struct timers *t)
{
    free(t->at);
    free(t->winner);
}

static inline void timers_set(struct timers *t, size_t i, int64_t at)
{
    t->at[i] = at;
    for (size_t node = (t->leaves + i) / 2; node > 0; node /= 2) {
        size_t a = t->winner[2 * node], b = t->winner[2 * node + 1];
        t->winner[node] = t->at[b] < t->at[a] ? b : a;
    }
}

/* The time when the first expires, and its number: of several the lowest. */
static inline int64_t timers_first(const struct timers *t, size_t *i)
{
    *i = t->winner[1];
    return t->at[*i];
}

/* The time when the first of the others expires. */
static inline int64_t timers_second(const struct timers *t)
{
    int64_t second = INT64_MAX;
    for (size_t node = t->leaves + t->winner[1]; node > 1; node /= 2) {
        int64_t other = t->at[t->winner[node ^ 1]];
        second = other < second ? other : second;
    }
    return second;
}
