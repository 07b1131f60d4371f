/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of code by the ratios of its frequency to that of scalar code around it: how they are measured and told
 * apart, for every table that does. */
#pragma once

#include "tables/table/bracket_cells.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"

/* The code with which all is compared, the null. */
#define CLASSES_PLAIN "64add"

/* Brackets of n kernels around CLASSES_PLAIN, as the options say; `table` and the cell seed them. n 0: for
 * brackets_round_seconds() only. */
void classes_set_up(const struct tables_context *x, const char *table, const struct cell *c,
                    const struct payload *kernels, size_t n, struct brackets_setup *s);

/* What was seen of a kernel. */
struct classes_seen {
    unsigned density; /* first, for order_unsigned() */
    struct estimate ratio;
    double level; /* the license level at which most of the samples are; NaN: it is not counted */
    size_t used, discarded;
    double seconds; /* that the run took, of all kernels */
};
/* Runs the brackets; out[k]: of kernel k. MACHINE_OK, or fills *err and returns its status. */
int classes_run(const struct tables_context *x, const struct brackets_setup *s, struct classes_seen *out,
                struct machine_error *err);

/* Returns whether a ratio is of a slower class: below by the limits of both, and by more than frequencies must
 * differ. */
bool classes_slower(const struct estimate *a, const struct estimate *b);
/* Fills the column `class` from the column `ratio`: classes are ratios with a gap between them that is above the limits
 * of both; 0 is the fastest. Returns 0, or -1: out of memory. */
int classes_assign(struct table *t);
/* Returns how many rows have a ratio with limits; *half: half of the width of the widest. */
size_t classes_widest(const struct table *t, double *half);
