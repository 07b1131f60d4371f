/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorder for tests: samples a core whose state is a known function of time, the way real samplers do, with their
 * flaws. Knows nothing of the analysis.
 */
#ifndef TEST_RECORDER_H
#define TEST_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"
#include "tests/support/random_numbers.h"

/* The core from `begin` on, until the next state begins. Halted: nothing runs, no counter moves. */
struct core_state {
    double begin; /* us */
    bool halt;
    double freq, ipc; /* GHz; payload instructions per cycle */
    double share[4];  /* of the cycles that lvl0, lvl1, lvl2, throttle count */
};

enum sampler {
    SAMPLER_PROMPT,  /* a sample that is due during a halt is taken when the halt ends */
    SAMPLER_GRID,    /* ... is left out: the next one comes at its own time */
    SAMPLER_CATCH_UP /* ... is taken when the halt ends, and so are those due meanwhile, as fast as they can be read */
};

enum sampler choose_sampler(struct rng *r);
const char *sampler_name(enum sampler s);

struct recorder {
    double period_us;
    enum sampler sampler;
    double jitter;                /* of the end of a sample, share of the period, uniform to both sides */
    bool has[TRACE_CHANNELS];     /* recorded channels; volts are not sampled here */
    double freq_noise, ipc_noise; /* standard deviation, relative */
    double share_noise;           /* standard deviation */
    double missing;               /* share of the fields */
    double outliers;              /* share of the samples: frequency or IPC off by up to 30 % */
    double split;                 /* share of the halts whose low mean stands on the sample before the gap */
    double late_us;               /* a prompt sampler resumes so long, to twice as long, after the end of a halt */
    bool kernel_mode;             /* cycles count during an interruption, payload instructions never do */
};

/* Time in which the payload does not run although the core does. */
struct interruption {
    double begin, end; /* us; begin == end: none */
};

/*
 * Records one repetition of `n` states (the first begins before `begin`) from `begin` to `end`, us, on a grid through
 * `begin + phase` (0 <= phase < period), and appends it to *t, whose channels exist. A split read moves its halt to the
 * next sample's end, less than a period later: *states changes. Returns 0, or -1: out of memory.
 */
int record_run(struct rng *r, const struct recorder *rec, struct core_state *states, size_t n, double begin, double end,
               double phase, struct interruption in, uint32_t run, struct trace *t);

#endif
