/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that judge the readings of a first contact; private to them. */
#pragma once

#include "output/self_test/self_test.h"

/* A new line; judged by the functions below. */
struct self_test_line *self_test_add(struct self_test_lines *out, const char *name, const char *unit);
/* Passes where the value lies within lo and hi (NAN: no bound), else fails with this reason. */
void self_test_bound(struct self_test_line *l, double value, double lo, double hi, const char *reason);
void self_test_cannot(struct self_test_line *l, const char *reason, const char *remedy);
/* Returns true if the machine lacks this counter; the line then says why. */
bool self_test_lacks(struct self_test_line *l, const struct self_test_readings *r, enum counter_id id);
/* The same where the rate of the work is judged: a tenth of the time or more in which it was slowed, as this share of
 * it tells, decides nothing. */
void self_test_bound_alone(struct self_test_line *l, double slowed, double value, double lo, double hi,
                           const char *reason);

/* The word of a reading in which a counter stands; -1: it was not requested. */
int self_test_column(const struct self_test_stretch *s, enum counter_id id);
/* The first stretch of a kind, and of a kernel unless that is NULL, with recordings; NULL: there is none. */
const struct self_test_stretch *self_test_find(const struct self_test_readings *r, enum self_test_kind kind,
                                               const char *kernel);
/* Why there is no such stretch, in the words of the machine, or that nothing was counted in it. */
void self_test_no_stretch(struct self_test_line *l, const struct self_test_readings *r, enum self_test_kind kind);

/* The first readings of a recording are left out: the sampler finds its pace. */
enum { SELF_TEST_RUN_IN = 8 };
/*
 * How much a word grows from reading `from` to reading `to` (0: to the last); NAN where one of the two is missing or it
 * became less.
 */
double self_test_grown(const struct self_test_stretch *s, const struct self_test_recording *rec, int column,
                       size_t from, size_t to);

/* One sample of the chain. */
struct self_test_sample {
    double ticks, payload, counter; /* NAN: the counter has no such sample */
    size_t stretch, recording;      /* of the readings; counted over all stretches of the kind */
    /* Set for five or more in a row that did less than nine tenths of the work of a tick of the fastest fifth: another
     * thread on the core, or a lower frequency. An interrupt falls into one sample or two. */
    bool slowed;
};
/* All samples of the stretches of a kind in which time passed, with a counter's word where `column_of` is not
 * COUNTER_IDS; malloc'ed, *n of them, in order of time. NULL with *n 0: none, or out of memory. */
struct self_test_sample *self_test_samples(const struct self_test_readings *r, enum self_test_kind kind,
                                           enum counter_id column_of, size_t *n);
/* The work of a tick: the median over samples that were not slowed, of which only few are interrupted. NAN: none. */
double self_test_usual_rate(const struct self_test_sample *s, size_t n);
/* Part of the time of the samples of a kind in which the work was slowed; 0 where there are none. */
double self_test_slowed_share(const struct self_test_readings *r, enum self_test_kind kind);
/* The same of short or of long samples, whichever is more: comparing the two needs both. */
double self_test_slowed_most(const struct self_test_readings *r);

/* ---- lines ---- */

/* self_test_timing.c: of the clock and the sampler; of what has an exact answer; of a raw event. */
void self_test_judge_clock(const struct self_test_readings *r, struct self_test_lines *out);
void self_test_judge_counts(const struct self_test_readings *r, struct self_test_lines *out);
void self_test_judge_event(const struct self_test_readings *r, struct self_test_lines *out);
