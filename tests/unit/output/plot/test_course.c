/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output/plot/course_chart.c, output/report/report.c, and what is reported of marks that are pointed at. */
#include "output/plot/chart_script.h"
#include "output/plot/charts.h"
#include "output/plot/plot.h"
#include "output/report/report.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"

#define PHASE(KIND, START, LENGTH, FREQ, IPC, MORE)                                                                    \
    "{\"kind\": \"" KIND "\", \"start_us\": " START ", \"duration_us\": " LENGTH                                       \
    ", \"duration_ci95_us\": [9.9, 10.2],"                                                                             \
    "\"freq_ghz\": " FREQ ", \"ipc\": " IPC ", \"level\": 0" MORE "}"

#define SWITCH(FROM, TO, TRANSITIONS)                                                                                  \
    "{\"format\": \"characterize-phases/1\", \"cpu\": \"A CPU\", \"machine\": \"timing\", \"modelled\": true, "        \
    "\"from\": \"" FROM "\", \"to\": \"" TO "\", \"levels_ghz\": [2.8, 1.9], \"transitions\": [" TRANSITIONS "], "     \
    "\"phases\": [" PHASE("steady", "-200", "200", "2.8", "2", "") ", " PHASE(                                         \
        "throttle", "0", "20", "2.8", "0.5", ", \"ipc_ratio\": 0.25") ", " PHASE("halt", "20", "10", "null", "null",   \
                                                                                 "") ", " PHASE("steady", "30", "400", \
                                                                                                "1.9", "2", "") "]}"

static char *tips_of(struct chart *c)
{
    struct stream_text script, tips;
    assert_int_equal(chart_script(c, PLOT_SVG, stream_text_open(&script), stream_text_open(&tips)), 0);
    free(stream_text_close(&script));
    return stream_text_close(&tips);
}

TEST(phases_become_a_course)
{
    struct chart c;
    char why[300];
    assert_int_equal(course_chart(SWITCH("128fma", "512fma", ""), 16, &c, why, sizeof why), 0);
    assert_string_equal(c.title, "128fma \xE2\x86\x92 512fma, 16 active cores");
    assert_true(c.modelled);
    assert_int_equal(c.n_panels, 2);
    const struct chart_series *ghz = c.panels[0].series, *ipc = c.panels[1].series;
    assert_int_equal(ghz->n, 7); /* two points a phase, and a break where the core stood still */
    assert_true(ghz->points[3].y == 2.8 && ghz->points[5].y == 1.9 && ghz->points[5].x == 30);
    assert_true(isnan(ghz->points[4].y) && isnan(ipc->points[4].y));
    assert_true(ipc->points[2].y == 0.5 && ipc->points[2].x == 0 && ipc->points[3].x == 20);
    assert_int_equal(c.n_spans, 4);
    assert_string_equal(c.spans[1].text, "throttle \xC3\x97"
                                         "0.25");
    /* the events, and not the long rest */
    assert_true(c.x_lo < -10 && c.x_lo > -50 && c.x_hi > 40 && c.x_hi < 100);
    char *tips = tips_of(&c);
    has(tips, "<title>throttle \xC3\x97"
              "0.25: 20 \xC2\xB5s [9.9, 10.2], 2.8 GHz, IPC 0.5</title>");
    has(tips, "<title>halt: 10 \xC2\xB5s [9.9, 10.2]</title>");
    free(tips);
    chart_free(&c);
}

TEST(a_ramp_is_curved)
{
    struct chart c;
    char why[300];
    const char *text = "{\"from\": \"128fma\", \"to\": \"512fma\", \"phases\": [" PHASE(
        "steady", "-50", "50", "2.8", "2", "") ", " PHASE("ramp", "0", "100", "2.1", "2",
                                                          ", \"from_ghz\": 2.8, \"to_ghz\": 1.9, \"tau_us\": 20") "]}";
    assert_int_equal(course_chart(text, 1, &c, why, sizeof why), 0);
    const struct chart_series *s = c.panels[0].series;
    assert_true(s->n > 10);
    for (size_t i = 2; i < s->n; i++)
        assert_true(fabs(s->points[i].y - (1.9 + 0.9 * exp(-s->points[i].x / 20))) < 1e-9);
    chart_free(&c);
}

TEST(what_is_no_course_is_refused)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"phases\": []}",
                                        "{\"phases\": [{\"kind\": \"steady\"}]}",
                                        "{\"phases\": [{\"kind\": \"halt\", \"start_us\": 0, \"duration_us\": null}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct chart c;
        char why[300] = "";
        assert_int_equal(course_chart(texts[i], 1, &c, why, sizeof why), -1);
        assert_string_equal(why, "the phases of the switch cannot be read");
        chart_free(&c);
    }
}

/* To the widest and heaviest code from the narrowest, with most cores; but first one in which something happens. */
TEST(the_widest_switch_is_chosen)
{
    static const struct {
        const char *cell, *phases;
    } details[] = {{"64add_amx_16", SWITCH("64add", "amx", "")},
                   {"512fma_64add_16", SWITCH("512fma", "64add", "{}")},
                   {"64add_512or_16", SWITCH("64add", "512or", "{}")},
                   {"128fma_512fma_16", SWITCH("128fma", "512fma", "{}")},
                   {"64add_512fma_1", SWITCH("64add", "512fma", "{}")},
                   {"64add_512fma_16", SWITCH("64add", "512fma", "{}")},
                   {"64add_512fma_2", SWITCH("64add", "512fma", "{}")},
                   {"64add-dirty_512fma_16", "{\"format\": \"other\"}"},
                   {"again", "[1, 2]"}};
    static const struct table_column columns[] = {{"from", "", TABLE_TEXT, true, 0}};
    struct table t;
    struct report_course chosen;
    table_init(&t, "transitions", columns, 1);
    assert_false(report_course_choose(&t, 1, &chosen));
    table_set_detail(&t, details[1].cell, details[1].phases);
    assert_false(report_course_choose(&t, 1, &chosen)); /* that is the way back */
    table_set_detail(&t, details[0].cell, details[0].phases);
    assert_true(report_course_choose(&t, 1, &chosen));
    assert_string_equal(chosen.phases, details[0].phases);
    for (size_t i = 2; i < sizeof details / sizeof details[0]; i++)
        table_set_detail(&t, details[i].cell, details[i].phases);
    assert_true(report_course_choose(&t, 1, &chosen));
    assert_string_equal(chosen.phases, details[5].phases);
    assert_int_equal(chosen.cores, 16);
    char notes[300];
    report_course_notes(&t, &chosen, notes, sizeof notes);
    assert_string_equal(notes, "");
    table_set_setting(&t, "frequency_levels", "none: the frequency floats");
    table_set_detail(&t, "64add_8192_1", "{\"format\": \"characterize-phases/1\"}");
    chosen.phases = "{\"warnings\": [\"another thread ran on the core\", 7]}";
    report_course_notes(&t, &chosen, notes, sizeof notes);
    assert_string_equal(notes,
                        "No frequency change is reported: the frequency floats. Those shown may be of moments, not of "
                        "code.\nanother thread ran on the core.");
    table_free(&t);
}

/* ---- what is reported of a mark ---- */

TEST(marks_tell_their_values)
{
    struct chart c = {.title = "x"};
    struct chart_panel *bars = chart_add_panel(&c, CHART_BARS, "", "us", "");
    chart_add_legend(&c, bars, "a <kind>", 1);
    chart_add_bar(&c, bars,
                  (struct chart_bar){
                      .category = chart_name(&c, &bars->categories, "one"), .to = 20, .lo = 19, .hi = 21, .colour = 1},
                  "");
    struct chart_panel *lines = chart_add_panel(&c, CHART_LINES, "", "cores", "GHz");
    struct chart_series *s = chart_series(&c, lines, "512fma");
    chart_add_point(&c, s, 4, 1.9, 1.8, 2.0);
    struct chart_panel *cells = chart_add_panel(&c, CHART_CELLS, "", "", "");
    chart_name(&c, &cells->categories, "128fma");
    chart_name(&c, &cells->columns, "512or");
    chart_name(&c, &cells->columns, "amx");
    chart_make_cells(&c, cells);
    *chart_cell(cells, 0, 0) = (struct chart_cell){CELL_VALUE, 24.8, "24.8"};
    char *tips = tips_of(&c);
    has(tips, "<title>one, a &lt;kind&gt;: 20 [19, 21]</title>");
    has(tips, "<title>512fma, cores 4: 1.9 [1.8, 2]</title>");
    has(tips, "<title>128fma \xE2\x86\x92 512or: 24.8</title>");
    has(tips, "<title>128fma \xE2\x86\x92 amx: not measured</title>");
    free(tips);
    if (plot_possible()) {
        char why[300];
        char *svg = plot_svg(&c, why, sizeof why);
        assert_non_null(svg);
        has(svg, "<g class='tips' fill='none' pointer-events='all'>\n<rect x=\"");
        assert_string_equal(strstr(svg, "</svg>") + 6 + strspn(strstr(svg, "</svg>") + 6, "\n"), "");
        free(svg);
    }
    chart_free(&c);
}
