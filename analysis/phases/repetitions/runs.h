/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace prepared for analysis: repetitions, sample lengths, and the places where time was lost (private to
 * analysis/).
 *
 * A halted core retires nothing and its counters stand still: a sample that spans a halt is long and its mean frequency
 * low. An interruption of a program whose counters run in user mode only looks the same; what distinguishes them is the
 * frequency on both sides and whether it comes back at the same place in other repetitions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/phases/repetitions/clock.h"
#include "trace/trace.h"

/* Time lost inside one sample. */
struct gap {
    uint32_t run;                   /* index of the repetition, not its number */
    size_t sample;                  /* index into the trace */
    double begin, end;              /* of the sample, us */
    double lost;                    /* us, as far as the neighbours' speed tells */
    double clock, rate;             /* mean GHz of the sample, and times its IPC; split reads put right */
    double freq_before, freq_after; /* GHz, medians of the neighbours; NaN = not measured */
    bool running;       /* the core's cycles went on: time was lost to other code, the core was not halted */
    bool soft;          /* the sample is not longer than others: a halt only if other evidence says so */
    bool moved;         /* its low mean was written one sample early */
    bool level_changes; /* the frequency or the rate differs before and after */
};

struct run_span {
    uint32_t number; /* as in the file */
    size_t first, n; /* samples */
    size_t first_gap, n_gaps;
};

struct runs {
    const struct trace *trace;
    size_t n;
    struct run_span *run;
    float *dt;        /* length of each sample, us; the first of a run: the period */
    uint8_t *invalid; /* samples that hold lost time: no mean of them describes a state */
    struct gap *gap;
    size_t n_gaps;
    size_t *by_begin;             /* indexes of the gaps in order of their beginning */
    double longest;               /* of the gaps, us */
    double period;                /* typical sample length, us */
    double noise[TRACE_CHANNELS]; /* of one sample: relative for frequency and IPC, else in the channel's unit */
    bool has[TRACE_CHANNELS];
    enum sampler_habit {
        SAMPLER_UNKNOWN, /* too few halts, or too irregular samples, to tell */
        SAMPLER_AT_ONCE, /* a sample that is due during a halt is taken when the halt ends */
        SAMPLER_WAITS    /* ... at the next point of the grid */
    } habit;
    double typical_lost; /* of the gaps across which the level changes: medians; NaN = too few */
    double typical_step; /* their size, as a logarithm */
    struct clock_reading clock;
    bool disturbed; /* IPC is missing where another thread ran: what one repetition shows is not all that happened */
};

/* Prepares the repetitions that hold anything but scattered voltage readings. 0, or -1: out of memory. */
int runs_prepare(const struct trace *t, struct runs *r);
void runs_free(struct runs *r);

/* Periods: a sample that reaches so little over the switch of kernels does not straddle it. */
#define RUNS_ALIGNED 0.05
/* Whether sample i holds some of both kernels: its IPC is that of neither. False if the switch is not known (NaN). */
bool runs_straddles(const struct runs *r, size_t i, double switch_us);

/* Whether gap g is a halt: the level changes across it, or other repetitions lose time at the same place. */
bool runs_gap_is_halt(const struct runs *r, const struct gap *g);
