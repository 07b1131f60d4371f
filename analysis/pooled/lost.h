/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a switch loses, whatever states it is lost in. */
#pragma once

#include <stdbool.h>

#include "analysis/stats/estimate.h"
#include "trace/trace.h"

/* What code that comes into the caches may lose it in, us: beyond that a switch of code alone costs nothing. */
#define LOST_SOON_US 5.0

/*
 * The time lost against the rate that each repetition has in the end, in the first until_us, us, with limits over
 * the repetitions: that of `t` less that of `null`, recorded in turn with it (NULL, or too few of them: nothing is
 * taken off). kinds: the repetitions may be of two kinds, as where a phase has two lengths. NaN where `t` has too
 * few. 0, or -1: out of memory.
 */
int lost_beyond(const struct trace *t, const struct trace *null, double until_us, bool kinds, struct estimate *out);
