/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entry (doc/sku-format.md) that a measurement supports: one figure for each value whose limits are known, its
 * precision half their width, marked as measured or modelled, its source the table, whose SHA-256 the head tells. Pure:
 * finished tables in, text out. Validated against the same tables, every figure agrees.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/table.h"

struct draft {
    char *text;      /* the file; NULL: there is no figure */
    size_t figures;  /* that it has */
    size_t left_out; /* values of these columns that have no limits */
};

/*
 * Writes the entry of n tables of one measurement. out->text is to be freed. MACHINE_OK, or *err says what is wrong:
 * MACHINE_CANNOT where no value has limits.
 */
int draft_write(const struct table *const *tables, size_t n, struct draft *out, struct machine_error *err);
