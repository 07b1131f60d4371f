/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPLITMIX64_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The number in state `x`; its next state is x + SPLITMIX64_STEP. Different states give different numbers. */
static inline uint64_t splitmix64(uint64_t x)
{
    x += SPLITMIX64_STEP;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The numbers from 0 to n - 1 in random order (Fisher and Yates), by the seed alone. */
static inline void splitmix64_order(size_t *order, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t k = (size_t)(splitmix64(seed + i) % i), was = order[i - 1];
        order[i - 1] = order[k];
        order[k] = was;
    }
}
