/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The items of a document; private to the files of this directory. */
#pragma once

#include "output/document/document.h"

struct document_item {
    enum document_kind kind;
    enum document_where where;
    const char *place;
    char *name, *text, *aside;
    size_t most; /* notes of a section */
    struct table *table;
    struct pivot_list list;
    struct pivot_field *fields; /* NULL: the table is on the page alone */
    struct pivot *pivot;
    struct chart *chart;
};

/* Ends the stream of notes, if there is one. */
void document_end_notes(struct document *d);
/* Returns where the section that begins at item number `begin` ends. */
size_t document_section_end(const struct document *d, size_t begin);
