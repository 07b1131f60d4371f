/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the table overhead: its words and its plot. */
#pragma once

#include "tables/table/tables.h"

/* overhead_print.c: a line for each number of active cores, below its pair. Published figures, of the detail
 * "published", stand beside and are marked as such: they are for display alone. */
table_print_rows overhead_print;
/* The most expensive change, and how long a boost must last. */
void overhead_findings(FILE *out, const struct table *t);
/* The assumption in one line. */
extern const char overhead_assumption[];

/* overhead_plot.c: costs and break-even times, over the active cores where there are several. */
void overhead_plot(const struct table *t, struct chart *c);
