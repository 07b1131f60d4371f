/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plots of the tables share: how rows become series, bars and names of a chart. Pure. */
#pragma once

#include "tables/table/chart.h"
#include "tables/table/estimates.h"
#include "tables/table/table.h"

/* Rows of a panel of bars, and lines of one, at most: more could not be told apart; the table has them all. */
enum { CHART_ROWS_MAX = 64, CHART_LINES_MAX = 14 };

/* A key as text, be it text or a number; "" where it is absent. Returns `out`. */
const char *chart_key(const struct table *t, size_t row, const char *column, char *out, size_t size);

/* Whether a column has more than one value. */
bool chart_varies(const struct table *t, const char *column);
/* The largest value of a column; NaN: none. */
double chart_largest(const struct table *t, const char *column);

/* Whether a text column has this value in a row; also where the table has no such column. */
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
 * chart_group.c. Categories of a panel whose bars are alike become one: as many, of one look, and the ends of each
 * differ by at most `relative` of them or `absolute`. The first one's name stays, with how many more there are; its
 * bars end at the mean, with limits that hold all of theirs, and have the text only if it is the same in all.
 */
void chart_group_alike(struct chart *c, struct chart_panel *p, double relative, double absolute);
