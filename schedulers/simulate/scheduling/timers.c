/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/scheduling/timers.h"

#include <stdlib.h>

#include "schedulers/simulate/params.h"

bool timers_init(struct timers *t, size_t n)
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

void timers_free(struct timers *t)
{
    free(t->at);
    free(t->winner);
}

void timers_set(struct timers *t, size_t i, int64_t at)
{
    t->at[i] = at;
    for (size_t node = (t->leaves + i) / 2; node > 0; node /= 2) {
        size_t a = t->winner[2 * node], b = t->winner[2 * node + 1];
        t->winner[node] = t->at[b] < t->at[a] ? b : a;
    }
}

int64_t timers_first(const struct timers *t, size_t *i)
{
    *i = t->winner[1];
    return t->at[*i];
}
