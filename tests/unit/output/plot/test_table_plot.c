/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script of each table's plot, and what gnuplot makes of it. */
#include "output/plot/chart_script.h"
#include "output/plot/plot.h"
#include "output/plot/charts.h"
#include "tables/registry.h"
#include "tests/support/sample_tables.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"

static char *script_of(const struct table *t, const char *title)
{
    char why[300] = "";
    struct chart c;
    int status = table_chart(t, title, &c, why, sizeof why);
    return chart_text(&c, status, why);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *c = strstr(text, part); c; c = strstr(c + 1, part))
        n++;
    return n;
}

static int has_gnuplot(void)
{
    return plot_possible();
}

/* The picture, which must be whole and name no number that is none. */
static char *picture_of(const struct table *t)
{
    char why[300] = "";
    struct chart c;
    char *svg = table_chart(t, "A title", &c, why, sizeof why) == 0 ? plot_svg(&c, why, sizeof why) : NULL;
    chart_free(&c);
    if (!svg)
        fail_msg("%s: %s", t->name, why);
    assert_non_null(strstr(svg, "</svg>"));
    assert_null(strstr(svg, "nan"));
    return svg;
}

TEST(every_table_has_a_plot)
{
    static const struct {
        size_t kernels;
        unsigned cores;
    } sizes[] = {{2, 1}, {6, 16}, {20, 128}};
    size_t n;
    const char *const *names = sample_table_names(&n);
    assert_int_equal(n, 9);
    if (!has_gnuplot())
        skip();
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct table t;
            sample_table(&t, names[i], sizes[k].kernels, sizes[k].cores);
            assert_false(t.failed);
            /* of two kernels at one level, nothing triggers, throttles, ... */
            if (t.n_rows > 0 && !(sizes[k].kernels == 2 && strcmp(names[i], "transitions") == 0))
                free(picture_of(&t));
            table_free(&t);
        }
}

TEST(a_model_says_so)
{
    size_t n;
    const char *const *names = sample_table_names(&n);
    for (size_t i = 0; i < n; i++) {
        struct table t;
        sample_table(&t, names[i], 6, 4);
        char *script = script_of(&t, "A title");
        assert_non_null(strstr(script, "'MODELLED, not measured'"));
        assert_non_null(strstr(script, "'A title'"));
        assert_non_null(strstr(script, "model:xeon-gold-6130"));
        free(script);
        table_set_meta(&t, "modelled", "no");
        script = script_of(&t, "A title");
        assert_null(strstr(script, "MODELLED"));
        free(script);
        table_free(&t);
    }
}

static int no_chart(const struct table *t, char *why, size_t size)
{
    struct chart c;
    int status = table_chart(t, NULL, &c, why, size);
    chart_free(&c);
    return status;
}

TEST(nothing_to_draw_is_said)
{
    char why[300];
    size_t n;
    const char *const *names = sample_table_names(&n);
    for (size_t i = 0; i < n; i++) {
        struct table t;
        sample_table_empty(&t, names[i]);
        assert_int_equal(no_chart(&t, why, sizeof why), -1);
        assert_string_equal(why, "the table has no rows");
        table_add_row(&t); /* all of it absent */
        if (strcmp(names[i], "transitions") != 0)
            assert_int_equal(no_chart(&t, why, sizeof why), -1);
        if (strcmp(names[i], "transitions") != 0)
            assert_string_equal(why, "the table has no values to draw");
        table_free(&t);
    }
    struct table other;
    const struct table_column column = {"cpu", "", TABLE_WHOLE, true, 0};
    table_init(&other, "other", &column, 1);
    assert_int_equal(no_chart(&other, why, sizeof why), -1);
    assert_string_equal(why, "tables of this name have no plot");
    table_free(&other);
}

/* Text from anywhere neither ends a string of the script nor runs a command, and is escaped in the picture. */
TEST(nasty_texts_stay_texts)
{
    size_t n;
    const char *const *names = sample_table_names(&n);
    for (size_t i = 0; i < n; i++) {
        struct table t;
        sample_table(&t, names[i], 6, 4);
        const char *column = table_has(&t, "kernel") ? "kernel" : "to";
        for (size_t row = 0; row < t.n_rows; row++)
            if (strcmp(table_text(&t, row, column), "512fma") == 0)
                table_set_text(&t, row, column, sample_nasty);
        table_set_meta(&t, "cpu", "x' ; system('touch /tmp/x') `id`");
        char *script = script_of(&t, sample_nasty);
        assert_null(strchr(script, '`'));
        assert_null(strstr(script, "\x1b"));
        assert_null(strstr(script, "x' ;"));
        assert_int_equal(count(script, "'") % 2, 0);
        free(script);
        if (has_gnuplot()) {
            char *svg = picture_of(&t);
            assert_null(strstr(svg, "<script"));
            assert_null(strstr(svg, "<img"));
            free(svg);
        }
        table_free(&t);
    }
}

TEST(kernels_of_a_level_share_a_line_of_the_legend)
{
    struct table t;
    sample_table(&t, "frequency", 6, 16);
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "'level 0: 64add, 128fma, 256or'"));
    assert_non_null(strstr(script, "'level 1: 256fma, 512or'"));
    assert_non_null(strstr(script, "'level 2: 512fma'"));
    assert_non_null(strstr(script, "'rated, non-AVX'"));
    free(script);
    /* without levels, each kernel is its own */
    for (size_t row = 0; row < t.n_rows; row++)
        table_set_number(&t, row, "level", NAN);
    script = script_of(&t, NULL);
    assert_null(strstr(script, "level"));
    assert_non_null(strstr(script, "'256or'"));
    free(script);
    table_free(&t);
}

TEST(a_bar_is_named_by_what_varies)
{
    struct table t;
    sample_table(&t, "energy", 3, 1);
    for (size_t row = 0; row < t.n_rows; row++) {
        table_set_number(&t, row, "freq_ghz", 2.1);
        table_set_number(&t, row, "active_cores", 4);
        table_set_text(&t, row, "mode", "fixed");
    }
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "64add at 2.10 GHz"));
    assert_null(strstr(script, "2.10 GHz, 4"));
    assert_null(strstr(script, "2.10 GHz, fixed"));
    free(script);
    table_set_number(&t, 0, "active_cores", 1);
    table_set_text(&t, 0, "mode", "automatic");
    script = script_of(&t, NULL);
    assert_non_null(strstr(script, "at 2.10 GHz, 1 core, automatic"));
    assert_non_null(strstr(script, "at 2.10 GHz, 4 cores, fixed"));
    free(script);
    table_free(&t);
}

/* The table's figures are the script's figures. */
TEST(values_and_limits_are_the_tables)
{
    struct table t;
    sample_table_empty(&t, "frequency");
    for (int c = 1; c <= 2; c++) {
        table_add_row(&t);
        table_put_number(&t, "cpu", 0);
        table_put_text(&t, "kernel", "512fma");
        table_put_number(&t, "active_cores", c);
        table_put_limits(&t, "freq_ghz", 3.5 - 0.125 * c, 3.25, c == 1 ? 3.75 : NAN);
    }
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "\n1 3.375 3.25 3.75\n"));
    assert_non_null(strstr(script, "\n2 3.25 3.25 3.25\n")); /* half of the limits are none */
    free(script);
    table_free(&t);
}

/* A cell that was not measured is hatched, one that shows no frequency change has a sign: never a number. */
TEST(cells_without_change_are_distinguished)
{
    struct table t;
    sample_table_empty(&t, "transitions");
    const char *const kinds[] = {"frequency", "throttle only", "none"};
    for (size_t i = 0; i < 3; i++) {
        const char *const to[] = {"b", "c", "d"};
        table_add_row(&t);
        table_put_text(&t, "from", "a");
        table_put_text(&t, "to", to[i]);
        table_put_number(&t, "active_cores", 4);
        table_put_text(&t, "kind", kinds[i]);
        if (i < 2)
            table_put_limits(&t, "latency_us", i ? 9.25 : 42.5, 9, 43);
    }
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "'42.5' at first 1, first 0"));
    assert_non_null(strstr(script, "'t 9.25' at first 2, first 0"));
    assert_non_null(strstr(script, "'\xC2\xB7' at first 3, first 0"));
    /* 16 cells: 1 with a value, 4 on the diagonal, 2 signs, 9 not measured */
    const char *absent = strstr(script, "$absent << END");
    const char *end = absent ? strstr(absent, "\nEND\n") : NULL;
    assert_non_null(end);
    size_t lines = 0;
    for (const char *c = absent; c < end; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 9);
    free(script);
    table_free(&t);
}

/* Differences that the numbers in the cells do not show are no pattern; larger ones fill the scale. */
TEST(noise_has_one_colour)
{
    for (int i = 0; i < 2; i++) {
        struct table t;
        table_init(&t, "cores", table_cores.columns, table_cores.n_columns);
        for (int cpu = 0; cpu < 2; cpu++) {
            table_add_row(&t);
            table_put_number(&t, "cpu", cpu);
            table_put_text(&t, "kernel", "64add");
            table_put_number(&t, "freq_ghz", 4.0 + (i ? 0.25 : 0.001) * cpu);
        }
        char *script = script_of(&t, NULL);
        assert_non_null(strstr(script, i ? "set cbrange [4:4.25]" : "set cbrange [3.96049:4.04051]"));
        free(script);
        table_free(&t);
    }
}

/* Waits of one period stand in the middle of their row, also beside others that are of one and of two. */
TEST(a_lone_bar_is_in_the_middle)
{
    struct table t;
    sample_table_empty(&t, "relaxation");
    for (int i = 0; i < 3; i++) {
        table_add_row(&t);
        table_put_text(&t, "from", i < 2 ? "512or" : "512fma");
        table_put_text(&t, "to", "128fma");
        table_put_text(&t, "what", "wait");
        table_put_number(&t, "mode", i == 1 ? 2 : 1);
        table_put_limits(&t, "wait_us", 670, 669, 671);
        table_put_limits(&t, "share", 0.5, 0.25, 0.75);
    }
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "\n0.5 -0.2 0 0.5 -0.38 -0.02 "));
    assert_non_null(strstr(script, "\n0.5 0.2 0 0.5 0.02 0.38 "));
    assert_non_null(strstr(script, "\n0.5 1 0 0.5 0.64 1.36 "));
    /* the legend: 8 pixels a character, and air before the next mark */
    assert_non_null(strstr(script, "'one period' at screen 0.021111,"));
    assert_non_null(strstr(script, "'two periods' at screen 0.158889,"));
    free(script);
    table_free(&t);
}

TEST(long_lists_are_cut_and_it_is_said)
{
    struct table t;
    sample_table(&t, "throttle", 20, 16);
    char *script = script_of(&t, NULL);
    assert_non_null(strstr(script, "'The first 64 of "));
    free(script);
    table_free(&t);
    sample_table(&t, "throttle", 6, 16);
    script = script_of(&t, NULL);
    assert_null(strstr(script, "The first "));
    free(script);
    table_free(&t);
}

/* A panel for each of as many as there is room for. */
TEST(of_many_cpus_the_first_are_drawn)
{
    for (unsigned cpus = CHART_PANELS_MAX; cpus <= CHART_PANELS_MAX + 2; cpus += 2) {
        struct table t;
        struct chart c;
        char why[300];
        sample_table(&t, "frequency", 2, cpus);
        for (size_t row = 0; row < t.n_rows; row++)
            for (size_t column = 0; column < t.n_columns; column++)
                if (strcmp(t.columns[column].name, "cpu") == 0)
                    t.values[row * t.n_columns + column].number = (double)(row % cpus);
        assert_int_equal(table_chart(&t, NULL, &c, why, sizeof why), 0);
        assert_int_equal(c.n_panels, CHART_PANELS_MAX);
        for (size_t i = 0; i < CHART_PANELS_MAX; i++) {
            const bool reported = i + 1 == CHART_PANELS_MAX && cpus > CHART_PANELS_MAX;
            char title[20];
            snprintf(title, sizeof title, "CPU %zu", i);
            assert_string_equal(c.panels[i].title, title);
            assert_int_equal(c.panels[i].omitted, reported ? 2 : 0);
            assert_string_equal(c.panels[i].note, reported ? "The first 16 of 18 panels; the table has them all." : "");
        }
        chart_free(&c);
        table_free(&t);
    }
}

TEST(distances_of_one_kernel_are_one_line)
{
    struct table t;
    const struct table_column columns[] = {
        {"from", "", TABLE_TEXT, true, 0},           {"to", "", TABLE_TEXT, true, 0},
        {"active_cores", "", TABLE_WHOLE, true, 0},  {"part", "", TABLE_TEXT, true, 0},
        {"duration_us", "us", TABLE_REAL, false, 1}, {"ipc_ratio", "", TABLE_REAL, false, 3},
        {"distance", "", TABLE_REAL, false, 0}};
    table_init(&t, "throttle", columns, sizeof columns / sizeof columns[0]);
    for (int distance = 2; distance <= 200; distance *= 10) {
        char name[40];
        snprintf(name, sizeof name, "512or-chain@1/%d", distance);
        table_add_row(&t);
        table_put_text(&t, "from", "64add");
        table_put_text(&t, "to", name);
        table_put_text(&t, "part", "distance");
        table_put_number(&t, "duration_us", 20);
        table_put_number(&t, "ipc_ratio", 0.25);
        table_put_number(&t, "distance", distance);
    }
    char *script = script_of(&t, NULL);
    assert_int_equal(count(script, "'64add \xE2\x86\x92 512or-chain'"), 1); /* the legend */
    assert_null(strstr(script, "@1/"));
    assert_null(strstr(script, "$bars"));
    free(script);
    table_free(&t);
}

TEST(numbers_are_short)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {9.125, "9.12"},  {51.25, "51.2"},   {670.4, "670"},      {1339, "1339"},
                 {13000, "13.0k"}, {250000, "250k"}, {0.0001, "1e-04"}, {-3.14159, "-3.14"}, {2, "2"}};
    char text[16];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        chart_number(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(tics_of_log_axes)
{
    double tics[30];
    assert_int_equal(chart_log_tics(150, 1800, tics, 30), 3);
    assert_true(tics[0] == 200 && tics[1] == 500 && tics[2] == 1000);
    assert_int_equal(chart_log_tics(1, 1e6, tics, 30), 7);
    assert_int_equal(chart_log_tics(1, 1e6, tics, 3), 3);
    assert_int_equal(chart_log_tics(0, 10, tics, 30), 0);
    assert_int_equal(chart_log_tics(-1, NAN, tics, 30), 0);
}

/* Rows of one pair at so many numbers of active cores; -1: no latency. */
static void switch_rows(struct table *t, const char *from, const char *to, const char *kind, double latency,
                        unsigned counts)
{
    for (unsigned k = 1; k <= counts; k++) {
        table_add_row(t);
        table_put_text(t, "from", from);
        table_put_text(t, "to", to);
        table_put_number(t, "active_cores", k);
        table_put_text(t, "kind", kind);
        if (latency >= 0)
            table_put_limits(t, "latency_us", latency, latency, latency);
    }
}

static size_t times_in(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* "?" is what was not decided, and nothing else; what is not drawn is reported. */
TEST(cells_without_a_latency_have_their_signs)
{
    struct table t;
    sample_table_empty(&t, "transitions");
    switch_rows(&t, "64add", "256or", "licence only", 0, 5);
    switch_rows(&t, "64add", "512or", "frequency", 0, 5);
    switch_rows(&t, "256or", "64add", "frequency", 17, 5);
    char *script = script_of(&t, NULL);
    assert_null(strstr(script, "'?'"));
    assert_null(strstr(script, "\"?\""));
    assert_int_equal(times_in(script, "\"v\"") + times_in(script, "'v'"), 3);
    assert_int_equal(times_in(script, "\"0.0\"") + times_in(script, "'0.0'"), 3);
    assert_int_equal(times_in(script, "(3 of 5 numbers of active cores are drawn)"), 1);
    assert_non_null(strstr(script, "v: other voltage or license"));
    assert_non_null(strstr(script, ", 1 active core"));
    assert_non_null(strstr(script, ", 3 active cores"));
    assert_non_null(strstr(script, ", 5 active cores"));
    free(script);
    table_free(&t);
}

TEST(without_gnuplot_the_reason_is_reported)
{
    struct table t;
    char why[300] = "", *path = strdup(getenv("PATH"));
    sample_table(&t, "energy", 3, 1);
    setenv("PATH", "/nonexistent", 1);
    struct chart c;
    assert_int_equal(table_chart(&t, "x", &c, why, sizeof why), 0);
    assert_null(plot_svg(&c, why, sizeof why));
    chart_free(&c);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(why, "gnuplot is not installed: "));
    assert_non_null(strstr(why, plot_remedy));
    table_free(&t);
}

TEST(stages_are_seen_among_recorded_points)
{
    enum { N = 100 };
    struct wake_point points[N];
    struct wake_stages stages = {.n = 1, .stage[0] = {.first_us.value = 10, .idle_from_us.value = 1}};
    struct wake_source source = {0};
    struct chart c;
    char why[300] = "";
    for (int i = 0; i < N; i++)
        points[i] = (struct wake_point){i + 1, 10 + i % 3};
    int status = chart_first_uses(points, N, &stages, &source, &c, why, sizeof why);
    char *script = chart_text(&c, status, why);
    assert_non_null(strstr(script, "$s0 using 1:2 with points pt 7 ps 0.35"));
    assert_non_null(strstr(script, "$s1 using 1:2 with lines lw 3.5"));
    assert_non_null(strstr(script, "first use (\xC2\xB5s)"));
    free(script);
}
