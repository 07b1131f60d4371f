/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a core stays slow after the code that slowed it has ended: found in each repetition by itself, because the
 * distribution is what is asked for. Pure: from traces of sequences that end in plain code.
 */
#ifndef CHARACTERIZE_RELAXATION_H
#define CHARACTERIZE_RELAXATION_H

#include <stdbool.h>
#include <stddef.h>

#include "tables/trigger/trigger_fit.h"

/* A rise so early tells no wait: the core had not been slowed, or not for long enough to be seen. */
#define RELAXATION_AT_ONCE_US 20.0

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
/*
 * From the first and the last 100 us of a window of all repetitions: `slow` is a median (of the first 20 us where the
 * frequency rises soon after), `fast` the highest level that at least two repetitions end at. Returns NULL, or why
 * there is nothing to wait for: no samples, or frequencies that differ by less than 1 %.
 */
const char *relaxation_levels(const struct trace *t, const struct trigger_span *s, size_t n, double from_us,
                              double to_us, struct relaxation_levels *out);

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
 * The place that splits the samples of the window best (least squares) into slow ones and faster ones; a rise by a
 * third of the way from slow to fast is one, so that a rise by way of a level between counts when it begins. The
 * sample with the halt tells by the instructions it holds when the halt began. Returns 0, or -1: out of memory.
 */
int relaxation_find(const struct trace *t, struct trigger_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out);

/*
 * Whether the frequency rises as a ramp, by n repetitions together whose rises were found as if it rose at once. If so
 * levels->ramp says how, levels->fast is where it leads, and the rises are those at which it begins. Each ramp is
 * fitted with the beginning of its own, the time constant in common; it is one if that leaves less than rises at
 * once would (Schwarz's criterion), and if most rises show no halt. Looked at as far as `to_us` allows. Returns 0,
 * or -1: out of memory.
 */
int relaxation_ramp(const struct trace *t, const struct trigger_span *s, size_t n, double from_us, double to_us,
                    struct relaxation_levels *levels, struct relaxation_rise *rise);

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
    size_t interrupted;             /* discarded, unless kept: something may have started the wait anew */
    bool kept;                      /* fewer than one in five were left alone: the interrupted ones are used, too */
    size_t never;                   /* did not rise in the window, uninterrupted */
    /* of those whose last interruption lay in the middle of the wait: whether it began anew then */
    size_t rearmed, not_rearmed;
    struct estimate after_interrupt_us; /* from the interruption to the rise, of the rearmed */
};
/*
 * Where hardly any repetition was left alone (a timer that ticks more often than the wait is long) the interrupted ones
 * are used as if they had been: if interruptions did start the wait anew, these waits would scatter, which the caller
 * sees (others, never). A mode holds what lies within six standard deviations of one wait (1 % or 4 us at least, 15 %
 * at most, or four up to 40 % where waits scatter so much). The one at twice the wait is taken for one only where at
 * least three repetitions lie there, and more than waits that went unnoticed begun anew at random times would bring
 * there once in 1000 tables. The share of a mode is that among the repetitions that nothing interrupted until the first
 * wait was over, whatever came later: longer waits are interrupted more often, and leaving those out would make them
 * look rarer than they are. Limits: means by Student's t, shares by Clopper and Pearson, the upper one
 * without what is neither mode. Returns 0, or -1: out of memory. O(n^2).
 */
int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out);

/*
 * Whether a burst of other code in the waiting time started it anew. at_us: the rise, after the burst; done_us: how
 * much of the wait had passed at the burst's end. 1: anew; 0: not; -1: neither once nor twice the wait fits.
 */
int relaxation_rearmed(double at_us, double done_us, double wait_us);

/* Whether most cases are of a kind, by the 95 % limits of their share: "yes", "no", or "undecided" where a half lies
 * within them. */
const char *relaxation_verdict(const struct estimate *share);

#endif
