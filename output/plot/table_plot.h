/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plot of a table of results, as its kind describes it (the hook `plot`). Pure: from rows to a gnuplot script;
 * gnuplot makes the picture of it. Tables may have more columns than their kind, and lack those of limits.
 */
#ifndef CHARACTERIZE_TABLE_PLOT_H
#define CHARACTERIZE_TABLE_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "tables/table/table.h"

/*
 * Writes the gnuplot script, data included, that draws the table with this title as SVG to its standard output. Returns
 * 0, or -1 with one line in `why`: no rows, no plot for a table of this name, out of memory.
 */
int table_plot_script(const struct table *t, const char *title, FILE *out, char *why, size_t why_size);

/* The picture as SVG text on a white background, from malloc; NULL with one line in `why`, also where gnuplot is not
 * installed (it then says how to get it). */
char *table_plot_svg(const struct table *t, const char *title, char *why, size_t why_size);

#endif
