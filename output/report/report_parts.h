/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pieces of the report's page (private to analysis/report_*.c). */
#ifndef CHARACTERIZE_REPORT_PARTS_H
#define CHARACTERIZE_REPORT_PARTS_H

#include "output/report/report_html.h"

/* report_style.c: the style sheet, as text between <style> and </style>. */
extern const char report_style[];

/* report_table.c: the rows as an HTML table with this caption, in an element of this id. `csv`: the file with all rows,
 * named where the page has not got them all; may be NULL. */
void report_table(FILE *out, const struct table *t, const char *caption, const char *id, const char *csv);

/* Whether it is too wide for a page in portrait. */
bool report_table_is_wide(const struct table *t);

/* The key fields of a missing entry for a person: "128fma → 512fma, 16 active cores". */
void report_missing_name(FILE *out, const struct table *t, size_t entry);

/* report_missing.c: the section of what could not be measured. */
void report_missing(FILE *out, const struct report_part *parts, size_t n, bool incomplete);

/* report_words.c: the heading of a column without its unit, into `out`: "frequency" of freq_ghz. */
void report_column_name(const struct table_column *c, char *out, size_t size);

/* A source that methods name by one letter and a section. */
struct report_source {
    char letter;
    const char *title;
};
/* All of them; *n is set. */
const struct report_source *report_sources(size_t *n);
/* Whether the text cites it: the letter as a word of its own, with a section ("G 3.2.2") or alone ("K)", "K,"). */
bool report_cites(const char *text, char letter);

#endif
