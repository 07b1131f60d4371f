/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learned from each task's past gaps: seven timeouts compete, as fractions of the break-even time, from "at once" to
 * "until it is needed again". Each task remembers the mean loss that each of them would have had, in one of four
 * contexts: whether its last two gaps were long enough to pay. Losses are in units of what a change up and down costs:
 * a gap of g break-even times costs g at the slow level, or the timeout and 1 (dissertation, eq. 5.2; sharing a
 * timeout among experts: Helmbold, Long, Sconyers and Sherrod, "Adaptive disk spin-down for mobile computers", 2000).
 */
#include "schedulers/simulate/engine.h"

enum {
    ONE = 4096,         /* a loss of 1 */
    LOSS_MAX = 8 * ONE, /* a long gap must not outweigh all that follow */
    FORGET = 16,        /* the mean is over about this many gaps */
    NEVER = 1 << 20,
    TWO_COMPETITIVE = 3, /* the timeout that is best where nothing is known */
};

/* Timeouts in quarters of the break-even time. */
static const int32_t quarters[LEARNED_EXPERTS] = {0, 1, 2, 4, 8, 16, NEVER};

void learned_begin(struct learned_task *t)
{
    *t = (struct learned_task){.history = 0};
    for (unsigned c = 0; c < LEARNED_CONTEXTS; c++)
        for (unsigned i = 0; i < LEARNED_EXPERTS; i++)
            t->loss[c][i] = i == TWO_COMPETITIVE ? ONE / 2 : ONE;
}

static unsigned best_expert(const uint16_t *loss)
{
    unsigned best = TWO_COMPETITIVE;
    for (unsigned i = 0; i < LEARNED_EXPERTS; i++)
        best = loss[i] < loss[best] ? i : best;
    return best;
}

int64_t learned_hold(const struct learned_task *t, int64_t breakeven)
{
    unsigned best = best_expert(t->loss[t->history]);
    return breakeven == SIM_FOREVER || quarters[best] == NEVER ? SIM_FOREVER : breakeven / 4 * quarters[best];
}

void learned_gap(struct learned_task *t, int64_t gap, int64_t breakeven)
{
    if (breakeven == SIM_FOREVER || breakeven <= 0)
        return;
    double in_quarters = 4.0 * (double)gap / (double)breakeven;
    uint16_t *loss = t->loss[t->history];
    for (unsigned i = 0; i < LEARNED_EXPERTS; i++) {
        double lost = in_quarters <= quarters[i] ? in_quarters / 4 : quarters[i] / 4.0 + 1;
        int now = lost < LOSS_MAX / ONE ? (int)(lost * ONE) : LOSS_MAX;
        loss[i] = (uint16_t)(loss[i] + (now - loss[i]) / FORGET);
    }
    t->history = (uint8_t)((t->history << 1 | (gap > breakeven)) & (LEARNED_CONTEXTS - 1));
}
