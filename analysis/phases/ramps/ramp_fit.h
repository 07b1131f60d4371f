/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An exponential approach fitted to a curve (private to analysis/). */
#ifndef CHARACTERIZE_RAMP_FIT_H
#define CHARACTERIZE_RAMP_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"

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
 * slope of that by log(tau). */
double ramp_decay(double x, double tau);
double ramp_decay_integral(double x, double tau);
double ramp_decay_integral_slope(double x, double tau);
/* By how much residuals that resemble their neighbours widen the limits: as many independent ones as an autoregressive
 * process of the first order has (Box and Jenkins). Sums of their squares, and of products with the one before. */
double ramp_widening(double squares, double lagged);

/* Schwarz's criterion (1978) of a description of n values that leaves a sum of squares; the lowest is best. */
double ramp_criterion(double n, double rss, double parameters);

#endif
