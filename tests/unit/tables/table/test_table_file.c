/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file of a table, of which any one value is changed: tests/golden/table-file.changed says what is taken, and why the
 * rest is not. After an intended change `make golden` rewrites it, and the diff shows what changed.
 */
#include "tables/table/table.h"
#include "tests/support/golden.h"
#include "tests/support/json_changes.h"
#include "tests/support/test.h"

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0}, {"active_cores", "", TABLE_WHOLE, true, 0}, TABLE_LIMITS("freq_ghz", "GHz", 3),
    {"n", "", TABLE_WHOLE, false, 0},    {"note", "", TABLE_TEXT, false, 0},
};

/* What is taken is written once more: what changed on the way is told. */
static void read_table_file(void *data, const json_t *root, char *why, size_t size)
{
    struct table t;
    char *text = json_dumps(root, 0);
    (void)data;
    assert_non_null(text);
    if (table_from_json(text, strlen(text), "FILE", &t, why, size) == 0) {
        char *again = table_to_json(&t);
        json_t *is = json_loads(again, 0, NULL);
        snprintf(why, size, "%s", json_equal(is, root) ? "" : "taken, but written otherwise");
        json_decref(is);
        free(again);
        table_free(&t);
    }
    free(text);
}

TEST(each_value_of_a_file_is_checked)
{
    struct table t;
    struct golden g;
    FILE *out = golden_begin(&g);
    table_init(&t, "frequency", columns, sizeof columns / sizeof *columns);
    table_set_meta(&t, "cpu", "Some Processor");
    table_set_setting(&t, "runs", "20");
    table_set_detail(&t, "phases", "{\"a\": 1}");
    table_add_row(&t);
    table_put_text(&t, "kernel", "512fma");
    table_put_number(&t, "active_cores", 2);
    table_put_limits(&t, "freq_ghz", 2.4, 2.3, 2.5);
    table_put_number(&t, "n", 20);
    table_put_text(&t, "note", "so");
    table_add_missing(&t, "because");
    table_put_text(&t, "kernel", "amx");
    table_put_number(&t, "active_cores", 1);
    char *file = table_to_json(&t);
    assert_non_null(file);
    fputs(file, out);
    json_t *root = json_loads(file, 0, NULL);
    assert_non_null(root);
    json_changes_write(out, root, read_table_file, NULL);
    json_decref(root);
    free(file);
    table_free(&t);
    golden_expect(&g, "table-file", "changed", false);
}
