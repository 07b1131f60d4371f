/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a payload runs on this CPU.
 */
#include <math.h>

#include "drivers/native/native.h"

enum { LONG_PERIOD_US = 4, EARLY_US = 2 };

/* Ticks of a block at full rate: the fastest of several stretches of about 20 us. */
static double block_ticks(const struct pace_lane *lane, uint64_t blocks)
{
    double best = INFINITY;

    for (int i = 0; i < 20; i++) {
        uint64_t begin = tsc_now();
        uint64_t done = lane->run(blocks, 0, NULL, lane->dirty);
        double ticks = (double)(tsc_now() - begin) / (double)done;
        best = ticks < best ? ticks : best;
    }
    return best;
}

static uint64_t at_least_one(double blocks)
{
    return blocks < 1 ? 1 : (uint64_t)llround(blocks);
}

void native_lane_measure(const struct payload *p, double tsc_hz, double period_us, struct pace_lane *lane)
{
    const double tick_per_us = tsc_hz * 1e-6;

    *lane = (struct pace_lane){.run = p->run, .dirty = p->dirty};
    uint64_t begin = tsc_now();
    uint64_t blocks = lane->run(1, begin + (uint64_t)(2000 * tick_per_us), NULL, lane->dirty);
    double rough = (double)(tsc_now() - begin) / (double)blocks;
    double ticks = block_ticks(lane, at_least_one(20 * tick_per_us / rough));
    lane->coarse = at_least_one(0.5 * tick_per_us / ticks);
    lane->fine = at_least_one(period_us * tick_per_us / 25 / ticks);
    lane->rate = (uint64_t)(ldexp(1, PACE_RATE_BITS) / ticks);
    lane->lead[0] = lane->lead[1] = (int64_t)(0.05 * tick_per_us);
    lane->early = period_us > LONG_PERIOD_US ? (uint64_t)(EARLY_US * tick_per_us) : 0;
}
