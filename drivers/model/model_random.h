/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random numbers of the modelled CPU. The same (seed, repetition, stream) gives the same numbers on every machine:
 * only exact arithmetic is used, no mathematical library.
 */
#pragma once

#include <stdint.h>

/* xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021). */
struct model_random {
    uint64_t s[4];
};

void model_random_init(struct model_random *r, uint64_t seed, uint64_t repetition, uint64_t stream);
/* Uniform in [0, 1). */
double model_random_uniform(struct model_random *r);
/* Mean 0, standard deviation 1, within -3..3: the sum of twelve uniform numbers, redrawn beyond. */
double model_random_normal(struct model_random *r);
/* Exponential with mean 1. */
double model_random_exponential(struct model_random *r);
/* exp(-x) for x >= 0, in the same exact arithmetic: relative error below 1e-12. */
double model_decay(double x);
