/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed number of timers, of which the first to expire is known at any time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timers {
    size_t leaves;
    int64_t *at;    /* ps; SIM_FOREVER: it is not set */
    size_t *winner; /* a tournament */
};

/* False: out of memory. timers_free in any case. */
bool timers_init(struct timers *t, size_t n);
void timers_free(struct timers *t);
void timers_set(struct timers *t, size_t i, int64_t at);
/* When the first expires, and which: of several the lowest. */
int64_t timers_first(const struct timers *t, size_t *i);
