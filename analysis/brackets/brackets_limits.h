/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ratios of frequencies by brackets A B A: what drifts in milliseconds is in both A as much as in B, and cancels. The
 * same of A A A, measured in turn with the same means, is the null: what the means themselves make up. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/stats/estimate.h"

/* log(b) - (log(a1) + log(a2)) / 2; NaN where one of them is not above 0. */
double bracket_log(double a1, double b, double a2);

/*
 * The ratio that n such logarithms tell (NaN: missing), one of a round each: their median, with 95 % limits of what
 * resampling rounds gives (order statistics, of which a bootstrap of a median is the approximation); of fewer than six
 * the mean, with limits by Student's t (fewer than two: none). `scratch`: room for n. NaN of none.
 */
struct estimate brackets_ratio(const double *logs, size_t n, double *scratch);

/* Returns true if a ratio differs from 1: 1 is outside its limits, and it is farther from 1 than the null's limits are.
 * A null without limits (NaN) is ignored. */
bool brackets_differs(const struct estimate *ratio, const struct estimate *null);

/* So much time, s, until half of the width of limits is `wanted`, where it was `half` after `seconds`: limits shrink
 * with the root of time. */
double brackets_seconds_for(double half, double seconds, double wanted);
