/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of a switch of code whose every stretch is stated: what each part of the pooled analysis must get right. */
#ifndef TEST_SWITCH_TRACES_H
#define TEST_SWITCH_TRACES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

enum { SWITCH_PIECES_MAX = 6 };

/* After the switch: until then, us from it, the core runs at a rate and a clock, both of those before the switch. */
struct switch_piece {
    double until_us, rate, clock;
};

struct switch_plan {
    unsigned repetitions;
    double work_us;                               /* of a sample at full rate; on a grid: its period */
    double before_us, after_us;                   /* recorded */
    struct switch_piece piece[SWITCH_PIECES_MAX]; /* until until_us is 0; then at full rate and the last clock */
    double spread;      /* relative standard deviation of until_us, drawn once a repetition for all of them */
    double busy_share;  /* of the time, beside a sibling thread that leaves 0.65 of the rate, 12 us at a time */
    double chain_noise; /* relative, of a frequency */
    bool grid;          /* a sample each work_us, with a frequency in each, instead of samples of fixed work */
    uint64_t seed;
};

/* The trace at 3 GHz and an IPC of 2, `from` and `to` stated. 0, or -1: out of memory. */
int switch_trace(const struct switch_plan *plan, struct trace *t);
/* By how much the times of a repetition of that trace are longer than planned. */
double switch_scale(const struct switch_plan *plan, unsigned repetition);

#endif
