/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the relaxation table (private to tables/). */
#ifndef CHARACTERIZE_TABLES_RELAXATION_H
#define CHARACTERIZE_TABLES_RELAXATION_H

#include "tables/tables.h"

#define RELAXATION_TITLE "How long a core stays slow after wide code"

/* tables/relaxation_cells.c: what a cell's number[0] says it is. */
enum { RELAXATION_WAIT, RELAXATION_REARM, RELAXATION_TOGGLE };
int relaxation_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                       struct machine_error *err);
/* For a rearm cell: the kernel that runs in the waiting time is number[1] of these, or past them `from` itself. */
extern const char *const relaxation_rearming[];
extern const size_t relaxation_n_rearming;

/* tables/relaxation_text.c */
void relaxation_print(FILE *out, bool colour, const struct table *t);
void relaxation_findings(FILE *out, const struct table *t);

#endif
