/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of include/characterize/characterize.h. */
#include <math.h>
#include <string.h>

#include "library/library.h"
#include "library/measure.h"
#include "util/text_list.h"

struct characterize_table {
    struct table table;
    char **missing; /* "512fma, active_cores 16: WHY" */
};

static int library_on_table_progress(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    const struct characterize_options *o = data;
    (void)k, (void)done, (void)n;
    return o->progress != NULL && o->progress(o->data, part) != 0;
}

const char *characterize_table_name(size_t i)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    return i < n ? kinds[i]->name : NULL;
}

/* "128fma,512fma" into the kernels, each once. */
static enum characterize_status library_parse_kernels(const characterize_machine *m, const char *names,
                                                      struct tables_options *t, struct characterize_error *error)
{
    char name[100], why[400];
    for (const char *rest = names; rest != NULL; rest = *rest == ',' ? rest + 1 : NULL) {
        size_t length = strcspn(rest, ",");
        if (t->n_kernels == TABLES_KERNELS_MAX || length >= sizeof(name))
            return library_refuse(error, CHARACTERIZE_BAD_INPUT, "kernels: too many, or a name that is too long");
        memcpy(name, rest, length);
        name[length] = '\0';
        rest += length;
        if (library_kernel(m, name, &t->kernels[t->n_kernels], why, sizeof(why)) != 0)
            return library_refuse(error, CHARACTERIZE_BAD_INPUT, why);
        for (size_t i = 0; i < t->n_kernels; i++)
            if (strcmp(t->kernels[i].name, t->kernels[t->n_kernels].name) == 0)
                return library_refuse(error, CHARACTERIZE_BAD_INPUT, "kernels: one of them is given twice");
        t->n_kernels++;
    }
    return CHARACTERIZE_OK;
}

/* The options that this table does not take. */
static const char *library_excluded(const struct table_kind *k, const struct characterize_options *o)
{
    const char *warmup = o->warmup_us > 0 ? k->excluded[CHOICE_WARMUP] : NULL;
    return warmup != NULL ? warmup : o->observe_us > 0 ? k->excluded[CHOICE_OBSERVE] : NULL;
}

static enum characterize_status library_table_options(const characterize_machine *m, const struct table_kind *k,
                                                      const struct characterize_options *o, struct tables_options *t,
                                                      struct characterize_error *error)
{
    char why[200];
    struct machine_info info;
    struct machine_error e;
    enum characterize_status status = library_check(o, error);
    tables_options_default(t);
    t->cpu = m->cpu;
    t->data_dir = m->data_folder;
    t->runs = o->runs;
    t->period_us = o->period_us;
    t->warmup_us = o->warmup_us;
    t->observe_us = o->observe_us;
    t->n_active = o->active_cores > 0;
    t->active[0] = o->active_cores;
    t->brief = o->brief != 0;
    t->seed = o->seed;
    if (status == CHARACTERIZE_OK && library_excluded(k, o) != NULL) {
        snprintf(why, sizeof(why), "warmup_us and observe_us: table %s takes neither: %s", k->name,
                 library_excluded(k, o));
        status = library_refuse(error, CHARACTERIZE_BAD_INPUT, why);
    }
    if (status == CHARACTERIZE_OK && o->kernels != NULL)
        status = library_parse_kernels(m, o->kernels, t, error);
    if (status != CHARACTERIZE_OK)
        return status;
    m->machine.ops->info(&m->machine, &info);
    return measure_check_cores(&info, t, &e) == MACHINE_OK ? CHARACTERIZE_OK : library_fail(error, &e);
}

static enum characterize_status library_refuse_table(const char *name, struct characterize_error *error)
{
    char text[600];
    snprintf(text, sizeof(text), "no table '%.60s'; tables:", name);
    for (size_t i = 0; characterize_table_name(i) != NULL; i++)
        text_list_add(text, sizeof(text), " ", "%s", characterize_table_name(i));
    return library_refuse(error, CHARACTERIZE_BAD_INPUT, text);
}

static bool library_put_missing(struct characterize_table *t)
{
    char name[200];
    bool complete = (t->missing = calloc(t->table.n_missing + 1, sizeof(*t->missing))) != NULL;
    for (size_t i = 0; complete && i < t->table.n_missing; i++) {
        table_missing_name(&t->table, i, name, sizeof(name));
        complete = asprintf(&t->missing[i], "%s%s%s", name, name[0] != '\0' ? ": " : "", t->table.missing[i].why) >= 0;
        t->missing[i] = complete ? t->missing[i] : NULL;
    }
    return complete;
}

enum characterize_status characterize_table_measure(characterize_machine *machine, const char *name,
                                                    const struct characterize_options *options,
                                                    characterize_table **table, struct characterize_error *error)
{
    static const struct characterize_options defaults = {0};
    struct characterize_options o = options != NULL ? *options : defaults;
    const struct tables_watch watch = {.progress = library_on_table_progress, .data = &o};
    struct tables_options tables;
    struct machine_error e;
    if (table != NULL)
        *table = NULL;
    if (machine == NULL || name == NULL || table == NULL)
        return library_refuse_null(error);
    const struct table_kind *kind = tables_find(name);
    if (kind == NULL)
        return library_refuse_table(name, error);
    enum characterize_status status = library_table_options(machine, kind, &o, &tables, error);
    if (status != CHARACTERIZE_OK)
        return status;
    struct characterize_table *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return library_refuse(error, CHARACTERIZE_FAILED, "out of memory");
    memset(&e, 0, sizeof(e));
    if (tables_measure(kind, &machine->machine, &tables, NULL, &watch, &t->table, &e) != MACHINE_OK) {
        free(t);
        return library_fail(error, &e);
    }
    if (!library_put_missing(t)) {
        characterize_table_free(t);
        return library_refuse(error, CHARACTERIZE_FAILED, "out of memory");
    }
    *table = t;
    return CHARACTERIZE_OK;
}

void characterize_table_free(characterize_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; table->missing != NULL && i < table->table.n_missing; i++)
        free(table->missing[i]);
    free(table->missing);
    table_free(&table->table);
    free(table);
}

size_t characterize_table_rows(const characterize_table *table)
{
    return table->table.n_rows;
}

double characterize_table_number(const characterize_table *table, size_t row, const char *column)
{
    return row < table->table.n_rows ? table_number(&table->table, row, column) : NAN;
}

const char *characterize_table_text(const characterize_table *table, size_t row, const char *column)
{
    return row < table->table.n_rows ? table_text(&table->table, row, column) : NULL;
}

const char *characterize_table_missing(const characterize_table *table, size_t i)
{
    return i < table->table.n_missing ? table->missing[i] : NULL;
}

char *characterize_table_json(const characterize_table *table)
{
    return table_to_json(&table->table);
}

static int library_print_table(FILE *out, const void *table)
{
    return table_write_csv(out, table);
}

char *characterize_table_csv(const characterize_table *table)
{
    return library_text(library_print_table, &table->table);
}
