/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many samples a long recording has room for: of a sample period that grows, by 2^-GROWTH_BITS of the time since it
 * began to, up to GROWTH_MOST_US. A stretch of 500 ms after fine samples of 1 us has some 3200, and what happens at a
 * time is seen in samples of 1/256 of it. Of longer samples most would hold an interruption, which takes too small a
 * part of them to be seen. Samples come there by doubling (sampling.h), and are no longer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GROWTH_BITS = 8, GROWTH_MOST_US = 250 };

static inline uint64_t growth_period(uint64_t period, uint64_t most, uint64_t since)
{
    const uint64_t grown = period + (since >> GROWTH_BITS);

    return grown < most || most < period ? grown : most;
}

/* The most samples that such a period makes of so long a time; in any unit of time of which a period holds many. */
static inline size_t growth_samples(uint64_t period, uint64_t most, uint64_t time)
{
    size_t n = 1;

    for (uint64_t t = 0; t < time; t += growth_period(period, most, t))
        n++;
    return n;
}
