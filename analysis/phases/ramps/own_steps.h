/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharp steps of a repetition's own, as the alternative to a ramp of all (private to analysis/). */
#pragma once

#include <stddef.h>

enum { OWN_STEPS_MOST = 4 };

/* The best cut of y[a..b): where, and by how much it lessens the sum of squares about the mean. */
double own_steps_best(const double *y, size_t a, size_t b, size_t *where);
/* The sum of squares of n values about the means of the pieces that up to `cuts` <= OWN_STEPS_MOST cuts make, each
 * where it helps most. *first (may be NULL): the first that was made; 0: none. */
double own_steps_rss(const double *y, size_t n, size_t cuts, size_t *first);
