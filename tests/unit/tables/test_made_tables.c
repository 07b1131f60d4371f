/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output and findings of handmade tables, at limits and beside them: the cases are tests/golden/made/TABLE.rows, the
 * output that a user reads tests/golden/made.TABLE. After an intended change `make golden` rewrites these, and the diff
 * shows what changed.
 */
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/made_tables.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

struct made_text {
    const struct table_kind *kind;
    FILE *out;
};

static void write_made_case(void *data, struct made_case *c)
{
    const struct made_text *m = data;
    struct chart chart = {0};
    if (!c->counted) {
        if (m->kind->conclude)
            assert_int_equal(m->kind->conclude(&c->table), 0);
        assert_false(c->table.failed);
        char *words = c->findings ? rig_findings(m->kind, &c->table) : rig_printed(m->kind, &c->table);
        fprintf(m->out, "== %s\n%s", c->title, words);
        free(words);
    }
    if (!c->findings) {
        tables_draw(m->kind, &c->table, &chart);
        assert_false(chart.failed);
        chart_free(&chart);
    }
}

TEST(made_tables_are_reported_as_before)
{
    size_t n;
    bool same = true;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (!made_of(kinds[i]))
            continue;
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
