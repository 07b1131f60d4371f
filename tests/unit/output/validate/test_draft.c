/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries drafted from tables, which read back and agree with their own tables, and the verdicts as files. */
#include <jansson.h>

#include "output/validate/draft.h"
#include "output/validate/validate.h"
#include "tables/published/sku.h"
#include "tables/registry.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

static void overhead_row(struct table *t, const char *to, double cores, double down, double half)
{
    table_add_row(t);
    table_put_text(t, "from", "128fma");
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", cores);
    table_put_limits(t, "down_us", down, down - half, down + half);
}

static void begin(struct table *t, const struct table_kind *k)
{
    table_init(t, k->name, k->columns, k->n_columns);
    table_set_meta(t, "cpu", "Intel(R) Xeon(R) # 1 (06_55H, stepping 4)");
    table_set_meta(t, "machine", "perf");
    table_set_meta(t, "version", "0.2.0");
    table_set_meta(t, "date", "2026-01-02T03:04:05Z");
}

static void parse_draft(const struct draft *d, struct sku *s)
{
    struct machine_error err;
    if (sku_parse(d->text, strlen(d->text), "draft.sku", s, &err) != 0)
        fail_msg("%s\n%s", err.text, d->text);
}

/* Each value with limits, those of equal selections together; what has none is counted. */
TEST(figures_hold_their_limits)
{
    struct table t;
    struct draft d;
    struct sku s;
    struct machine_error err;
    begin(&t, &table_overhead);
    overhead_row(&t, "256fma", 1, 30, 0.4);
    overhead_row(&t, "256fma", 1, 31, 0.2);
    overhead_row(&t, "512fma", 1, 40, 1);
    table_put_number(&t, "up_us", 10);
    const struct table *tables[] = {&t};
    assert_int_equal(draft_write(tables, 1, &d, &err), MACHINE_OK);
    assert_int_equal(d.figures, 2);
    assert_int_equal(d.left_out, 1);
    assert_non_null(strstr(d.text, "A  overhead.json, SHA-256 "));
    assert_non_null(strstr(d.text, "Measured with perf by characterize 0.2.0 on 2026-01-02T03:04:05Z"));
    parse_draft(&d, &s);
    assert_true(s.measured && !s.modelled);
    assert_string_equal(s.brand, "Intel(R) Xeon(R)   1 (06_55H, stepping 4)");
    assert_string_equal(s.figures[0].where, "from=128fma to=256fma active_cores=1");
    assert_true(fabs(s.figures[0].lo - 30.4) < 1e-6);
    /* two figures, one false alarm in twenty entries: sqrt(2) 2.2414 / 1.95996 - 1 = 0.6173, but never below 1 */
    assert_true(fabs(s.figures[0].tolerance - 0.8) < 1e-4);
    assert_true(fabs(s.figures[1].tolerance - 1) < 1e-4);
    assert_string_equal(s.figures[1].source, "A: 95 % limits 39 to 41");
    sku_free(&s);
    free(d.text);
    table_free(&t);
}

static void frequency_row(struct table *t, double cpu, double half, double runs)
{
    table_add_row(t);
    table_put_number(t, "cpu", cpu);
    table_put_text(t, "kernel", "512fma");
    table_put_limits(t, "freq_ghz", 3.7, 3.7 - half, 3.7 + half);
    table_put_number(t, "n", runs);
}

/* Limits of two repetitions, beside a load, become wider than any frequency: they read back, or are no figure. */
TEST(limits_that_say_nothing_are_left_out)
{
    struct table t;
    struct draft d;
    struct sku s;
    struct machine_error err;
    begin(&t, &table_cores);
    frequency_row(&t, 0, 0.01, 2);
    frequency_row(&t, 1, 0.3, 20);
    frequency_row(&t, 2, 2.5, 2);
    frequency_row(&t, 3, 3.6, 2);
    const struct table *tables[] = {&t};
    assert_int_equal(draft_write(tables, 1, &d, &err), MACHINE_OK);
    assert_int_equal(d.figures, 2);
    assert_int_equal(d.left_out, 2);
    parse_draft(&d, &s);
    assert_int_equal(s.n_figures, 2);
    sku_free(&s);
    free(d.text);
    table_free(&t);
}

TEST(nothing_is_drafted_of_nothing)
{
    struct table t;
    struct draft d;
    struct machine_error err;
    begin(&t, &table_overhead);
    overhead_row(&t, "256fma", 1, 30, NAN);
    const struct table *tables[] = {&t};
    assert_int_equal(draft_write(tables, 1, &d, &err), MACHINE_CANNOT);
    assert_null(d.text);
    assert_non_null(strstr(err.text, "nothing to draft"));
    table_free(&t);
}

/* Whatever is measured agrees with its own draft; another measurement of it hardly ever deviates. */
TEST(random_tables_agree_with_their_drafts)
{
    enum { ROWS = 40, TABLES = 60 };
    unsigned alarms = 0;
    struct rng r;
    rng_init(&r, 11, 0);
    for (unsigned k = 0; k < TABLES; k++) {
        struct table t[2], out;
        struct draft d;
        struct sku s;
        struct machine_error err;
        for (int again = 0; again < 2; again++)
            begin(&t[again], &table_overhead);
        for (unsigned i = 0; i < ROWS; i++) {
            double truth = rng_range(&r, 2, 2000), sigma = rng_log(&r, 1e-3, 0.1) * truth;
            for (int again = 0; again < 2; again++)
                overhead_row(&t[again], "256fma", i + 1, truth + sigma * rng_normal(&r), 1.96 * sigma);
        }
        for (int again = 0; again < 2; again++) {
            const struct table *tables[] = {&t[again]};
            if (!again) {
                assert_int_equal(draft_write(tables, 1, &d, &err), MACHINE_OK);
                parse_draft(&d, &s);
                assert_int_equal(s.n_figures, ROWS);
            }
            assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
            if (!again)
                assert_int_equal(validate_count(&out, "agrees"), ROWS);
            alarms += validate_count(&out, "deviates") > 0;
            table_free(&out);
        }
        sku_free(&s);
        free(d.text);
        table_free(&t[0]);
        table_free(&t[1]);
    }
    print_message("%u of %d second measurements deviate somewhere\n", alarms, TABLES);
    assert_true(alarms <= 8); /* 3 are expected; more than 8 has a probability of 0.4 % */
}

/* ---- verdicts as files ---- */

static void verdicts_of(struct table *out)
{
    static const char text[] =
        "format = characterize-sku/1\n[sku]\nname = A & \"B\" # s\nbrand = 06_55H # s\n[overhead]\n"
        "to=256fma : down_us = 30 # p. 1 <2>\nto=512fma : down_us = 30 # s\n"
        "to=512or : down_us = 30 # s\nto=512fma : up_us = - # s\n";
    struct table t;
    struct sku s;
    struct machine_error err;
    begin(&t, &table_overhead);
    overhead_row(&t, "256fma", 1, 30, 0.1);
    overhead_row(&t, "512fma", 1, 40, 0.1);
    const struct table *tables[] = {&t};
    assert_int_equal(sku_parse(text, sizeof text - 1, "s", &s, &err), 0);
    assert_int_equal(validate_tables(&s, tables, 1, out), 0);
    sku_free(&s);
    table_free(&t);
}

TEST(verdicts_as_json)
{
    struct table v;
    verdicts_of(&v);
    char *text = validate_to_json(&v);
    json_t *j = json_loads(text, 0, NULL), *f = json_object_get(j, "figures");
    assert_string_equal(json_string_value(json_object_get(j, "format")), "characterize-validation/1");
    assert_string_equal(json_string_value(json_object_get(j, "sku_kind")), "published");
    assert_int_equal(json_integer_value(json_object_get(j, "agrees")), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "deviates")), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "undecided")), 0);
    assert_int_equal(json_integer_value(json_object_get(j, "not_measured")), 1);
    assert_int_equal(json_integer_value(json_object_get(j, "not_published")), 1);
    assert_int_equal(json_array_size(f), 4);
    assert_string_equal(json_string_value(json_object_get(json_array_get(f, 1), "verdict")), "deviates");
    assert_true(json_number_value(json_array_get(json_object_get(json_array_get(f, 1), "measured_ci95"), 0)) == 39.9);
    assert_true(json_is_null(json_object_get(json_array_get(f, 2), "measured")));
    assert_true(json_is_null(json_object_get(json_array_get(f, 2), "measured_ci95")));
    json_decref(j);
    free(text);
    table_free(&v);
}

TEST(verdicts_as_junit)
{
    struct table v;
    verdicts_of(&v);
    char *text = validate_to_junit(&v);
    assert_non_null(strstr(text, "<testsuite name=\"A &amp; &quot;B&quot;\" tests=\"4\" failures=\"1\" errors=\"0\" "
                                 "skipped=\"2\">"));
    assert_non_null(strstr(text,
                           "<testcase classname=\"overhead\" name=\"to=512fma down_us\">\n      <failure message=\""
                           "deviates: published 30 +-0.5, measured 40 [39.9, 40.1] us, +33.3 %; smallest deviation "
                           "that would have been detected: 0.7\"/>"));
    assert_non_null(strstr(text, "<skipped message=\"not measured: published 30 +-0.5; "));
    assert_non_null(strstr(text, "source: p. 1 &lt;2&gt;</system-out>"));
    assert_non_null(strstr(text, "<skipped message=\"not published; "));
    assert_non_null(strstr(text, "<system-out>not published; source: s</system-out>"));
    free(text);
    table_free(&v);
}

/* ---- what is inherited ---- */

TEST(own_figures_come_first)
{
    static const char common[] =
        "format = characterize-sku/1\n[sku]\nname = C # s\nbrand = 06_55H|17_01H # s\n[overhead]\n"
        "to=256fma : down_us = 30 # book\nto=512fma : down_us = 40 # book\n";
    static const char own[] = "format = characterize-sku/1\n[sku]\nname = O # s\nbrand = Gold # s\ninherits = c # s\n"
                              "[overhead]\nto=256fma : down_us = 33 # own\n";
    char path[FOLDER_PATH_MAX];
    struct sku s;
    struct machine_error err;
    folder_make(path);
    folder_put(path, "microarchs/c.sku", common);
    folder_put(path, "skus/o.sku", own);
    assert_int_equal(sku_load("o", path, &s, &err), MACHINE_OK);
    assert_int_equal(s.n_figures, 2);
    assert_true(s.figures[0].lo == 33 && !s.figures[0].inherited && s.figures[1].lo == 40 && s.figures[1].inherited);
    assert_string_equal(s.figures[0].contradicts, "c has 30: book");
    assert_string_equal(s.figures[1].contradicts, "");
    sku_free(&s);
    assert_int_equal(sku_load("c", path, &s, &err), MACHINE_OK);
    assert_true(sku_is_of(&s, "x (17_01H, stepping 2)") && sku_is_of(&s, "y (06_55H)") && !sku_is_of(&s, "z (06_6AH)"));
    assert_false(sku_is_of(&s, NULL));
    /* a hypervisor that gives out another's model number is not believed */
    assert_false(sku_is_of(&s, "x (17_01H, stepping 2)?") || sku_is_of(&s, "y 06_55H-4?") || sku_is_of(&s, ""));
    snprintf(s.brand, sizeof s.brand, SKU_UNNAMED); /* the figures of a part that nothing tells from others */
    assert_false(sku_is_of(&s, "x (17_01H, stepping 2)") || sku_is_of(&s, "y 06_55H-4") || sku_is_of(&s, "-"));
    sku_free(&s);
    assert_int_equal(sku_load("none", path, &s, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.remedy, "doc/sku-format.md"));
    folder_remove(path);
}
