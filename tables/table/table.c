/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of results: columns, rows, missing entries, and pairs of metadata, settings and details. */
#include "tables/table/table.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/list.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { VALUE_DIGITS = 9 }; /* of a real number in a file: see table.h */

static char *copy(struct table *t, const char *text)
{
    char *c = text ? plain_text_copy(text) : NULL;
    if (text && !c)
        t->failed = true;
    return c;
}

bool table_is_code(const struct table_column *c)
{
    return c->type == TABLE_WHOLE && (strcmp(c->name, "umask") == 0 || strcmp(c->name, "event") == 0);
}

void table_init(struct table *t, const char *name, const struct table_column *columns, size_t n)
{
    memset(t, 0, sizeof *t);
    t->name = copy(t, name);
    if (n > TABLE_COLUMNS_MAX) {
        t->failed = true;
        return;
    }
    t->n_columns = n;
    for (size_t i = 0; i < n; i++) {
        t->columns[i] = columns[i];
        t->columns[i].name = copy(t, columns[i].name);
        t->columns[i].unit = copy(t, columns[i].unit);
    }
}

static void free_pairs(struct table_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    free(pairs);
}

static void free_values(struct table_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(values[i].text);
    free(values);
}

void table_free(struct table *t)
{
    free_values(t->values, t->n_rows * t->n_columns);
    for (size_t i = 0; i < t->n_missing; i++) {
        free_values(t->missing[i].values, t->n_columns);
        free(t->missing[i].why);
    }
    free(t->missing);
    free_pairs(t->meta, t->n_meta);
    free_pairs(t->settings, t->n_settings);
    free_pairs(t->details, t->n_details);
    for (size_t i = 0; i < t->n_columns; i++) {
        free((char *)t->columns[i].name);
        free((char *)t->columns[i].unit);
    }
    free(t->name);
    memset(t, 0, sizeof *t);
}

/* ---- columns ---- */

static int table_column_of(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].name && strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct table_column *table_column_named(const struct table *t, const char *name)
{
    int i = table_column_of(t, name);
    return i < 0 ? NULL : &t->columns[i];
}

bool table_has(const struct table *t, const char *column)
{
    return table_column_of(t, column) >= 0;
}

bool table_has_columns(const struct table *t, const struct table_column *columns, size_t n)
{
    bool same = t->n_columns == n;
    for (size_t i = 0; same && i < n; i++) {
        const struct table_column *a = &t->columns[i], *b = &columns[i];
        same = strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->type == b->type &&
               a->key == b->key && a->decimals == b->decimals;
    }
    return same;
}

size_t table_base_length(const char *name)
{
    size_t n = strlen(name);
    bool limit = n > 3 && (strcmp(name + n - 3, "_lo") == 0 || strcmp(name + n - 3, "_hi") == 0);
    return limit ? n - 3 : n;
}

bool table_is_limit(const struct table *t, size_t column)
{
    char base[80];
    size_t length = table_base_length(t->columns[column].name);
    snprintf(base, sizeof base, "%.*s", (int)length, t->columns[column].name);
    return t->columns[column].name[length] && table_has(t, base);
}

/* ---- rows ---- */

static void absent(struct table_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (struct table_value){NULL, NAN};
}

void table_add_row(struct table *t)
{
    if (!list_room(&t->values, t->n_rows, (t->n_columns + 1) * sizeof *t->values)) {
        t->failed = true;
        return;
    }
    absent(t->values + t->n_rows * t->n_columns, t->n_columns);
    t->n_rows++;
    t->last_is_missing = false;
}

void table_add_missing_v(struct table *t, const char *why, va_list arguments)
{
    struct table_value *values = malloc((t->n_columns + 1) * sizeof *values);
    char *text = NULL;
    if (vasprintf(&text, why, arguments) < 0)
        text = NULL;
    if (!values || !text || !list_room(&t->missing, t->n_missing, sizeof *t->missing)) {
        free(values);
        t->failed = true;
    } else {
        absent(values, t->n_columns);
        t->missing[t->n_missing++] = (struct table_missing){values, copy(t, text)};
        t->last_is_missing = true;
    }
    free(text);
}

void table_add_missing(struct table *t, const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    table_add_missing_v(t, why, arguments);
    va_end(arguments);
}

void table_add_missing_error(struct table *t, const struct machine_error *err)
{
    table_add_missing(t, "%s%s%s", err->text, err->remedy[0] ? "; " : "", err->remedy);
}

static struct table_value *row_values(const struct table *t, size_t row)
{
    return row < t->n_rows ? t->values + row * t->n_columns : NULL;
}

static struct table_value *last_values(struct table *t)
{
    if (t->last_is_missing)
        return t->n_missing ? t->missing[t->n_missing - 1].values : NULL;
    return row_values(t, t->n_rows - 1);
}

/* The field of a column of this type; NULL and t->failed when there is none. */
static struct table_value *field(struct table *t, struct table_value *values, const char *column, bool text)
{
    int c = table_column_of(t, column);
    if (c < 0 || !values || (t->columns[c].type == TABLE_TEXT) != text) {
        t->failed = true;
        return NULL;
    }
    return &values[c];
}

/* The number as a file keeps it. */
static double kept_number(const struct table_column *c, double x)
{
    char text[40];
    if (!isfinite(x) || c->type == TABLE_WHOLE)
        return isfinite(x) ? x : NAN;
    snprintf(text, sizeof text, "%.*g", VALUE_DIGITS, x + 0.0);
    return strtod(text, NULL);
}

static void set_number(struct table *t, struct table_value *values, const char *column, double value)
{
    struct table_value *v = field(t, values, column, false);
    if (v)
        v->number = kept_number(&t->columns[v - values], value);
}

static void set_text(struct table *t, struct table_value *values, const char *column, const char *text)
{
    struct table_value *v = field(t, values, column, true);
    if (!v)
        return;
    char *old = v->text;
    v->text = copy(t, text);
    free(old);
}

void table_put_number(struct table *t, const char *column, double value)
{
    set_number(t, last_values(t), column, value);
}

void table_put_text(struct table *t, const char *column, const char *text)
{
    set_text(t, last_values(t), column, text);
}

static void set_limits(struct table *t, struct table_value *values, const char *column, double value, double lo,
                       double hi)
{
    char name[80];
    set_number(t, values, column, value);
    snprintf(name, sizeof name, "%s_lo", column);
    set_number(t, values, name, lo);
    snprintf(name, sizeof name, "%s_hi", column);
    set_number(t, values, name, hi);
}

void table_put_limits(struct table *t, const char *column, double value, double lo, double hi)
{
    set_limits(t, last_values(t), column, value, lo, hi);
}

void table_set_limits(struct table *t, size_t row, const char *column, double value, double lo, double hi)
{
    set_limits(t, row_values(t, row), column, value, lo, hi);
}

void table_set_number(struct table *t, size_t row, const char *column, double value)
{
    set_number(t, row_values(t, row), column, value);
}

void table_set_text(struct table *t, size_t row, const char *column, const char *text)
{
    set_text(t, row_values(t, row), column, text);
}

static double number_in(const struct table *t, const struct table_value *values, const char *column)
{
    int c = table_column_of(t, column);
    return c < 0 || !values ? NAN : values[c].number;
}

static const char *text_in(const struct table *t, const struct table_value *values, const char *column)
{
    int c = table_column_of(t, column);
    return c < 0 || !values ? NULL : values[c].text;
}

double table_number(const struct table *t, size_t row, const char *column)
{
    return number_in(t, row_values(t, row), column);
}

const char *table_text(const struct table *t, size_t row, const char *column)
{
    return text_in(t, row_values(t, row), column);
}

bool table_says(const struct table *t, size_t row, const char *column, const char *text)
{
    const char *value = table_text(t, row, column);
    return value && strcmp(value, text) == 0;
}

bool table_holds(const struct table *t, size_t row, const char *column)
{
    return table_text(t, row, column) || isfinite(table_number(t, row, column));
}

bool table_has_values(const struct table *t, const char *column)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_holds(t, row, column))
            return true;
    return false;
}

const char *table_field_text(const struct table *t, size_t row, const char *column, char *out, size_t size)
{
    const char *text = table_text(t, row, column);
    double number = table_number(t, row, column);
    out[0] = '\0';
    if (text)
        snprintf(out, size, "%s", text);
    else if (table_column_of(t, column) >= 0 && table_is_code(&t->columns[table_column_of(t, column)]) && number >= 0)
        snprintf(out, size, "%02XH", (unsigned)number);
    else if (isfinite(number))
        snprintf(out, size, "%.10g", number);
    return out;
}

size_t table_find(const struct table *t, const char *column, const char *text)
{
    size_t row = 0;
    while (row < t->n_rows && !table_says(t, row, column, text))
        row++;
    return row;
}

size_t table_numbers(const struct table *t, const char *column, double *out, size_t max)
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows && n < max; row++) {
        double x = table_number(t, row, column);
        size_t i = 0;
        while (i < n && out[i] != x)
            i++;
        if (i == n && !isnan(x))
            out[n++] = x;
    }
    qsort(out, n, sizeof *out, order_double);
    return n;
}

bool table_same(const struct table *t, size_t a, size_t b, const char *column)
{
    const char *one = table_text(t, a, column), *other = table_text(t, b, column);
    double x = table_number(t, a, column), y = table_number(t, b, column);
    bool texts = one && other ? strcmp(one, other) == 0 : one == other;
    return texts && (x == y || (isnan(x) && isnan(y)));
}

bool table_same_pair(const struct table *t, size_t a, size_t b)
{
    return table_text(t, a, "from") && table_text(t, a, "to") && table_same(t, a, b, "from") &&
           table_same(t, a, b, "to");
}

double table_missing_number(const struct table *t, size_t entry, const char *column)
{
    return number_in(t, entry < t->n_missing ? t->missing[entry].values : NULL, column);
}

const char *table_missing_text(const struct table *t, size_t entry, const char *column)
{
    return text_in(t, entry < t->n_missing ? t->missing[entry].values : NULL, column);
}

/* ---- pairs ---- */

/* Takes `mine`, which is from malloc; NULL: memory was lacking. */
static void set_pair(struct table *t, struct table_pair **pairs, size_t *n, const char *key, char *mine)
{
    t->failed = t->failed || !mine;
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*pairs)[i].key, key) == 0) {
            free((*pairs)[i].value);
            (*pairs)[i].value = mine;
            return;
        }
    char *name = copy(t, key);
    if (!name || !mine || !list_room(pairs, *n, sizeof **pairs)) {
        free(name);
        free(mine);
        t->failed = true;
        return;
    }
    (*pairs)[(*n)++] = (struct table_pair){name, mine};
}

static const char *pair_value(const struct table_pair *pairs, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

void table_set_meta(struct table *t, const char *key, const char *value)
{
    set_pair(t, &t->meta, &t->n_meta, key, copy(t, value));
}

const char *table_meta(const struct table *t, const char *key)
{
    return pair_value(t->meta, t->n_meta, key);
}

void table_set_setting(struct table *t, const char *key, const char *value)
{
    set_pair(t, &t->settings, &t->n_settings, key, copy(t, value));
}

void table_set_setting_number(struct table *t, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    table_set_setting(t, key, text);
}

const char *table_setting(const struct table *t, const char *key)
{
    return pair_value(t->settings, t->n_settings, key);
}

void table_set_detail(struct table *t, const char *key, const char *json)
{
    set_pair(t, &t->details, &t->n_details, key, strdup(json ? json : "null"));
}

void table_set_detail_json(struct table *t, const char *key, json_t *value, unsigned digits)
{
    char *text = value ? json_dumps(value, JSON_REAL_PRECISION(digits)) : NULL;
    json_decref(value);
    set_pair(t, &t->details, &t->n_details, key, text);
}

const char *table_detail(const struct table *t, const char *key)
{
    return pair_value(t->details, t->n_details, key);
}

bool table_modelled(const struct table *t)
{
    const char *modelled = table_meta(t, "modelled");
    return modelled && strcmp(modelled, "yes") == 0;
}

/* ---- joining ---- */

static void append_values(struct table *t, struct table_value *to, const struct table_value *from)
{
    for (size_t i = 0; i < t->n_columns; i++)
        to[i] = (struct table_value){copy(t, from[i].text), from[i].number};
}

void table_append(struct table *t, const struct table *from)
{
    if (from->failed || !table_has_columns(from, t->columns, t->n_columns)) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; i < from->n_rows && !t->failed; i++) {
        table_add_row(t);
        if (!t->failed)
            append_values(t, last_values(t), row_values(from, i));
    }
    for (size_t i = 0; i < from->n_missing && !t->failed; i++) {
        table_add_missing(t, "%s", from->missing[i].why);
        if (!t->failed)
            append_values(t, last_values(t), from->missing[i].values);
    }
    for (size_t i = 0; i < from->n_details; i++)
        table_set_detail(t, from->details[i].key, from->details[i].value);
}
