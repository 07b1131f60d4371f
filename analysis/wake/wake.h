/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stages in which a unit wakes: how long its first use takes as a function of how long it was idle. A unit is powered
 * down in steps, each after an idle time of its own, so that the first use takes one of a few times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/stats/estimate.h"

/* One observation: the unit was idle for idle_us (>= 0), then its first use took first_us (> 0). */
struct wake_point {
    double idle_us, first_us;
};

enum {
    WAKE_POINTS_LEAST = 16,
    WAKE_POINTS_MOST = 100000,
    WAKE_STAGE_LEAST = 8,  /* points that a stage needs to be seen; twice as many between two stages of one level */
    WAKE_STAGES_MOST = 32, /* more are no stages */
    WAKE_WARNINGS_MOST = 4,
    WAKE_TEXT_MAX = 200
};

#define WAKE_SCATTERS 3.0 /* detectable_ratio beyond which a single stage says little: a warning says so */

struct wake_stage {
    struct estimate first_us;     /* median, its 95 % limits from the order statistics */
    struct estimate idle_from_us; /* without limits for the first stage, which begins with the smallest idle time */
    struct estimate idle_to_us;   /* NaN for the last stage: no end was seen */
    size_t n;                     /* points that the median is of */
};

struct wake_stages {
    struct wake_stage stage[WAKE_STAGES_MOST];
    size_t n, points;
    size_t discarded;        /* points on no stage's level, such as first uses that an interrupt lengthened */
    size_t mixed;            /* points on the other stage's level close to a boundary */
    double detectable_ratio; /* stages whose times differ by less than this factor are seen as one */
    double step_us;          /* of the clock; 0: not known, or fine (wake_blur) */
    char warning[WAKE_WARNINGS_MOST][WAKE_TEXT_MAX];
    size_t n_warnings;
};

/*
 * Finds the stages of n points in any order. Levels are constant in log(first_us) over stretches of idle time; the cut
 * into stretches minimizes a loss that is quadratic up to three standard deviations and constant beyond (so that
 * outliers do not count; Fearnhead and Rigaill, "Changepoint detection in the presence of outliers", JASA 114, 2019)
 * plus a penalty for each cut, exactly, over a grid of levels (Viterbi 1967). Close to a boundary both levels may
 * occur: the limits of its idle time are the points around the stretch in which they do. O(n) times 512. Returns 0,
 * or with one line in `why` -1: too few points, too many, a value out of range, too many stages; or 1: out of memory.
 */
int wake_find(const struct wake_point *points, size_t n, struct wake_stages *out, char *why, size_t size);

/*
 * Corrects stages for a clock that advances in steps (us; 0: it does not): a time is the difference of two readings,
 * each up to a step late. Neighboring stages that differ by two steps or less become one, with limits that cover both,
 * and all limits become a step wider, but not below 0.
 */
void wake_blur(struct wake_stages *s, double step_us);
/* The limits of one such time. */
struct estimate wake_blur_time(struct estimate us, double step_us);
/* Returns true if the times scatter so much that a single stage says nothing (WAKE_SCATTERS). */
bool wake_scatters(const struct wake_stages *s);

/* characterize-wake/1 (doc/formats.md), malloc'ed; what was not given is NULL. NULL: out of memory. */
struct wake_source {
    const char *unit, *cpu, *machine, *environment;
};
char *wake_to_json(const struct wake_stages *s, const struct wake_source *source);
