/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums over the samples of a task, a container, a core or all of them, from which doc/profiler.md's values ("What is
 * computed") and their limits follow. Frequencies weigh the samples (eq. 4.2), in GHz.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/profile.h"

/* The parts of overhead in a sample: shares by which the code would be faster, 0 to the setup's profile_sums_most(). */
enum profile_part_name {
    PART_OVERHEAD,
    PART_SIBLING, /* with sources alone */
    PART_DELAY,   /* likewise */
    PART_LEVEL1,  /* the overhead of samples at this level before the pause */
    PART_LEVEL2,
    PROFILE_PARTS
};

/* One sample. */
struct profile_sample {
    double weight, value[PROFILE_PARTS];
    double late;                  /* its value had it not turned wide after the pause, where it did */
    double overlap, overlap_most; /* by which eq. 4.3 is too large: usually, and where accesses overlap the most */
    double beside; /* by which it is too small: beside a sibling that runs code stalls for less of its time */
    unsigned actual, demanded, delayed; /* level; that its own code demands; that was only kept from before, or 0 */
    bool reduced, not_limited;
    bool off_bins; /* not limited by the level, as far as a table tells that lacks the number of active cores */
};

/* Sums over the samples in which a value is above 0. */
struct profile_part_sums {
    uint64_t n;
    double w, wx, ww, wwx, wwxx; /* of weights and values */
};

struct profile_sums {
    uint64_t turns[PROFILE_OUTCOMES];
    uint64_t busy;  /* turns in which a task was seen to run */
    uint64_t known; /* samples taken with levels and frequencies: all but rehearsals */
    uint64_t actual[PROFILE_LEVELS], demands[PROFILE_LEVELS], delayed[PROFILE_LEVELS], reduced, not_limited, off_bins;
    uint64_t unsettled;                 /* turns whose level outlasted the pause */
    double unsettled_w[PROFILE_LEVELS]; /* their weights, by level before the pause */
    double unseen_w[PROFILE_LEVELS];    /* likewise of samples at a reduced level whose clock something else limited */
    double w, overlap, overlap_most, beside,
        late[PROFILE_LEVELS]; /* sums of weight times value, except for w; by level before the pause */
    struct profile_part_sums part[PROFILE_PARTS];
};

/* The largest change of performance that is possible, a share: the table's, or without a table whatever processor. */
double profile_sums_most(const struct profile_setup *s);

/* False: the record is not of a turn that was taken with frequencies and levels that can be. Values are kept within 0
 * and `most`. */
bool profile_sample_of(const struct profile_record *r, double most, struct profile_sample *out);
/* Sets `late` of a sample. longest_us: by level, for how long the same task has had it in a window; learns from it. */
void profile_sample_late(const struct profile_record *r, const struct profile_setup *s, double most,
                         float longest_us[PROFILE_LEVELS], struct profile_sample *x);
void profile_sums_add(struct profile_sums *sums, const struct profile_sample *x);
/* Adds a turn that is no sample, as its level had not gone by the end of the pause; others leave all as it is. */
void profile_sums_unsettled(struct profile_sums *sums, const struct profile_record *r);

/* ---- from sums to values with their 95 % limits: doc/profiler.md, "What is computed" ---- */

/* Degrees of freedom up to which Student's t is tabulated; above, a line in 1 / n is right to the third digit. */
enum { LIMITS_T = 64 };

/* Shared by all rows of a result. */
struct profile_limits {
    double most;                       /* the largest change of performance, a share */
    double level_most[PROFILE_LEVELS]; /* likewise, of a level */
    double change[PROFILE_LEVELS];     /* the cost of a change down and back, in lengths of a wait */
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
