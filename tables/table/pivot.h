/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one printer of tables for a person: rows and columns of values with their 95 % limits, aligned, as wide as the
 * screen (util/screen_text.h). Columns that do not fit go into further blocks that repeat the names of the rows; text
 * in a last column goes on below itself. Values that were not measured are a dash. All text is made safe to show
 * (plain_text).
 *
 * A pivot is filled line by line, a line from left to right. Most need not be filled by hand: a table describes its
 * rows by views (struct pivot_list), which are lists or matrices.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/estimates.h"
#include "tables/table/table.h"

struct pivot {
    char *title;
    size_t n_names, n_columns, n_lines;
    struct pivot_line *lines;
    bool failed; /* out of memory once */
};

/* An empty pivot whose first `n_names` columns name the rows. The title, formatted, is a line above; NULL: none. */
__attribute__((format(printf, 3, 4))) void pivot_init(struct pivot *p, size_t n_names, const char *title, ...);

/* A line begins, at first without fields. */
enum pivot_kind {
    PIVOT_HEADING, /* of the columns; before all others */
    PIVOT_ROW,
    PIVOT_ASIDE,  /* a row that was not measured here, for comparison: dimmed on a terminal */
    PIVOT_GROUP,  /* one field across all columns, common to the rows below it */
    PIVOT_REMARK, /* one field below a row, across all columns, indented: what else is to be said of the row */
};
void pivot_line(struct pivot *p, enum pivot_kind kind);

/* The next field of the last line: text, formatted; a word (NULL: a dash); a value with its limits, where it has any; a
 * mark that stands for a value. Columns with values or marks are aligned to the right. */
__attribute__((format(printf, 2, 3))) void pivot_text(struct pivot *p, const char *text, ...);
void pivot_word(struct pivot *p, const char *word);
void pivot_value(struct pivot *p, const struct estimate *e, int decimals);
void pivot_number(struct pivot *p, double value, int decimals);
void pivot_mark(struct pivot *p, const char *mark);
/* The last field has a colour, an escape sequence, where there are any. */
void pivot_colour(struct pivot *p, const char *colour);
/* More text in the last field. */
__attribute__((format(printf, 2, 3))) void pivot_more(struct pivot *p, const char *text, ...);

/* Prints it, unless it has no rows, and frees it; "out of memory" where it was. `colour`: escape sequences may be
 * used. Returns whether it had rows. */
bool pivot_print(FILE *out, bool colour, struct pivot *p);
/* Frees one that is not printed. */
void pivot_free(struct pivot *p);

/* ---- views of the rows of a table ---- */

enum pivot_show {
    PIVOT_PLAIN,
    PIVOT_ALONE,   /* the value without its limits, where those would take too much room */
    PIVOT_PERCENT, /* a fraction as percentage, with two decimals less */
    PIVOT_HALF,    /* "8.00 ±0.20": with half of the width of its limits, both to two digits of that */
    PIVOT_HALF_PERCENT,
    PIVOT_SUM /* the sum over all rows that the line stands for (`once`) */
};
struct pivot_field {
    const char *heading; /* two lines with a line break between them */
    const char *column;  /* of the table, with as many decimals as that says */
    enum pivot_show show;
    void (*put)(struct pivot *p, const struct table *t, size_t row); /* puts one field; instead of showing `column` */
};
/*
 * A view: a list, which has a line for each row and its fields across; or a matrix, which has a line for each value of
 * its first field's column (NULL: one for all), a column for each value of `across`, and `cell` of the row in between.
 * Lines and columns are in the order of the rows; numbers that name those of a matrix have the digits they need.
 */
struct pivot_list {
    const char *title;         /* NULL: none */
    const char *column, *says; /* the rows of which this column says that; says NULL: those that have a value there */
    bool (*shows)(const struct table *t, size_t row); /* the rows for which this is true; NULL: all */
    const char *each; /* a view for each value of this column, which stands before the title; NULL: one */
    const char *once; /* of a list: one line, by the first row, for each value of this column; NULL: all rows */
    size_t n_names;   /* so many fields name the rows */
    const struct pivot_field *fields; /* of a matrix: its names */
    size_t n_fields;
    size_t most;                     /* rows that are shown of a list; 0: all */
    struct pivot_field across, cell; /* across.column NULL: a list */
};
/* The fields of a view, from an array. */
#define PIVOT_FIELDS(list) .fields = list, .n_fields = sizeof list / sizeof *list
/* A list of the rows whose column `what` says WHAT, each named by its first two fields. */
#define PIVOT_LIST_OF(TITLE, WHAT, FIELDS)                                                                             \
    {                                                                                                                  \
        .title = TITLE, .column = "what", .says = WHAT, .n_names = 2, PIVOT_FIELDS(FIELDS)                             \
    }
/* The headings of a list, and one row with its fields. */
void pivot_headings(struct pivot *p, const struct pivot_field *fields, size_t n);
void pivot_fields(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *fields, size_t n);
/* Prints a view. Returns whether there are rows of it; else nothing is printed. */
bool pivot_list(FILE *out, bool colour, const struct table *t, const struct pivot_list *l);
/* Prints all columns of all rows as they stand, but those that say nothing, which take no room. */
void pivot_rows(FILE *out, bool colour, const struct table *t);

/* `put` for the columns from and to: "128fma -> 512fma". */
void pivot_pair(struct pivot *p, const struct table *t, size_t row);
/* A number as a column of a table shows it: event codes as 28H, a dash where it is not finite. */
const char *pivot_number_text(const struct table_column *c, double x, char out[ESTIMATE_TEXT_MAX]);

/* ---- words below it ---- */

/* Prints a line, in several where it is longer than the screen: further ones begin with `indent` blanks. */
__attribute__((format(printf, 3, 4))) void pivot_note(FILE *out, size_t indent, const char *text, ...);
