/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the table cores: which cores are unlike the others. */
#pragma once

#include "tables/table/tables.h"

/* Everything is measured so many times; the name of the detail that has pass %u of a CPU and a kernel, from 1. */
enum { CORES_PASSES_LEAST = 2, CORES_PASSES_MOST = 8 };
#define CORES_AGAIN "again %u CPU %d %s"

/*
 * Joins all passes of freq_ghz and first_rate: their mean, whose limits hold what single measurements of one core
 * differ by (Student's t, over the whole table: a clock that floats does so in all), no less than those of the first
 * pass. Tells whether a core throttles: its first rate is below 0.9 of the settled one by these limits, or above. The
 * groups of each kernel: cores whose frequencies alone lie within FREQUENCY_SAME of the next one's, or within the
 * limits of both; 1 is the fastest. A frequency without limits is in none. Fills the columns `group`, `throttle` and
 * `core`. Returns 0, or -1: out of memory. Pure.
 */
int cores_conclude(struct table *t);

/* How many groups a kernel has; 0: it was not measured. */
unsigned cores_groups(const struct table *t, const char *kernel);
/* The next row of a kernel from `row` on; t->n_rows: there is none. */
size_t cores_row_of(const struct table *t, const char *kernel, size_t row);
/* The kernel of the first row that none before it has, from `row` on; NULL: there is none. *row: that row. */
const char *cores_next_kernel(const struct table *t, size_t *row);

void cores_findings(FILE *out, const struct table *t);
