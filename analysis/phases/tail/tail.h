/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The long part of a long recording, after its fine samples (`fine_us` in the metadata): up to hundreds of
 * milliseconds, at a period that grows with time. What happens there is slow, and no repetition of such a length is
 * free of interruptions, so that it is looked at apart from the fine part, at its own scale: samples that lost time
 * are left out, the rest is averaged in bins that hold equally many samples, and the medians of the repetitions are
 * described by the simplest of: nothing, an exponential ramp, a step; clock and rate (instructions per cycle) apart.
 * (Private to analysis/.)
 */
#pragma once

#include "analysis/phases/phases.h"
#include "analysis/phases/ramps/ramp_fit.h"

#define TAIL_NEAR_US 1.0    /* times nearer than this are one */
#define TAIL_THROTTLED 0.95 /* of the full rate: what is less is throttled */

enum tail_kind {
    TAIL_MISSING, /* not measured */
    TAIL_CONSTANT,
    TAIL_RAMP,
    TAIL_STEP,
    TAIL_MOVES /* changes, and neither a ramp nor a step describes it */
};

/* What one of the two does. */
struct tail_course {
    enum tail_kind kind;
    struct estimate from, to; /* in its unit; of what is constant both are the mean */
    struct estimate begin;    /* of a ramp or a step, us */
    struct estimate tau;      /* of a ramp, us */
    double half;              /* of the limits of the mean, among repetitions; relative */
    size_t runs;              /* that show it */
};

enum { TAIL_FREQ, TAIL_RATE, TAIL_COURSES };

struct tail {
    double begin, end;            /* us: where the fine part ends, and where most repetitions do */
    double after;                 /* us: from when on the second kernel has run undisturbed in the fine part */
    double clock_from;            /* us: from when on the frequency tells: where it is by short chains, it does not */
    size_t n_runs, samples, lost; /* repetitions; their samples; of these, left out */
    bool instant;                 /* dependent adds alone tell the frequency */
    bool uniform;                 /* of samples that are all alike: interrupted repetitions have been left out */
    const uint8_t *invalid;       /* [sample of the trace]: holds lost time; NULL: none is known to */
    struct tail_course course[TAIL_COURSES];
};

/* Where the fine part of a trace ends, us; NaN: it has none, all samples are alike. */
double tail_begins(const struct trace *t);

/* Its fine part, until then and half a `period_us` more, as a trace of its own (the metadata are those of *t and stay
 * there), to be freed with joined_part_free(). 0, or -1: out of memory. */
int tail_fine_part(const struct trace *t, double until, struct trace *out);

/* Steady phases of the fine part after the switch whose rate is not one become unknown. */
void tail_doubt_rates(const struct trace *t, struct phases *fine);

/* Looks at the rest; `fine`: the phases of the fine part. 0, or -1: out of memory. */
int tail_find(const struct trace *t, const struct phases *fine, struct tail *out);

/* Joins it to the phases of the fine part; a ramp may turn out to begin in it. 0, or -1: out of memory. */
int tail_join(struct tail *x, struct phases *out);

/*
 * tail_uniform.c: the same of a recording whose samples are all alike. Throttling that fades within some of them is cut
 * into a staircase of slow phases by what looks for steps; where one ramp of the rate describes it better, at a clock
 * that does not change, that takes their place. 0, or -1: out of memory.
 */
int tail_uniform_find(const struct trace *t, struct phases *out);
/* One side of a ramp phase from its course (none if that is no ramp), `relative` to its end; its mean from..to. */
struct ramp_side tail_side(const struct tail_course *c, bool relative);
double tail_mean(const struct tail_course *c, double from, double to);

/* ---- tail_series.c: the repetitions in bins ---- */

/* The period of the samples, of the fine ones if they differ; 1 us if the trace says none. */
double tail_period_us(const struct trace *t);

struct tail_series {
    size_t n_runs, n_bins;
    double *time;                /* of each bin, us */
    double *value[TAIL_COURSES]; /* [run * n_bins + bin]; NaN: nothing is left there. Of repetitions at one centre */
    double *curve[TAIL_COURSES]; /* medians of the repetitions */
    double half[TAIL_COURSES];   /* of the limits of that centre, relative */
};
/* When most repetitions end, us. 0 of none; NaN: out of memory. */
double tail_usual_end(const struct trace *t, const struct phases *fine);
/* Fills it, and x->samples, lost, n_runs. 0, or -1: out of memory. */
int tail_gather(const struct trace *t, const struct phases *fine, struct tail *x, struct tail_series *out);
void tail_free_series(struct tail_series *s);

/* ---- tail_course.c ---- */

/* What course c does. 0, or -1: out of memory. */
int tail_describe(const struct tail_series *s, int c, struct tail *x);
