/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far an answer is from the truth, and sums of that over many traces. */
#ifndef TEST_TRACE_SCORE_H
#define TEST_TRACE_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "tests/support/random_traces.h"

/* A list of numbers that grows. */
struct numbers {
    double *x;
    size_t n, capacity;
};

struct score {
    size_t traces, bad, failed; /* failed: phases_find refused the trace */
    size_t missed, invented, wrong_kind, wrong_levels, wrong_volts, wrong_modes;
    struct numbers duration; /* |error|, us, of phases that lie within the recording; against what was drawn */
    struct numbers duration_in_periods;
    struct numbers half_width;                   /* of the 95 % limits of these durations, us */
    struct numbers limited;                      /* |error|, us, against the nominal value, of those that have limits */
    struct numbers start;                        /* |error|, us, of the boundaries between phases */
    struct numbers level;                        /* |error|, relative */
    struct numbers ratio;                        /* |error|, relative, of IPC ratios */
    size_t durations_covered, durations_limited; /* 95 % limits that hold the nominal value; that were given */
    size_t levels_covered, levels_limited;
    size_t runs, interrupted, discarded; /* repetitions, without kind volts-only */
    FILE *list;                          /* NULL, or where each duration goes that has limits, as CSV */
    double seconds;                      /* in phases_find */
};

/*
 * Analyses the trace and adds its score. What was wrong is written to `details` (NULL: not wanted) for bad traces: one
 * where a phase is missed, invented, of the wrong kind, a duration off by more than max(1 us, 1 period) or a level by
 * more than 0.2 %. Returns 0 (good), 1 (bad), or -1: out of memory.
 */
int score_trace(struct score *s, const struct trace *t, const struct truth *truth, FILE *details);

void score_free(struct score *s);

/*
 * Returns true if the traces scored so far meet the requirements: no phase missed, invented or of the wrong kind, no
 * wrong number of levels, median error of a duration <= 0.3 us, 95th percentile <= 1 us, levels within 0.2 %, 95 %
 * limits that hold in 90 to 99 % of the cases (give or take three standard errors of the count) and are not much wider
 * than the errors (a count of few cannot tell). Else `what` says what is not met.
 */
bool score_good(struct score *s, char *what, size_t size);

/* The p-quantile (0..1, nearest rank); NaN of nothing. Sorts. */
double quantile(struct numbers *n, double p);

/* One line: its head, and that of a score. */
void print_score_head(FILE *out);
void print_score(FILE *out, const char *name, struct score *s);

#endif
