/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields of rows that are not there are absent (tables/table/table.h), so that code which reads one row too many would
 * show in no result. The library of the unit tests is linked with --wrap: every field that its parts read from tables
 * must be there; reads of the tests themselves are not checked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tables/table/table.h"

double __real_table_number(const struct table *t, size_t row, const char *column);
const char *__real_table_text(const struct table *t, size_t row, const char *column);
bool __real_table_says(const struct table *t, size_t row, const char *column, const char *text);
double __wrap_table_number(const struct table *t, size_t row, const char *column);
const char *__wrap_table_text(const struct table *t, size_t row, const char *column);
bool __wrap_table_says(const struct table *t, size_t row, const char *column, const char *text);

static void insist(const struct table *t, size_t row, const char *column)
{
    if (row < t->n_rows)
        return;
    fprintf(stderr, "table %s: column %s is read in row %zu of %zu\n", t->name, column, row, t->n_rows);
    abort();
}

double __wrap_table_number(const struct table *t, size_t row, const char *column)
{
    insist(t, row, column);
    return __real_table_number(t, row, column);
}

const char *__wrap_table_text(const struct table *t, size_t row, const char *column)
{
    insist(t, row, column);
    return __real_table_text(t, row, column);
}

bool __wrap_table_says(const struct table *t, size_t row, const char *column, const char *text)
{
    insist(t, row, column);
    return __real_table_says(t, row, column, text);
}
