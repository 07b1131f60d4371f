/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/published/published.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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
    for (int common = 0; common < 2 && status != MACHINE_OK; common++) {
        char **names;
        size_t n;
        if (common ? sku_list_common(data_dir, &names, &n) : sku_list(data_dir, &names, &n))
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
