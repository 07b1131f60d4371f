/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of scores, and how they are printed. */
#include <stdio.h>
#include <string.h>

#include "tests/support/table_truth.h"

static void add(struct column_score *sum, const struct column_score *s)
{
    sum->cells += s->cells;
    sum->undecided += s->undecided;
    sum->off += s->off;
    sum->limited += s->limited;
    sum->within += s->within;
    sum->wrong += s->wrong;
}

struct column_score truth_sum(const struct table_scores *s, const char *table)
{
    struct column_score sum = {.column = "all"};
    snprintf(sum.table, sizeof sum.table, "%s", table ? table : "all tables");
    for (size_t i = 0; i < s->n; i++)
        if (!table || strcmp(s->column[i].table, table) == 0)
            add(&sum, &s->column[i]);
    return sum;
}

static void print_line(FILE *out, const struct column_score *s)
{
    char within[20] = "-";
    if (s->limited)
        snprintf(within, sizeof within, "%.1f", 100.0 * (double)s->within / (double)s->limited);
    fprintf(out, "%-12s %-14s %7zu %9zu %7zu %7s %7zu %7zu\n", s->table, s->column, s->cells, s->undecided, s->limited,
            within, s->off, s->wrong);
}

void truth_print(FILE *out, const struct table_scores *s)
{
    fprintf(out, "%-12s %-14s %7s %9s %7s %7s %7s %7s\n", "table", "column", "cells", "undecided", "limits", "hold, %",
            "off", "wrong");
    size_t n;
    const struct table_kind *const *kinds = truth_tables(&n);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < s->n; i++)
            if (strcmp(s->column[i].table, kinds[k]->name) == 0)
                print_line(out, &s->column[i]);
        struct column_score sum = truth_sum(s, kinds[k]->name);
        if (sum.cells)
            print_line(out, &sum);
    }
    struct column_score sum = truth_sum(s, NULL);
    print_line(out, &sum);
    fprintf(out, "%zu rows left out: phases that are too short or too alike, or that depend on chance\n", s->skipped);
}
