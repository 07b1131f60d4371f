/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words and the look of the report, read from the data folder: data/report/. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tables/table/table.h"
#include "util/template.h"

struct report_words {
    struct template_file page, table; /* of a table: of its section */
    struct template_file style;       /* CSS */
    json_t *all, *columns, *sources;  /* words.json; headings of columns by name, publications by letter */
};

/* Returns 0, or -1 with one line in `why`: which file is not there or cannot be used, and what would work. */
int report_words_read(struct report_words *w, char *why, size_t why_size);
void report_words_free(struct report_words *w);

/* The heading of a column without its unit, into `out`: "frequency" of freq_ghz. */
void report_words_column(const struct report_words *w, const struct table_column *c, char *out, size_t size);

/* Whether a text cites a source: its letter as a word of its own, with a section ("G 3.2.2") or alone ("K)", "K,"). */
bool report_words_cites(const char *text, char letter);
