/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bursts experiment: plain work with short bursts of other code, compared with the same work with empty bursts. All
 * variants take turns, in rounds of alternating order, each between two of empty bursts with which it is compared, so
 * that drift cancels; empty ones between empty ones are the null. The measure is plain work done in a time between two
 * time stamps; no counter is needed.
 */
#pragma once

#include "drivers/machine.h"

/* Variants that are compared in one round. */
enum { BURSTS_VARIANTS_MAX = 4 };

struct bursts_setup {
    struct machine_setup machine; /* CPU, active cores, co-runner, seed; period, counters and samples are set here */
    struct payload plain;
    struct payload wide[BURSTS_VARIANTS_MAX]; /* of each variant; count 0: empty bursts, to compare with. First */
    uint64_t count[BURSTS_VARIANTS_MAX];
    unsigned variants; /* 2 or more */
    double every_us, before_us;
    unsigned skipped, bursts; /* as in struct bursts_request */
    unsigned rounds;          /* wanted; at most twice as many are run */
    double enough;            /* half of the width of the limits of the first variant's loss that suffices; 0: none */
    double seconds;           /* no round begins later, once there are four; 0: whenever */
    int (*progress)(void *data, unsigned done, unsigned wanted); /* after each round; may be NULL. Non-zero: stop */
    void *data;
};

#define BURSTS_REJECT 4.0 /* scaled MADs: rounds farther from the others do not count */

/* Results of the kept rounds, for each variant; the first is the null, without the last of these: */
struct bursts_result {
    unsigned n;                           /* rounds in which each variant had a repetition that nothing disturbed */
    unsigned discarded;                   /* disturbed repetitions; each was tried again, twice */
    unsigned long interrupted;            /* bursts, and stretches of plain work after one, of those that were kept */
    double *loss[BURSTS_VARIANTS_MAX];    /* share of the plain work that is not done in the same plain time */
    double *cold_us[BURSTS_VARIANTS_MAX]; /* mean time of a burst, beyond that of one of no instruction */
    double *cost_us[BURSTS_VARIANTS_MAX]; /* the same plus the plain time lost, of each burst */
    double *warm_us[BURSTS_VARIANTS_MAX]; /* mean time of one burst after the other, as cold_us; NaN: unknown */
};
void bursts_result_free(struct bursts_result *r);

/*
 * Runs it: prepares the machine, and finishes it again. MACHINE_OK, or fills *err and returns its status
 * (MACHINE_CANNOT also where the machine runs no bursts); then *out is empty. Free with bursts_result_free().
 */
int bursts_run(struct machine *m, const struct bursts_setup *s, struct bursts_result *out, struct machine_error *err);
