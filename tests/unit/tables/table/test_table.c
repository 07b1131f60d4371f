/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/table*.c: building, reading back, and the three forms of a table. */
#include <jansson.h>

#include "tables/table/tables.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static const struct table_column columns[] = {
    {.name = "kernel", .unit = "", .type = TABLE_TEXT, .key = true},
    {.name = "active_cores", .unit = "", .type = TABLE_WHOLE, .key = true},
    {.name = "freq_ghz", .unit = "GHz", .type = TABLE_REAL, .decimals = 3},
    {.name = "freq_ghz_lo", .unit = "GHz", .type = TABLE_REAL, .decimals = 3},
    {.name = "freq_ghz_hi", .unit = "GHz", .type = TABLE_REAL, .decimals = 3},
    {.name = "n", .unit = "", .type = TABLE_WHOLE},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void fill(struct table *t)
{
    table_init(t, "frequency", columns, N_COLUMNS);
    table_set_meta(t, "cpu", "A \"quoted\" CPU, with a comma");
    table_set_meta(t, "modelled", "yes");
    table_set_meta(t, "source", "modelled, not measured: x");
    table_set_setting_number(t, "runs", 5);
    table_add_row(t);
    table_put_text(t, "kernel", "512fma@1/8, \"x\"");
    table_put_number(t, "active_cores", 16);
    table_put_limits(t, "freq_ghz", 1.9, 1.89, 1.91);
    table_put_number(t, "n", 5);
    table_add_row(t);
    table_put_text(t, "kernel", "128fma");
    table_put_number(t, "active_cores", 1);
    table_add_missing(t, "needs avx512f");
    table_put_text(t, "kernel", "amx");
    table_set_detail(t, "512fma-16", "{\"phases\": [1, 2.5, null]}");
    assert_false(t->failed);
}

static char *print_with(int (*print)(FILE *, const struct table *), const struct table *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(print(out, t), 0);
    fclose(out);
    return text;
}

static int print_text(FILE *out, const struct table *t)
{
    tables_print(out, false, &(const struct table_kind){.title = "Title"}, t);
    return 0;
}

TEST(fields_come_back)
{
    struct table t;
    fill(&t);
    assert_int_equal(t.n_rows, 2);
    assert_string_equal(table_text(&t, 0, "kernel"), "512fma@1/8, \"x\"");
    assert_true(table_number(&t, 0, "freq_ghz_hi") == 1.91);
    assert_true(isnan(table_number(&t, 1, "freq_ghz")));
    assert_true(isnan(table_number(&t, 2, "freq_ghz")));
    assert_true(isnan(table_number(&t, 0, "no_such_column")));
    assert_null(table_text(&t, 0, "active_cores"));
    assert_string_equal(table_missing_text(&t, 0, "kernel"), "amx");
    assert_true(isnan(table_missing_number(&t, 0, "active_cores")));
    assert_true(table_modelled(&t));
    table_set_number(&t, 1, "freq_ghz", INFINITY); /* values that are not finite are absent */
    assert_true(isnan(table_number(&t, 1, "freq_ghz")));
    table_free(&t);
}

TEST(mistakes_are_remembered)
{
    struct table t;
    table_init(&t, "x", columns, N_COLUMNS);
    table_put_number(&t, "n", 1); /* there is no row yet */
    assert_true(t.failed);
    table_free(&t);
    table_init(&t, "x", columns, N_COLUMNS);
    table_add_row(&t);
    table_put_number(&t, "kernel", 1); /* a text column */
    assert_true(t.failed);
    assert_null(table_to_json(&t));
    table_free(&t);
    table_init(&t, "x", columns, N_COLUMNS);
    table_add_row(&t);
    table_put_text(&t, "nonsense", "a");
    assert_true(t.failed);
    table_free(&t);
}

TEST(json_comes_back_the_same)
{
    struct table t, back;
    char why[300];
    fill(&t);
    char *json = table_to_json(&t);
    assert_non_null(json);
    assert_int_equal(table_from_json(json, strlen(json), "x.json", &back, why, sizeof(why)), 0);
    assert_true(back.columns[0].key && back.columns[1].key && !back.columns[2].key);
    assert_int_equal(back.columns[2].decimals, 3);
    assert_string_equal(table_meta(&back, "cpu"), table_meta(&t, "cpu"));
    assert_string_equal(table_setting(&back, "runs"), "5");
    char *again = table_to_json(&back);
    assert_string_equal(json, again);
    free(json);
    free(again);
    table_free(&t);
    table_free(&back);
}

/* The members that design.md promises to readers of the file. */
TEST(json_has_the_promised_members)
{
    struct table t;
    fill(&t);
    char *json = table_to_json(&t);
    json_t *root = json_loads(json, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "format")), "characterize-table/1");
    assert_string_equal(json_string_value(json_object_get(root, "table")), "frequency");
    assert_true(json_is_true(json_object_get(root, "modelled")));
    assert_int_equal(json_array_size(json_object_get(root, "columns")), N_COLUMNS);
    assert_int_equal(json_array_size(json_object_get(root, "units")), N_COLUMNS);
    json_t *row = json_array_get(json_object_get(root, "rows"), 1);
    assert_int_equal(json_array_size(row), N_COLUMNS);
    assert_true(json_is_integer(json_array_get(row, 1)));
    assert_true(json_is_null(json_array_get(row, 2)));
    json_t *missing = json_array_get(json_object_get(root, "missing"), 0);
    assert_string_equal(json_string_value(json_object_get(missing, "why")), "needs avx512f");
    assert_int_equal(json_object_size(json_object_get(missing, "row")), 1);
    json_t *detail = json_object_get(json_object_get(root, "details"), "512fma-16");
    assert_int_equal(json_array_size(json_object_get(detail, "phases")), 3);
    json_decref(root);
    free(json);
    table_free(&t);
}

TEST(csv_quotes_and_leaves_empty)
{
    struct table t;
    fill(&t);
    char *csv = print_with(table_write_csv, &t);
    assert_non_null(strstr(csv, "# format: characterize-table/1\n"));
    assert_non_null(strstr(csv, "# modelled: yes\n"));
    assert_non_null(strstr(csv, "\nkernel,active_cores,freq_ghz,freq_ghz_lo,freq_ghz_hi,n\n"));
    assert_non_null(strstr(csv, "\n\"512fma@1/8, \"\"x\"\"\",16,1.9,1.89,1.91,5\n"));
    assert_non_null(strstr(csv, "\n128fma,1,,,,\n"));
    free(csv);
    table_free(&t);
}

TEST(the_screen_says_what_is_modelled_and_missing)
{
    struct table t;
    fill(&t);
    table_add_missing(&t, "needs avx512f");
    table_put_text(&t, "kernel", "a\033[31mb"); /* escapes of others do not reach the terminal */
    char *text = print_with(print_text, &t);
    assert_non_null(strstr(text, "Title\n"));
    assert_non_null(strstr(text, "modelled, not measured"));
    assert_non_null(strstr(text, "1.900 [1.890, 1.910]"));
    assert_non_null(strstr(text, "Not measured\n  amx; a?[31mb: needs avx512f\n"));
    assert_null(strchr(text, '\033'));
    free(text);
    table_free(&t);
}

TEST(parts_are_joined)
{
    struct table t, more, other;
    fill(&t);
    fill(&more);
    table_append(&t, &more);
    assert_false(t.failed);
    assert_int_equal(t.n_rows, 4);
    assert_int_equal(t.n_missing, 2);
    assert_int_equal(t.n_details, 1); /* the same key */
    table_init(&other, "frequency", columns, N_COLUMNS - 1);
    table_append(&t, &other);
    assert_true(t.failed);
    table_free(&t);
    table_free(&more);
    table_free(&other);
}

/* Conclusions from rows must not depend on whether they were measured or read back. */
TEST(a_table_holds_what_its_file_holds)
{
    struct table t, back;
    char why[200] = "";
    table_init(&t, "frequency", columns, N_COLUMNS);
    table_add_row(&t);
    table_put_text(&t, "kernel", "a\tb\x1b[2J");
    table_put_number(&t, "active_cores", 2);
    table_put_limits(&t, "freq_ghz", 10.0 / 3, 1.00000000049, -0.0);
    table_set_number(&t, 0, "n", 123456789012);
    assert_true(table_number(&t, 0, "freq_ghz") == 3.33333333);
    assert_true(table_number(&t, 0, "freq_ghz_lo") == 1);
    assert_false(signbit(table_number(&t, 0, "freq_ghz_hi")));
    assert_true(table_number(&t, 0, "n") == 123456789012);
    assert_string_equal(table_text(&t, 0, "kernel"), "a b?[2J");
    char *json = table_to_json(&t);
    assert_non_null(json);
    assert_int_equal(table_from_json(json, strlen(json), "t", &back, why, sizeof why), 0);
    for (size_t i = 0; i < N_COLUMNS; i++)
        assert_true(table_number(&t, 0, columns[i].name) == table_number(&back, 0, columns[i].name) ||
                    columns[i].type == TABLE_TEXT);
    assert_string_equal(table_text(&back, 0, "kernel"), "a b?[2J");
    assert_true(table_in_range(&t, why, sizeof why));
    table_set_number(&t, 0, "freq_ghz", -3);
    assert_false(table_in_range(&t, why, sizeof why));
    assert_non_null(strstr(why, "row 1: freq_ghz '-3' is outside its range"));
    table_set_number(&t, 0, "freq_ghz", 3);
    table_add_missing(&t, "why");
    table_put_number(&t, "active_cores", 0.5);
    assert_false(table_in_range(&t, why, sizeof why));
    assert_non_null(strstr(why, "missing entry 1: active_cores"));
    free(json);
    table_free(&t);
    table_free(&back);
}

/* The same text, the same number, or both nothing; the numbers of a column once each, as far as there is room. */
TEST(fields_are_compared)
{
    struct table t;
    double out[4] = {0};
    table_init(&t, "frequency", columns, N_COLUMNS);
    static const double cores[] = {5, 2, NAN, 5, 1, NAN};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        table_add_row(&t);
        table_put_number(&t, "active_cores", cores[i]);
        table_put_text(&t, "kernel", i < 2 ? "a" : i < 4 ? "b" : NULL);
    }
    assert_true(table_same(&t, 0, 3, "active_cores") && table_same(&t, 2, 5, "active_cores"));
    assert_false(table_same(&t, 0, 1, "active_cores"));
    assert_false(table_same(&t, 1, 2, "active_cores") || table_same(&t, 2, 1, "active_cores"));
    assert_true(table_same(&t, 0, 1, "kernel") && table_same(&t, 4, 5, "kernel"));
    assert_false(table_same(&t, 1, 2, "kernel") || table_same(&t, 3, 4, "kernel") || table_same(&t, 4, 3, "kernel"));
    assert_int_equal(table_numbers(&t, "active_cores", out, 4), 3);
    assert_true(out[0] == 1 && out[1] == 2 && out[2] == 5);
    assert_int_equal(table_numbers(&t, "active_cores", out, 1), 1);
    assert_true(out[0] == 5);
    table_free(&t);
}

TEST(broken_files_are_refused)
{
    const struct {
        const char *text, *said;
    } cases[] = {
        {"", "x.json:1:"},
        {"[]", "format"},
        {"{\"format\": \"characterize-table/2\"}", "characterize-table/1"},
        {"{\"format\": \"characterize-table/1\"}", "no \"table\""},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\"}", "\"columns\" has 0"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [], \"types\": []}",
         "different lengths"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"blob\"]}",
         "column 1"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"real\"], \"rows\": [[1], [\"x\"]]}",
         "row 2: a is not of type real"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"real\"], \"decimals\": [2000000000], \"rows\": [[1]]}",
         "column 1: \"decimals\" are 0 to 17"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"real\"], \"decimals\": [-1], \"rows\": [[1]]}",
         "column 1: \"decimals\" are 0 to 17"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"real\"], \"rows\": [[1, 2]]}",
         "row 1 has 2 fields"},
        {"{\"format\": \"characterize-table/1\", \"table\": \"t\", \"columns\": [\"a\"], \"units\": [\"\"], \"types\": "
         "[\"real\"], \"rows\": [], \"missing\": [{}]}",
         "no \"why\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct table t;
        char why[300] = "";
        assert_int_equal(table_from_json(cases[i].text, strlen(cases[i].text), "x.json", &t, why, sizeof(why)), -1);
        if (strstr(why, cases[i].said) == NULL)
            fail_msg("case %zu: said '%s'", i, why);
        table_free(&t);
    }
}

struct range_case {
    const char *name, *unit;
    enum table_type type;
    double inside[3], outside[3];
};

/* Whatever is in a file: each column holds what it can be. */
TEST(numbers_out_of_range_are_refused)
{
    static const struct range_case cases[] = {
        {"freq_ghz", "GHz", TABLE_REAL, {1e-6, 2.8, 100}, {0, -1.9, 2800086}},
        {"freq_ghz", "furlong", TABLE_REAL, {1e-6, 2.8, 100}, {0, -1.9, 2800086}}, /* the name counts */
        {"latency_us", "", TABLE_REAL, {0, 60, 1e6}, {-0.1, -1e9, 1e13}},
        {"low_ghz", "GHz", TABLE_REAL, {0.4, 3, 9}, {-1, 101, 1e30}},
        {"freq_ghz_lo", "GHz", TABLE_REAL, {-1, 0, 200}, {-101, 201, -1e9}},
        {"volts", "V", TABLE_REAL, {0.1, 1, 3}, {0, -1, 952}},
        {"volts_hi", "V", TABLE_REAL, {-0.5, 1, 3.5}, {-5, 10, 1e30}},
        {"latency_us", "us", TABLE_REAL, {0, 60, 1e6}, {-0.1, -1e9, 1e13}},
        {"wait_us", "us", TABLE_REAL, {0, 670, 1e6}, {-1, 1e13, 1e300}},
        {"down_us", "us", TABLE_REAL, {-40, 0, 40}, {-1e13, 1e13, 1e300}},
        {"watts", "W", TABLE_REAL, {-1, 0, 350}, {-1e6, 1e6, 1e30}},
        {"nj_per_op", "nJ", TABLE_REAL, {-0.1, 0, 500}, {-1e7, 1e7, 1e300}},
        {"share", "", TABLE_REAL, {0, 0.5, 1}, {-0.1, 1.1, 7}},
        {"share_lo", "", TABLE_REAL, {-1, 0.5, 2}, {-1.1, 2.1, 7}},
        {"slow_share", "1", TABLE_REAL, {0, 0.5, 1}, {-0.1, 1.1, 7}},
        {"bits_sum", "1", TABLE_REAL, {0, 1, 8}, {-0.1, 8.1, 1e9}},
        {"lvl1", "", TABLE_REAL, {-0.5, 1, 1.5}, {-3, 7, 1e30}},
        {"ipc_ratio", "", TABLE_REAL, {0, 0.25, 2}, {-0.25, 101, 1e30}},
        {"rate_per_cycle", "1/cycle", TABLE_REAL, {0, 2, 64}, {-1, 65, 1e30}},
        {"count", "", TABLE_REAL, {0, 100, 1e9}, {-1, 1e16, 1e300}},
        {"level", "", TABLE_WHOLE, {0, 2, 9007199254740992}, {-1, 0.5, 1e17}},
        {"n", "", TABLE_WHOLE, {0, 5, 1e6}, {-5, 2.5, 1e17}},
        {"umask", "", TABLE_WHOLE, {0, 0x18, 255}, {-1, 0.5, 1e17}},
        {"of_another_version", "furlong", TABLE_REAL, {-1e30, 0, 1e30}, {NAN, NAN, NAN}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct range_case *k = &cases[i];
        for (int j = 0; j < 6; j++) {
            const struct table_column column = {k->name, k->unit, k->type, true, 3};
            double value = j < 3 ? k->inside[j] : k->outside[j - 3];
            struct table t, back;
            char why[300] = "", wanted[100];
            if (isnan(value))
                continue;
            table_init(&t, "frequency", &column, 1);
            table_add_row(&t);
            table_add_row(&t);
            table_put_number(&t, k->name, value);
            char *json = table_to_json(&t);
            int bad = table_from_json(json, strlen(json), "x.json", &back, why, sizeof why);
            snprintf(wanted, sizeof wanted, "x.json: row 2: %s '%.9g' is outside its range, ", k->name, value);
            /* whole numbers are written as such, so that a fraction does not come back */
            bool fraction = k->type == TABLE_WHOLE && value != floor(value);
            if (!fraction && ((bad == 0) != (j < 3) || strncmp(why, wanted, bad ? strlen(wanted) : 0) != 0))
                fail_msg("%s %g: %s", k->name, value, bad ? why : "taken");
            assert_true((table_value_refused(&column, value) == NULL) == (j < 3));
            if (!bad)
                table_free(&back);
            free(json);
            table_free(&t);
        }
    }
}

/* Any table survives JSON: nine digits of every number, all texts, all gaps. */
TEST(random_tables_come_back)
{
    struct rng r;
    rng_init(&r, 5, 0);
    for (int i = 0; i < 200; i++) {
        struct table t, back;
        char why[300];
        table_init(&t, "random", columns, N_COLUMNS);
        for (int rows = rng_int(&r, 0, 20); rows > 0; rows--) {
            table_add_row(&t);
            char text[4] = {(char)rng_int(&r, 32, 126), (char)rng_int(&r, 32, 126), '"', '\0'};
            table_put_text(&t, "kernel", rng_chance(&r, 0.9) ? text : NULL);
            table_put_number(&t, "active_cores", rng_chance(&r, 0.9) ? rng_int(&r, 0, 1 << 30) : NAN);
            table_put_number(&t, "freq_ghz", rng_chance(&r, 0.9) ? rng_log(&r, 1e-12, 100) : NAN);
        }
        char *json = table_to_json(&t);
        assert_non_null(json);
        assert_int_equal(table_from_json(json, strlen(json), "x", &back, why, sizeof(why)), 0);
        assert_int_equal(back.n_rows, t.n_rows);
        for (size_t row = 0; row < t.n_rows; row++) {
            double was = table_number(&t, row, "freq_ghz"), is = table_number(&back, row, "freq_ghz");
            assert_true(isnan(was) ? isnan(is) : fabs(is / was - 1) < 1e-8);
            assert_true(isnan(table_number(&t, row, "active_cores")) ||
                        table_number(&t, row, "active_cores") == table_number(&back, row, "active_cores"));
        }
        free(json);
        table_free(&t);
        table_free(&back);
    }
}
