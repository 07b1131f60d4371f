/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers beside bars and in cells, at the sizes at which they are written otherwise; and names and panels. */
#include "tables/table/chart_table.h"
#include "tests/support/test.h"

TEST(numbers_take_four_characters_or_so)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},          {-0.0, "0"},        {7, "7"},         {-7, "-7"},       {999, "999"},     {1000, "1000"},
        {0.0099, "1e-02"}, {0.0004, "4e-04"},  {0.01, "0.01"},   {0.5, "0.50"},    {9.94, "9.94"},   {9.949, "9.95"},
        {9.95, "9.9"},     {9.96, "10.0"},     {27.34, "27.3"},  {99.4, "99.4"},   {99.5, "100"},    {670.4, "670"},
        {999.5, "1000"},   {9994, "9994"},     {9995, "10.0k"},  {12345, "12.3k"}, {99499, "99.5k"}, {99500, "100k"},
        {123456, "123k"},  {-12345, "-12.3k"}, {1000.5, "1000"}, {-0.5, "-0.50"},
    };
    char text[20];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chart_number(cases[i].value, text, sizeof text);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("%g: %s, not %s", cases[i].value, text, cases[i].text);
    }
}

TEST(there_are_sixteen_panels)
{
    struct chart c = {0};
    for (int i = 0; i < 16; i++)
        assert_non_null(chart_add_panel(&c, CHART_BARS, "a", "b", "c"));
    assert_null(chart_add_panel(&c, CHART_BARS, "a", "b", "c"));
    assert_int_equal(c.n_panels, 16);
    assert_string_equal(c.panels[15].title, "a");
    assert_string_equal(c.panels[15].x_label, "b");
    assert_string_equal(c.panels[15].y_label, "c");
    chart_free(&c);
    assert_int_equal(c.n_panels, 0);
}

/* Colours begin again after the last; marks do not. Names are there once. */
TEST(series_and_names)
{
    struct chart c = {0};
    char name[10];
    struct chart_panel *p = chart_add_panel(&c, CHART_LINES, "", "", "");
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "s%d", i);
        const struct chart_series *s = chart_series(&c, p, name);
        assert_int_equal(s->colour, i % 7);
        assert_int_equal(s->mark, i);
        assert_true(s->line && s->in_legend && !s->faint);
        assert_ptr_equal(chart_series(&c, p, name), s);
        assert_int_equal(chart_name(&c, &p->categories, name), i);
        assert_int_equal(chart_name(&c, &p->categories, name), i);
    }
    assert_int_equal(p->n_series, 9);
    assert_int_equal(p->categories.n, 9);
    assert_int_equal(chart_find_name(&p->categories, "s9"), 9);
    struct chart_names taken = p->categories, none = {0};
    memset(&p->categories, 0, sizeof p->categories);
    chart_free_names(&taken);
    assert_memory_equal(&taken, &none, sizeof none);
    chart_free(&c);
    static const struct chart empty;
    assert_memory_equal(&c, &empty, sizeof c);
}

/* Values that are not finite are left out, except for breaks; a panel of faint lines, or of cells that are absent, is
 * empty. */
TEST(what_a_panel_shows)
{
    struct chart c = {0};
    struct chart_panel *p = chart_add_panel(&c, CHART_LINES, "", "", "");
    struct chart_series *s = chart_series(&c, p, "s");
    chart_add_point(&c, s, NAN, 1, 0, 0);
    chart_add_point(&c, s, 1, INFINITY, 0, 0);
    assert_true(chart_panel_empty(p));
    chart_add_point(&c, s, 1, 2, NAN, NAN);
    assert_int_equal(s->n, 1);
    assert_false(chart_panel_empty(p));
    s->faint = true;
    assert_true(chart_panel_empty(p));
    chart_add_break(&c, s);
    assert_int_equal(s->n, 2);
    assert_true(isnan(s->points[1].x));
    chart_name(&c, &p->categories, "a");
    chart_name(&c, &p->categories, "b");
    chart_name(&c, &p->columns, "x");
    assert_null(chart_cell(p, 0, 0));
    chart_make_cells(&c, p);
    assert_non_null(chart_cell(p, 1, 0));
    assert_null(chart_cell(p, 2, 0));
    assert_null(chart_cell(p, 0, 1));
    assert_ptr_equal(chart_cell(p, 1, 0), p->cells + 1);
    assert_true(chart_panel_empty(p));
    chart_cell(p, 1, 0)->state = CELL_PLAIN;
    assert_false(chart_panel_empty(p));
    chart_cell(p, 1, 0)->state = CELL_ABSENT;
    chart_add_bar(&c, p, (struct chart_bar){.to = NAN}, "x");
    assert_true(chart_panel_empty(p));
    chart_add_bar(&c, p, (struct chart_bar){.to = 1}, "x");
    assert_int_equal(p->bars[0].lanes, 1);
    chart_add_bar(&c, p, (struct chart_bar){.to = 1, .lanes = 2}, "x");
    assert_int_equal(p->bars[1].lanes, 2);
    assert_false(chart_panel_empty(p));
    chart_add_legend(&c, p, "l", 3);
    chart_add_legend(&c, p, "l", 4);
    assert_int_equal(p->n_legend, 1);
    assert_true(p->legend[0].colour == 3 && p->legend[0].mark == -1);
    assert_false(c.failed);
    chart_free(&c);
}

static void bar_of(struct chart *c, const char *name, double from, double to, int colour, const char *text)
{
    struct chart_panel *p = &c->panels[0];
    chart_add_bar(c, p,
                  (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                     .from = from,
                                     .to = to,
                                     .lo = to - 1,
                                     .hi = to + 1,
                                     .colour = colour},
                  text);
}

/* As many bars, of the same look, of about the same lengths; what differs in any of these stays alone. */
TEST(equal_bars_become_one)
{
    struct chart c = {0};
    struct chart_panel *p = chart_add_panel(&c, CHART_BARS, "", "", "");
    bar_of(&c, "a", 0, 20, 1, "0.25");
    bar_of(&c, "b", 0, 20, 1, "0.25");
    bar_of(&c, "c", 0, 21, 1, "0.25");
    bar_of(&c, "d", 0, 21, 1, "0.25");
    bar_of(&c, "b", 20, 40, 2, "0.50");
    bar_of(&c, "d", 21, 41, 2, "0.49");
    bar_of(&c, "other colour", 0, 20, 2, "");
    bar_of(&c, "longer", 0, 23, 1, "");
    chart_group_alike(&c, p, 0.1, 0.5);
    assert_false(c.failed);
    assert_int_equal(p->categories.n, 4);
    assert_string_equal(p->categories.name[0], "a, and 1 more");
    assert_string_equal(p->categories.name[1], "b, and 1 more");
    assert_string_equal(p->categories.name[2], "other colour");
    assert_string_equal(p->categories.name[3], "longer");
    assert_int_equal(p->n_bars, 5);
    assert_true(p->bars[0].category == 0 && p->bars[0].to == 20.5 && p->bars[0].lo == 19 && p->bars[0].hi == 22);
    assert_string_equal(p->bars[0].text, "0.25");
    assert_true(p->bars[2].category == 1 && p->bars[2].from == 20.5 && p->bars[2].to == 40.5);
    assert_string_equal(p->bars[2].text, ""); /* no text of one alone */
    assert_true(p->bars[4].category == 3 && p->bars[4].to == 23);
    chart_free(&c);
}

/* A panel for each kernel, in the order of the rows; those without a value or a name are in none. */
TEST(pictures_of_rows)
{
    static const struct table_column columns[] = {{"kernel", "", TABLE_TEXT, true, 0},
                                                  {"cpu", "", TABLE_WHOLE, true, 0},
                                                  {"unit", "", TABLE_TEXT, true, 0},
                                                  TABLE_LIMITS("share", "1", 3)};
    struct picture p = {.panel = {.kind = CHART_CELLS, .title = "shares", .scale_hi = 1},
                        .each = "kernel",
                        .value = "share",
                        .times = 100,
                        .name.column = "unit",
                        .across.column = "cpu"};
    struct table t;
    struct chart c = {0};
    table_init(&t, "x", columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < 6; i++) {
        table_add_row(&t);
        table_put_text(&t, "kernel", i < 4 ? "b" : "a");
        table_put_number(&t, "cpu", i % 2);
        if (i != 5)
            table_put_text(&t, "unit", i < 2 ? "one" : "two");
        table_put_limits(&t, "share", i == 3 ? NAN : 0.1 * i, 0, 1);
    }
    assert_false(t.failed);
    chart_table_draw(&p, &t, &c);
    assert_int_equal(c.n_panels, 2);
    assert_string_equal(c.panels[0].title, "b: shares");
    assert_string_equal(c.panels[1].title, "a: shares");
    assert_int_equal(c.panels[0].categories.n, 2);
    assert_int_equal(c.panels[0].columns.n, 2);
    assert_string_equal(chart_cell(&c.panels[0], 0, 1)->text, "10.00");
    assert_int_equal(chart_cell(&c.panels[0], 1, 1)->state, CELL_ABSENT);
    assert_int_equal(c.panels[1].n_cells, 1);
    assert_true(c.panels[0].scale_hi == 50 && c.panels[1].scale_hi == 50);
    chart_free(&c);
    p.panel = (struct chart_panel){.kind = CHART_BARS};
    p.each = NULL;
    chart_table_draw(&p, &t, &c);
    assert_int_equal(c.n_panels, 1);
    assert_int_equal(c.panels[0].n_bars, 4);
    assert_true(c.panels[0].bars[1].to == 10 && c.panels[0].bars[1].lo == 0 && c.panels[0].bars[1].hi == 100);
    chart_free(&c);
    p.panel = (struct chart_panel){.kind = CHART_LINES, .log_y = true};
    chart_table_draw(&p, &t, &c);
    assert_int_equal(c.panels[0].n_series, 2);
    assert_int_equal(c.panels[0].series[0].n, 1); /* 0 has no place on the axis */
    assert_true(c.panels[0].series[1].in_legend);
    chart_free(&c);
    p.value = "none";
    chart_table_draw(&p, &t, &c);
    assert_int_equal(c.n_panels, 0);
    table_free(&t);
}
