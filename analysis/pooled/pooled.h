/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many short repetitions of one switch of kernels, pooled before anything is judged (private to analysis/).
 *
 * The rate of each sample is taken relative to what its own repetition does in the end, so that a clock that floats and
 * a sibling thread that stays cancel. At each moment the middle half of the repetitions tells the rate; states are
 * found on that curve, and each repetition then passes through them from left to right at times of its own. A sample
 * beside a busy sibling thread, or one that was interrupted, is an outlier of its state, not a state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "trace/trace.h"

/* Repetitions that a median needs; states after a switch, more than any processor has shown. */
enum { POOLED_RUNS_LEAST = 3, POOLED_STATES_MAX = 12 };
/* Slower than any known throttling: a core that does so much less than its full rate stands still. Published ratios
 * begin at 1/4; some guests show 1/10. */
#define POOLED_HALT_RATIO 0.07
/* Relative: rates as near to each other are one. */
#define POOLED_SAME_RATE 0.04
/* Of its rate: a busy sibling thread leaves code more than this. */
#define POOLED_SIBLING_LEAST 0.4
/* Us after the switch until when code may be slow since it is not in the caches yet. */
#define POOLED_COLD_UNTIL_US 5.0
/* Of what is recorded after the switch: from here on it is its end. */
#define POOLED_LATE 0.6667
/* Relative: smaller steps of the clock by chains are none. What runs right before a chain delays it by up to 0.7 %: so
 * much 512-bit FMAs seemed to slow a Zen 5 down, at some times of the day, where brackets say 0.00. */
#define POOLED_STEP_LEAST 0.01

struct pooled_run {
    uint32_t number;
    size_t first, zero, past; /* samples of the trace; `zero`: the first of the second kernel */
    double early, late;       /* its usual rates before the switch and at last */
    double cycle_ns;          /* mean time of a cycle before the switch; NaN: no chain was timed */
    double early_ipc;         /* median of the samples whose chain tells it */
    double mean_ghz;          /* of all its chains: the clock that its IPC is reckoned with; NaN: each sample's own */
};

/* The repetitions and their pooled rate. */
struct pooled {
    const struct trace *trace;
    struct clock_reading clock;
    bool dense;            /* each sample has a frequency of its own */
    unsigned char *beside; /* [sample]: at another rate than its state, as beside a busy sibling thread (states.c) */
    float *clock_now;      /* of each sample, relative: what fixed work and the IPC say (curves.c); NULL: nothing */
    struct pooled_run *run;
    size_t n_runs, n_recorded;            /* those that are used; all of them, but for scattered voltages */
    size_t longest;                       /* samples of the longest repetition */
    double before_us, after_us;           /* what most repetitions have recorded */
    double sample_us;                     /* usual length of a sample soon after the switch, at the rate in the end */
    double tick_us;                       /* the step of the time stamps, or less */
    double usual;                         /* relative: rates in the end so near to each other are one */
    double noise;                         /* of one sample's rate in the end, relative */
    double sibling_share, sibling_factor; /* of the samples in the end, those at another rate, and which */
    double chains_us, chains_us2;         /* that chains take of a sample in the end, mean; mean square */
    double sibling_us;                    /* how long they last in a row, mean */
    size_t n;                             /* moments */
    double *border;                       /* n + 1, us from the switch */
    double *rate, *error;                 /* at each moment, of the rate in the end; standard error */
    double *length;                       /* of the samples there, mean, us */
    float *own;                           /* [run * n + moment]; NaN: not measured */
};

/* The rate of a sample in a unit of its own repetition; NaN: missing. */
double pooled_sample_rate(const struct pooled *p, size_t sample);
/* Its part in which the payload does not run, us: a chain and what is read with it; 0: none, or not known. */
double pooled_sample_reading(const struct pooled *p, size_t sample);
/*
 * A halt within a chain cuts it short: it tells nothing, and its time C passes for a part of the halt, whose sample has
 * done all its work ahead of it. A moment lies in a chain with the probability E(C) / (P + E(C)) of samples whose
 * payload takes P, and then in one of E(C^2) / E(C) on average: the product, us, of samples at `rate` and chains that
 * take `longer` than in the end (a factor).
 */
double pooled_unseen_chain(const struct pooled *p, double rate, double longer);
/* When a sample begins, us. */
double pooled_sample_begin(const struct pooled *p, size_t r, size_t sample);

/*
 * Prepares them, and pools the rate. Repetitions that end early, or have
 * too few samples, are left out: n_runs may become 0. 0, or -1: out of memory.
 */
int pooled_prepare(const struct trace *t, struct pooled *out);
/* Pools the rate again, of the repetitions that are left in run[]. 0, or -1: out of memory. */
int pooled_again(struct pooled *p);
void pooled_free(struct pooled *p);

/* The mean of the middle half of n values without NaN, and its standard error (NULL: not wanted). Reorders x. */
double pooled_middle(double *x, size_t n, double *error);
/* As pooled_middle; but where samples last for few steps of the time stamps the middle half may hold those of one
 * length alone: there the mean time of the work a step to either side of it. */
double pooled_usual(const struct pooled *p, double *x, size_t n, double *error);

/*
 * Cuts a series into pieces of one value each: least sum of squares, weighted, with a penalty for each piece (Jackson
 * et al. 2005, "An algorithm for optimal partitioning of data on an interval"). Pieces have `least` values or more.
 * cut: of n + 1; receives where pieces begin, and n after the last. Returns how many there are; 0: out of memory.
 * O(n^2).
 */
size_t pooled_cut(const double *y, const double *weight, size_t n, size_t least, double penalty, size_t *cut);

/* A stretch of one rate after the switch. */
struct pooled_state {
    double begin_us, end_us; /* on the pooled curve */
    double rate;             /* of the rate in the end */
    double length_us;        /* as the repetitions show it, median */
    double scatter_us;       /* of when they leave it: standard deviation by the MAD */
    double tau_us;           /* > 0: `rate` is that at the beginning, and it approaches the one that follows */
    double tau_half_us;      /* half the width of the 95 % limits of tau_us */
    double to, to_half;      /* ... and the rate that it approaches, with the same */
    double begin_half_us;    /* > 0: that of an approach that begins at the rate before it: where all of them leave it,
                                since no single one shows when; half the width of its 95 % limits */
};
/* The states of all repetitions, and when each repetition leaves them. */
struct pooled_states {
    size_t n;
    struct pooled_state state[POOLED_STATES_MAX];
    double *left;                   /* [state * n_runs + run], us; NaN: the repetition does not show it */
    double *cost;                   /* [run]: of passing through the states, minus a logarithm of the likelihood */
    double floor_lost_us, floor_us; /* what code that is not in the caches yet may explain: time lost, until when */
};
/* The time lost that cold code explains, us, by what its null loses (NaN: nobody knows). */
double pooled_cold_lost(double null_lost_us);
/*
 * kinds.c: discards the repetitions that lose no more than cold code does (`cold_us`), if those that lose more are a
 * kind of their own, and the null (NULL: there is none) has hardly any such. Where those are less than a third, all
 * stay, with a warning. 0, or -1: out of memory.
 */
int pooled_keep_switching(struct pooled *p, const struct pooled *null, double cold_us, struct phases *out);
/* The time that is lost against the rate in the end in the first 5 us, us. */
double pooled_lost(const struct pooled *p);
/* `null_lost_us`: pooled_lost() of the first kernel and its copy; NaN: nobody knows. 0, or -1: out of memory. */
int pooled_find_states(struct pooled *p, double null_lost_us, struct pooled_states *out);
void pooled_states_free(struct pooled_states *s);
/* fades.c: states in a row that are one exponential approach of what follows become one. 0, or -1: out of memory. */
int pooled_find_fades(const struct pooled *p, struct pooled_states *s);
/* fades.c: how long state k, an approach, takes until it is within 0.1 % of what it leads to, us. */
double pooled_fade_us(const struct pooled_states *s, size_t k);

/* states.c: no work is done in state k, or no more than that of the one sample that spans it, and less than
 * before and after: a core halts while its clock changes, and throttles from the first instruction of wide code on. */
bool pooled_halts(const struct pooled *p, const struct pooled_states *s, size_t k);

/* The mean time of a cycle before the switch, of each repetition. 0, or -1: out of memory. */
int pooled_clocks_before(struct pooled *p);

/* Two lengths that a duration has, the more frequent one first: 2, or 0: there is but one. They are `apart` or more,
 * and so many standard deviations of either. x: in ascending order; scratch: of 2 n. */
#define POOLED_LENGTHS_APART 4.5
size_t pooled_two_lengths(const double *x, size_t n, double apart, double sigmas, struct value_mode out[2],
                          double *scratch);

/* The clock after the switch, relative to that before it within the same repetition (logarithms). */
struct pooled_clock {
    size_t n; /* stretches; 0: nothing tells the clock */
    struct pooled_clock_state {
        double begin_us, end_us;
        struct estimate log_step; /* against the clock before the switch */
    } state[POOLED_STATES_MAX];
    struct estimate before_ghz; /* of most repetitions */
    size_t n_kinds;             /* 2: repetitions come with one clock or another; else 0 */
    struct value_mode kind[2];  /* GHz before the switch, the more frequent one first */
    double least_ipc;           /* before the switch: of repetitions that no busy sibling thread slows, chains too */
};
/* 0, or -1: out of memory. */
int pooled_find_clock(const struct pooled *p, const struct pooled_states *s, struct pooled_clock *out);

/* clock_course.c: warns of repetitions that ran at another clock than most throughout, and lets the limits of
 * frequencies hold theirs, too. 0, or -1: out of memory. */
int pooled_tell_other_clocks(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                             struct phases *out);

/*
 * The phases of a trace that pooled_suits(). `null`: a trace of the first kernel and its copy in turn with it; NULL:
 * what the trace itself tells of it (null_lost_us), if anything. Fills the parts of *out that are measured. 0, or -1:
 * out of memory; 1: too few repetitions can be used, and nothing is filled.
 */
bool pooled_suits(const struct trace *t);
int pooled_find(const struct trace *t, const struct trace *null, struct phases *out);
