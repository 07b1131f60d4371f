/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the search for waits share (private to analysis/). */
#ifndef CHARACTERIZE_RELAXATION_PARTS_H
#define CHARACTERIZE_RELAXATION_PARTS_H

#include "tables/relaxation/relaxation_fit.h"

/* The samples of the window, with what they hold. */
struct relaxation_window {
    size_t n;
    double *begin, *end; /* us after the start of the window */
    double *rate;        /* payload instructions per ns */
    double *freq;
    double *weight; /* 1, or less of a short sample: at the switch of kernels it may be tiny */
    double *scratch;
};
/* Returns 0, or -1: out of memory. */
int relaxation_window_open(struct relaxation_window *w, const struct trace *t, struct trigger_span s, double from_us,
                           double to_us);
void relaxation_window_close(struct relaxation_window *w);

/* Time that something else took in sample i: it holds so much less than at the rate `slow`. */
double relaxation_lost(const struct relaxation_window *w, size_t i, double slow);

/* Mean squares, of the usual one: a repetition of which so much is left does something else than the ramp. */
#define RELAXATION_APART 5.0

/* Where a known ramp begins in the samples of one repetition (least squares), whose best split is at `split` us. *left:
 * the mean square that it leaves behind that, in squares of ramp->noise. */
double relaxation_ramp_begin(const struct relaxation_window *w, double split, const struct relaxation_ramp *ramp,
                             double *left);

#endif
