/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of results as an HTML table. */
#ifndef CHARACTERIZE_REPORT_TABLE_H
#define CHARACTERIZE_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/report/report_words.h"
#include "tables/table/table.h"

/* The rows with this caption, in an element of this id. `csv`: the file with all rows, named where the page has not got
 * them all; may be NULL. */
void report_table(FILE *out, const struct report_words *w, const struct table *t, const char *caption, const char *id,
                  const char *csv);

/* Whether it is too wide for a page in portrait. */
bool report_table_is_wide(const struct table *t);

/* The key fields of a missing entry for a person: "128fma → 512fma, 16 active cores". */
void report_table_missing_name(FILE *out, const struct report_words *w, const struct table *t, size_t entry);

#endif
