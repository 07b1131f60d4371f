/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The description of each table (names and columns are a stable interface, decimals are no accident), and what it would
 * measure on a shipped model: cells, their expected time, settings, what is left out and why, what is refused. Kept in
 * tests/golden/plans.* and tables.kinds; after an intended change `make golden` rewrites these, and the diff shows what
 * changed.
 */
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/made_tables.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

/* Every cell, or of many the first and the last; how many there are, and the sums over them. */
enum { CELLS_REPORTED = 16, SETTING_REPORTED = 40 /* where the options do not change what others say */ };

/* Its cores, CPU, numbers and seconds. */
static void write_cell(FILE *out, const struct cell *c)
{
    fprintf(out, "  %s: %u", c->id, c->active_cores);
    if (c->cpu >= 0)
        fprintf(out, ", CPU %d", c->cpu);
    fprintf(out, ", %u %u %u, %.6f s\n", c->number[0], c->number[1], c->number[2], c->seconds);
}

static void write_cells(FILE *out, const struct cells *cells)
{
    double seconds = 0;
    unsigned long cores = 0, numbers[3] = {0};
    for (size_t i = 0; i < cells->n; i++) {
        seconds += cells->cell[i].seconds;
        cores += cells->cell[i].active_cores;
        for (size_t k = 0; k < 3; k++)
            numbers[k] += (i + 1) * cells->cell[i].number[k];
        if (cells->n <= CELLS_REPORTED || i == 0 || i + 1 == cells->n)
            write_cell(out, &cells->cell[i]);
    }
    fprintf(out, "  %zu cells: %lu, %lu %lu %lu, %.6f s\n", cells->n, cores, numbers[0], numbers[1], numbers[2],
            seconds);
}

static void write_table_plan(FILE *out, const struct table_kind *k, const struct tables_context *x)
{
    struct table t;
    struct cells cells = {0};
    struct machine_error err = {0};
    table_init(&t, k->name, k->columns, k->n_columns);
    int status = k->plan(x, &cells, &t, &err);
    fprintf(out, "%s\n", k->name);
    if (status != MACHINE_OK)
        fprintf(out, "  refused (%d): %s; %s\n", status, err.text, err.remedy);
    write_cells(out, &cells);
    for (size_t i = 0; i < t.n_settings; i++)
        if (strlen(t.settings[i].value) < SETTING_REPORTED || !x->options->n_kernels)
            fprintf(out, "  %s: %s\n", t.settings[i].key, t.settings[i].value);
    for (size_t i = 0; i < t.n_missing; i++) {
        fprintf(out, "  missing:");
        for (size_t c = 0; c < t.n_columns; c++)
            if (t.missing[i].values[c].text)
                fprintf(out, " %s", t.missing[i].values[c].text);
        fprintf(out, " %s\n", t.missing[i].why);
    }
    assert_false(t.failed);
    tables_free_cells(&cells);
    table_free(&t);
}

static bool plans_are_golden(const char *model_name, const char *name, const struct tables_options *o)
{
    struct model model;
    struct machine machine;
    struct machine_error err;
    char *text = NULL;
    size_t size, n;
    const struct table_kind *const *kinds = tables_all(&n);
    FILE *out = open_memstream(&text, &size);
    rig_load(model_name, &model);
    assert_non_null(out);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
    struct tables_context x = {.machine = &machine, .options = o};
    machine.ops->info(&machine, &x.info);
    for (size_t i = 0; i < n; i++)
        if (made_of(kinds[i]))
            write_table_plan(out, kinds[i], &x);
    machine.ops->close(&machine);
    assert_int_equal(fclose(out), 0);
    bool same = golden_is("plans", name, text, true);
    free(text);
    return same;
}

static void take_kernels(struct tables_options *o, const char *const *names, size_t n)
{
    o->n_kernels = n;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(kernel_parse(names[i], &o->kernels[i], NULL, 0), 0);
}

TEST(as_it_comes)
{
    struct tables_options o;
    tables_options_default(&o);
    bool same = plans_are_golden("xeon-gold-6130", "all", &o);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

TEST(what_makes_no_sense_is_refused)
{
    static const char *const alone[] = {"512fma"};
    struct tables_options o;
    tables_options_default(&o);
    take_kernels(&o, alone, 1);
    o.period_us = 50;
    o.runs = 1;
    o.event = 0x128;
    o.cpu = 2;
    bool same = plans_are_golden("xeon-gold-6130", "refused", &o);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

static void write_kind(FILE *out, const struct table_kind *k)
{
    static const char *const types[] = {[TABLE_TEXT] = "text", [TABLE_WHOLE] = "whole", [TABLE_REAL] = "real"};
    fprintf(out, "%s: %s; %s\n  %s\n  exports %d%s%s%s\n", k->name, k->title, k->about, k->method ? k->method : "-",
            (int)k->exported, k->takes_event ? ", takes an event" : "", k->takes_burst ? ", takes bursts" : "",
            k->refines ? ", refines" : "");
    for (size_t i = 0; i < k->n_columns; i++) {
        const struct table_column *c = &k->columns[i];
        fprintf(out, "  %s, %s %s, .%d%s\n", c->name, types[c->type], c->unit[0] ? c->unit : "-", c->decimals,
                c->key ? ", key" : "");
    }
    for (size_t i = 0; i < TABLES_CHOICES; i++)
        if (k->excluded[i])
            fprintf(out, "  not with option %zu: %s\n", i, k->excluded[i]);
}

TEST(tables_say_what_they_are)
{
    struct golden g;
    size_t n;
    FILE *out = golden_begin(&g);
    const struct table_kind *const *all = tables_all(&n);
    for (size_t i = 0; i < n; i++)
        if (made_of(all[i]))
            write_kind(out, all[i]);
    golden_expect(&g, "tables", "kinds", false);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
