/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The switch that the report shows before its tables: the widest one that was measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/table.h"

struct report_course {
    const char *phases; /* a phases file, of the table */
    unsigned cores;     /* active ones */
    size_t table;       /* whose it is */
};

/*
 * Of the switches to wider or heavier code in the tables' details the one to the widest and heaviest kernel from the
 * narrowest and lightest, with most active cores, and of those in which something happens if there is any. False: there
 * is none.
 */
bool report_course_choose(const struct table *tables, size_t n, struct report_course *out);

/* What its figures do not show, a line each: that the table has no levels, and the warnings of its phases. */
void report_course_notes(const struct table *tables, const struct report_course *course, char *out, size_t size);
