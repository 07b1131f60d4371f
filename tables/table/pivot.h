/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one printer of tables for a person: rows and columns of values with their 95 % limits, aligned, as
 * wide as the screen (util/screen_text.h). Columns that do not fit
 * go into further blocks that repeat the names of the rows; text in a last column goes on below itself. What was not
 * measured is a dash. All text is made safe to show (plain_text).
 *
 * A pivot is filled line by line, a line from left to right. Rows that are shown as they stand in a table are described
 * instead (struct pivot_list).
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
    PIVOT_ASIDE,  /* a row of what was not measured here and stands beside for comparison: dimmed on a terminal */
    PIVOT_GROUP,  /* one field across all columns: what the rows below it have in common */
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

/* ---- rows as they stand in a table ---- */

enum pivot_show {
    PIVOT_PLAIN,
    PIVOT_ALONE,  /* the value without its limits, where those would take too much room */
    PIVOT_PERCENT /* a fraction as percentage, with two decimals less */
};
struct pivot_field {
    const char *heading;
    const char *column; /* of the table, with as many decimals as that says */
    enum pivot_show show;
    void (*put)(struct pivot *p, const struct table *t, size_t row); /* puts one field; instead of `column` */
};
struct pivot_list {
    const char *title;         /* NULL: none */
    const char *column, *says; /* the rows of which this column says that; NULL: all */
    size_t n_names;
    const struct pivot_field *fields;
    size_t n_fields;
    size_t most; /* rows that are shown; 0: all */
};
/* A list of the rows whose column `what` says WHAT, each named by its first two fields. */
#define PIVOT_LIST_OF(TITLE, WHAT, FIELDS)                                                                             \
    {                                                                                                                  \
        TITLE, "what", WHAT, 2, FIELDS, sizeof FIELDS / sizeof *FIELDS                                                 \
    }
/* The headings of a list, and one row with its fields. */
void pivot_headings(struct pivot *p, const struct pivot_field *fields, size_t n);
void pivot_fields(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *fields, size_t n);
/* Prints all its rows. Returns whether there are any; else nothing is printed. */
bool pivot_list(FILE *out, bool colour, const struct table *t, const struct pivot_list *l);

/* `put` for the columns from and to: "128fma -> 512fma". */
void pivot_pair(struct pivot *p, const struct table *t, size_t row);
/* A number as a column of a table shows it: event codes as 28H, a dash where it is not finite. */
const char *pivot_number_text(const struct table_column *c, double x, char out[ESTIMATE_TEXT_MAX]);

/* ---- words below it ---- */

/* Prints a line, in several where it is longer than the screen: further ones begin with `indent` blanks. */
__attribute__((format(printf, 3, 4))) void pivot_note(FILE *out, size_t indent, const char *text, ...);
/* The same behind a label, which takes `indent` columns. */
__attribute__((format(printf, 4, 5))) void pivot_labelled(FILE *out, size_t indent, const char *label, const char *text,
                                                          ...);
/* So the first `most` lines of a text, and how many more there are; below a heading, indented (NULL: none). Without a
 * line nothing is printed. */
void pivot_notes(FILE *out, bool colour, const char *heading, const char *text, size_t most);
