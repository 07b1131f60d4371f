/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a core that was idle gets up to speed, seen in the durations of consecutive trials (S. Kozak, Chasing Zero
 * Variability in Software Performance, MIT, 2020, figure 5-1). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RAMP_UP_STEPS_MOST = 32 };
/* Full speed: this share of the final rate (assumed: governors aim at no frequency that is so near below another). */
#define RAMP_UP_FULL 0.95

struct ramp_up {
    double start; /* rate of the first trials, as a share of the final one: the median of the last quarter */
    double until; /* from the first trial's start to full speed, in the unit of durations; NaN: no ramp was seen */
    size_t n;     /* steps: 1 where it stays at the rate it has at first */
    struct {
        double at, share; /* from so long after the first trial's start on it runs at this share of the final rate */
    } step[RAMP_UP_STEPS_MOST];
};

/*
 * Durations (> 0) of n trials of equal work, one immediately after the other. A rate is the median of three trials, so
 * that one that was interrupted is no step, and a ramp of less than two trials is not seen. A step is a rate that
 * differs by more than 3 % and is kept by the next three. Full speed is reached by the first that has
 * RAMP_UP_FULL; later changes are none of the ramp's. Fewer than 8 trials: start and until are NaN. `scratch`: room for
 * n.
 */
struct ramp_up ramp_up_of(const double *duration, size_t n, double *scratch);
