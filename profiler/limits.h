/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From sums to values with their 95 % limits: doc/profiler.md, "What is computed". */
#pragma once

#include "profiler/profile.h"
#include "profiler/sums.h"

enum { LIMITS_T = 64 };

/* What all rows of a result share. */
struct profile_limits {
    double most;                       /* the largest change of performance, a share */
    double level_most[PROFILE_LEVELS]; /* likewise, of a level */
    double change[PROFILE_LEVELS];     /* what a change down and back costs, in lengths of a wait */
    bool sources;
    double t[LIMITS_T + 1]; /* Student's t, 97.5 %, by degrees of freedom */
};

/* largest_seen: the largest change in any sample, which bounds what is possible where there is no table. */
void profile_limits_prepare(struct profile_limits *l, const struct profile_setup *setup,
                            const struct profile_terms *terms, double largest_seen);
/* Why the upper limits of a row are no bound: a share of its turns or samples that is too large, beyond chance. */
enum {
    LIMITS_UNSETTLED = 1,   /* more than 5 % of the turns in which it ran: the level outlasted the pause */
    LIMITS_NOT_LIMITED = 2, /* more than 10 % of its samples: something else limited the clock */
    LIMITS_OFF_BINS = 4,    /* more than 1 %: likewise, by a table without the number of cores that were active */
};
unsigned profile_limits_open(const struct profile_sums *s);
/* The estimates of a row; NaN where nothing is known. */
void profile_limits_of(const struct profile_limits *l, const struct profile_sums *s, struct profile_row *row);
