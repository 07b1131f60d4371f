/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How alike the durations of trials are, after S. Kozak, Chasing Zero Variability in Software Performance, MIT, 2020:
 * tables 3.1 and 4.1, figures 3-3 to 3-13. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct repeatability {
    size_t n;
    bool repeats;   /* the mode is a duration that occurs again and again; else the half-sample mode */
    double mode;    /* in the unit of the durations; always one of them */
    double spread;  /* (slowest - fastest) / fastest */
    size_t to_mode; /* trials before the first that is at the mode: see below */
    /* Distance from the mode, on either side, as a fraction of it, that this part of the trials keeps within. */
    double p50, p90, p99, max;
};

/*
 * Describes n durations above 0 in the order in which they were measured, given in steps of `resolution` (same unit, >=
 * 0). `scratch`: room for n. The mode is the most frequent duration if at least REPEATS_LEAST of all trials have it;
 * otherwise, as where all durations differ, the half-sample mode (Bickel and Fruehwirth, On a fast, robust estimator of
 * the mode, 2006), which a tail to one side does not move. Durations within the resolution of the mode are at the mode;
 * where durations do not repeat, the half of all trials nearest to it. All are NaN for n = 0.
 */
#define REPEATS_LEAST 0.1
struct repeatability repeatability_of(const double *duration, size_t n, double resolution, double *scratch);

/* The half-sample mode of n >= 1 values in ascending order; of the two that are left in the end, the smaller. */
double repeatability_half_sample_mode(const double *sorted, size_t n);
