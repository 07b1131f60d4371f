/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ramp that begins in each repetition at a time of its own, fitted to all of them (private to analysis/). */
#ifndef CHARACTERIZE_RAMP_OWN_H
#define CHARACTERIZE_RAMP_OWN_H

#include "analysis/phases/ramps/ramp_fit.h"

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
 * edge[k * (levels - 1) + m], us. ghz receives the levels. NaN: they cannot be told.
 */
enum { LEVELS_MOST = 32 };
double ramp_steps_rss(const struct ramp_readings *s, size_t levels, const double *edge, double *ghz);

#endif
