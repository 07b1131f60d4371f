/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The waits before the chains of adds that a modelled CPU without counters reads its frequency with. */
#pragma once

#include <stdint.h>

/* Each number fills its range evenly, and all three their cube (the additive recurrence of Roberts, "The
 * unreasonable effectiveness of quasirandom sequences", with 1.2207...). */
struct model_dither {
    uint32_t state[3];
};
static inline void model_dither_seed(struct model_dither *d, uint32_t seed)
{
    for (unsigned i = 0; i < 3; i++)
        d->state[i] = seed * (2654435761u + 2 * i);
}
static inline uint64_t model_next_wait(struct model_dither *d, uint32_t range)
{
    static const uint32_t step[3] = {0xd1b54a33u, 0xabc98389u, 0x8cb92ba8u};
    uint64_t n = 0;
    for (unsigned i = 0; i < 3; i++) {
        d->state[i] += step[i];
        n += (uint64_t)d->state[i] * range >> 32;
    }
    return n;
}
