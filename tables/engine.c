/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring a table: its plan, each cell that the store does not have yet, its conclusions and its head. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "computer/environment/snapshot.h"
#include "tables/published/sku.h"
#include "tables/table/tables.h"
#include "util/text_list.h"

enum { DATE_SIZE = 40 };

struct run {
    const struct table_kind *kind;
    struct tables_context context;
    const struct tables_store *store;
    const struct tables_watch *watch;
    const struct cells *cells;
    size_t done;
    double seconds, seconds_done, seconds_now; /* expected: of all cells, of those done, of the one at hand */
    double share;                              /* the most that was reported as progress */
    bool stopped;
    int cpu;                                /* that was measured on, as seen during the cell at hand; -1: not seen */
    char first[DATE_SIZE], last[DATE_SIZE]; /* when the cells were measured; "": no cell says so */
    char cpus[200];                         /* on which CPUs, "1" or "1,3"; "": no cell says so */
};

static int out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* ---- the table's metadata ---- */

static void date_now(char out[DATE_SIZE])
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(out, DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

/* "3,5" of --cpus, in its order. */
static void note_cpus(struct table *t, const struct tables_options *o)
{
    char text[1000] = "";
    for (size_t i = 0; i < o->n_cpus && strlen(text) + 12 < sizeof text; i++)
        text_list_add(text, sizeof text, ",", "%d", o->cpus[i]);
    if (text[0])
        table_set_setting(t, "cpus", text);
}

static void note(struct table *t, const struct tables_context *x)
{
    const struct machine_info *info = &x->info;
    table_set_meta(t, "cpu", info->cpu);
    table_set_meta(t, "machine", info->name);
    table_set_meta(t, "source", info->source);
    table_set_meta(t, "modelled", info->modelled ? "yes" : "no");
    table_set_meta(t, "version", VERSION);
    if (info->modelled) { /* a model's output depends on nothing but its settings */
        char seed[24];
        snprintf(seed, sizeof seed, "%" PRIu64, x->options->seed);
        table_set_setting(t, "seed", seed);
    }
    if (info->notes && *info->notes)
        table_set_meta(t, "notes", info->notes);
    table_set_setting(t, "companion",
                      x->options->corunner_same     ? "same as the measured core"
                      : x->options->corunner.kernel ? x->options->corunner.name
                                                    : "64add");
    table_set_setting(t, "siblings", x->options->siblings ? "busy" : "idle");
    note_cpus(t, x->options);
}

/* Notes what only silicon has: dates and CPUs of the measurement, of all cells, also those of an earlier run, and the
 * settings, which are the same in that run (cli/run_directory.c). */
static void note_silicon(struct table *t, const struct run *r)
{
    char now[DATE_SIZE], environment[SNAPSHOT_LINE];
    struct machine_info info;
    date_now(now);
    table_set_meta(t, "date", r->first[0] ? r->first : now);
    if (strcmp(r->first, r->last) != 0)
        table_set_meta(t, "date_last", r->last);
    if (r->cpus[0])
        table_set_setting(t, "measured_cpu", r->cpus);
    r->context.machine->ops->info(r->context.machine, &info);
    if (info.order && strchr(info.order, ','))
        table_set_setting(t, "active_order", info.order);
    snapshot_take_line(r->cpus[0] ? (int)strtol(r->cpus, NULL, 10) : -1, environment, sizeof environment);
    if (environment[0])
        table_set_meta(t, "environment", environment);
}

/* ---- cells ---- */

static int on_part(void *data, double part)
{
    struct run *r = data;
    struct machine_info info;
    r->context.machine->ops->info(r->context.machine, &info);
    if (info.cpu_number >= 0)
        r->cpu = info.cpu_number;
    if (r->seconds > 0) /* a cell with several measurements reports each from 0 on */
        r->share = fmin(1, fmax(r->share, (r->seconds_done + part * r->seconds_now) / r->seconds));
    if (r->watch && r->watch->progress && r->watch->progress(r->watch->data, r->kind, r->done, r->cells->n, r->share))
        r->stopped = true;
    return r->stopped;
}

/* The metadata by which a cell is recognized, and those that end up in the table's head. */
#define CELL_ID "cell"
#define CELL_DATE "date"
#define CELL_CPU "measured_cpu"
#define CELL_COUNTS "holds"
enum { COUNTS_SIZE = 100 };

/* How much a cell holds, which may be nothing: a frequency that is measured again and was always disturbed. */
static void count_parts(const struct table *rows, char out[COUNTS_SIZE])
{
    snprintf(out, COUNTS_SIZE, "%zu rows, %zu missing, %zu details", rows->n_rows, rows->n_missing, rows->n_details);
}

static void note_cell(struct table *rows, const struct run *r, const struct cell *c)
{
    char date[DATE_SIZE];
    table_set_meta(rows, CELL_ID, c->id);
    if (r->context.info.modelled)
        return;
    date_now(date);
    table_set_meta(rows, CELL_DATE, date);
}

/* True if rows are those of this cell, with the columns that the table has; else `why` is the difference. */
static bool is_cell(const struct table_kind *k, const struct cell *c, const struct table *rows, char *why, size_t size)
{
    const char *id = table_meta(rows, CELL_ID);
    if (strcmp(rows->name, k->name) != 0 || !id || strcmp(id, c->id) != 0) {
        snprintf(why, size, "it contains cell %.80s of table %.40s", id ? id : "unnamed", rows->name);
        return false;
    }
    bool same = table_has_columns(rows, k->columns, k->n_columns);
    if (!same)
        snprintf(why, size, "its columns are not those of the table");
    for (size_t row = 0; same && row < rows->n_rows; row++)
        for (size_t i = 0; same && i < k->n_columns; i++) {
            /* numbers among the keys may be absent: which throttled phase, where none is decided on */
            same = !k->columns[i].key || k->columns[i].type != TABLE_TEXT ||
                   rows->values[row * k->n_columns + i].text != NULL;
            if (!same)
                snprintf(why, size, "row %zu has no %s", row + 1, k->columns[i].name);
        }
    char held[COUNTS_SIZE];
    const char *counts = table_meta(rows, CELL_COUNTS);
    count_parts(rows, held);
    if (same && (!counts || strcmp(counts, held) != 0)) {
        snprintf(why, size, "its contents do not match its header: %.40s", counts ? counts : "nothing");
        same = false;
    }
    return same;
}

static void widen_dates(struct run *r, const struct table *rows)
{
    const char *date = table_meta(rows, CELL_DATE), *cpu = table_meta(rows, CELL_CPU);
    if (date && (!r->first[0] || strcmp(date, r->first) < 0))
        snprintf(r->first, sizeof r->first, "%s", date);
    if (date && strcmp(date, r->last) > 0)
        snprintf(r->last, sizeof r->last, "%s", date);
    if (cpu && *cpu && !text_list_has(r->cpus, cpu) && strlen(r->cpus) + strlen(cpu) + 2 < sizeof r->cpus)
        text_list_add(r->cpus, sizeof r->cpus, ",", "%s", cpu);
}

/* Into `rows`, which is initialised. */
static int measure_cell(struct run *r, const struct cell *c, struct table *rows, struct machine_error *err)
{
    char counts[COUNTS_SIZE], why[400];
    memset(err, 0, sizeof *err);
    r->cpu = -1;
    note_cell(rows, r, c);
    int status = r->kind->measure(&r->context, c, rows, err);
    if (status == MACHINE_CANNOT) {
        table_add_missing_error(rows, err);
        tables_put_cell(rows, c);
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK && r->stopped)
        status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    if (r->cpu >= 0 && !r->context.info.modelled) {
        char cpu[20];
        snprintf(cpu, sizeof cpu, "%d", r->cpu);
        table_set_meta(rows, CELL_CPU, cpu);
    }
    count_parts(rows, counts);
    table_set_meta(rows, CELL_COUNTS, counts);
    if (status == MACHINE_OK && rows->failed)
        return machine_fail(err, MACHINE_FAILED, "", "table %s: a row of cell %s could not be built", r->kind->name,
                            c->id);
    if (status == MACHINE_OK && (!table_in_range(rows, why, sizeof why) || !is_cell(r->kind, c, rows, why, sizeof why)))
        return machine_fail(err, MACHINE_FAILED, "", "table %s: cell %s: %.350s", r->kind->name, c->id, why);
    return status;
}

static void keep_rows(struct run *r, const struct table *rows, struct table *out)
{
    table_append(out, rows);
    widen_dates(r, rows);
}

/* Loads a cell from the store; false: it has nothing, or nothing of this cell, which is reported. */
static bool load_cell(struct run *r, const struct cell *c, struct table *out)
{
    const struct tables_store *s = r->store;
    char why[400];
    struct table rows;
    char *json = s && s->load ? s->load(s->data, r->kind, c) : NULL;
    if (!json)
        return false;
    bool fits = table_from_json(json, strlen(json), c->id, &rows, why, sizeof why) == 0;
    if (fits) {
        fits = is_cell(r->kind, c, &rows, why, sizeof why);
        if (fits)
            keep_rows(r, &rows, out);
        table_free(&rows);
    }
    if (!fits && s->refused)
        s->refused(s->data, r->kind, c, why);
    free(json);
    return fits;
}

static int store_cell(const struct run *r, const struct cell *c, const struct table *rows, struct machine_error *err)
{
    const struct tables_store *s = r->store;
    if (!s || !s->store)
        return MACHINE_OK;
    char *json = table_to_json(rows);
    int status = json ? s->store(s->data, r->kind, c, json, err) : out_of_memory(err);
    free(json);
    return status;
}

static int one_cell(struct run *r, const struct cell *c, struct table *out, struct machine_error *err)
{
    bool found = load_cell(r, c, out);
    int status = MACHINE_OK;
    if (r->watch && r->watch->cell)
        r->watch->cell(r->watch->data, r->kind, c, !found);
    if (!found) {
        struct table rows;
        table_init(&rows, r->kind->name, r->kind->columns, r->kind->n_columns);
        status = measure_cell(r, c, &rows, err);
        if (status == MACHINE_OK)
            status = store_cell(r, c, &rows, err);
        if (status == MACHINE_OK)
            keep_rows(r, &rows, out);
        table_free(&rows);
    }
    return status == MACHINE_OK && out->failed ? out_of_memory(err) : status;
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

static int plan_cells(struct run *r, struct cells *cells, struct table *out, struct machine_error *err)
{
    memset(err, 0, sizeof *err);
    int status = r->kind->plan(&r->context, cells, out, err);
    if (status == MACHINE_CANNOT) { /* a table of which nothing can be measured is a table, too */
        table_add_missing_error(out, err);
        tables_free_cells(cells);
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK && !out->failed && cells->n == 0 && out->n_missing == 0)
        status = machine_fail(err, MACHINE_BAD_INPUT, "name more of them, as in --kernels 128fma,512fma",
                              "the kernels given leave nothing to measure");
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
    int status = plan_cells(&r, out, &unused, err);
    table_free(&unused);
    if (status)
        tables_free_cells(out);
    return status;
}

int tables_measure(const struct table_kind *k, struct machine *m, const struct tables_options *o,
                   const struct tables_store *store, const struct tables_watch *watch, struct table *out,
                   struct machine_error *err)
{
    struct cells cells = {0};
    struct run r = {.kind = k,
                    .store = store,
                    .watch = watch,
                    .cells = &cells,
                    .context = {.machine = m, .options = o, .progress = on_part}};
    r.context.data = &r;
    m->ops->info(m, &r.context.info);
    table_init(out, k->name, k->columns, k->n_columns);
    note(out, &r.context);
    int status = plan_cells(&r, &cells, out, err);
    if (status == MACHINE_OK)
        status = all_cells(&r, out, err);
    if (status == MACHINE_OK && !r.context.info.modelled)
        note_silicon(out, &r);
    if (status == MACHINE_OK && ((k->conclude && k->conclude(out)) || out->failed))
        status = out_of_memory(err);
    if (status == MACHINE_OK)
        tables_note_published(out, o->data_dir);
    tables_free_cells(&cells);
    if (status)
        table_free(out);
    return status;
}
