/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential approaches of the frequency, fitted to a curve or to repetitions (private to analysis/ and tables/). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/phases.h"

#define RAMP_ARRIVED 0.001 /* relative: what is as near to its end is over */
#define RAMP_TAU_KNOWN 3.0 /* a time constant whose limits reach farther is not known */

/* y(t) = from before `begin`, and to + (from - to) exp(-(t - begin) / tau) after it. */
struct ramp_fit {
    struct estimate begin, from, to, tau; /* with 95 % limits; in the units of t and y */
    double rss;                           /* sum of squared residuals */
};

/*
 * Fits it by least squares to n points in order of t (Levenberg-Marquardt, from the best of a grid). width: points are
 * means over so much time, half of it on either side; 0: values at t. free_begin: where
 * it begins is sought, too; else it begins at `begin`. Limits come from the scatter of the residuals, wider where those
 * of neighbours are alike. What the points do not bound is infinite. Returns 0; 1: it does not converge; -1: out of
 * memory.
 */
int ramp_fit(const double *t, const double *y, size_t n, double width, double begin, bool free_begin,
             struct ramp_fit *out);
double ramp_value(const struct ramp_fit *f, double t);
/* What decays from 1 with tau, and before x = 0 is 1; its integral from 0 to x (tau 0: it decays at once), and the
 * slope of that by log(tau), by what is `left` at x: ramp_decay(). */
double ramp_decay(double x, double tau);
double ramp_decay_integral(double x, double tau);
double ramp_decay_slope(double x, double tau, double left);
/* By how much residuals that resemble their neighbours widen the limits: as many independent ones as an autoregressive
 * process of the first order has (Box and Jenkins). Sums of their squares, and of products with the one before. */
double ramp_widening(double squares, double lagged);

/* Schwarz's criterion (1978) of a description of n values that leaves a sum of squares; the lowest is best. */
double ramp_criterion(double n, double rss, double parameters);

/* ---- that begins in each repetition at a time of its own, for all of them together: ramp_own.c ---- */

/* A reading of the frequency: the mean from..to. */
struct ramp_reading {
    double from, to; /* us */
    double ghz;
    double value; /* GHz: what is fitted for it */
};

/* Of several repetitions, one after the other, each in order of time. */
struct ramp_readings {
    size_t n_runs;
    size_t *first; /* n_runs + 1 of them: where each repetition begins, and the end */
    struct ramp_reading *x;
    double length; /* usual time from one reading to the next, us */
    bool by_time;  /* 1 / ghz is what scatters evenly: chains timed by a clock */
};

struct ramp_own {
    struct ramp_fit fit; /* fit.begin: the mean over repetitions, with the limits of what they share */
    double parameters;   /* as many as are fitted: less than one for each beginning where these are alike */
    double spread;       /* standard deviation of the beginnings, us */
};

/*
 * Fits to + (from - to) exp(-(t - begin) / tau) by least squares (Levenberg-Marquardt); beginnings are normally
 * distributed about their mean, with a deviation that is found, too (Laird and Ware's random effects, by expectation
 * and maximisation). begin[k]: of each repetition, us, from where it is sought; `fixed`: known. fit->fit: from where
 * the others are sought. rss[k]: sum of squares that each leaves. Returns 0; 1: it does not converge; -1: out of
 * memory.
 */
int ramp_own_fit(struct ramp_readings *s, bool fixed, struct ramp_own *fit, double *begin, double *rss);
/* The sum of squares that such a ramp leaves, by repetition in rss[], and in all. */
double ramp_own_rss(struct ramp_readings *s, const struct ramp_own *fit, double *begin, double *rss);

/*
 * The sum of squares about steps instead: `levels` levels, least squares, of which repetition k reaches number m + 1 at
 * edge[k * (levels - 1) + m], us. ghz receives the levels. NaN: they cannot be reported.
 */
enum { LEVELS_MOST = 32 };
double ramp_steps_rss(const struct ramp_readings *s, size_t levels, const double *edge, double *ghz);

/* Steps that a ramp is held against: five levels or more in a row are no steps of a clock. */
enum { OWN_STEPS_MOST = 4 };

/* The best cut of y[a..b): where, and by how much it lessens the sum of squares about the mean. */
double own_steps_best(const double *y, size_t a, size_t b, size_t *where);
/* The sum of squares of n values about the means of the pieces that up to `cuts` <= OWN_STEPS_MOST cuts make, each
 * where it helps most. *first (may be NULL): the first that was made; 0: none. */
double own_steps_rss(const double *y, size_t n, size_t cuts, size_t *first);

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
 * frequency changes; it begins at a time of its own in each repetition. *past: after what was made of it, or 0: there
 * is none. *doubt: some steps may be one, and say so now. 0, or -1: out of memory.
 */
int short_ramps_find(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q, size_t *past,
                     bool *doubt);
