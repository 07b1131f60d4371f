/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How rows of a table become panels of a chart: described by pictures, or by hand with what those are made of. Pure. */
#pragma once

#include "tables/table/chart.h"
#include "tables/table/estimates.h"
#include "tables/table/table.h"

/* Rows of a panel of bars, and lines of one, at most: more could not be distinguished; the table has them all. */
enum { CHART_ROWS_MAX = 64, CHART_LINES_MAX = 14 };

/* True if a column has more than one value. */
bool chart_varies(const struct table *t, const char *column);
/* The largest value of a column; NaN: none. */
double chart_largest(const struct table *t, const char *column);

/* True if a text column has this value in a row; also where the table has no such column. */
bool chart_row_is(const struct table *t, size_t row, const char *column, const char *value);

/* "128fma → 512fma", with the number of active cores if `cores` is set. Returns `out`. */
const char *chart_pair(const struct table *t, size_t row, bool cores, char *out, size_t size);

/* A row's bar (or point) in the category of this name: `look` has all but the category, the value and its limits;
 * `text` NULL: the value. Counted as omitted where the panel has CHART_ROWS_MAX already. */
void chart_add_row(struct chart *c, struct chart_panel *p, const char *category, const struct estimate *v,
                   struct chart_bar look, const char *text);
/* Tells in the panel's note that `shown` are drawn and p->omitted are not; nothing where that is none. */
void chart_tell_omitted(struct chart_panel *p, size_t shown, const char *what);

/*
 * Categories of a panel whose bars are alike become one: as many, of one look, and the ends of each
 * differ by at most `relative` of them or `absolute`. The first one's name stays, with how many more there are; its
 * bars end at the mean, with limits that hold all of theirs, and have the text only if it is the same in all.
 */
void chart_group_alike(struct chart *c, struct chart_panel *p, double relative, double absolute);

/* ---- pictures ---- */

/* A name that a row has in a picture: the text of a column, or what `text` writes into `out` ("": the row is left
 * out). */
struct picture_name {
    const char *column;
    const char *(*text)(const struct table *t, size_t row, char out[CHART_NAME_MAX]);
};
/*
 * A panel of the rows of a table: CHART_BARS: a bar for each row, in the category `name`; CHART_LINES: a point for each
 * row in the series `name`, at the number in the column across.column; CHART_CELLS: a cell for each row, in the line
 * `name` and the column `across`. Rows without a finite value are left out; where the axis of the value is logarithmic,
 * those that are not above 0, too.
 */
struct picture {
    struct chart_panel panel;  /* its kind, texts and axes, without contents; scale_hi: at least */
    const char *each;          /* a panel for each value of this column, which stands before the title; NULL: one */
    const char *column, *says; /* the rows of which this column says that, if the table has it; NULL: all */
    const char *value;         /* the column with it */
    double times;              /* by which the value is multiplied; 0: 1 */
    struct picture_name name, across;
    struct chart_bar look; /* of the bars: colour, dot */
    /* Fills a cell that has a value; NULL: the value, with two decimals. */
    void (*cell)(const struct table *t, size_t row, struct chart_cell *cell);
    const char *omitted; /* the name of rows in the note on those for which there is no place; NULL: all are drawn */
};
/* Adds its panels to a chart. */
void chart_table_draw(const struct picture *p, const struct table *t, struct chart *c);
