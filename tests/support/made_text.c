/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/made_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/chart_text.h"
#include "tests/support/table_rig.h"

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
            if (row < before->n_rows)
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

void made_write_text(FILE *out, const struct table_kind *k, struct made_case *c)
{
    struct chart chart = {0};
    fprintf(out, "== %s\n", c->title);
    if (c->counted) {
        tables_draw(k, &c->table, &chart);
        chart_write_counts(out, &chart);
        chart_free(&chart);
        return;
    }
    if (k->conclude)
        conclude(out, k, &c->table);
    char *words = c->told ? rig_findings(k, &c->table) : rig_printed(k, &c->table);
    fputs(words, out);
    free(words);
    if (c->told)
        return;
    tables_draw(k, &c->table, &chart);
    assert_false(chart.failed);
    chart_write_text(out, &chart);
    chart_free(&chart);
}
