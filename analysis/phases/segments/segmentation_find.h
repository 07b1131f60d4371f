/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts repetitions into pieces (private to analysis/). */
#ifndef CHARACTERIZE_SEGMENTATION_FIND_H
#define CHARACTERIZE_SEGMENTATION_FIND_H

#include "analysis/phases/segments/segmentation.h"

/*
 * The segmentation of the repetitions run[0..n) taken together (n >= 1): the medians over repetitions on a common time
 * line find the pieces, each repetition places its own edges. Repetitions that pause for long have no useful time line
 * in common: *o is then empty. Returns 0, or -1: out of memory.
 */
int segmentation_find(const struct runs *r, const size_t *run, size_t n, double switch_us, struct segmentation *o);

#endif
