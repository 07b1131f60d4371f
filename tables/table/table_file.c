/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as a file: CSV, which is written (RFC 4180), and JSON (characterize-table/1, doc/formats.md), also read. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/table.h"
#include "trace/trace.h"
#include "util/json_lines.h"
#include "util/error.h"

enum { DUMP_DIGITS = 15 }; /* any decimal number of so many survives a double */

static const char *const type_names[] = {[TABLE_TEXT] = "text", [TABLE_WHOLE] = "integer", [TABLE_REAL] = "real"};

/* Keys of the head that are not metadata. */
static const char *const own_keys[] = {"format", "table",   "columns",  "units",   "types",   "keys",
                                       "rows",   "missing", "settings", "details", "decimals"};

/* ---- writing CSV ---- */

static void write_value(FILE *out, const struct table_column *c, const struct table_value *v)
{
    if (c->type == TABLE_TEXT && v->text)
        trace_write_csv_text(out, v->text);
    else if (c->type == TABLE_WHOLE && isfinite(v->number))
        fprintf(out, "%.0f", v->number + 0.0);
    else if (c->type == TABLE_REAL && isfinite(v->number))
        fprintf(out, "%.9g", v->number + 0.0);
}

int table_write_csv(FILE *out, const struct table *t)
{
    fprintf(out, "# format: characterize-table/1\n# table: %s\n", t->name);
    for (size_t i = 0; i < t->n_meta; i++)
        fprintf(out, "# %s: %s\n", t->meta[i].key, t->meta[i].value);
    for (size_t i = 0; i < t->n_settings; i++)
        fprintf(out, "# %s: %s\n", t->settings[i].key, t->settings[i].value);
    for (size_t i = 0; i < t->n_columns; i++)
        fprintf(out, "%s%s", i ? "," : "", t->columns[i].name);
    putc('\n', out);
    for (size_t row = 0; row < t->n_rows; row++) {
        for (size_t i = 0; i < t->n_columns; i++) {
            if (i)
                putc(',', out);
            write_value(out, &t->columns[i], &t->values[row * t->n_columns + i]);
        }
        putc('\n', out);
    }
    return ferror(out) ? -1 : 0;
}

/* ---- writing JSON ---- */

static json_t *field_value(const struct table_column *c, const struct table_value *v)
{
    if (c->type == TABLE_TEXT)
        return v->text ? json_string(v->text) : json_null();
    if (!isfinite(v->number))
        return json_null();
    return c->type == TABLE_WHOLE ? json_integer((json_int_t)llround(v->number)) : json_real(v->number);
}

static json_t *pairs_object(const struct table_pair *pairs, size_t n, bool *failed)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++)
        json_lines_put(o, pairs[i].key, json_string(pairs[i].value), failed);
    return o;
}

static json_t *details_object(const struct table *t, bool *failed)
{
    json_t *o = json_object();
    for (size_t i = 0; i < t->n_details; i++) {
        json_t *detail = json_loads(t->details[i].value, JSON_DECODE_ANY, NULL);
        json_lines_put(o, t->details[i].key, detail ? detail : json_string(t->details[i].value), failed);
    }
    return o;
}

static json_t *missing_object(const struct table *t, const struct table_missing *m, bool *failed)
{
    json_t *row = json_object();
    for (size_t i = 0; i < t->n_columns; i++)
        if (m->values[i].text || isfinite(m->values[i].number))
            json_lines_put(row, t->columns[i].name, field_value(&t->columns[i], &m->values[i]), failed);
    return json_pack("{s:o, s:s}", "row", row, "why", m->why);
}

static json_t *row_array(const struct table *t, size_t row, bool *failed)
{
    json_t *values = json_array();
    for (size_t i = 0; i < t->n_columns; i++)
        json_lines_push(values, field_value(&t->columns[i], &t->values[row * t->n_columns + i]), failed);
    return values;
}

static void put_head(json_t *root, const struct table *t, bool *failed)
{
    json_lines_put(root, "format", json_string("characterize-table/1"), failed);
    json_lines_put(root, "table", json_string(t->name), failed);
    for (size_t i = 0; i < t->n_meta; i++) {
        bool modelled = strcmp(t->meta[i].key, "modelled") == 0;
        json_t *value = modelled ? json_boolean(strcmp(t->meta[i].value, "yes") == 0) : json_string(t->meta[i].value);
        json_lines_put(root, t->meta[i].key, value, failed);
    }
    json_t *names = json_lines_array(root, "columns", failed), *units = json_lines_array(root, "units", failed);
    json_t *types = json_lines_array(root, "types", failed), *decimals = json_lines_array(root, "decimals", failed);
    json_t *keys = json_lines_array(root, "keys", failed);
    for (size_t i = 0; i < t->n_columns; i++) {
        json_lines_push(names, json_string(t->columns[i].name), failed);
        json_lines_push(units, json_string(t->columns[i].unit), failed);
        json_lines_push(types, json_string(type_names[t->columns[i].type]), failed);
        json_lines_push(decimals, json_integer(t->columns[i].decimals), failed);
        if (t->columns[i].key)
            json_lines_push(keys, json_string(t->columns[i].name), failed);
    }
}

char *table_to_json(const struct table *t)
{
    bool failed = t->failed;
    if (failed)
        return NULL;
    json_t *root = json_object();
    put_head(root, t, &failed);
    json_t *rows = json_lines_array(root, "rows", &failed), *missing = json_lines_array(root, "missing", &failed);
    for (size_t i = 0; i < t->n_rows; i++)
        json_lines_push(rows, row_array(t, i, &failed), &failed);
    for (size_t i = 0; i < t->n_missing; i++)
        json_lines_push(missing, missing_object(t, &t->missing[i], &failed), &failed);
    json_lines_put(root, "settings", pairs_object(t->settings, t->n_settings, &failed), &failed);
    if (t->n_details)
        json_lines_put(root, "details", details_object(t, &failed), &failed);
    return json_lines_dump(root, failed);
}

/* ---- reading JSON ---- */

enum { DECIMALS_MAX = 17 }; /* more than a double holds are none */

struct reader {
    const char *name;
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *r, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(r->why, r->size, "%s: %s", r->name, text);
    return -1;
}

static bool own_key(const char *key)
{
    for (size_t i = 0; i < sizeof own_keys / sizeof own_keys[0]; i++)
        if (strcmp(own_keys[i], key) == 0)
            return true;
    return false;
}

static int type_of(const char *name)
{
    for (int i = 0; i < 3; i++)
        if (name && strcmp(type_names[i], name) == 0)
            return i;
    return -1;
}

static bool listed(const json_t *array, const char *name)
{
    size_t i;
    const json_t *v;
    json_array_foreach(array, i, v) if (json_is_string(v) && strcmp(json_string_value(v), name) == 0) return true;
    return false;
}

static int read_columns(const struct reader *r, const json_t *root, const char *table, struct table *t)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    const json_t *names = json_object_get(root, "columns"), *units = json_object_get(root, "units"),
                 *types = json_object_get(root, "types"), *decimals = json_object_get(root, "decimals");
    size_t n = json_array_size(names);
    if (n == 0 || n > TABLE_COLUMNS_MAX)
        return refuse(r, "\"columns\" has %zu names; 1 to %d would work", n, TABLE_COLUMNS_MAX);
    if (json_array_size(units) != n || json_array_size(types) != n)
        return refuse(r, "\"columns\", \"units\" and \"types\" have different lengths");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i)),
                   *unit = json_string_value(json_array_get(units, i));
        int type = type_of(json_string_value(json_array_get(types, i)));
        json_int_t shown = json_integer_value(json_array_get(decimals, i));
        if (!name || !unit || type < 0)
            return refuse(r, "column %zu has no name, no unit or no known type", i + 1);
        if (shown < 0 || shown > DECIMALS_MAX)
            return refuse(r, "column %zu: \"decimals\" are 0 to %d", i + 1, DECIMALS_MAX);
        columns[i] = (struct table_column){.name = name,
                                           .unit = unit,
                                           .type = (enum table_type)type,
                                           .key = listed(json_object_get(root, "keys"), name),
                                           .decimals = (int)shown};
    }
    table_init(t, table, columns, n);
    return 0;
}

/* One field into the last row or entry, of which `where` and `i` tell. */
static int read_field(const struct reader *r, struct table *t, const struct table_column *c, const json_t *v,
                      const char *where, size_t i)
{
    if (json_is_null(v))
        return 0;
    if (c->type == TABLE_TEXT ? !json_is_string(v) : !json_is_number(v))
        return refuse(r, "%s %zu: %.60s is not of type %s", where, i + 1, c->name, type_names[c->type]);
    if (c->type == TABLE_TEXT) {
        table_put_text(t, c->name, json_string_value(v));
        return 0;
    }
    const char *range = table_value_refused(c, json_number_value(v));
    if (range)
        return refuse(r, "%s %zu: %.60s '%.9g' is outside its range, %s", where, i + 1, c->name, json_number_value(v),
                      range);
    table_put_number(t, c->name, json_number_value(v));
    return 0;
}

static int read_rows(const struct reader *r, const json_t *root, struct table *t)
{
    size_t i;
    const json_t *row, *rows = json_object_get(root, "rows");
    if (!json_is_array(rows))
        return refuse(r, "no \"rows\"");
    json_array_foreach(rows, i, row)
    {
        if (json_array_size(row) != t->n_columns)
            return refuse(r, "row %zu has %zu fields, not %zu", i + 1, json_array_size(row), t->n_columns);
        table_add_row(t);
        for (size_t c = 0; c < t->n_columns; c++)
            if (read_field(r, t, &t->columns[c], json_array_get(row, c), "row", i))
                return -1;
    }
    return 0;
}

static int read_missing(const struct reader *r, const json_t *root, struct table *t)
{
    size_t i;
    const json_t *entry;
    if (!json_is_array(json_object_get(root, "missing")))
        return refuse(r, "no \"missing\"");
    json_array_foreach(json_object_get(root, "missing"), i, entry)
    {
        const char *why = json_string_value(json_object_get(entry, "why"));
        const json_t *row = json_object_get(entry, "row");
        if (!why)
            return refuse(r, "missing entry %zu has no \"why\"", i + 1);
        table_add_missing(t, "%s", why);
        for (size_t c = 0; c < t->n_columns; c++) {
            const json_t *v = json_object_get(row, t->columns[c].name);
            if (v && read_field(r, t, &t->columns[c], v, "missing entry", i))
                return -1;
        }
    }
    return 0;
}

static int read_pairs(const struct reader *r, json_t *root, struct table *t)
{
    const char *key;
    json_t *v;
    const json_t *modelled = json_object_get(root, "modelled");
    if (modelled && !json_is_boolean(modelled))
        return refuse(r, "\"modelled\" is neither true nor false");
    json_object_foreach(root, key, v)
    {
        if (own_key(key))
            continue;
        if (json_is_boolean(v))
            table_set_meta(t, key, json_is_true(v) ? "yes" : "no");
        else if (json_is_string(v))
            table_set_meta(t, key, json_string_value(v));
    }
    json_object_foreach(json_object_get(root, "settings"), key, v) if (json_is_string(v))
        table_set_setting(t, key, json_string_value(v));
    json_object_foreach(json_object_get(root, "details"), key, v)
    {
        char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DUMP_DIGITS));
        table_set_detail(t, key, text);
        if (!text)
            t->failed = true;
        free(text);
    }
    return 0;
}

int table_from_json(const char *text, size_t length, const char *name, struct table *t, char *why, size_t why_size)
{
    struct reader r = {name, why, why_size};
    json_error_t error;
    memset(t, 0, sizeof *t);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return error_line(why, why_size, "%s:%d: column %d: %s", name, error.line, error.column, error.text);
    const char *format = json_string_value(json_object_get(root, "format")),
               *table = json_string_value(json_object_get(root, "table"));
    int bad = 0;
    if (!format || strcmp(format, "characterize-table/1") != 0)
        bad = refuse(&r, "\"format\" is not \"characterize-table/1\"");
    else if (!table)
        bad = refuse(&r, "no \"table\"");
    bad = bad || read_columns(&r, root, table, t) || read_rows(&r, root, t) || read_missing(&r, root, t);
    bad = bad || read_pairs(&r, root, t);
    json_decref(root);
    if (!bad && t->failed)
        bad = refuse(&r, "out of memory");
    if (bad)
        table_free(t);
    return bad ? -1 : 0;
}
