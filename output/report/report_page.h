/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that are filled place by place; superseded by document_page(). */
#pragma once

#include "output/document/html.h"
#include "tables/table/chart.h"

/* A page that is not the report: what is put into it goes to values.out. */
struct report_page {
    struct html_words words;
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
    const char *prefix, *title; /* of html_svg */
};
void report_page_figure(struct report_page *p, const struct report_figure *f, struct chart *c, int described,
                        const char *reason);
/* Writes the page if it was begun, and frees. 0, or -1 with one line in `why`; with none where the stream failed. */
int report_page_end(struct report_page *p, bool begun, FILE *out, char *why, size_t why_size);
