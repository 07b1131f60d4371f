/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shipped files of published figures: checked, with what they inherit, found by processor, and noted in tables. */
#include "tables/published/sku.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tables/table/tables.h"
#include "util/data_file.h"
#include "util/edit_distance.h"
#include "util/error.h"

static const struct data_kind skus = {"SKU", "skus", ".sku", "doc/sku-format.md"},
                              common = {"microarchitecture", "microarchs", ".sku", "doc/sku-format.md"};

enum { WHY_SIZE = 400 };

static const struct table_column *column_of(const struct table_kind *k, const char *name)
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
    for (size_t i = 0; i < k->n_columns; i++)
        if (edit_nearer(name, strlen(name), k->columns[i].name, &least))
            nearest = k->columns[i].name;
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
    const struct table_column *c = column_of(k, key->column);
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
    const struct table_column *c = column_of(k, f->column);
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

static int load_own(const char *name, const char *data_dir, const struct data_kind *kind, struct sku *out,
                    struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    memset(out, 0, sizeof *out);
    char *text = data_file_read(name, data_dir, kind, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sku_parse(text, length, path, out, err);
    free(text);
    return status == MACHINE_OK ? check_figures(out, path, err) : status;
}

/* ---- what is inherited ---- */

static double precision_of(const struct sku_figure *f)
{
    return isnan(f->tolerance) ? f->rounding : f->tolerance;
}

/* An own figure of the same takes precedence; where it is another beyond both precisions, it says so. */
static struct sku_figure *own_of(struct sku *s, const struct sku_figure *f)
{
    for (size_t i = 0; i < s->n_figures; i++) {
        struct sku_figure *own = &s->figures[i];
        if (own->inherited || own->mean != f->mean || strcmp(own->table, f->table) || strcmp(own->where, f->where) ||
            strcmp(own->column, f->column))
            continue;
        double apart = fmax(own->lo - f->hi, f->lo - own->hi), both = precision_of(own) + precision_of(f);
        if (apart > both) /* NaN where one of them is not published */
            snprintf(own->contradicts, sizeof own->contradicts, "%.40s has %.9g: %.120s", s->inherits, f->lo,
                     f->source);
        return own;
    }
    return NULL;
}

static int inherit(struct sku *s, const char *data_dir, struct machine_error *err)
{
    struct sku from;
    int status = load_own(s->inherits, data_dir, &common, &from, err);
    if (status != MACHINE_OK)
        return status;
    struct sku_figure *more = realloc(s->figures, (s->n_figures + from.n_figures) * sizeof *more);
    if (!more) {
        sku_free(&from);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    s->figures = more;
    for (size_t i = 0; i < from.n_figures; i++)
        if (!own_of(s, &from.figures[i])) {
            more[s->n_figures] = from.figures[i];
            more[s->n_figures++].inherited = true;
        }
    sku_free(&from);
    return MACHINE_OK;
}

/* Whether there is a microarchitecture of that name, and no SKU. */
static bool is_common(const char *name, const char *data_dir)
{
    char **names;
    size_t n;
    bool found = false;
    if (strpbrk(name, "/.") || sku_list_common(data_dir, &names, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        found = found || strcmp(names[i], name) == 0;
    data_file_list_free(names, n);
    return found;
}

int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err)
{
    int status = load_own(name_or_file, data_dir, is_common(name_or_file, data_dir) ? &common : &skus, out, err);
    if (status == MACHINE_OK && out->inherits[0])
        status = inherit(out, data_dir, err);
    if (status != MACHINE_OK)
        sku_free(out);
    return status;
}

int sku_list_common(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &common, names, n);
}

int sku_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &skus, names, n);
}

/* ---- beside what is measured ---- */

/* Of these names the one for this CPU. MACHINE_CANNOT: there is none; *broken: the first that could not be read. */
static int find_among(char **names, size_t n, const char *cpu, const char *data_dir, struct sku *out,
                      struct machine_error *broken, struct machine_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int status = sku_load(names[i], data_dir, out, err);
        if (status == MACHINE_OK && sku_is_of(out, cpu))
            return status;
        if (status == MACHINE_OK)
            sku_free(out);
        else if (broken->status == MACHINE_OK)
            *broken = *err; /* it may be of another processor: the others are looked at, too */
    }
    return MACHINE_CANNOT;
}

int tables_find_sku(const char *cpu, const char *data_dir, struct sku *out, struct machine_error *err)
{
    struct machine_error broken = {.status = MACHINE_OK};
    int status = MACHINE_CANNOT;
    memset(out, 0, sizeof *out);
    for (int all = 0; all < 2 && status != MACHINE_OK; all++) {
        char **names;
        size_t n;
        if (all ? sku_list_common(data_dir, &names, &n) : sku_list(data_dir, &names, &n))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        status = find_among(names, n, cpu, data_dir, out, &broken, err);
        data_file_list_free(names, n);
    }
    if (status == MACHINE_OK)
        return status;
    if (broken.status != MACHINE_OK) {
        *err = broken;
        return (int)broken.status;
    }
    return machine_fail(err, MACHINE_CANNOT, "", "no published figures are known for %.200s",
                        cpu ? cpu : "this processor");
}

/* {"keys": {"from": "128fma", "active_cores": 1}, "column": ..., "value": ..., "mean": ..., "source": ...}; keys that
 * are ranges are [lo, hi]. */
static json_t *figure_object(const struct sku_figure *f)
{
    json_t *keys = json_object();
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct sku_key *k = &f->keys[i];
        json_object_set_new(keys, k->column,
                            !k->is_number    ? json_string(k->text)
                            : k->lo == k->hi ? json_real(k->lo)
                                             : json_pack("[f,f]", k->lo, k->hi));
    }
    return json_pack("{s:o, s:s, s:f, s:b, s:s}", "keys", keys, "column", f->column, "value", 0.5 * (f->lo + f->hi),
                     "mean", (int)f->mean, "source", f->source);
}

void tables_note_published(struct table *t, const char *data_dir)
{
    struct sku sku;
    struct machine_error error;
    json_t *list = json_array();
    int status = list ? tables_find_sku(table_meta(t, "cpu"), data_dir, &sku, &error) : MACHINE_FAILED;
    if (list && status == MACHINE_OK) {
        for (size_t i = 0; i < sku.n_figures; i++)
            if (sku.figures[i].published && strcmp(sku.figures[i].table, t->name) == 0)
                json_array_append_new(list, figure_object(&sku.figures[i]));
        sku_free(&sku);
    } else if (list && status != MACHINE_CANNOT) {
        table_set_setting(t, "published_figures", error.text); /* why none stand beside */
    }
    char *text = json_array_size(list) ? json_dumps(list, JSON_REAL_PRECISION(9)) : NULL;
    if (text)
        table_set_detail(t, "published", text);
    free(text);
    json_decref(list);
}
