/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random traces of no known answer: states that last, and differ, as much as an analysis just tells apart, or just not;
 * repetitions that go other ways than most; bouts of another thread, ramps, coarse clocks, voltages. Few repetitions of
 * few samples, so that many of them cost little. Knows nothing of the analysis but the form of a trace.
 */
#pragma once

#include <stdint.h>

#include "trace/trace.h"

enum odd_kind {
    ODD_STEPS,  /* short states, counters */
    ODD_RAMPS,  /* frequencies that approach their value, by counters or by chains */
    ODD_CHAINS, /* short states, a chain of adds against a clock that goes in steps */
    ODD_BOUTS,  /* another thread on the core */
    ODD_VOLTS,  /* steps and ramps of the voltage, too */
    ODD_FEW,    /* one to five repetitions, which lose time */
    ODD_KINDS
};

/* "steps", ... */
const char *odd_kind_name(enum odd_kind kind);

/* The same arguments give the same trace. 0, or -1: out of memory. */
int odd_trace(enum odd_kind kind, uint64_t seed, struct trace *t);
