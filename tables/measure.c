/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tables/published.h"
#include "tables/tables.h"

struct run {
    const struct table_kind *kind;
    struct tables_context context;
    const struct tables_store *store;
    const struct tables_watch *watch;
    const struct cells *cells;
    size_t done;
    double seconds, seconds_done, seconds_now; /* expected: of all cells, of those done, of the one at hand */
    bool stopped;
};

static int out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* ---- what the table says of itself ---- */

static void note(struct table *t, const struct tables_context *x)
{
    const struct machine_info *info = &x->info;
    table_set_meta(t, "cpu", info->cpu);
    table_set_meta(t, "machine", info->name);
    table_set_meta(t, "source", info->source);
    table_set_meta(t, "modelled", info->modelled ? "yes" : "no");
    table_set_meta(t, "version", VERSION);
    if (info->modelled) {
        table_set_setting_number(t, "seed", (double)x->options->seed);
    } else { /* a model's output depends on nothing but its settings */
        char date[40];
        time_t now = time(NULL);
        struct tm utc;
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        table_set_meta(t, "date", date);
    }
    if (info->notes && *info->notes)
        table_set_meta(t, "notes", info->notes);
    table_set_setting(t, "companion", x->options->companion_same ? "same as the measured core"
                                      : x->options->companion.kernel ? x->options->companion.name
                                                                     : "64add");
    table_set_setting(t, "siblings", x->options->siblings ? "busy" : "idle");
}

/* ---- cells ---- */

static int on_part(void *data, double part)
{
    struct run *r = data;
    double share = r->seconds > 0 ? (r->seconds_done + part * r->seconds_now) / r->seconds : 0;
    if (r->watch && r->watch->progress &&
        r->watch->progress(r->watch->data, r->kind, r->done, r->cells->n, share))
        r->stopped = true;
    return r->stopped;
}

/* What was measured, as text; the error's status when nothing was. */
static int measure_cell(struct run *r, const struct cell *c, char **json, struct machine_error *err)
{
    struct table rows;
    table_init(&rows, r->kind->name, r->kind->columns, r->kind->n_columns);
    memset(err, 0, sizeof *err);
    int status = r->kind->measure(&r->context, c, &rows, err);
    if (status == MACHINE_CANNOT) {
        char why[sizeof err->text + sizeof err->remedy + 4];
        snprintf(why, sizeof why, "%s%s%s", err->text, err->remedy[0] ? "; " : "", err->remedy);
        tables_cell_missing(&rows, c, why);
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK && r->stopped)
        status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    *json = status == MACHINE_OK ? table_to_json(&rows) : NULL;
    if (status == MACHINE_OK && !*json)
        status = rows.failed ? machine_fail(err, MACHINE_FAILED, "", "table %s: a row of cell %s could not be built",
                                            r->kind->name, c->id)
                             : out_of_memory(err);
    table_free(&rows);
    return status;
}

/* Rows go into the table by way of their text, whether they were measured now or found: the same either way. */
static int take_cell(struct run *r, const struct cell *c, const char *json, struct table *out,
                     struct machine_error *err)
{
    struct table rows;
    char why[400];
    if (table_from_json(json, strlen(json), c->id, &rows, why, sizeof why))
        return machine_fail(err, MACHINE_FAILED, "remove that cell's file; it will be measured again",
                            "table %s: %.350s", r->kind->name, why);
    table_append(out, &rows);
    table_free(&rows);
    return out->failed ? machine_fail(err, MACHINE_FAILED, "remove that cell's file; it will be measured again",
                                      "table %s: cell %s does not fit the table", r->kind->name, c->id)
                       : MACHINE_OK;
}

static int one_cell(struct run *r, const struct cell *c, struct table *out, struct machine_error *err)
{
    const struct tables_store *s = r->store;
    char *json = s && s->load ? s->load(s->data, r->kind, c) : NULL;
    bool found = json != NULL;
    int status = MACHINE_OK;
    if (r->watch && r->watch->cell)
        r->watch->cell(r->watch->data, r->kind, c, !found);
    if (!found)
        status = measure_cell(r, c, &json, err);
    if (status == MACHINE_OK && !found && s && s->store)
        status = s->store(s->data, r->kind, c, json, err);
    if (status == MACHINE_OK)
        status = take_cell(r, c, json, out, err);
    free(json);
    return status;
}

static int all_cells(struct run *r, struct table *out, struct machine_error *err)
{
    for (size_t i = 0; i < r->cells->n; i++)
        r->seconds += r->cells->cell[i].seconds;
    for (size_t i = 0; i < r->cells->n; i++) {
        const struct cell *c = &r->cells->cell[i];
        r->seconds_now = c->seconds;
        if (on_part(r, 0))
            return machine_fail(err, MACHINE_FAILED, "", "interrupted");
        int status = one_cell(r, c, out, err);
        if (status)
            return status;
        r->done++;
        r->seconds_done += c->seconds;
    }
    on_part(r, 0);
    return r->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

static int plan(struct run *r, struct cells *cells, struct table *out, struct machine_error *err)
{
    memset(err, 0, sizeof *err);
    int status = r->kind->plan(&r->context, cells, out, err);
    if (status == MACHINE_CANNOT) { /* a table of which nothing can be measured is a table, too */
        char why[sizeof err->text + sizeof err->remedy + 4];
        snprintf(why, sizeof why, "%s%s%s", err->text, err->remedy[0] ? "; " : "", err->remedy);
        table_add_missing(out, why);
        cells_free(cells);
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK && !out->failed && cells->n == 0 && out->n_missing == 0)
        status = machine_fail(err, MACHINE_BAD_INPUT, "name more of them, as in --kernels 128fma,512fma",
                              "the kernels that are named leave nothing to measure");
    return status == MACHINE_OK && out->failed ? out_of_memory(err) : status;
}

int tables_plan(const struct table_kind *k, struct machine *m, const struct tables_options *o, struct cells *out,
                struct machine_error *err)
{
    struct table unused;
    struct run r = {.kind = k, .context = {.machine = m, .options = o}};
    m->ops->info(m, &r.context.info);
    memset(out, 0, sizeof *out);
    table_init(&unused, k->name, k->columns, k->n_columns);
    int status = plan(&r, out, &unused, err);
    table_free(&unused);
    if (status)
        cells_free(out);
    return status;
}

int tables_measure(const struct table_kind *k, struct machine *m, const struct tables_options *o,
                   const struct tables_store *store, const struct tables_watch *watch, struct table *out,
                   struct machine_error *err)
{
    struct cells cells = {0};
    struct run r = {.kind = k, .store = store, .watch = watch, .cells = &cells,
                    .context = {.machine = m, .options = o, .progress = on_part}};
    r.context.data = &r;
    m->ops->info(m, &r.context.info);
    table_init(out, k->name, k->columns, k->n_columns);
    note(out, &r.context);
    int status = plan(&r, &cells, out, err);
    if (status == MACHINE_OK)
        status = all_cells(&r, out, err);
    if (status == MACHINE_OK && ((k->conclude && k->conclude(out)) || out->failed))
        status = out_of_memory(err);
    if (status == MACHINE_OK)
        tables_note_published(out, o->data_dir);
    cells_free(&cells);
    if (status)
        table_free(out);
    return status;
}
