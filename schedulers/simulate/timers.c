/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/timers.h"

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
