/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares measurements: two of them, or a thousand. Pure: the CSV texts of tables in, a table of differences out.
 *
 * A cell is a value with limits in a row of a table, identified by the row's key columns: the same cell of several
 * measurements is compared. (The column cpu is no key, unless each CPU is measured: which one stands for the others is
 * chance.) Counts (levels, halts) and a few texts (the kind of a transition) are compared as they are.
 *
 * The rule. Sorted by value, neighbors a < b of a cell are apart, if
 *     b - a > w hypot(a_hi - a, b - b_lo)
 * and if they differ by more than the least difference (estimates_least_difference). w widens limits of 95 % to those
 * of 1 - 0.05 / K, with all K pairs of measurements in all cells (Bonferroni): the ratio of the quantiles of Student's
 * t, with as many degrees of freedom as both have repetitions, less two. If all were of one processor, the probability
 * of any difference in all of the comparison would be 5 % at most. Values that are not apart are one group. Values
 * whose limits are ten times as wide as the cell's median do not join groups; they are undecided.
 *
 * In a group of 20 and more, a value is an outlier that is farther from the median than the normal quantile of
 * 0.05 / 2 / N (N values in all) times the spread: 1.4826 times the median absolute deviation, and its own standard
 * error, in quadrature.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/chart.h"
#include "tables/table/table.h"

struct comparison;

/* An empty one; NULL: out of memory. */
struct comparison *compare_new(void);
void compare_free(struct comparison *c);

/* A further measurement, by a name of its own; returns its number, from 0, or -1: out of memory. */
int compare_add(struct comparison *c, const char *name);
/*
 * Takes the values of one table of the last measurement from its CSV text, which is overwritten. `kind_name`: of the
 * registry. Returns 0; or -1 with one line in `why`: what is wrong and, with `file`, where.
 */
int compare_take(struct comparison *c, const char *kind_name, char *text, const char *file, char *why, size_t size);
/* Drops the last measurement with all of its values. */
void compare_drop(struct comparison *c);
size_t compare_measurements(const struct comparison *c);

/*
 * Compares. *out becomes the table `compare`: a row for each cell that two measurements have, with those that differ
 * marked in the column `verdict` (differs, alike, undecided); details: `measurements` (each with remarks), `settings`
 * (those that differ), `groups`. Returns 0, or -1: out of memory; table_free(out) in any case.
 */
int compare_conclude(struct comparison *c, struct table *out);

/* ---- of a finished comparison ---- */

/* Prints measurements, settings that differ, values that differ, measurements unlike the others, and one closing
 * sentence. */
void compare_print(FILE *out, bool colour, const struct table *t);
/* A panel for each table that has differences, or for all where nothing differs: a row for each value, how far each
 * measurement's is from the median, in %. */
void compare_plot(const struct comparison *c, struct chart *chart);
#define COMPARE_TITLE "Comparison"
