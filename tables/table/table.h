/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table of results: long form, one observation a row, values with 95 % limits beside them, and a list of what could
 * not be measured and why. One shape for all tables (doc/formats.md): CSV, JSON and text. Like the trace it stands
 * alone and includes nothing of either side of the seam. A value that was not measured is absent, never 0.
 *
 * A table holds what its file holds: nine significant digits of a real number, plain text (util/plain_text.h). So what
 * is concluded from rows, or written, is the same whether they were measured now or read back.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_t; /* of jansson */
struct machine_error;

enum { TABLE_COLUMNS_MAX = 48 };

enum table_type {
    TABLE_TEXT,
    TABLE_WHOLE, /* integers up to 2^53 */
    TABLE_REAL,
};

struct table_column {
    const char *name; /* as in CSV and JSON: freq_ghz, freq_ghz_lo, ... */
    const char *unit; /* "GHz", "us"; "" = none */
    enum table_type type;
    bool key;     /* says what was measured; key columns are never absent */
    int decimals; /* of a TABLE_REAL on the screen */
};

/* The columns of a value and its 95 % limits. */
/* clang-format off */
#define TABLE_LIMITS(name, unit, decimals)          \
    {name, unit, TABLE_REAL, false, decimals},       \
    {name "_lo", unit, TABLE_REAL, false, decimals}, \
    {name "_hi", unit, TABLE_REAL, false, decimals}
/* clang-format on */

/* True if a column holds event selects or unit masks, which are written for people as Intel writes them: 28H. */
bool table_is_code(const struct table_column *c);

/*
 * tables/table/table_ranges.c: NULL where a column may hold this number (NaN, absent, always), else what it may hold,
 * for a person: by its name and unit. Limits (NAME_lo, NAME_hi) may lie outside of NAME's range by as much as it is
 * wide.
 */
const char *table_value_refused(const struct table_column *c, double value);

/* One field. Text is absent when NULL, a number when NaN. */
struct table_value {
    char *text;
    double number;
};

struct table_pair {
    char *key, *value;
};

/* An entry for something that could not be measured: the key fields of the row that it would have been (others absent),
 * and why. */
struct table_missing {
    struct table_value *values; /* n_columns */
    char *why;
};

struct table {
    char *name;
    size_t n_columns;
    struct table_column columns[TABLE_COLUMNS_MAX]; /* names and units owned by the table */
    size_t n_rows;
    struct table_value *values; /* row after row */
    size_t n_missing;
    struct table_missing *missing;
    size_t n_meta;
    struct table_pair *meta; /* cpu, machine, source, modelled, date, version, ... in the order they were set */
    size_t n_settings;
    struct table_pair *settings; /* runs, period_us, seed, ... */
    size_t n_details;
    struct table_pair *details; /* key: what it is about; value: JSON text (a phases file, a distribution) */
    bool last_is_missing;       /* the put functions fill the last missing entry, not the last row */
    bool failed;                /* out of memory once, or a column that does not exist: nothing of it may be used */
};

/* An empty table with these columns. t->failed: out of memory. */
void table_init(struct table *t, const char *name, const struct table_column *columns, size_t n);
void table_free(struct table *t);

/*
 * Building. A row is added with all fields absent; the put functions fill fields of the last row (or, after
 * table_add_missing, of that entry). An unknown column or a lack of memory sets t->failed, which is checked once at
 * the end. Numbers that are not finite are absent.
 */
void table_add_row(struct table *t);
__attribute__((format(printf, 2, 3))) void table_add_missing(struct table *t, const char *why, ...);
__attribute__((format(printf, 2, 0))) void table_add_missing_v(struct table *t, const char *why, va_list arguments);
/* An error and its remedy as the reason. */
void table_add_missing_error(struct table *t, const struct machine_error *err);
void table_put_number(struct table *t, const char *column, double value);
void table_put_text(struct table *t, const char *column, const char *text);
/* column, column_lo and column_hi; of the last row, or of any */
void table_put_limits(struct table *t, const char *column, double value, double lo, double hi);
void table_set_limits(struct table *t, size_t row, const char *column, double value, double lo, double hi);
/* One by name; NULL: there is none. */
const struct table_column *table_column_named(const struct table *t, const char *name);
/* True if a column exists; if this one is a limit of another, NAME_lo or NAME_hi. */
bool table_has(const struct table *t, const char *column);
bool table_is_limit(const struct table *t, size_t column);
/* True if these are its columns, in all that is known of them. */
bool table_has_columns(const struct table *t, const struct table_column *columns, size_t n);
/* The length of a column's name without the _lo or _hi of a limit. */
size_t table_base_length(const char *name);

/* Fields of a row; absent (NaN, NULL) also for a column that the table does not have. */
double table_number(const struct table *t, size_t row, const char *column);
const char *table_text(const struct table *t, size_t row, const char *column);
/* True if a row has a value in this column; if any row has. */
bool table_holds(const struct table *t, size_t row, const char *column);
bool table_has_values(const struct table *t, const char *column);
/* A field as text, be it text, a code (28H) or a number in as few digits as it has, up to ten; "" where it is absent.
 * Returns `out`. */
const char *table_field_text(const struct table *t, size_t row, const char *column, char *out, size_t size);
/* True if a field of a row is this text; the first such row, n_rows if there is none. */
bool table_says(const struct table *t, size_t row, const char *column, const char *text);
size_t table_find(const struct table *t, const char *column, const char *text);
/* The different numbers of a column, ascending; absent ones count for nothing. Returns how many, at most `max`. */
size_t table_numbers(const struct table *t, const char *column, double *out, size_t max);
/* True if two rows hold the same in a column: the same text, the same number, or both nothing; if they hold the same
 * pair of kernels, which both must name, in the columns from and to. */
bool table_same(const struct table *t, size_t a, size_t b, const char *column);
bool table_same_pair(const struct table *t, size_t a, size_t b);
/* Fields of an entry of t->missing. */
double table_missing_number(const struct table *t, size_t entry, const char *column);
const char *table_missing_text(const struct table *t, size_t entry, const char *column);
/* The name of a missing entry, by all its fields: "512fma, active_cores 16"; "" of the complete table. */
void table_missing_name(const struct table *t, size_t entry, char *out, size_t size);
/* Overwrites a field of any row. */
void table_set_number(struct table *t, size_t row, const char *column, double value);
void table_set_text(struct table *t, size_t row, const char *column, const char *text);

/* Metadata, settings and details: setting replaces; NULL if there is none. */
void table_set_meta(struct table *t, const char *key, const char *value);
const char *table_meta(const struct table *t, const char *key);
void table_set_setting(struct table *t, const char *key, const char *value);
void table_set_setting_number(struct table *t, const char *key, double value);
const char *table_setting(const struct table *t, const char *key);
void table_set_detail(struct table *t, const char *key, const char *json);
/* The same from a value, with so many digits of real numbers. Takes the reference over; NULL: memory was lacking. */
void table_set_detail_json(struct table *t, const char *key, struct json_t *value, unsigned digits);
const char *table_detail(const struct table *t, const char *key);
/* The metadata say that a model was measured. */
bool table_modelled(const struct table *t);

/* True if all rows and entries hold what their columns may; else one line in `why`. Tables read from files do. */
bool table_in_range(const struct table *t, char *why, size_t size);

/* Appends rows, missing entries and details of `from`, which has the same columns. */
void table_append(struct table *t, const struct table *from);

/* tables/table/table_file.c: comment lines `# key: value`, the line of names, the rows. 0, or -1: the stream's
 * error. */
int table_write_csv(FILE *out, const struct table *t);
/* characterize-table/1, allocated with malloc, ending in a newline; NULL: out of memory. */
char *table_to_json(const struct table *t);
/* Reads it back. `name` stands for the file in messages. Returns 0, or -1 with one line in `why`; *t is then empty. */
int table_from_json(const char *text, size_t length, const char *name, struct table *t, char *why, size_t why_size);
/* ---- for a person: tables/table/table_text.c ---- */

/* Prints rows. `colour`: escape sequences may be used. */
typedef void table_print_rows(FILE *out, bool colour, const struct table *t);
/* The head of a table: title (NULL: the table's name), CPU; "modelled, not measured" where it is. */
void table_print_head(FILE *out, bool colour, const struct table *t, const char *title);
