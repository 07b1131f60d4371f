/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean over all numbers of active cores, of which some were measured. Pure. */
#pragma once

#include <stddef.h>

#include "analysis/stats/estimate.h"

/* The sums of `n` rows of one number of active cores. */
struct cores_mean {
    double cores, value, lo, hi, n;
};
/* One more row; NaN cores count as 1. `parts`: room for as many as there are rows, of which *n are in use. */
void cores_mean_add(struct cores_mean *parts, size_t *n, double active_cores, const struct estimate *e);
/*
 * The mean over all numbers from the fewest measured to the most, as published means are: those between two measured
 * ones are taken to lie on the line between them, with limits that hold both. Sorts the parts; n is 1 or more.
 */
struct estimate cores_mean_of(struct cores_mean *parts, size_t n);
