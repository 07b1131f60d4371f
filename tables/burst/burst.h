/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table burst: what short bursts of wide code cost the code around them (doc/formats.md). */
#pragma once

#include <stdbool.h>

#include "tables/table/estimates.h"
#include "tables/table/table.h"

/* Narrower code that does the same work: of half the width in twice as many instructions; and of 128 bits, where that
 * is narrower still. */
enum burst_narrower { BURST_HALF, BURST_128, BURST_NARROWER };
struct burst_against {
    const char *saves, *breakeven; /* columns */
};
extern const struct burst_against burst_against[BURST_NARROWER];
/* The bits of that code for a kernel of so many bits; 0: there is none. */
unsigned burst_narrower_bits(unsigned bits, enum burst_narrower n);
/* Its name, "256fma" for 512fma; "" where there is none. Returns `out`. */
const char *burst_narrower_name(const char *kernel, enum burst_narrower n, char out[32]);

/* The next row of the same kernel and the same time between bursts from `row` on; t->n_rows: none. */
size_t burst_next(const struct table *t, const char *kernel, double every_us, size_t row);
/* Whether no row before it is of the same kernel and time. */
bool burst_first(const struct table *t, size_t row);

/* "10 us", "1 ms", "100 ms"; and a number of instructions: "1", "1e4". Return `out`. */
const char *burst_time_text(double us, char out[ESTIMATE_TEXT_MAX]);
const char *burst_count_text(double count, char out[ESTIMATE_TEXT_MAX]);

/* "31 [10, 100]", or "at most 100" where no fewer surely cost more. Returns `out`. */
const char *burst_breakeven_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX]);

/* Fills the columns `breakeven` and `breakeven128`. Returns 0, or -1: out of memory. Pure. */
int burst_conclude(struct table *t);
void burst_findings(FILE *out, const struct table *t);
