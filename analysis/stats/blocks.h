/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions in order of time, cut into blocks of neighbours. What moves slowly is alike in neighbours, so that limits
 * that take all repetitions for independent are too narrow; the blocks' means scatter as much as it moves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/stats/estimate.h"

/* Blocks at most and at least, and repetitions in each: Student's t of 3 to 7 degrees of freedom. */
enum { BLOCKS_MAX = 8, BLOCKS_LEAST = 4, BLOCKS_VALUES_LEAST = 4 };

struct blocks {
    size_t n; /* of them; 0: too few values to cut */
    double mean[BLOCKS_MAX];
    double least, most; /* of the means */
    double disagree;    /* the chance that means of independent values scatter as much (F test); 1 where n is 0 */
};

/* Cuts x[0..n-1], in order of time, into blocks of equal size; values farther than `far` from `centre` are left out. */
void blocks_cut(const double *x, size_t n, double centre, double far, struct blocks *out);

/* Widens the 95 % limits of *e to those of the mean of the blocks' means (Student's t), where these are wider. */
void blocks_widen(const struct blocks *b, struct estimate *e);

/* Whether the means differ by more than `most`, and by more than chance lets them once in ten thousand times. */
bool blocks_disagree(const struct blocks *b, double most);
