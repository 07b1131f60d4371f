/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lengths of time that are drawn from stated distributions: the same (seed, stream) gives the same ones. */
#pragma once

#include <stdint.h>

struct drawn_random {
    uint64_t state;
};

enum drawn_shape { DRAWN_FIXED, DRAWN_UNIFORM, DRAWN_EXPONENTIAL, DRAWN_LOGNORMAL, DRAWN_SHAPES };

struct drawn_length {
    enum drawn_shape shape;
    /* us: fixed: a; uniform: a to b; exponential: mean a; lognormal: mean a, and b is the standard deviation of the
     * logarithm (no unit) */
    double a, b;
};

struct drawn_random drawn_random_of(uint64_t seed, uint64_t stream);
/* [0, 1), a multiple of 2^-53. */
double drawn_random_unit(struct drawn_random *r);
/* 0 to n - 1, for n above 0. */
unsigned drawn_random_below(struct drawn_random *r, unsigned n);

/*
 * In ps, rounded to whole ns, at least 1 ns; at most 10^4 times the mean. Whole ns, so that the last bit of a
 * logarithm, which is not the same on all processors, practically never makes a difference.
 */
int64_t drawn_random_length(struct drawn_random *r, const struct drawn_length *l);
double drawn_length_mean(const struct drawn_length *l); /* us */
