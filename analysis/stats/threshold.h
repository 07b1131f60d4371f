/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the value from which on an answer is yes: sharp, or scattered around a median. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/stats/estimate.h"

/* One trial: at x > 0 the answer was `yes`. */
struct threshold_trial {
    double x;
    bool yes;
};

struct threshold {
    struct estimate at; /* the x at which half of the answers are yes; NaN: no or only one kind of answer */
    double sigma;       /* standard deviation of the threshold from trial to trial; 0: it is sharp as far as was seen */
    double largest_no, smallest_yes; /* -INFINITY, INFINITY: none */
};

/*
 * Where no answer contradicts another the threshold lies between the largest `no` and the smallest `yes`, which are its
 * limits. Otherwise it is taken to vary from trial to trial with a normal distribution (probit analysis; Finney, Probit
 * Analysis, 1947): median and sigma by maximum likelihood, 95 % limits from the profile of the likelihood (chi squared
 * of one degree of freedom, 3.84). O(n) likelihoods; n trials.
 */
void threshold_fit(const struct threshold_trial *trial, size_t n, struct threshold *out);

/* How many of n trials said yes, as a share with 95 % limits (Clopper and Pearson 1934). n = 0: all NaN. */
struct estimate threshold_share(size_t yes, size_t n);
