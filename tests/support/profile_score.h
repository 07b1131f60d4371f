/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of the profiler over many drawn systems, and how they are printed. */
#pragma once

#include <stdio.h>

#include "tests/support/profile_truth.h"

enum { SCORE_SAMPLES_LEAST = 30 }; /* that a task must have to be counted */

/* Errors in percentage points, of any number of tasks. */
struct profile_errors {
    size_t n, room, held;
    double *error;
    double sum, sum_abs, sum_truth;
};
struct profile_score {
    size_t sets, left_out; /* tasks with fewer samples */
    struct profile_errors kind[SYSTEM_KINDS + 1], part[TRUTH_PARTS], others;
    struct profile_errors cost, duty_cost; /* lost against predicted, and against the duty, by sets */
    double lost, predicted, duty;
    uint64_t turns[PROFILE_OUTCOMES];
};

/* Set `number` of a series: 30 to 60 s long, profiled with these flags. As profile_truth_of. */
int profile_score_set(const struct model *m, uint64_t seed, uint64_t number, unsigned flags, struct profile_truth *out);
/* 0, or -1: out of memory. */
int profile_score_add(struct profile_score *s, const struct profile_truth *t);
/* Returns true if the limits contain this truth. */
bool profile_score_holds(const struct profile_estimate *seen, double truth);
/* Mean absolute error, and share of the limits that hold the truth, over the tasks that count. */
double profile_score_error(const struct profile_score *s);
double profile_score_held(const struct profile_score *s);
void profile_score_print(FILE *out, struct profile_score *s);
void profile_score_print_tasks(FILE *out, const struct profile_truth *t);
void profile_score_free(struct profile_score *s);
