/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plots of the single tables, and how they read rows (private to analysis/table_plot*.c). */
#ifndef CHARACTERIZE_TABLE_PLOT_PARTS_H
#define CHARACTERIZE_TABLE_PLOT_PARTS_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* Rows of a bar plot at most: more would be a picture that nobody can read; the table has them all. */
enum { PLOT_ROWS_MAX = 64 };

/* A value with its limits; NaN where absent. */
struct plot_value {
    double value, lo, hi;
};
struct plot_value plot_value(const struct table *t, size_t row, const char *column);

/* A key as text, be it text or a number; "" where it is absent. */
const char *plot_key(const struct table *t, size_t row, const char *column, char *out, size_t size);

/* Whether a column has more than one value. */
bool plot_varies(const struct table *t, const char *column);
/* Whether any row has a value in it. */
bool plot_has(const struct table *t, const char *column);
/* The largest value of a column; NaN: none. */
double plot_largest(const struct table *t, const char *column);

/* Whether a text column has this value in a row; also where the table has no such column. */
bool plot_is(const struct table *t, size_t row, const char *column, const char *value);

/* "128fma → 512fma", with the number of active cores where the table has several and `cores` is set. */
const char *plot_pair(const struct table *t, size_t row, bool cores, char *out, size_t size);

/* Tells in the panel's note that `shown` of `n` are drawn. */
void plot_tell_omitted(struct chart_panel *p, size_t shown, size_t n, const char *what);

/* Fill a picture with a table's panels. */
void plot_frequency(const struct table *t, struct chart *c);
void plot_trigger(const struct table *t, struct chart *c);
void plot_umask(const struct table *t, struct chart *c);
void plot_energy(const struct table *t, struct chart *c);
void plot_transitions(const struct table *t, struct chart *c);
void plot_throttle(const struct table *t, struct chart *c);
void plot_relaxation(const struct table *t, struct chart *c);
void plot_overhead(const struct table *t, struct chart *c);
void plot_voltage(const struct table *t, struct chart *c);

#endif
