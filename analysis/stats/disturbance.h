/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether what disturbs code is multiplicative or additive. Samples of fixed work are taken in several lengths, and
 * what disturbs a length is how much longer its slowest sample takes than its fastest, slice of time by slice of
 * time. A clock that moves takes the same part of any length: the logarithm of the disturbance rises with that of
 * the length by a slope of 1. Time that is stolen (an interrupt, another task, the host) comes in pieces whatever it
 * hits: slope 0.
 */
#pragma once

#include <stddef.h>

#include "analysis/stats/estimate.h"

enum { DISTURBANCE_LENGTHS = 10, DISTURBANCE_ROUNDS = 8 };

/* What was seen, in us: of each length in each round the fastest and the slowest sample of a slice of some ms. All
 * lengths take turns in a round, so that a slow movement is in all of them. */
struct disturbance_slices {
    size_t rounds;
    double fastest[DISTURBANCE_LENGTHS][DISTURBANCE_ROUNDS], slowest[DISTURBANCE_LENGTHS][DISTURBANCE_ROUNDS];
};

enum disturbance_kind { DISTURBANCE_UNDECIDED, DISTURBANCE_CLOCK, DISTURBANCE_STOLEN, DISTURBANCE_BOTH };
struct disturbance {
    enum disturbance_kind kind;
    struct estimate slope; /* NaN: too few lengths are disturbed */
    double each_us;        /* of stolen time: how much in one piece; else NaN */
    double part;           /* of a moving clock: the part of the time that it takes; else NaN */
    char why[120];         /* it is undecided */
};
/*
 * The disturbance of a length is the geometric mean over the upper half of its slices but for the highest of eight,
 * so that an odd one does not count, and what comes a hundred times a second does. Slices that lost less than 0.3 us
 * are left out, and lengths with fewer than two others: no interrupt is shorter, and a reading of the clock scatters
 * by less. The slope is that of a robust regression (Huber's weights) with Student's limits; up to 0.25, or within
 * 0.25 of 1, it is one of the two, as far as the limits exclude the other; between them it is both. So it is where an
 * end of the line tells of the other: the two longest lose more than twice as much as the three shortest at a slope
 * of 0, or the two shortest a part twice as large as the three longest at 1. Where the longest lose more than half of
 * their time it is no clock. Fewer than three rounds or four disturbed lengths: undecided.
 */
void disturbance_find(const struct disturbance_slices *s, struct disturbance *out);
