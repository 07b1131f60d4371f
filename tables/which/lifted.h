/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instructions lift the class of the blocks that were measured: parts of these, measured in the same way. */
#pragma once

#include "drivers/binary/binary.h"
#include "probes/brackets.h"
#include "tables/table/tables.h"

/*
 * Fills the columns lifted_by and without, of rows of the highest classes first, and of those that are like another one
 * last; notes what is undecided as missing.
 * row_of[k]: of choice->chosen[k], SIZE_MAX: none; `setup`: of all blocks, whose seconds this may take again. Where all
 * are of one class nothing is measured. MACHINE_OK, or fills *err and returns its status.
 */
int lifted_find(const struct tables_context *x, const struct binary_choice *choice, const size_t *row_of,
                const struct brackets_setup *setup, struct table *rows, struct machine_error *err);

/* Returns whether two rows are blocks of one class and function with the same most frequent instructions. */
bool lifted_alike(const struct table *t, size_t a, size_t b);
