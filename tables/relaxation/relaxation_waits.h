/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long cores wait before they speed up: the distribution of the waits of many repetitions. Pure. */
#ifndef CHARACTERIZE_RELAXATION_WAITS_H
#define CHARACTERIZE_RELAXATION_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "tables/relaxation/relaxation_ramp.h"

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
