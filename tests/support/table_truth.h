/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of measured tables against what the parameters of the model say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "drivers/model/model.h"
#include "tables/table/tables.h"

/* One column of a table, over all that was checked. */
struct column_score {
    char table[16], column[24];
    size_t cells;     /* whose truth is known */
    size_t undecided; /* of them, those without a value */
    size_t off;       /* those with one that is off by more than 1 %, and of times by more than 1 us */
    size_t limited;   /* those with limits ... */
    size_t within;    /* ... that hold the truth */
    size_t wrong;     /* off, and if there are limits outside them; or a verdict that is not so */
};
enum { COLUMN_SCORES_MAX = 64 };
struct table_scores {
    size_t n, skipped; /* skipped: rows of phases below 4 us, or that depend on chance */
    struct column_score column[COLUMN_SCORES_MAX];
    FILE *details; /* NULL, or where what is off or wrong goes */
    bool outside;  /* ... and what is outside its limits */
};

/* The tables that have a truth, in the order of tables_all(); *n is set. */
const struct table_kind *const *truth_tables(size_t *n);

/* Measures one of them on the model, with five usual kernels, and adds its cells to the scores. Fails the test where it
 * cannot be measured. `seed`: of the options, and what the model is called in details. */
void truth_check(const struct table_kind *kind, const struct model *m, unsigned long seed, struct table_scores *out);
/* The same with these `n` kernels. */
void truth_check_kernels(const struct table_kind *kind, const struct model *m, unsigned long seed,
                         const char *const *kernels, size_t n, struct table_scores *out);

/* The sum of one table's scores, NULL: of all. */
struct column_score truth_sum(const struct table_scores *s, const char *table);
/* One line for each column, each table, and all. */
void truth_print(FILE *out, const struct table_scores *s);
