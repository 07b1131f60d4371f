/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table overhead for a person. */
#ifndef CHARACTERIZE_TABLES_OVERHEAD_PRINT_H
#define CHARACTERIZE_TABLES_OVERHEAD_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/table.h"

/* What somebody has published of the same processor; NaN: nothing. */
struct overhead_published {
    const char *from, *to;
    unsigned active_cores; /* 0: whatever their number */
    double down_us, up_us, breakeven_us;
};

/* A line for each number of active cores, below its pair. Published figures stand beside, marked as such: they are
 * for display alone. */
void overhead_print(FILE *out, bool colour, const struct table *t, const char *title,
                    const struct overhead_published *published, size_t n_published);
/* The most expensive change, and how long a boost must last. */
void overhead_findings(FILE *out, const struct table *t);

#endif
