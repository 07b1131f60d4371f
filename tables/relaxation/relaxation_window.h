/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples of one repetition in a window of time, with what they hold. Pure. */
#ifndef CHARACTERIZE_RELAXATION_WINDOW_H
#define CHARACTERIZE_RELAXATION_WINDOW_H

#include <stddef.h>

#include "tables/table/sights.h"
#include "trace/trace.h"

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
int relaxation_window_open(struct relaxation_window *w, const struct trace *t, struct sights_span s, double from_us,
                           double to_us);
void relaxation_window_close(struct relaxation_window *w);

/* Time that something else took in sample i: it holds so much less than at the rate `slow`. */
double relaxation_lost(const struct relaxation_window *w, size_t i, double slow);

#endif
