/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a switch itself costs, whatever it asks for: code that is fetched and decoded for the first time, tables of the
 * branch predictor that have forgotten. It slows the first microseconds after a switch as throttling does. But a core
 * that runs the second kernel, then the first for a moment that is much shorter than the wait, then the second again,
 * still holds all that this asks for: then nothing is throttled, and what is slow all the same is the switch.
 */
#ifndef CHARACTERIZE_SWITCH_COST_H
#define CHARACTERIZE_SWITCH_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "trace/trace_keys.h"

enum { SWITCH_COST_BINS_MAX = TRACE_HELD_RATES_MAX };

/* The rate after such a switch, 1 = as before it. Bin k begins switch_cost_bin_us(period_us, k) after the switch. */
struct switch_cost {
    double period_us;
    size_t n;
    double rate[SWITCH_COST_BINS_MAX]; /* NaN: not measured */
};

/* The first 32 bins are one period long, each further one a tenth longer than the one before. */
double switch_cost_bin_us(double period_us, size_t k);

/* Until when the course must be known to judge what these phases tell of the time from the switch on, us; 0: they tell
 * of nothing that the switch itself might be. */
double switch_cost_until_us(const struct phases *p, double period_us);

/*
 * The course in repetitions of a switch at time 0 at which everything is held, until `until_us`; `from_us` to `to_us`
 * (before time 0) the second kernel ran at its full rate. In each bin the median of the repetitions. 0, or -1: out of
 * memory.
 */
int switch_cost_measure(const struct trace *t, double period_us, double until_us, double from_us, double to_us,
                        struct switch_cost *out);

/*
 * Takes back throttling, and halts at which the frequency stays, from the switch on, of which the switch itself
 * explains half or more, or a tenth of the full rate, since nobody knows what ratio is left then: they become unknown
 * with the reason (phase.switch_explains), and a transition of nothing else goes. What the processor counts as throttled
 * (event 28H, umask 40H) is throttled besides in any case. A warning tells. 0, or -1: out of memory.
 */
int switch_cost_judge(const struct switch_cost *c, struct phases *p);

/* Through the trace's metadata (held_rates and period_us, doc/formats.md): again judges by it, and does nothing where
 * it is missing. 0, or -1: out of memory. */
int switch_cost_note(struct trace *t, const struct switch_cost *c);
int switch_cost_recorded(const struct trace *t, struct phases *p);

#endif
