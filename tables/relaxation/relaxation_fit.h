/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a core speeds up after the code that slowed it has ended: found in each repetition by itself, because the
 * distribution is what is requested, and where the rise takes its time by the shape that all of them have. Pure: from
 * traces of sequences that end in plain code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/table/sights.h"
#include "trace/trace.h"

/* ---- relaxation_ramp.c: windows ---- */

/* The samples of one repetition in a window of time, with what they hold. */
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

/* ---- relaxation_ramp.c ---- */

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

/* Relative: what is less is no rise. Levels of real parts differ by 2.5 % and more. */
#define RELAXATION_STEP_LEAST 0.01

/* The frequencies before and after, GHz. */
struct relaxation_levels {
    double slow, fast;
    size_t rose;                 /* repetitions that end above `slow` by more than 1 % */
    bool slight;                 /* it does rise, but by less */
    struct relaxation_ramp ramp; /* set by relaxation_ramp() */
    bool halts;                  /* the same: most rises come after a halt */
};

/* When one repetition left the low frequency. */
struct relaxation_rise {
    double at_us;             /* from the start of the window to the beginning of the halt, of the ramp, or to the rise
                              without either; NaN: it did not rise in the window */
    size_t interruptions;     /* before that: time lost to something else */
    double first_us, last_us; /* when the first and the last of them began; NaN: none */
    double left;  /* mean square that the ramp leaves of it, in those that it usually leaves; NaN: no ramp */
    double noise; /* standard deviation of one sample's frequency, in steps from slow to fast */
};

/*
 * Whether the frequency rises as a ramp, by n repetitions together whose rises were found as if it rose at once. If so
 * levels->ramp says how, levels->fast is where it leads, and the rises are those at which it begins. Each ramp is
 * fitted with the beginning of its own, the time constant in common; it is one if that leaves less than rises at
 * once would (Schwarz's criterion), and if most rises show no halt. Looked at up to `to_us`. Returns 0,
 * or -1: out of memory.
 */
int relaxation_ramp(const struct trace *t, const struct sights_span *s, size_t n, double to_us,
                    struct relaxation_levels *levels, struct relaxation_rise *rise);

/* Mean squares, of the usual one: a repetition of which so much is left does something else than the ramp. */
#define RELAXATION_APART 5.0

/* Where a known ramp begins in the samples of one repetition (least squares), whose best split is at `split` us. *left:
 * the mean square that it leaves after that, in squares of ramp->noise. */
double relaxation_ramp_begin(const struct relaxation_window *w, double split, const struct relaxation_ramp *ramp,
                             double *left);

/* ---- relaxation_fit.c ---- */

/*
 * From the first and the last 100 us of a window of all repetitions: `slow` is a median (of the first 20 us where the
 * frequency rises soon after), `fast` the highest level that at least two repetitions end at. Returns NULL, or why
 * there is nothing to wait for: no samples, or frequencies that differ by less than 1 %.
 */
const char *relaxation_levels(const struct trace *t, const struct sights_span *s, size_t n, double from_us,
                              double to_us, struct relaxation_levels *out);

/*
 * The place that splits the samples of the window best (least squares) into slow ones and faster ones; a rise by a
 * third of the way from slow to fast is one, so that a rise by way of a level between counts when it begins. The
 * sample with the halt tells by the instructions it holds when the halt began. Returns 0, or -1: out of memory.
 */
int relaxation_find(const struct trace *t, struct sights_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out);

/* ---- relaxation_fit.c: how long cores wait, of many repetitions ---- */

/* A rise so early tells no wait: the core had not been slowed, or not for long enough to be seen. */
#define RELAXATION_AT_ONCE_US 20.0

/* The distribution of the waits of repetitions that only waited. */
struct relaxation_mode {
    size_t n;
    struct estimate wait_us, share;
    double sd_us;
};
struct relaxation_waits {
    struct relaxation_mode mode[2]; /* once, and twice the shortest wait that is not rare; n 0: there is none */
    size_t others;                  /* neither length, or at once: something else changes the frequency */
    size_t close;                   /* within 15 % of one wait, or of two where there are such */
    size_t at_once;                 /* of these: within RELAXATION_AT_ONCE_US */
    size_t interrupted;             /* discarded, unless kept: something may have started the wait again */
    bool kept;                      /* fewer than one in five were left alone: the interrupted ones are used, too */
    size_t never;                   /* did not rise in the window, uninterrupted */
    /* of those whose last interruption lay in the middle of the wait: whether it began again then */
    size_t rearmed, not_rearmed;
    struct estimate after_interrupt_us; /* from the interruption to the rise, of the rearmed */
};
/*
 * Where hardly any repetition was left alone (a timer that ticks more often than the wait is long) the interrupted ones
 * are used as if they had been: if interruptions did start the wait again, these waits would scatter, which the caller
 * sees (others, never). A mode holds what lies within six standard deviations of one wait (1 % or 4 us at least, 15 %
 * at most, or four up to 40 % where waits scatter so much). The one at twice the wait is taken for one only where at
 * least three repetitions lie there, and more than waits that went unnoticed begun again at random times would bring
 * there once in 1000 tables. The share of a mode is that among the repetitions that nothing interrupted until the first
 * wait was over, whatever came later: longer waits are interrupted more often, and leaving those out would make them
 * look rarer than they are. Limits: means by Student's t, shares by Clopper and Pearson, the upper one
 * without what is neither mode. Returns 0, or -1: out of memory. O(n^2).
 */
int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out);

/*
 * Whether a burst of other code in the waiting time started it again. at_us: the rise, after the burst; done_us: how
 * much of the wait had passed at the burst's end. 1: again; 0: not; -1: neither once nor twice the wait fits.
 */
int relaxation_rearmed(double at_us, double done_us, double wait_us);

/* Whether most cases are of a kind, by the 95 % limits of their share: "yes", "no", or "undecided" where a half lies
 * within them. */
const char *relaxation_verdict(const struct estimate *share);
