/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Change points of one channel.
 *
 * Method: moving sums at scales of 3, 4, 8, 16, ... samples propose candidates (MOSUM; Eichinger and Kirch 2018, "A
 * MOSUM procedure for the estimation of multiple random change points", Bernoulli 24); backward elimination removes the
 * least significant until each remaining step is both significant and of a size that matters; every position is then
 * placed where the two means fit best. Assumes noise that is symmetric and whose standard deviation does not depend on
 * the level (frequency and IPC are therefore taken as logarithms). Noise that is correlated over longer times (spread
 * spectrum clocking) raises the bar at those scales, since the scatter of the moving sums themselves sets it. A step
 * must be sharp: visible within a few samples, not only as the difference of long means, so that a drift is no step.
 * Cost: O(n) time, 16 bytes a sample while it runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cut {
    size_t at;     /* the first sample of the new state */
    double effect; /* new mean minus old mean, in units of the (transformed) values */
    double z;      /* effect over its standard error */
};

struct change_rule {
    bool logarithm;     /* of the values */
    double min_effect;  /* smaller steps do not matter */
    double min_z;       /* less significant steps are not believed */
    size_t min_length;  /* shorter states are not believed */
    bool gradual;       /* a step may be a ramp of many samples, and need not be sharp */
    double least_noise; /* of one sample, whatever they seem to have: 0 = not known */
};

/*
 * Finds the cuts of value[first..last) (NaN = missing; `skip`, may be NULL, marks samples to leave out). *cuts is
 * allocated; *sigma receives the noise of one sample. Returns the number of cuts, or SIZE_MAX when out of memory.
 */
size_t change_points_find(const float *value, const uint8_t *skip, size_t first, size_t last,
                          const struct change_rule *rule, struct cut **cuts, double *sigma);

/* The standard deviation of the noise of one sample, from differences of neighbours; 0 if there are too few, NaN when
 * out of memory. */
double change_points_noise(const float *value, size_t n, bool logarithm);
