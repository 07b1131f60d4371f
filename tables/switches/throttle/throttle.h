/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table throttle: up to how many instructions after a wide one scalar code is throttled, from the rates of code
 * that holds one wide instruction in every N; the rows for a person, and as a plot. Pure.
 */
#pragma once

#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/table/chart.h"
#include "tables/table/table.h"

/* One wide instruction in every `spacing`, and the rate of this code while throttled against its full rate. */
struct throttle_point {
    double spacing, ratio;
};

struct throttle_reach {
    /*
     * Instructions. NaN and one limit where the data give a bound only: lo alone if all spacings are throttled alike,
     * hi alone if the rates rise from the smallest spacing on.
     */
    struct estimate distance;
    double ratio;    /* of the throttled code; NaN if only a bound is known */
    double residual; /* largest relative difference between a rate and what the distance makes expect */
    double change;   /* relative: by so much that distance makes the rates of these points differ, at most */
    size_t n;        /* points used */
};

/*
 * Fits the distance D and the ratio r of 1 / ratio(N) = 1 + min(1, D / N) * (1 / r - 1): of N instructions the D that
 * follow the wide one run at r, the rest at full rate ("Gathering Intel on Intel AVX-512 Transitions" found D between
 * 70 and 80). Weighted least squares, relative errors taken as equal; 95 % limits by the profile of the sum of squares
 * and F(1, n - 2), at least half an instruction. Points that are not finite or not throttled (ratio 1 or more) are left
 * out. Returns 0, -1 if fewer than three points remain or nothing is throttled, or 1: out of memory.
 */
int throttle_reach_find(const struct throttle_point *p, size_t n, struct throttle_reach *out);

void throttle_print(FILE *out, bool colour, const struct table *t);
void throttle_findings(FILE *out, const struct table *t);
void throttle_plot(const struct table *t, struct chart *c);
