/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether finished tables may be used: those of one measurement, with the columns and values that they promise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/export/schedule.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"
#include "util/error.h"

static bool schedule_check_same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

int schedule_check_tables(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    static const char *const keys[] = {"cpu", "machine", "modelled"};
    for (size_t i = 0; i < n; i++) {
        if (tables[i]->failed || !tables[i]->name)
            return error_line(why, why_size, "incomplete table: memory ran out while building it");
        for (size_t j = 0; j < i; j++)
            if (strcmp(tables[i]->name, tables[j]->name) == 0)
                return error_line(why, why_size, "the table %s is given twice", tables[i]->name);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *first = table_meta(tables[0], keys[k]), *other = table_meta(tables[i], keys[k]);
            if (schedule_check_same(first, other))
                continue;
            return error_line(why, why_size, "tables from different measurements: %s is '%.60s' in %s, '%.60s' in %s",
                              keys[k], first ? first : "", tables[0]->name, other ? other : "", tables[i]->name);
        }
    }
    return 0;
}

static int check_columns(const struct table *t, char *why, size_t why_size)
{
    const struct table_kind *k = tables_find(t->name);
    for (size_t c = 0; k && c < TABLES_PROMISED_MAX && k->promised[c]; c++)
        if (!table_has(t, k->promised[c]))
            return error_line(why, why_size, "the table %s has no column %s", t->name, k->promised[c]);
    return 0;
}

/* Limits of a field that is there, each as far as it is known, enclose it; all three were rounded to nine digits. */
static int schedule_check_limits(const struct table *t, size_t row, const char *column, char *why, size_t why_size)
{
    struct estimate e = estimates_of_table(t, row, column);
    double value = e.value, lo = e.lo, hi = e.hi;
    double slack = 1e-7 * fmax(fabs(value), fmax(isfinite(lo) ? fabs(lo) : 0, isfinite(hi) ? fabs(hi) : 0)) + 1e-12;
    if (!(lo > value + slack) && !(hi < value - slack) && !(lo > hi + slack)) /* absent ones are NaN */
        return 0;
    return error_line(why, why_size, "the table %s, row %zu: %s is %.9g, with the limits %.9g to %.9g", t->name,
                      row + 1, column, value, lo, hi);
}

int schedule_check_rows(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    for (size_t i = 0; i < n; i++) {
        const struct table *t = tables[i];
        if (check_columns(t, why, why_size) != 0)
            return -1;
        for (size_t c = 0; c < t->n_columns; c++)
            for (size_t row = 0; row < t->n_rows && t->columns[c].type != TABLE_TEXT; row++)
                if (schedule_check_limits(t, row, t->columns[c].name, why, why_size) != 0)
                    return -1;
    }
    return 0;
}
