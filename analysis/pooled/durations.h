/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long states last (private to analysis/pooled). */
#pragma once

#include "analysis/pooled/pooled.h"

/* us: samples of a period end with the block that runs then; and of what is no mean. */
#define POOLED_RESOLUTION 0.05

/* What has been found, and the phases that are made of it. */
struct pooled_answer {
    const struct pooled *p;
    const struct pooled_states *s;
    const struct pooled_clock *c;
    struct phases *out;
};

/* The clock's stretch that holds most of begin..end, us; NULL: none. */
const struct pooled_clock_state *pooled_clock_in(const struct pooled_clock *c, double begin, double end);
/* How much longer chains take in state k than in the end, where they are slower than before and in the end, which no
 * clock explains: a factor above 1. Else 1. */
double pooled_chains_longer(const struct pooled_answer *a, size_t k);
/* How long state k, not the last, lasts in each repetition: the main mode with its limits, and all modes, into *ph. x:
 * scratch of three for each repetition. 0, or -1: out of memory. */
int pooled_state_duration(const struct pooled_answer *a, size_t k, struct phase *ph, double *x);
