/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result, ready for output: a title, and sections with facts, notes, tables and pictures. A result is described once;
 * document_print() turns it into text for a terminal, document_page() into a page of HTML. Documents know nothing of a
 * result's subject.
 *
 * Building never fails: a document that ran out of memory says so when it is written. All text may be of unknown
 * origin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/chart.h"
#include "tables/table/pivot.h"
#include "tables/table/table.h"

/* Of items. */
enum document_kind {
    DOCUMENT_HEAD,    /* text: the title; name: what was measured; aside: that it was modelled */
    DOCUMENT_SECTION, /* text: the heading */
    DOCUMENT_FACT,    /* with a name */
    DOCUMENT_WARNING, /* likewise */
    DOCUMENT_NOTE,
    DOCUMENT_TABLE, /* text: the caption */
    DOCUMENT_PIVOT,
    DOCUMENT_CHART, /* text: its name for those who cannot see it; aside: why there is none */
    DOCUMENT_VALUE, /* of a place of the page */
};

struct document {
    size_t n;
    struct document_item *items;
    bool modelled;
    bool records; /* a line for each fact and note where it is printed to no terminal: programs read them */
    bool failed;  /* out of memory once */
    FILE *notes;  /* of document_notes() */
    char *notes_text;
    size_t notes_size;
};

/*
 * Begins with the lines above all sections of a text: the title (NULL: none); what was measured (NULL: it says so
 * itself); and, where a model was measured, that it was (NULL: a processor was).
 */
void document_begin(struct document *d, const char *title, const char *cpu, const char *modelled);
/* The same, from a table's metadata. */
void document_begin_table(struct document *d, const char *title, const struct table *t);
void document_free(struct document *d);

/*
 * A section begins. `heading`: above it in a text; "": an empty line alone; NULL: none. `place`: of the page's
 * template, which the section fills (a string that outlives the document); NULL: it is not on the page. A section that
 * is on the page may be kept from the text.
 */
enum document_where { DOCUMENT_EVERYWHERE, DOCUMENT_ON_PAGE };
void document_section(struct document *d, enum document_where where, const char *place, const char *heading);

/* A text, as printf, of one of the kinds below. */
__attribute__((format(printf, 4, 5))) void document_text(struct document *d, enum document_kind kind, const char *name,
                                                         const char *format, ...);
/* A name and its text, as printf: in a text, facts that stand together have their texts below each other, and an empty
 * name continues the one before; on a page they are a list <dl>. Nothing is added without a text. */
#define document_fact(d, name, ...) document_text(d, DOCUMENT_FACT, name, __VA_ARGS__)
/* The same, coloured as a warning in a text. */
#define document_warning(d, name, ...) document_text(d, DOCUMENT_WARNING, name, __VA_ARGS__)
/* A sentence, as printf: in a text a line (blanks at its beginning indent it), on a page an item of a list. */
#define document_note(d, ...) document_text(d, DOCUMENT_NOTE, NULL, __VA_ARGS__)
/* A stream each of whose lines becomes a note, up to the next item or section; NULL: out of memory. */
FILE *document_notes(struct document *d);
/* The notes of the present section that a text has at most; "... and 3 more" stands for the others. */
void document_notes_most(struct document *d, size_t most);

/*
 * A table, which is moved into the document; nothing where it has no rows. On the page it has the caption. In a text it
 * is as `list` describes it: its array of fields is copied, but not the objects that they point to. list NULL: it is
 * only on the page.
 */
void document_table(struct document *d, struct table *t, const char *caption, const struct pivot_list *list);
/* Rows that are only for a text; moved. */
void document_pivot(struct document *d, struct pivot *p);

/* A picture on the page, moved, with a name for those who cannot see it; or the reason why there is none, if
 * `described` is not 0, the result of the function that described it. */
void document_chart(struct document *d, struct chart *c, const char *title, int described, const char *why);

/* A value of the page's template that is a text by itself, as printf. */
__attribute__((format(printf, 3, 4))) void document_value(struct document *d, const char *place, const char *text, ...);

/* Prints it as text, as wide as the screen (util/screen_text.h). `colour`: escape sequences may be used. */
void document_print(FILE *out, bool colour, struct document *d);

/* Writes it as a page: the template data/report/NAME.html.in, which has a place for each section and value, and those
 * of html_words_values() (html.h). 0, or -1 with one line in `why`; with none where the stream failed. */
int document_page(FILE *out, struct document *d, const char *name, char *why, size_t why_size);
