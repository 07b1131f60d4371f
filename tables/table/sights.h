/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a core ran in a window of one repetition. Pure: from traces of sequences of kernels. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* Samples of one repetition: [first, last) of the trace. */
struct sights_span {
    size_t first, last;
};
/* The samples of run number `run`; an empty span if there are none. */
struct sights_span sights_span(const struct trace *t, uint32_t run);

/* One repetition: how the core ran in a window of time. */
struct sight {
    double freq;  /* GHz, median of the window */
    double ipc;   /* of the payload there, median */
    double level; /* mean license level by the counters, 0..2; NaN where they are not counted */
    int grade;    /* set by who compares repetitions: 0 = the highest frequency */
};
/*
 * Looks at the samples that lie within from_us..to_us. Returns NULL and fills *out, or a few words that say why the
 * repetition says nothing: too few samples, or the program was interrupted for so long that the core may have changed
 * its level meanwhile.
 */
const char *sights_look(const struct trace *t, struct sights_span s, double from_us, double to_us, struct sight *out);
