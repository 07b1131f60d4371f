/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pages of reports are made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/report/report.h"
#include "tables/table/chart.h"

/* report_section.c. One table: heading, findings, picture, rows, settings, files (data/report/table.html.in). */
const char *report_section_title(const struct report_part *p);
/* How it was measured; NULL: nobody says. */
const char *report_section_method(const struct report_part *p);
/* The section number `number` of the page. Returns 0, or -1 with one line in `why`. */
int report_section(FILE *out, const struct report_words *w, const struct report_part *p, size_t number, char *why,
                   size_t why_size);

/* report_table.c. The rows with this caption, in an element of this id. `csv`: the file with all rows, named where the
 * page has not got them all; may be NULL. */
void report_table(FILE *out, const struct report_words *w, const struct table *t, const char *caption, const char *id,
                  const char *csv);
/* Whether it is too wide for a page in portrait. */
bool report_table_is_wide(const struct table *t);
/* The key fields of a missing entry for a person: "128fma → 512fma, 16 active cores". */
void report_table_missing_name(FILE *out, const struct report_words *w, const struct table *t, size_t entry);

/* report_missing.c. What could not be measured: the items of a list, each reason once with all that it kept from being
 * measured. */
void report_missing(FILE *out, const struct report_words *w, const struct report_part *parts, size_t n);

/*
 * svg_inline.c. Writes a picture made by gnuplot as an <svg> element for an HTML page: without prologue, name spaces,
 * size and gnuplot's titles; its ids and references prefixed with `prefix`, so that several may stand in one page,
 * colours as variables, `title` (escaped here) as its accessible name. Returns 0, or -1 with nothing written: it is no
 * picture by gnuplot, or holds what could run or fetch something.
 */
int svg_inline(FILE *out, const char *svg, const char *prefix, const char *title);
/* Whether it would. */
bool svg_inline_possible(const char *svg);

/* report_page.c. The values that all pages have: the style, and whether what they tell is modelled. False: out of
 * memory. */
bool report_page_values(struct template_values *v, const struct report_words *w, bool modelled);

/* A page that is not the report: what is put into it goes to values.out. */
struct report_page {
    struct report_words words;
    struct template_file file;
    struct template_values values;
};
/* Begins the page of this template with the values above. False with one line in `why`. */
bool report_page_begin(struct report_page *p, const char *name, bool modelled, char *why, size_t why_size);
/* A table that was made for this, which is freed. */
void report_page_table(struct report_page *p, struct table *t, const char *caption, const char *id);
/* The values of a picture and of why there is none. The chart is freed; if `described` is not 0, `reason` says why. */
struct report_figure {
    const char *place, *no_place;
    const char *prefix, *title; /* of svg_inline */
};
void report_page_figure(struct report_page *p, const struct report_figure *f, struct chart *c, int described,
                        const char *reason);
/* Writes the page if it was begun, and frees. 0, or -1 with one line in `why`; with none where the stream failed. */
int report_page_end(struct report_page *p, bool begun, FILE *out, char *why, size_t why_size);
