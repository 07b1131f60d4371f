/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of the switch itself, whatever license the new code requests: code fetched and decoded for the first time, a
 * cold branch predictor. It slows the first microseconds after a switch just as throttling does. But a core that runs
 * the second kernel, then the first for much less than the wait for a higher frequency, then the second again, still
 * holds the license that this requests: nothing is throttled then, and whatever is slow nevertheless is the switch.
 */
#pragma once

#include <stddef.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

enum { SWITCH_COST_BINS_MAX = TRACE_HELD_RATES_MAX };

/* The rate after such a switch, 1 = as before it. Bin k begins switch_cost_bin_us(period_us, k) after the switch. */
struct switch_cost {
    double period_us;
    size_t n;
    double rate[SWITCH_COST_BINS_MAX]; /* NaN: not measured */
};

/* The first 32 bins are one period long, each further one a tenth longer than the one before. */
double switch_cost_bin_us(double period_us, size_t k);

/* How long after the switch the cost must be known to judge these phases, us; 0: they show nothing that the switch
 * itself might explain. */
double switch_cost_until_us(const struct phases *p, double period_us);

/*
 * The cost until `until_us`, from repetitions of a switch at time 0 at which the license is held already; from
 * `from_us` to `to_us` (before time 0) the second kernel ran at its full rate. Each bin is the median of the
 * repetitions. 0, or -1: out of memory.
 */
int switch_cost_measure(const struct trace *t, double period_us, double until_us, double from_us, double to_us,
                        struct switch_cost *out);

/*
 * Withdraws throttling, and halts without a change of frequency, that begin at the switch and of which the switch
 * itself explains two fifths or more (in caches as warm as they are there; seen beside a busy sibling: half of what
 * real switches lose), or a fifth or more if that is more than a tenth of the full rate, since the ratio that
 * remains is not known then: they become unknown with the reason (phase.switch_explains), and a transition that
 * consists of nothing else goes. What the processor itself counts as throttled (event 28H, umask 40H) is throttled in
 * part in any case. A warning says so. 0, or -1: out of memory.
 */
int switch_cost_judge(const struct switch_cost *c, struct phases *p);

/* Through the trace's metadata (held_rates and period_us, doc/formats.md): switch_cost_note() writes it,
 * switch_cost_recorded() judges by it, and does nothing where it is missing. 0, or -1: out of memory. */
int switch_cost_note(struct trace *t, const struct switch_cost *c);
int switch_cost_recorded(const struct trace *t, struct phases *p);
