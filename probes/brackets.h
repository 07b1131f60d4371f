/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The experiment of frequencies: slots of a few milliseconds, A B A C A ..., so that each kernel stands between two
 * slots of the first one; only the later part of a slot counts. In each round every kernel has one bracket, in random
 * order. Movements of the clock that last longer than some milliseconds are in all three slots of a bracket, and
 * cancel.
 */
#pragma once

#include "analysis/stats/estimate.h"
#include "probes/repetitions.h"

/* Kernels of a round. */
enum { BRACKETS_KERNELS_MAX = 64 };

struct brackets_setup {
    struct machine_setup machine; /* as in sequence_begin(); its seed also draws the order */
    struct payload first;         /* A */
    const struct payload *kernels;
    size_t n;          /* of them, at most BRACKETS_KERNELS_MAX. A itself among them: its bracket is the null */
    double settle_us;  /* of A, before the first round */
    double before_us;  /* the part of each slot that does not count: levels lapse, halts end. Four times as long, once
                          or twice, if A is slower right after another kernel than after A */
    double observe_us; /* which count */
    double period_us;
    /* rounds: `least`, then more until half the width of each ratio's limits is at most `enough` (relative; 0: never),
     * the time is over, or there are `most` */
    unsigned least, most;
    double seconds, enough;
    repetitions_progress *progress; /* may be NULL; non-zero: no more rounds; finished ones are kept */
    void *data;
};

/* 20 ms to settle; 2.2 ms of each slot, which is more than the 2 ms that the Intel manual gives for a license to lapse,
 * and 0.8 ms that count, in samples of 20 us; so that a bracket fits in the 10 ms for which the kernel helper masks
 * interrupts. `machine` is zeroed except for cpu = -1. */
void brackets_defaults(struct brackets_setup *s, const struct payload *first, const struct payload *kernels, size_t n);
/* The duration of a round, s. */
double brackets_round_seconds(const struct brackets_setup *s);

struct brackets_result {
    size_t n;        /* kernels */
    unsigned rounds; /* that were run */
    double seconds;  /* that their recordings took */
    /* of kernel k, in round i (NaN: missing), at [k * most + i]: the logarithm of its frequency over A's around it */
    double *logs;
    unsigned most;
    double *carry;      /* in round i: the logarithm of A's frequency right after others over that after A */
    double *scratch;    /* room for all rounds */
    struct trace *seen; /* of each kernel: the samples that count, a run for each round */
    double uncore_ghz;  /* the clock of the uncore after the last round; NaN: not known */
    size_t n_invalid;   /* recordings that the machine knows to be invalid; why the first one is */
    char why[FROM_RECORDING_WHY_MAX];
};

/* Runs it: prepares the machine, and finishes it again. MACHINE_OK, or fills *err and returns its status; then *out is
 * empty. Preemption makes no slot invalid, it disturbs samples. Free with brackets_free(). */
int brackets_run(struct machine *m, const struct brackets_setup *s, struct brackets_result *out,
                 struct machine_error *err);
void brackets_free(struct brackets_result *r);
/* The ratio of kernel k to A (analysis/brackets/brackets_limits.h); NaN: it has none. */
struct estimate brackets_ratio_of(const struct brackets_result *r, size_t k);

/* The frequency of the samples that end after from_us and not after to_us, by the mean time of a cycle: a median of
 * values in steps, or of modulated ones, would be one of them. NaN of none, or fewer than `least`. scratch: 2 t->n. */
double brackets_ghz(const struct trace *t, double from_us, double to_us, size_t least, double *scratch);
