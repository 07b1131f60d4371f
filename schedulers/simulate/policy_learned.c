/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learned from each task's past gaps: seven timeouts compete, as fractions of the break-even time, from "at once" to
 * "until it is needed again". Each task remembers the mean loss that each of them would have had after gaps like its
 * last one: of four lengths. Losses are in units of what a change up and down costs: a gap of g break-even times costs
 * g at the slow level, or the timeout and 1 (dissertation, eq. 5.2). Timeouts that compete: Helmbold, Long, Sconyers
 * and Sherrod, "Adaptive disk spin-down for mobile computers", Mobile Networks and Applications 5, 2000.
 */
#include "schedulers/simulate/engine.h"

enum {
    ONE = 4096,    /* a loss of 1 */
    LOSS_MOST = 8, /* a long gap must not outweigh all that follow */
    GAPS = 32,     /* the mean is over about the last so many */
    UNTIL_NEEDED = 1 << 20,
    TWO_COMPETITIVE = 3, /* the timeout that is best where nothing is known */
};

/* Timeouts in quarters of the break-even time. */
static const int32_t quarters[LEARNED_TIMEOUTS] = {0, 1, 2, 4, 8, 16, UNTIL_NEEDED};

void learned_begin(struct learned_task *t)
{
    *t = (struct learned_task){.context = 0};
    for (unsigned c = 0; c < LEARNED_CONTEXTS; c++)
        for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++)
            t->loss[c][i] = i == TWO_COMPETITIVE ? ONE / 2 : ONE;
}

int64_t learned_hold(const struct learned_task *t, int64_t breakeven)
{
    const uint16_t *loss = t->loss[t->context];
    unsigned best = TWO_COMPETITIVE;
    for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++)
        best = loss[i] < loss[best] ? i : best;
    return breakeven == SIM_FOREVER || quarters[best] == UNTIL_NEEDED ? SIM_FOREVER : breakeven / 4 * quarters[best];
}

void learned_gap(struct learned_task *t, int64_t gap, int64_t breakeven)
{
    if (breakeven == SIM_FOREVER || breakeven <= 0)
        return;
    double length = 4.0 * (double)gap / (double)breakeven; /* in quarters */
    uint16_t *loss = t->loss[t->context];
    uint8_t *n = &t->gaps[t->context];
    *n = (uint8_t)(*n < GAPS ? *n + 1 : GAPS);
    for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++) {
        double lost = length <= quarters[i] ? length / 4 : quarters[i] / 4.0 + 1;
        int now = lost < LOSS_MOST ? (int)(lost * ONE) : LOSS_MOST * ONE;
        loss[i] = (uint16_t)(loss[i] + (now - loss[i]) / (*n + 1)); /* what it began with counts as one gap */
    }
    t->context = length < 0.25 ? 0 : length < 1 ? 1 : length < 4 ? 2 : 3;
}
