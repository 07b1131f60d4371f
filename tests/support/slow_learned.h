/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policy `learned` of doc/simulation.md, written from that page alone, for tests/support/slow_simulator.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slow_learned; /* the memory of one task */

/* The gap that goes on since the demand of a core has fallen from a to b. */
struct slow_gap {
    bool open;
    uint32_t task; /* that demanded a */
    unsigned a, b;
    int64_t worked; /* ps; whoever holds the gap counts it */
};

/* To be freed. */
struct slow_learned *slow_learned_make(size_t n_tasks);
/* Opens the gap. Returns how long to hold, in ps; breakeven: of b and a, in ps, SIM_FOREVER for never. */
int64_t slow_learned_fell(const struct slow_learned *tasks, struct slow_gap *gap, uint32_t task, unsigned a, unsigned b,
                          int64_t breakeven);
/* The gap has ended; breakeven: as it is then. */
void slow_learned_rose(struct slow_learned *tasks, struct slow_gap *gap, int64_t breakeven);
