/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table overhead for a person. */
#ifndef CHARACTERIZE_TABLES_OVERHEAD_PRINT_H
#define CHARACTERIZE_TABLES_OVERHEAD_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "tables/table/table.h"

/* What somebody has published of the same processor; NaN: nothing. */
struct overhead_published {
    char from[32], to[32];
    unsigned active_cores; /* 0: whatever their number */
    double down_us, up_us, breakeven_us;
};

/* Reads them from the table's detail "published" (tables/published/published.h). Returns how many, at most max. */
size_t overhead_published_of(const struct table *t, struct overhead_published *out, size_t max);

/* How the reason begins where costs are missing because the frequency does what it likes. */
#define OVERHEAD_MOVES "the frequency moves by itself"

/* A line for each number of active cores, below its pair. Published figures, of the detail
 * "published", stand beside and are marked as such: they are for display alone. */
void overhead_print(FILE *out, bool colour, const struct table *t);
/* The most expensive change, and how long a boost must last. */
void overhead_findings(FILE *out, const struct table *t);

#endif
