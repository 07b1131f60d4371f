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
/* The integral from 0 to x of what decays from 1 with tau (0: at once), and before 0 is 1: x below 0. */
double ramp_decay_integral(double x, double tau);

#endif
