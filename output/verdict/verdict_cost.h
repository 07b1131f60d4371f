/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides if wide code pays: the time that the same work takes at each width, and which width is the fastest beyond the
 * limits of what was measured. The model and its assumptions: doc/verdict.md. Pure: the same input gives the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/stats/estimate.h"

enum { VERDICT_WIDTHS_MAX = 4 };

/* The measured values of one width, each with its limits; NaN = missing. */
struct verdict_width {
    unsigned bits;            /* 128, 256, 512 */
    struct estimate slowdown; /* 1 - f / f_plain */
    struct estimate rate;     /* work per cycle, relative to that of the narrowest width, > 0 */
    struct estimate overhead; /* us lost by each of the two transitions, >= 0 */
    struct estimate after;    /* us from the last wide instruction until the frequency is back, >= 0 */
};

struct verdict_load {
    double share;    /* of the work, as the narrowest code would do it, that can be wide; 0 < share <= 1 */
    double burst_us; /* that a burst of it would take in the narrowest code at the plain frequency; > 0 */
};

enum verdict_prefer { VERDICT_UNDECIDED, VERDICT_ANY, VERDICT_WIDTH };

struct verdict_cost {
    enum verdict_prefer prefer;
    unsigned bits; /* VERDICT_WIDTH: the width */
    unsigned
        rival; /* VERDICT_UNDECIDED: the width that cannot be distinguished from the best; 0: something is missing */
    unsigned lacks_bits; /* something is missing: of which width */
    const char *lacks;   /* and what: "slowdown", ...; NULL: nothing */
    /* of the width with the same index, NaN where something is missing: */
    struct estimate time[VERDICT_WIDTHS_MAX];            /* of a period, relative to the narrowest width's plain time */
    struct estimate pays_from_us[VERDICT_WIDTHS_MAX];    /* burst from which on it beats the narrowest width, if the
                                                         frequency returns between bursts; INFINITY: none does */
    struct estimate pays_from_share[VERDICT_WIDTHS_MAX]; /* the same share if it never returns; 2: no share does */
};

/* The best of n widths, ascending, and those that equal it. */
struct verdict_ranked {
    size_t rival;    /* one that the limits do not separate from the best; n: there is none */
    size_t chosen;   /* the narrowest of those that equal the best, itself among them */
    unsigned equals; /* these, a bit for each */
    bool all_equal;
};

/*
 * longer[i]: by how much width i takes longer than the best, relative. Widths whose difference lies within 1 %, limits
 * included, are equal to a user.
 */
struct verdict_ranked verdict_rank(const struct estimate *longer, size_t n, size_t best);

/*
 * The same work of n widths (1..VERDICT_WIDTHS_MAX, ascending), whose limits are propagated by draws from them; `seed`
 * fixes the draws. Widths that differ by less than 1 % beyond their limits count as equal: if all do, the answer is
 * VERDICT_ANY, and of those that equal the best the narrowest is preferred. Returns 0, or -1: out of memory, or load,
 * n or order of the widths outside of these ranges.
 */
int verdict_cost(const struct verdict_width *w, size_t n, const struct verdict_load *load, uint64_t seed,
                 struct verdict_cost *out);
