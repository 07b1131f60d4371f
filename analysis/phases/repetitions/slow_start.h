/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second kernel that starts slowly for a few samples: throttling so short that each repetition has its own idea of
 * it. (A Granite Rapids runs the first 2.7 us of 512-bit FMAs at a quarter of their rate.)
 */
#pragma once

#include <stdbool.h>

#include "trace/trace.h"

/*
 * Of a recording with time 0 at the switch, sampled every period_us: whether the median repetition loses at least a
 * third of a period, and more than chance, in the first samples after it, and is at the rate that it keeps after no
 * more than SLOW_START_OVER (of slow_start.c) periods. Longer throttling is not this function's business. Such a
 * recording is better made again with a shorter period. *slow: the answer. 0, or -1: out of memory.
 */
int slow_start_too_short(const struct trace *t, double period_us, bool *slow);

struct slow_start {
    float *freq, *ipc; /* NULL: nothing is to be put right */
};

/*
 * Where a chain of adds is the clock it may be throttled, too: what it reads in the slow samples is no frequency then,
 * and the IPC by it is none. Of such a start of up to twice as many periods *out holds the channels of *t, of which the
 * readings in the slow samples are missing and IPC is per cycle of the frequency that follows. 0, or -1: out of memory.
 * To be freed with slow_start_free() in any case.
 */
int slow_start_find(const struct trace *t, double period_us, struct slow_start *out);
void slow_start_free(struct slow_start *s);
