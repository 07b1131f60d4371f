/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kinds of tables say of themselves holds together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tables/table/tables.h"

static void each_table_describes_itself(void **state)
{
    (void)state;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        const struct table_kind *k = kinds[i];
        assert_ptr_equal(tables_find(k->name), k); /* the first of its name */
        assert_non_null(k->title);
        assert_non_null(k->about);
        assert_non_null(k->plan);
        assert_non_null(k->measure);
        assert_in_range(k->n_columns, 1, TABLE_COLUMNS_MAX);
        assert_true(k->columns[0].key);
    }
    assert_null(tables_find("none"));
    assert_null(tables_find(""));
}

static void promised_columns_are_there(void **state)
{
    (void)state;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t i = 0; i < n; i++) {
        struct table t;
        table_init(&t, kinds[i]->name, kinds[i]->columns, kinds[i]->n_columns);
        for (size_t c = 0; c < TABLES_PROMISED_MAX && kinds[i]->promised[c]; c++)
            if (!table_has(&t, kinds[i]->promised[c]))
                fail_msg("%s has no column %s", kinds[i]->name, kinds[i]->promised[c]);
        table_free(&t);
    }
}

static void each_exported_part_has_one_source(void **state)
{
    (void)state;
    size_t n, sources = 0;
    const struct table_kind *const *kinds = tables_all(&n);
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++)
        assert_non_null(tables_exported(part));
    for (size_t i = 0; i < n; i++)
        sources += kinds[i]->exported != EXPORT_NOTHING;
    assert_int_equal(sources, TABLES_EXPORTS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_table_describes_itself),
        cmocka_unit_test(promised_columns_are_there),
        cmocka_unit_test(each_exported_part_has_one_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
