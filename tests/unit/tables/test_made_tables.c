/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is concluded, printed, told and drawn of tables that were made by hand, at limits and beside them: the cases are
 * tests/golden/made/TABLE.rows, what becomes of them tests/golden/made.TABLE. After an intended change `make golden`
 * rewrites these, and the diff shows what changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/registry.h"
#include "tests/support/chart_text.h"
#include "tests/support/golden.h"
#include "tests/support/made_tables.h"
#include "tests/support/table_rig.h"

struct made_text {
    const struct table_kind *kind;
    FILE *out;
};

static void field_text(const struct table *t, size_t row, size_t column, char *out, size_t size)
{
    const char *name = t->columns[column].name, *text = table_text(t, row, name);
    if (t->columns[column].type == TABLE_TEXT)
        snprintf(out, size, "%s", text ? text : "");
    else if (isnan(table_number(t, row, name)))
        out[0] = '\0';
    else
        snprintf(out, size, "%.7g", table_number(t, row, name));
}

/* What conclude() has put into the rows and settings. */
static void write_concluded(FILE *out, const struct table *t, const struct table *before)
{
    char is[200], was[200];
    for (size_t row = 0; row < t->n_rows; row++) {
        fprintf(out, "row %zu:", row + 1);
        for (size_t i = 0; i < t->n_columns; i++) {
            field_text(t, row, i, is, sizeof is);
            field_text(before, row, i, was, sizeof was);
            if (row >= before->n_rows || strcmp(is, was) != 0)
                fprintf(out, " %s=%s", t->columns[i].name, is);
        }
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < t->n_settings; i++)
        if (!table_setting(before, t->settings[i].key))
            fprintf(out, "setting %s: %s\n", t->settings[i].key, t->settings[i].value);
}

static void conclude(FILE *out, const struct table_kind *k, struct table *t)
{
    struct table before;
    table_init(&before, t->name, t->columns, t->n_columns);
    table_append(&before, t);
    for (size_t i = 0; i < t->n_settings; i++)
        table_set_setting(&before, t->settings[i].key, t->settings[i].value);
    assert_int_equal(k->conclude(t), 0);
    assert_false(t->failed || before.failed);
    write_concluded(out, t, &before);
    table_free(&before);
}

static void write_made_case(void *data, struct made_case *c)
{
    const struct made_text *m = data;
    struct chart chart = {0};
    fprintf(m->out, "== %s\n", c->title);
    if (c->counted) {
        m->kind->plot(&c->table, &chart);
        chart_write_counts(m->out, &chart);
        chart_free(&chart);
        return;
    }
    if (m->kind->conclude)
        conclude(m->out, m->kind, &c->table);
    char *words = c->told ? rig_findings(m->kind, &c->table) : rig_printed(m->kind, &c->table);
    fputs(words, m->out);
    free(words);
    if (c->told)
        return;
    m->kind->plot(&c->table, &chart);
    assert_false(chart.failed);
    chart_write_text(m->out, &chart);
    chart_free(&chart);
}

static void made_tables_are_told_as_they_were(void **state)
{
    size_t n;
    bool same = true;
    const struct table_kind *const *kinds = tables_all(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        char path[100], *text = NULL;
        size_t size;
        struct made_text m = {kinds[i], open_memstream(&text, &size)};
        assert_non_null(m.out);
        snprintf(path, sizeof path, "tests/golden/made/%s.rows", kinds[i]->name);
        assert_true(made_tables(path, kinds[i], write_made_case, &m) > 0);
        assert_int_equal(fclose(m.out), 0);
        same &= golden_is("made", kinds[i]->name, text, true);
        free(text);
    }
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_tables_are_told_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
