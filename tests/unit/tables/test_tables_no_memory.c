/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wherever memory runs out, what is planned, measured, concluded and drawn is the same, or has failed. */
#include "tables/registry.h"
#include "tests/support/chart_text.h"
#include "tests/support/made_tables.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

static void write_rows(FILE *out, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++)
        for (size_t i = 0; i < t->n_columns; i++) {
            const char *text = table_text(t, row, t->columns[i].name);
            fprintf(out, "%s %.7g\n", text ? text : "", table_number(t, row, t->columns[i].name));
        }
    for (size_t i = 0; i < t->n_settings; i++)
        fprintf(out, "%s: %s\n", t->settings[i].key, t->settings[i].value);
}

struct attempt {
    const struct table_kind *kind;
    const struct table *made;
    bool draws; /* else it concludes */
};

/* The result if an allocation of the nth kind fails; NULL: it reports that it failed. */
static char *outcome(const struct attempt *a, unsigned long n, bool *failed)
{
    struct table t;
    struct chart chart = {0};
    char *text = NULL;
    size_t size;
    bool bad = false;
    table_init(&t, a->made->name, a->made->columns, a->made->n_columns);
    table_append(&t, a->made);
    for (size_t i = 0; i < a->made->n_settings; i++)
        table_set_setting(&t, a->made->settings[i].key, a->made->settings[i].value);
    assert_false(t.failed);
    strict_memory_fail(n);
    if (a->draws)
        tables_draw(a->kind, &t, &chart);
    else
        bad = a->kind->conclude(&t) != 0;
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    bad |= chart.failed || t.failed;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (!bad && a->draws)
        chart_write_text(out, &chart);
    else if (!bad)
        write_rows(out, &t);
    assert_int_equal(fclose(out), 0);
    chart_free(&chart);
    table_free(&t);
    if (bad)
        free(text);
    return bad ? NULL : text;
}

static void expect_no_wrong_outcome(const struct attempt *a, const char *title)
{
    bool failed;
    unsigned long n = 0;
    char *all = outcome(a, 0, &failed);
    assert_non_null(all);
    do {
        char *text = outcome(a, ++n, &failed);
        if (text ? strcmp(text, all) != 0 : !failed)
            fail_msg("%s, %s, %s without allocation %lu: %.300s", a->kind->name, title,
                     a->draws ? "drawn" : "concluded", n, text ? text : "failed");
        free(text);
    } while (failed);
    free(all);
}

static void try_case(void *data, struct made_case *c)
{
    struct attempt a = {.kind = data, .made = &c->table};
    if (!c->counted && a.kind->conclude)
        expect_no_wrong_outcome(&a, c->title);
    a.draws = true;
    if (!c->findings && tables_drawn(a.kind))
        expect_no_wrong_outcome(&a, c->title);
}

TEST(made_tables_without_memory)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    skip_where_sanitized("sanitizers have their own memory");
    for (size_t i = 0; i < n; i++) {
        char path[100];
        struct table_kind kind = *kinds[i];
        if (!made_of(&kind))
            continue;
        snprintf(path, sizeof path, "tests/golden/made/%s.rows", kind.name);
        made_tables(path, &kind, try_case, &kind);
    }
}

/* Returns true if something is reported missing for want of memory. */
static bool lacks_memory(const struct table *t)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (t->missing[i].why && strstr(t->missing[i].why, "out of memory"))
            return true;
    return false;
}

/* How many cells are planned; -1: refused, or said to be missing, for want of memory. */
static long planned(const struct table_kind *k, const struct tables_context *x, unsigned long n, bool *failed)
{
    struct table t;
    struct cells cells = {0};
    struct machine_error err = {0};
    table_init(&t, k->name, k->columns, k->n_columns);
    strict_memory_fail(n);
    int status = k->plan(x, &cells, &t, &err);
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    long count = status == MACHINE_OK && !t.failed ? (long)cells.n : -1;
    count = lacks_memory(&t) ? -1 : count;
    if (status != MACHINE_OK && !strstr(err.text, "out of memory"))
        fail_msg("%s without allocation %lu: %d, %s", k->name, n, status, err.text);
    tables_free_cells(&cells);
    table_free(&t);
    return count;
}

TEST(plans_without_memory)
{
    size_t n;
    struct tables_options o;
    struct model model;
    struct machine machine;
    struct machine_error err;
    const struct table_kind *const *kinds = tables_all(&n);
    skip_where_sanitized("sanitizers have their own memory");
    tables_options_default(&o);
    o.brief = true;
    rig_load("xeon-gold-6130", &model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &machine, &err), MACHINE_OK);
    struct tables_context x = {.machine = &machine, .options = &o};
    machine.ops->info(&machine, &x.info);
    for (size_t i = 0; i < n; i++) {
        bool failed;
        unsigned long at = 0;
        long all = planned(kinds[i], &x, 0, &failed);
        assert_true(all > 0);
        do {
            long cells = planned(kinds[i], &x, ++at, &failed);
            if (cells != all && !(failed && cells < 0))
                fail_msg("%s without allocation %lu: %ld cells, not %ld", kinds[i]->name, at, cells, all);
        } while (failed);
    }
    machine.ops->close(&machine);
}

/* The measurement of a plan's first cell if an allocation of the nth kind fails; NULL: it reports that it failed. */
static char *measured(const struct table_kind *k, const struct model *model, const struct tables_options *o,
                      unsigned long n, bool *failed)
{
    struct machine machine;
    struct machine_error err = {0};
    struct table t;
    struct cells cells = {0};
    char *text = NULL;
    size_t size;
    assert_int_equal(machine_open_parsed_model(model, "model:test", &machine, &err), MACHINE_OK);
    struct tables_context x = {.machine = &machine, .options = o};
    machine.ops->info(&machine, &x.info);
    table_init(&t, k->name, k->columns, k->n_columns);
    assert_int_equal(k->plan(&x, &cells, &t, &err), MACHINE_OK);
    assert_true(cells.n > 0);
    strict_memory_fail(n);
    int status = k->measure(&x, &cells.cell[0], &t, &err);
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    bool bad = status != MACHINE_OK || t.failed || lacks_memory(&t);
    if (!bad) {
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        write_rows(out, &t);
        assert_int_equal(fclose(out), 0);
    }
    tables_free_cells(&cells);
    table_free(&t);
    machine.ops->close(&machine);
    return text;
}

TEST(measuring_without_memory)
{
    size_t n;
    struct tables_options o;
    struct model model;
    const struct table_kind *const *kinds = tables_all(&n);
    skip_where_sanitized("sanitizers have their own memory");
    tables_options_default(&o);
    o.brief = true;
    o.runs = 3;
    rig_load("xeon-gold-6130", &model);
    for (size_t i = 0; i < n; i++) {
        bool failed;
        unsigned long at = 0;
        /* these go on without the part that has failed, for whatever reason */
        bool leaves_out = strstr("trigger overhead umask burst", kinds[i]->name);
        char *all = measured(kinds[i], &model, &o, 0, &failed);
        assert_non_null(all);
        do {
            at += rng_all_rounds() ? 1 : 1 + at / 5; /* the first ones, and some of those in many repetitions */
            char *text = measured(kinds[i], &model, &o, at, &failed);
            if (text ? !leaves_out && strcmp(text, all) != 0 : !failed)
                fail_msg("%s without allocation %lu: %.300s", kinds[i]->name, at, text ? text : "failed");
            free(text);
        } while (failed);
        free(all);
    }
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
