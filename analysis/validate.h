/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was measured against what was published. Pure: finished tables and the figures of a SKU in, a table of verdicts
 * out.
 *
 * The rule. A figure is a number p, or a range. The tolerance T is the figure's own if its file has one, else by the
 * column (validate_tolerance). Of the rows that the figure means, the measured value m with its 95 % limits lo..hi:
 *   agrees          |m - p| <= T, and the limits are not farther apart than 2 T
 *   deviates        all of lo..hi is farther than T from p: noise does not explain it
 *   undecided       neither: the limits are too wide to tell
 *   not measured    no row, or no value in it; the note has the reason that the table gives
 *   not published   the file says that it was looked for and not found; what was measured is shown, if it was
 * With several rows the worst one is told (deviates before undecided before agrees, then the farthest), unless the
 * figure is a mean: then m, lo and hi are the means over the rows.
 */
#ifndef CHARACTERIZE_VALIDATE_H
#define CHARACTERIZE_VALIDATE_H

#include <stddef.h>
#include <stdio.h>

#include "analysis/sku.h"
#include "analysis/table.h"

/*
 * The tolerance for a figure p of a column, in the column's unit:
 *   _ghz     1 %, at least 25 MHz: frequencies come in steps of 100 MHz, and neighbouring steps must be told apart;
 *            spread-spectrum clocks alone make 0.25 % (W-2104: 3.192 GHz of 3.2)
 *   _us      10 %, at least 3 us: printed times are rounded ("about 20"), samples 1 us long have two ends, and
 *            authors draw the first and the last moment of a phase differently
 *   share, ipc_ratio   0.05: what counts cycles counts them all or none; the ratios of interest are 1/4 and 1/2
 *   level, halts, mode, phase   0
 *   other    10 %
 */
double validate_tolerance(const char *column, double p);

/*
 * Compares n tables with the figures of a SKU. *out becomes the table `validate`, one row a figure in the order of the
 * file, with the metadata of the first table, those of the SKU (sku) and, where the measured CPU does not call itself
 * what the SKU's brand says, `warning`. Units stand in the column `unit`.
 * Returns 0, or -1: out of memory; table_free(out) in any case.
 */
int validate_tables(const struct sku *sku, const struct table *const *tables, size_t n, struct table *out);

/* How many figures have this verdict ("deviates": the exit status is 4 where there is one). */
size_t validate_count(const struct table *verdicts, const char *verdict);

/* For a person: head, a line a figure, what deviates first, and the numbers of verdicts. */
void validate_print(FILE *out, bool colour, const struct table *verdicts);

#endif
