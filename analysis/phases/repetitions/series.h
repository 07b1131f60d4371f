/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is segmented: one repetition, or the means of many on a common time axis (private to analysis/). */
#ifndef CHARACTERIZE_SERIES_H
#define CHARACTERIZE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/phases/repetitions/runs.h"

struct series {
    size_t n;
    float *value[TRACE_CHANNELS];
    const uint8_t *skip;
    double *end; /* of each sample; NULL: one repetition, times are the trace's */
    bool owned;
    size_t base;        /* one repetition: index of its first sample in the trace */
    size_t repetitions; /* of which each sample is the mean */
    double begin, period;
};

/* A repetition as it is. Returns 0. */
int series_of_one(const struct runs *r, size_t run, struct series *s);
/*
 * Means over repetitions, without outliers, in bins of one period; a bin edge lies at time 0. Samples that hold some
 * of both kernels of the switch (us, NaN = none) give no IPC. Returns 0; -1: out of memory; SERIES_NO_COMMON_TIME: the
 * repetitions pause for so long that a common time line would be mostly empty.
 */
enum { SERIES_NO_COMMON_TIME = 1 };
int series_of_many(const struct runs *r, const size_t *run, size_t n, double switch_us, struct series *s);
void series_free(struct series *s);

/* When sample i begins and ends, us. */
double series_begin(const struct runs *r, const struct series *s, size_t i);
double series_end(const struct runs *r, const struct series *s, size_t i);
/* The first sample that begins at or after t. */
size_t series_at(const struct runs *r, const struct series *s, double t);

#endif
