/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brackets (probes/brackets.h) of a cell of a table, as the options say. */
#pragma once

#include "probes/brackets.h"
#include "tables/table/tables.h"

/* The machine, and what --warmup, --observe and --period say of slots; the rest stays as brackets_defaults() has it. */
void bracket_cells_take_options(const struct tables_context *x, const char *table, const struct cell *c,
                                struct brackets_setup *s);
/* brackets_run(), with the progress of a cell. */
int bracket_cells_run(const struct tables_context *x, const struct brackets_setup *s, struct brackets_result *out,
                      struct machine_error *err);
