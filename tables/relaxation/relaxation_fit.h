/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a core speeds up after the code that slowed it has ended: found in each repetition by itself, because the
 * distribution is what is asked for. Pure: from traces of sequences that end in plain code.
 */
#ifndef CHARACTERIZE_RELAXATION_FIT_H
#define CHARACTERIZE_RELAXATION_FIT_H

#include <stddef.h>

#include "tables/relaxation/relaxation_ramp.h"

/*
 * From the first and the last 100 us of a window of all repetitions: `slow` is a median (of the first 20 us where the
 * frequency rises soon after), `fast` the highest level that at least two repetitions end at. Returns NULL, or why
 * there is nothing to wait for: no samples, or frequencies that differ by less than 1 %.
 */
const char *relaxation_levels(const struct trace *t, const struct sights_span *s, size_t n, double from_us,
                              double to_us, struct relaxation_levels *out);

/*
 * The place that splits the samples of the window best (least squares) into slow ones and faster ones; a rise by a
 * third of the way from slow to fast is one, so that a rise by way of a level between counts when it begins. The
 * sample with the halt tells by the instructions it holds when the halt began. Returns 0, or -1: out of memory.
 */
int relaxation_find(const struct trace *t, struct sights_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out);

#endif
