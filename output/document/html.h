/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of our HTML pages: text of unknown origin, tables, pictures, and the look and the words that data/report/ has
 * for all of them. A page is one file, with its style, its script and its pictures inside. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/table.h"
#include "util/template.h"

/* printf for such texts: %s is written by html_text; there is also %zu, and no other. */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The first `length` bytes of a text. */
void html_text_part(FILE *out, const char *text, size_t length);
/* Text whose line ends are kept, as <br>; empty lines are left out. */
void html_lines(FILE *out, const char *text);
/* Each line of a text between these, which are written as they are; empty lines are left out. */
void html_each_line(FILE *out, const char *before, const char *text, const char *after);
/* A fact of a list <dl>, whose value may have several lines; none without one. */
void html_fact(FILE *out, const char *name, const char *value);
/*
 * A link to a file beside the page, which shows its name. It is relative whatever the name holds: all but letters,
 * digits and "-._~/" are percent-encoded (RFC 3986, section 2.1), and slashes at its beginning are left out.
 */
void html_link(FILE *out, const char *name);

/* ---- the words and the look ---- */

struct html_words {
    struct template_file page, table;   /* of a report, and of a table's section in it */
    struct template_file style, script; /* CSS; what sorts tables */
    /* words.json; headings of columns by name, publications by letter, words that the report explains */
    json_t *all, *columns, *sources, *glossary;
};

/* Returns 0, or -1 with one line in `why`: which file is not there or cannot be used, and what would work. */
int html_words_read(struct html_words *w, char *why, size_t why_size);
void html_words_free(struct html_words *w);
/* The heading of a column without its unit, into `out`: "frequency" of freq_ghz. */
void html_words_column(const struct html_words *w, const struct table_column *c, char *out, size_t size);
/* The values that all pages have: STYLE, SCRIPT, and whether what they tell is modelled. False: out of memory. */
bool html_words_values(const struct html_words *w, bool modelled, struct template_values *v);

/* ---- pictures ---- */

/*
 * A picture made by gnuplot as an <svg> element: without prologue, name spaces, size and gnuplot's titles; its ids and
 * references prefixed with `prefix`, so that several may stand in one page, colours as variables, `title` as its
 * accessible name. Returns 0, or -1 with nothing written: it is no picture by gnuplot, or holds what could run or fetch
 * something.
 */
int html_svg(FILE *out, const char *svg, const char *prefix, const char *title);
/* The picture, a <figure> that scrolls; in its place a note of why there is none. NULL or "" for both: nothing. */
void html_figure(FILE *out, const char *svg, const char *why, const char *prefix, const char *title);

/* ---- tables ---- */

/* Rows that are shown before the reader opens the others; rows in the page, all of which are printed: of a longer table
 * the page names the file; and rows on paper, as data/report/style.css has them. */
enum { HTML_ROWS_SHOWN = 16, HTML_ROWS_MAX = 1000, HTML_ROWS_PAPER = 8 };

/* The rows with this caption, in an element of this id. `csv`: the file with all rows, named where the page has not got
 * them all; may be NULL. */
void html_table(FILE *out, const struct html_words *w, const struct table *t, const char *caption, const char *id,
                const char *csv);
/* Returns true if it is too wide for a page in portrait. */
bool html_table_is_wide(const struct table *t);
/* The key fields of a missing entry for a person: "128fma → 512fma, 16 active cores". */
void html_missing_name(FILE *out, const struct html_words *w, const struct table *t, size_t entry);
