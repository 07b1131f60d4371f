/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The picture of a table of results, as its kind describes it (the hook `plot`). Tables may have more columns than
 * their kind, and lack those of limits.
 */
#ifndef CHARACTERIZE_TABLE_CHART_H
#define CHARACTERIZE_TABLE_CHART_H

#include <stddef.h>

#include "tables/table/chart.h"
#include "tables/table/table.h"

/*
 * Describes it, with this title (NULL: the table's name). Returns 0, or -1 with one line in `why`: no rows, no values,
 * no plot for a table of this name, out of memory. chart_free in any case.
 */
int table_chart(const struct table *t, const char *title, struct chart *c, char *why, size_t why_size);

#endif
