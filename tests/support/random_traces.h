/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random traces with known answers: what a core does when it changes its license level, seen by a random recorder with
 * its flaws (recorder.h). Knows nothing of the analysis but the form of a trace and the names of the kinds. The truth
 * holds what can be seen in the columns that were recorded, nothing else.
 *
 * Figures (W-2104, i9-7940X, Xeon Gold 6130): throttle of 9..40 us at 0.2..0.9 of the full rate, halts of 8..12 us,
 * about 670 us until the way up, sometimes twice that.
 */
#ifndef TEST_RANDOM_TRACES_H
#define TEST_RANDOM_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

enum trace_kind {
    TRACES_STEP_DOWN, /* one step of the frequency, with or without a halt */
    TRACES_TWO_STEPS,
    TRACES_THROTTLE, /* throttling, nothing else */
    TRACES_NOTHING,
    TRACES_BACK_UP, /* slow for 100..700 us, halt, up */
    TRACES_MANY,    /* one or a few long recordings with 3..20 transitions */
    TRACES_VOLTS,   /* a step of the voltage, nothing else */
    TRACES_SHARES,  /* steps of the license shares, nothing else */
    TRACES_FULL,    /* throttle, halt, throttle, halt, low level */
    TRACES_RELAX,   /* slow for 670 us or, in some repetitions, 1340 us */
    TRACES_KINDS
};

/* One phase as an analysis should report it. */
struct true_phase {
    enum phase_kind kind;
    double start_us;     /* mean over the repetitions that were generated (that wait once) */
    double drawn_us;     /* the same of the duration */
    double duration_us;  /* nominal: mean over all thinkable repetitions; of one recording alone: what was drawn */
    double freq_ghz;     /* NaN = not recorded, or a halt */
    double ipc_ratio;    /* of a throttle phase, else NaN */
    double second_us;    /* the other mode, NaN = none */
    double second_share; /* how many of the repetitions generated show it */
    bool optional;       /* need not be found: a halt of less than two periods, and what only it sets apart */
};

struct true_volts {
    bool recorded, steps;
    double at_us, ramp_us, from_v, to_v;
    double tolerance_us; /* of the middle of the step: what the density and noise of the readings allow */
    double level_v;      /* five standard errors of the median of the readings on the shorter side, and their unit */
    double blur_us;      /* half of what a running median over 21 of these readings spans */
};

enum { TRUE_PHASES_MAX = 64 };
struct truth {
    enum trace_kind kind;
    uint64_t seed;
    size_t n_phases;
    struct true_phase phase[TRUE_PHASES_MAX];
    size_t n_levels;
    double level_ghz[TRUE_PHASES_MAX]; /* distinct, highest first; none without a frequency column */
    struct true_volts volts;
    size_t runs;        /* measured repetitions, without those of a voltage alone */
    size_t interrupted; /* of these */
    double period_us;
    char about[400]; /* the drawn parameters, for a person */
};

/* "step-down", ...; NULL = no such kind. */
const char *trace_kind_name(enum trace_kind kind);

/* The trace of a kind and a seed, and its answer. The same arguments give the same trace. 0, or -1: out of memory. */
int random_trace(enum trace_kind kind, uint64_t seed, struct trace *t, struct truth *truth);

/* The same, but sampled by one that resumes late_us to twice late_us after a halt, with frequency and IPC. */
int random_trace_late(enum trace_kind kind, uint64_t seed, double late_us, struct trace *t, struct truth *truth);

#endif
