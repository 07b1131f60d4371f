/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The turns of specialization by which it is decided whether it pays. */
#include "schedulers/adapt.h"

static void begin_turn(struct adapt *a, double now, uint64_t instructions)
{
    a->began = now;
    a->before = instructions;
}

void adapt_begin(struct adapt *a, double now, uint64_t instructions)
{
    *a = (struct adapt){.on = true};
    begin_turn(a, now, instructions);
}

/* Where neither is better, the scheduler has less to do without. */
static void decide(struct adapt *a)
{
    for (int on = 0; on < 2; on++) {
        a->rate[on] = a->counted[on] / a->seconds[on];
        a->counted[on] = a->seconds[on] = 0;
    }
    a->on = a->rate[1] > a->rate[0];
    a->decisions++;
}

void adapt_step(struct adapt *a, double now, uint64_t instructions)
{
    const bool decided = a->turns == 2 * ADAPT_TURNS;
    const double seconds = now - a->began;
    if (seconds < (decided ? ADAPT_KEEP_S : ADAPT_TURN_S))
        return;
    if (decided) {
        a->turns = 0;
        a->on = true;
    } else {
        a->counted[a->on] += (double)(instructions - a->before);
        a->seconds[a->on] += seconds;
        a->on = !a->on;
        if (++a->turns == 2 * ADAPT_TURNS)
            decide(a);
    }
    begin_turn(a, now, instructions);
}
