/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the relaxation table (private to tables/). All times in us. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/estimates.h"
#include "tables/table/sights.h"
#include "tables/table/tables.h"
#include "trace/trace.h"

/* ---- relaxation_cells.c ---- */

/* The experiments of a cell, which is a pair of kernels: all of them. */
enum relaxation_kind { RELAXATION_WAIT, RELAXATION_REARM, RELAXATION_TOGGLE };
int relaxation_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                       struct machine_error *err);

/* How long the code runs that slows the core: a transition takes up to about 100 us (G 3.2.2). */
#define RELAXATION_FROM_US 500.0
/* Of the code that may restart the wait. */
#define RELAXATION_BURST_US 20.0
/* Of the code that slows the core, when it toggles. */
#define RELAXATION_AGAIN_US 150.0
/* The longest wait that is measured: twice the 2 ms of the Intel manual, and room. */
#define RELAXATION_LONGEST_US 5000.0

/* Between readings, unless an option says otherwise: a fifth of the usual halt of 10 us. */
#define RELAXATION_PERIOD_US 2.0
static inline double relaxation_period(const struct tables_options *o)
{
    return o->period_us > 0 ? o->period_us : RELAXATION_PERIOD_US;
}

/* How many repetitions of an experiment. */
static inline size_t relaxation_runs(const struct tables_options *o, enum relaxation_kind kind)
{
    enum { RUNS = 200, BRIEF_RUNS = 60, REARM_RUNS = 24, TOGGLE_RUNS = 20, BRIEF_OTHERS = 8 };
    if (kind == RELAXATION_WAIT)
        return o->runs ? o->runs : o->brief ? BRIEF_RUNS : RUNS;
    return o->brief ? BRIEF_OTHERS : kind == RELAXATION_REARM ? REARM_RUNS : TOGGLE_RUNS;
}

/* ---- relaxation_rise.c: when a core speeds up, in each repetition by itself, because the distribution counts ---- */

/* The states on either side of the rise. */
struct relaxation_levels {
    double slow, fast; /* GHz */
    double tau_us;     /* f(t) = fast + (slow - fast) exp(-t / tau) from where the rise begins; 0: it takes no time */
};

/* When one repetition left the low frequency. */
struct relaxation_rise {
    double at_us;             /* from the start of the window to the beginning of the halt, of the ramp, or to the rise
                              without either; NaN: it did not rise in the window */
    size_t interruptions;     /* before that: time lost to something else */
    double first_us, last_us; /* when the first and the last of them began; NaN: none */
    double noise;             /* standard deviation of one sample's frequency, in steps from slow to fast */
};

/*
 * The place that splits the samples of the window best (least squares) into slow ones and faster ones; a rise by a
 * third of the way from slow to fast is one, so that a rise by way of a level between counts when it begins. The
 * sample with the halt tells by the instructions it holds when the halt began. Returns 0, or -1: out of memory.
 */
int relaxation_find(const struct trace *t, struct sights_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out);

/* ---- relaxation_waits.c: how long cores wait, of many repetitions ---- */

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
    size_t interrupted;             /* discarded, unless kept: something may have restarted the wait */
    bool kept;    /* fewer than one in five, and than ten, were left alone: the interrupted ones are used, too */
    size_t never; /* did not rise in the window, uninterrupted */
    /* of those whose last interruption lay in the middle of the wait: whether it was restarted then */
    size_t rearmed, not_rearmed;
    struct estimate after_interrupt_us; /* from the interruption to the rise, of the rearmed */
};
/*
 * Where hardly any repetition was left alone (a timer that ticks more often than the wait is long) the interrupted ones
 * are used as if they had been: if interruptions did restart the wait, these waits would scatter, which the caller
 * sees (others, never). A mode holds what lies within six standard deviations of one wait (1 % or 4 us at least, 15 %
 * at most, or four up to 40 % where waits scatter so much). The one at twice the wait is taken for one only where at
 * least three repetitions lie there, and more than waits that were restarted unnoticed at random times would bring
 * there once in 1000 tables. The share of a mode is that among the repetitions that nothing interrupted until the first
 * wait was over, whatever came later: longer waits are interrupted more often, and leaving those out would make them
 * look rarer than they are. Limits: means by Student's t, shares by Clopper and Pearson, the upper one
 * without what is neither mode. Returns 0, or -1: out of memory. O(n^2).
 */
int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out);

/*
 * Whether a burst of other code in the waiting time restarted it. at_us: the rise, after the burst; done_us: how
 * much of the wait had passed at the burst's end. 1: restarted; 0: not; -1: neither once nor twice the wait fits.
 */
int relaxation_rearmed(double at_us, double done_us, double wait_us);

/* Whether most cases are of a kind, by the 95 % limits of their share: "yes", "no", or "undecided" where a half lies
 * within them. */
const char *relaxation_verdict(const struct estimate *share);

/* ---- relaxation_text.c ---- */
void relaxation_findings(FILE *out, const struct table *t);
