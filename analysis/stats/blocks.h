/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

#include "analysis/stats/estimate.h"

/*
 * Widens the 95 % limits of *e, the mean of x[0..n-1] in order of time, for what moves slowly: values are then alike in
 * neighbors, and limits that take all for independent are too narrow. The means of up to eight blocks of neighbors
 * scatter as much as it moves: where their mean has wider limits (Student's t), these are taken. Values farther than
 * `far` from `centre` are left out. Fewer than 16 leave *e as it is.
 */
void blocks_widen(const double *x, size_t n, double centre, double far, struct estimate *e);
