/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/published/sku.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/data_file.h"
#include "util/edit_distance.h"
#include "kernels/kernels.h"
#include "tables/table/tables.h"
#include "util/error.h"

static const struct data_kind skus = {"SKU", "skus", ".sku"};

enum { WHY_SIZE = 400 };

static const struct table_column *sku_file_column_of(const struct table_kind *k, const char *name)
{
    for (size_t i = 0; i < k->n_columns; i++)
        if (strcmp(k->columns[i].name, name) == 0)
            return &k->columns[i];
    return NULL;
}

/* Writes that there is no such column, and the nearest one. Returns -1. */
static int no_column(const struct table_kind *k, const char *name, char *why, size_t size)
{
    const char *nearest = "";
    unsigned least = ~0u;
    for (size_t i = 0; i < k->n_columns; i++) {
        unsigned edits = edit_distance(name, strlen(name), k->columns[i].name);
        if (edits < least) {
            least = edits;
            nearest = k->columns[i].name;
        }
    }
    return error_line(why, size, "the table %s has no column %s; nearest is %s", k->name, name, nearest);
}

static bool holds_kernels(const char *column)
{
    static const char *const columns[] = {"kernel", "from", "to", "with"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(column, columns[i]) == 0)
            return true;
    return false;
}

/* Each of the comma separated names is one of a kernel; else writes why not. */
static int check_kernels(const char *names, char *why, size_t size)
{
    for (const char *at = names;;) {
        char name[SKU_TEXT_MAX];
        struct payload p;
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (kernel_parse(name, &p, why, size) != 0)
            return -1;
        if (!at[n])
            return 0;
        at += n + 1;
    }
}

static int check_key(const struct table_kind *k, const struct sku_key *key, char *why, size_t size)
{
    const struct table_column *c = sku_file_column_of(k, key->column);
    if (!c)
        return no_column(k, key->column, why, size);
    if (c->type != TABLE_TEXT && !key->is_number)
        return error_line(why, size, "%s=%.60s: neither a number nor a range like 1-4", key->column, key->text);
    return holds_kernels(key->column) ? check_kernels(key->text, why, size) : 0;
}

static int check_figure(const struct sku_figure *f, char *why, size_t size)
{
    const struct table_kind *k = tables_find(f->table); /* there: sku_parse() knows the tables */
    for (size_t i = 0; i < f->n_keys; i++)
        if (check_key(k, &f->keys[i], why, size) != 0)
            return -1;
    const struct table_column *c = sku_file_column_of(k, f->column);
    if (!c)
        return no_column(k, f->column, why, size);
    if (c->type == TABLE_TEXT)
        return error_line(why, size, "the column %s holds text, not figures", f->column);
    const char *range = table_value_refused(c, f->lo); /* NaN, not published, is never refused */
    if (!range)
        range = table_value_refused(c, f->hi);
    return range ? error_line(why, size, "%s of %s is outside its range, %s", f->column, f->table, range) : 0;
}

/* A figure of what does not exist would for ever be not measured, and nobody would see the slip. */
static int check_figures(struct sku *s, const char *path, struct machine_error *err)
{
    char why[WHY_SIZE];
    for (size_t i = 0; i < s->n_figures; i++) {
        unsigned line = s->figures[i].line;
        if (check_figure(&s->figures[i], why, sizeof why) != 0) {
            sku_free(s);
            return machine_fail(err, MACHINE_BAD_INPUT, "", "%.160s:%u: %s", path, line, why);
        }
    }
    return MACHINE_OK;
}

int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    memset(out, 0, sizeof *out);
    char *text = data_file_read(name_or_file, data_dir, &skus, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sku_parse(text, length, path, out, err);
    free(text);
    return status == MACHINE_OK ? check_figures(out, path, err) : status;
}

int sku_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &skus, names, n);
}
