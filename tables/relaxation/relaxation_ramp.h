/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rises of the frequency that take their time: whether the repetitions together show a ramp, and when it begins in each
 * of them. Pure.
 */
#ifndef CHARACTERIZE_RELAXATION_RAMP_H
#define CHARACTERIZE_RELAXATION_RAMP_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/relaxation/relaxation_window.h"

/*
 * How the frequency rises where it does not do so at once: f(t) = fast + (slow - fast) exp(-(t - begin) / tau). The
 * wait is over when that begins.
 */
struct relaxation_ramp {
    struct estimate tau_us; /* value 0: at once, or after a halt */
    double begin_half_us;   /* 95 %: by how much the beginnings in all repetitions may be off alike */
    bool by_rate;           /* told by instructions in a time, which scatter by less than the frequencies read */
    bool instant;           /* readings of the frequency are those at the end of a sample */
    double gain;            /* fast / slow - 1 */
    double noise;           /* relative standard deviation of one sample */
    double left;            /* mean square that it leaves of a repetition, in squares of that */
};

/* The frequencies before and after, GHz. */
struct relaxation_levels {
    double slow, fast;
    size_t rose;                 /* repetitions that end above `slow` by more than 1 % */
    bool slight;                 /* it does rise, but by less */
    struct relaxation_ramp ramp; /* set by relaxation_ramp() */
};

/* When one repetition left the low frequency. */
struct relaxation_rise {
    double at_us;             /* from the start of the window to the beginning of the halt, of the ramp, or to the rise
                              without either; NaN: it did not rise in the window */
    size_t interruptions;     /* before that: time lost to something else */
    double first_us, last_us; /* when the first and the last of them began; NaN: none */
    bool other_shape;         /* it rises, but not as the ramp does: when it began is not told */
    double left;  /* mean square that the ramp leaves of it, in those that it usually leaves; NaN: no ramp */
    double noise; /* standard deviation of one sample's frequency, in steps from slow to fast */
};

/*
 * Whether the frequency rises as a ramp, by n repetitions together whose rises were found as if it rose at once. If so
 * levels->ramp says how, levels->fast is where it leads, and the rises are those at which it begins. Each ramp is
 * fitted with the beginning of its own, the time constant in common; it is one if that leaves less than rises at
 * once would (Schwarz's criterion), and if most rises show no halt. Looked at as far as `to_us` allows. Returns 0,
 * or -1: out of memory.
 */
int relaxation_ramp(const struct trace *t, const struct sights_span *s, size_t n, double from_us, double to_us,
                    struct relaxation_levels *levels, struct relaxation_rise *rise);

/* Mean squares, of the usual one: a repetition of which so much is left does something else than the ramp. */
#define RELAXATION_APART 5.0

/* Where a known ramp begins in the samples of one repetition (least squares), whose best split is at `split` us. *left:
 * the mean square that it leaves behind that, in squares of ramp->noise. */
double relaxation_ramp_begin(const struct relaxation_window *w, double split, const struct relaxation_ramp *ramp,
                             double *left);

#endif
