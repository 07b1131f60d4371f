/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a set of frequencies says: whether the processor runs at a few fixed frequencies at all, which kinds of code
 * share a license level, and which numbers of active cores share a frequency. Knows nothing of kernels or CPUs but
 * their numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/estimates.h"

enum { FREQUENCY_KERNELS_MAX = 64 };

/* A frequency is not steady whose 95 % limits are farther away than this, relative: twice FREQUENCY_SAME. */
#define FREQUENCY_UNSTEADY 0.009

/* One kernel at one number of active cores. */
struct frequency_point {
    size_t kernel; /* below FREQUENCY_KERNELS_MAX */
    unsigned cores;
    double ghz, half_width;   /* of the 95 % limits; NaN: not known */
    double ratio, ratio_half; /* to the first kernel, by brackets; likewise */
    size_t row;               /* the caller's own */
    double share[3];          /* of the cycles counted at license level 0, 1, 2; NaN: not counted */
    /* filled in by frequency_analyse() */
    int level;            /* -1: the data do not tell */
    unsigned first, last; /* the numbers of active cores that share this frequency; 0: no steps */
};

/* The same measured twice, with others in between. */
struct frequency_again {
    double before, after; /* GHz */
    double before_half, after_half;
};

enum frequency_verdict {
    FREQUENCY_STEPS,  /* a few fixed frequencies */
    FREQUENCY_ALIKE,  /* one for everything */
    FREQUENCY_FLOATS, /* it moves by itself, as with power or with what others do: steps would be made up */
    FREQUENCY_NOTHING /* no frequency was measured */
};

struct frequency_group {
    unsigned first, last; /* numbers of active cores that were measured; ordered by order_unsigned() */
};

struct frequency_levels {
    enum frequency_verdict verdict;
    char why[200];   /* FREQUENCY_FLOATS: what shows it */
    bool counted;    /* levels are from the license counters, otherwise from the frequencies */
    size_t n_levels; /* highest level that occurs, plus one */
    size_t n_groups;
    struct frequency_group *groups; /* in each, no kernel's frequency changes; free() */
};

/*
 * Finds levels and groups of n points, which it reorders by kernel, then by cores. Returns 0, or -1: out of memory.
 *
 * Levels: where every point has a share above one half of one level, that one. Otherwise from the ratios, which a
 * clock that floats does not disturb: two kernels are of one level when their ratios are the same at all numbers of
 * active cores at which both were measured, so that a kernel has one level, whatever the number of cores; levels are
 * numbered from 0 in falling order. Where the limits of one kernel leave open whether it has a level of its own, it and
 * the slower ones have none. Since many are compared, two differ whose differences are on average larger than
 * FREQUENCY_SAME and 2.5 times their limits, or one of them larger than FREQUENCY_UNSTEADY and that; they are one where
 * the average stays within 1.5 FREQUENCY_SAME by its limits. What the first kernel's own limits are is the null's.
 *
 * A frequency floats when more than a quarter of the measurements taken again do not give the same, or when more than a
 * quarter are not steady themselves (their rounds differ, FREQUENCY_UNSTEADY). On a processor with fixed steps none of
 * this happens but by disturbance.
 *
 * Groups: neighbouring numbers of active cores at which a kernel's frequency is the same as the mean of those before
 * them in the group; over all kernels the groups end where that of any kernel does.
 */
int frequency_analyse(struct frequency_point *points, size_t n, const struct frequency_again *again, size_t n_again,
                      struct frequency_levels *out);
void frequency_levels_free(struct frequency_levels *l);
