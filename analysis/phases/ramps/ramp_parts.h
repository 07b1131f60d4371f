/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two searches for ramps share: what they put into segmentations (private to analysis/). */
#pragma once

#include "analysis/phases/findings.h"
#include "analysis/phases/ramps/ramp_fit.h"

enum { RAMP_PARTS = 3 }; /* steady, ramp, steady */

enum { RAMP_RUNS_FOR_TEST = 4 };   /* repetitions: fewer do not tell a small change from their own drifting ... */
#define RAMP_LEAST_CHANGE_FEW 0.01 /* relative: ... which takes the place of CLOCK_STEP_LEAST there */
#define RAMP_TAU_SURE 0.01         /* relative: what samples leave of doubt in any case */
#define RAMP_CLEARLY 20.0          /* by which Schwarz's criterion must be better */

/* What takes the place of pieces. */
struct ramp_part {
    double begin; /* us */
    struct phase phase;
    struct piece piece;
};

/* A piece with the values of pieces p to q; the frequency is `ghz`. */
struct piece ramp_joined(const struct segmentation *o, size_t p, size_t q, double ghz);
struct phase ramp_phase(const struct piece *piece, enum phase_kind kind);
/* How long after its beginning a ramp has arrived, in the units of its fit. */
double ramp_over_after(const struct ramp_fit *f);
/* Frequencies and time constant of a ramp, with the limits of its fit, of the clock, and of another error of the
 * frequencies of half width `half`, GHz. */
void ramp_describe(const struct runs *r, const struct ramp_fit *f, double half, struct phase *ramp);

/* Puts n parts in the place of pieces p to q. own: where they begin in each repetition, [part * o->n_runs + k] from the
 * second part on; NULL: in all alike. 0, or -1: out of memory. */
int ramp_splice(struct segmentation *o, struct phases *out, size_t p, size_t q, const struct ramp_part *part, size_t n,
                const double *own);

/*
 * short_ramps.c: the first ramp of a time constant of a few samples within pieces p to q, between which nothing but the
 * frequency changes; it begins at a time of its own in each repetition. *past: behind what was made of it, or 0: there
 * is none. *doubt: some steps may be one, and say so now. 0, or -1: out of memory.
 */
int short_ramps_find(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q, size_t *past,
                     bool *doubt);
