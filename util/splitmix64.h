/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17). */
#pragma once

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
