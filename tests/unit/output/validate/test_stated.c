/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A processor's own statements, compared with the measurement. */
#include "output/validate/validate.h"
#include "tables/registry.h"
#include "tests/support/test.h"

static const struct sku unknown = {.n_figures = 0};

static void frequency_row(struct table *t, const char *kernel, double cores, double level, double ghz)
{
    table_add_row(t);
    table_put_number(t, "cpu", 0);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "active_cores", cores);
    table_put_number(t, "level", level);
    table_put_limits(t, "freq_ghz", ghz, ghz - 0.01, ghz + 0.01);
}

static void begin_frequency(struct table *t)
{
    table_init(t, "frequency", table_frequency.columns, table_frequency.n_columns);
    table_set_setting(t, "turbo_limits_ghz", "1-2: 3.7, 3-4: 3.5");
    table_set_setting(t, "turbo_limits_source", "MSR 1ADH and 1AEH");
}

/* The verdict of the first row whose figure is this; "" if there is none. */
static const char *verdict_of(const struct table *v, const char *figure)
{
    size_t row = table_find(v, "figure", figure);
    return row < v->n_rows ? table_text(v, row, "verdict") : "";
}

/* At its limit it agrees, above it deviates, below it nobody knows; half a step either way is the limit. */
TEST(limits_bound_from_above)
{
    static const struct {
        double ghz;
        const char *verdict;
    } cases[] = {{3.7, "agrees"},    {3.655, "agrees"},   {3.745, "agrees"},
                 {3.77, "deviates"}, {3.63, "undecided"}, {2.1, "undecided"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t, out;
        const struct table *tables[] = {&t};
        begin_frequency(&t);
        frequency_row(&t, "128fma", 1, 0, cases[i].ghz);
        assert_int_equal(validate_tables(&unknown, tables, 1, &out), 0);
        assert_string_equal(verdict_of(&out, "level=0 active_cores=1-2 freq_ghz"), cases[i].verdict);
        assert_int_equal(out.n_rows, 1); /* nobody ran 3 or 4 cores */
        size_t row = table_find(&out, "figure", "level=0 active_cores=1-2 freq_ghz");
        const char *note = table_text(&out, row, "note");
        bool held = strcmp(cases[i].verdict, "undecided") == 0;
        assert_int_equal(note != NULL && strstr(note, "less than is allowed") != NULL, held);
        assert_null(table_meta(&out, "sku"));
        assert_non_null(strstr(table_text(&out, row, "source"), "MSR 1ADH and 1AEH"));
        table_free(&out);
        table_free(&t);
    }
}

/* The classes that Speed Select lists, in its order; what is no class, or no text of limits, is none. */
TEST(classes_are_levels)
{
    struct table t;
    struct sku_figure *f;
    size_t n;
    begin_frequency(&t);
    table_set_setting(&t, "turbo_limits_ghz of AVX2", "1-8: 3.4");
    table_set_setting(&t, "turbo_limits_ghz of AVX-512 heavy", "5: 2.9");
    table_set_setting(&t, "turbo_limits_ghz of level 5", "1-65535: 2.0");
    table_set_setting(&t, "turbo_limits_ghz of something", "1-8: 3.4");
    table_set_setting(&t, "turbo_limits_ghz by class of code", "not known: 1-2: 3.7");
    for (unsigned cores = 1; cores <= 8; cores++)
        frequency_row(&t, "128fma", cores, 0, 3);
    assert_int_equal(validate_stated(&t, &f, &n), 0);
    assert_int_equal(n, 5);
    assert_string_equal(f[2].where, "level=1 active_cores=1-8");
    assert_string_equal(f[3].where, "level=3 active_cores=5");
    assert_string_equal(f[4].where, "level=5 active_cores=1-65535");
    assert_close(f[3].lo, 2.9, 1e-12);
    assert_true(f[3].limit && f[3].published);
    free(f);
    table_free(&t);
    table_init(&t, "frequency", table_frequency.columns, table_frequency.n_columns);
    table_set_setting(&t, "turbo_limits_ghz", "not known: no MSR");
    assert_int_equal(validate_stated(&t, &f, &n), 0);
    assert_int_equal(n, 0);
    assert_null(f);
    table_free(&t);
}

/* Limits of E cores of hybrid parts are theirs alone. */
TEST(kinds_of_cores_have_their_own)
{
    struct table t, out;
    const struct table *tables[] = {&t};
    begin_frequency(&t);
    table_set_setting(&t, "turbo_limits_ghz of E cores", "1-8: 2.8");
    table_set_setting(&t, "core of CPU 0", "P");
    table_set_setting(&t, "core of CPU 8", "E");
    frequency_row(&t, "128fma", 1, 0, 3.7);
    table_put_text(&t, "core", "P");
    frequency_row(&t, "128fma", 1, 0, 2.8);
    table_put_number(&t, "cpu", 8);
    table_put_text(&t, "core", "E");
    assert_int_equal(validate_tables(&unknown, tables, 1, &out), 0);
    assert_string_equal(verdict_of(&out, "level=0 active_cores=1-2 core=P freq_ghz"), "agrees");
    assert_string_equal(verdict_of(&out, "level=0 active_cores=1-8 core=E freq_ghz"), "agrees");
    table_free(&out);
    table_free(&t);
}

static void core_row(struct table *t, double cpu, const char *label, double ghz, double half)
{
    table_add_row(t);
    table_put_number(t, "cpu", cpu);
    table_put_text(t, "kernel", "128fma");
    table_put_text(t, "core", label);
    table_put_limits(t, "freq_ghz", ghz, ghz - half, ghz + half);
}

/* Surely faster, surely not by half a step, or neither; each kind of core for itself. */
TEST(favored_cores_are_faster)
{
    static const struct {
        double more, half;
        const char *verdict;
    } cases[] = {{0.1, 0.01, "agrees"}, {0, 0.01, "deviates"}, {-0.1, 0.01, "deviates"}, {0.04, 0.05, "undecided"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t, out;
        const struct table *tables[] = {&t};
        table_init(&t, "cores", table_cores.columns, table_cores.n_columns);
        core_row(&t, 0, "P, favoured", 5 + cases[i].more, cases[i].half);
        core_row(&t, 1, "P, not favoured", 5, cases[i].half);
        core_row(&t, 2, "P, not favoured", 5, cases[i].half);
        core_row(&t, 8, "E, favoured", 4.2, 0.01); /* there is no other of its kind */
        core_row(&t, 9, "LP-E", 2, 0.01);
        assert_int_equal(validate_tables(&unknown, tables, 1, &out), 0);
        assert_int_equal(out.n_rows, 1);
        assert_string_equal(table_text(&out, 0, "verdict"), cases[i].verdict);
        assert_close(table_number(&out, 0, "measured"), cases[i].more, 1e-9);
        /* of one core, and of the mean of two */
        assert_close(table_number(&out, 0, "measured_hi"), cases[i].more + cases[i].half * sqrt(1.5), 1e-9);
        assert_int_equal((int)table_number(&out, 0, "rows"), 3);
        table_free(&out);
        table_free(&t);
    }
}
