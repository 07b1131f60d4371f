/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces with known answers, as a switch of code looks on a busy cloud guest: samples of fixed work, each repetition
 * with a clock of its own, a sibling thread that comes and goes, 500 interruptions a second, code that is cold when it
 * runs first. Knows nothing of the analysis but the form of a trace.
 */
#ifndef TEST_GUEST_TRACES_H
#define TEST_GUEST_TRACES_H

#include <stdint.h>

#include "trace/trace.h"

enum guest_kind {
    GUEST_NULL,     /* nothing but cold code */
    GUEST_THROTTLE, /* throttled until d1_us */
    GUEST_STEP,     /* the clock falls at d1_us, before which the core is throttled or not */
    GUEST_MODES,    /* throttled until d1_us or, in half of the repetitions, until d1b_us */
    GUEST_HALT,     /* throttled until d1_us, then halted, then at a lower clock */
    GUEST_RAMP,     /* the rate approaches the full one exponentially */
    GUEST_IDLE,     /* throttled until d1_us, then at a lower clock; in some repetitions the core is so already */
    GUEST_DIP,      /* throttled until d1_us, then at a lower clock until about back_us, in each at another time */
    GUEST_BACK,     /* the same, and in most the core halts where the clock is back */
    GUEST_KINDS
};

/* Times from the first instruction of the second kernel. */
struct guest_truth {
    enum guest_kind kind;
    uint64_t seed;
    double ratio;   /* of the full rate at the same clock: while throttled; where a ramp begins; 1: not throttled */
    double d1_us;   /* mean over all thinkable repetitions; NaN: nothing ends */
    double d1b_us;  /* the second length, NaN: there is none */
    double halt_us; /* from d1_us on; 0: none */
    double low;     /* the clock afterwards, of the one before; 1: no step */
    double back_us; /* the mean time at which the clock is back; NaN: it stays */
    double back_halt_us; /* from back_us on, in most; 0: none */
    double idle;         /* share of repetitions in which nothing happens */
    double tau_us;       /* of a ramp, NaN: none */
    double cold_us;      /* lost as the code begins: no finding */
    char about[300];
};

/* "null", ...; NULL = no such kind. */
const char *guest_kind_name(enum guest_kind kind);

/*
 * The trace of a kind and a seed, 80 repetitions from 50 us before the switch to 150 us after it, and its answer. The
 * same arguments give the same trace. 0, or -1: out of memory.
 */
int guest_trace(enum guest_kind kind, uint64_t seed, struct trace *t, struct guest_truth *truth);
/* The same, of samples of 0.1 to 1 us, with few chains, many or none, and repetitions that differ by 0 to 15 %. */
int guest_trace_wild(enum guest_kind kind, uint64_t seed, struct trace *t, struct guest_truth *truth);

#endif
