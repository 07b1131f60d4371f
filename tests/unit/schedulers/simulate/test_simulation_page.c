/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small report of simulations, made by hand: its pictures and its page. */
#include "output/plot/plot.h"
#include "output/plot/plot_colours.h"
#include "tests/support/small_report.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"

static const int64_t us = SIM_PS_PER_US;

/* ---- pictures ---- */

static char *script_of(const struct sim_report *r,
                       int (*describe)(const struct sim_report *r, struct chart *c, char *why, size_t why_size))
{
    char why[300] = "";
    struct chart c;
    int status = describe(r, &c, why, sizeof why);
    return chart_text(&c, status, why);
}

TEST(bars_have_parts_and_limits)
{
    struct sim_report r;
    small_report_begin(&r, 2, small_report_names);
    small_report_add(&r, "stock", "recorded", 550, 1100);
    small_report_add(&r, "stock", "recorded", 550, 1250);
    char *script = script_of(&r, sim_report_chart);
    has(script, "'MODELLED, not measured'");
    has(script, "'stock' 0");
    static const struct {
        const char *box;
        int series;
    } boxes[] = {
        {"15 -0.2 0 15 -0.38 -0.02", 0}, {"17.5 0.2 0 17.5 0.02 0.38", 1}, {"17.5 0.2 16.5 17.5 0.02 0.38", 4}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) { /* all work; not wide; of it lost to the sibling */
        char line[100];
        snprintf(line, sizeof line, "%s %lu\n", boxes[i].box,
                 strtoul(plot_colours[PLOT_SERIES + boxes[i].series].plain + 1, NULL, 16));
        has(script, line);
    }
    has(script, "15 -0.2 -48.53102368 78.53102368\n");
    has(script, "'15.00'");
    has_not(script, "nan");
    free(script);
    sim_report_free(&r);
}

/* gnuplot draws no axis without length. */
TEST(bars_of_nothing_have_an_axis)
{
    struct sim_report r;
    small_report_begin(&r, 1, small_report_names);
    small_report_add(&r, "stock", "recorded", 500, 1000);
    char *script = script_of(&r, sim_report_chart);
    has(script, "set xrange [0:1.08]");
    free(script);
    sim_report_free(&r);
}

TEST(time_line_has_a_lane_for_each_core)
{
    struct sim_piece pieces[2][4] = {{{1000 * us, 2000 * us, 7, 0, 1000},
                                      {2000 * us, 2500 * us, 7, 0, 250},
                                      {2500 * us, 2600 * us, 7, 0, 0},
                                      {2600 * us, 5000 * us, 7, 1, 1000}},
                                     {{1000 * us, 5000 * us, 7, 0, 1000}, {1000 * us, 5000 * us, 9, 1, 1000}}};
    struct sim_report r;
    small_report_begin(&r, 1, small_report_names);
    r.head.cores = 16;
    r.time_line = (struct sim_time_line){.from = 1000 * us,
                                         .to = 5000 * us,
                                         .n_cores = 2,
                                         .core = {7, 9},
                                         .n = 2,
                                         .policy = {{"stock", 4, pieces[0], false}, {"never", 2, pieces[1], false}}};
    char *script = script_of(&r, sim_chart_time_line);
    has(script, "set xrange [1:5]");
    has(script, "'core 7' 0, 'core 9' 1");
    has(script, "'hatched: throttled; the 2 of 16 cores that change most'");
    has(script, "$hatched << END\n2.5 0 2 2.5 -0.36 0.36 ");
    char halt[100]; /* in ink */
    snprintf(halt, sizeof halt, "2.6 0 2.5 2.6 -0.36 0.36 %lu\n", strtoul(plot_colours[PLOT_INK].plain + 1, NULL, 16));
    has(script, halt);
    const char *first = strstr(script, "'stock'"), *second = strstr(script, "'never'");
    assert_true(first && second && first < second);
    /* only the last panel has numbers below its axis */
    assert_true(strstr(script, "set format x ''") < strstr(script, "set format x '% h'"));
    has_not(second, "$hatched <<");
    free(script);
    r.time_line.n = 0; /* the pieces are not from malloc */
    sim_report_free(&r);
}

TEST(curve_has_both_marks)
{
    struct sim_report r;
    small_report_single(&r);
    r.curve = (struct sim_curve){.n = 3,
                                 .point = {{10, 0.05, 0.04}, {300, 0.1, 0.06}, {5000, 0.2, 0.1}},
                                 .breakeven = {90, 0.08, 0.05},
                                 .stock = {600, 0.12, 0.07}};
    char *script = script_of(&r, sim_chart_curve);
    has(script, "set logscale x");
    has(script, "'break-even time: 90 \xC2\xB5s'");
    has(script, "'stock\xE2\x80\x99s wait: 600 \xC2\xB5s'");
    has(script, "\n90 0 0 0\n90 8 8 8\n");
    has(script, "\n600 0 0 0\n600 12 12 12\n");
    has(script, "set yrange [0:21.6]");
    has(script, "'oracle' at graph 1.006, first 3.66667");
    has(script, "'stock' at graph 1.006, first 10 ");
    has(script, "$s0 << END\n10 5 5 5\n300 10 10 10\n5000 20 20 20\n");
    has(script, "$s1 << END\n10 4 4 4\n300 6 6 6\n5000 10 10 10\n");
    free(script);
    struct chart c;
    char why[100];
    r.curve = (struct sim_curve){.n = 0}; /* nobody requested one: its marks are none either */
    assert_int_equal(sim_chart_curve(&r, &c, why, sizeof why), -1);
    assert_string_equal(why, "no curve with --scheduler");
    chart_free(&c);
    sim_report_free(&r);
}

/* Where nothing is lost, rounding must not be the range of the axis. */
TEST(flat_curve_has_an_axis)
{
    struct sim_report r;
    small_report_begin(&r, 1, small_report_names);
    r.curve = (struct sim_curve){
        .n = 2, .point = {{10, -2e-10, -2e-10}, {5000, 2e-10, 0}}, .breakeven = {90, 0, 0}, .stock = {NAN, NAN, NAN}};
    char *script = script_of(&r, sim_chart_curve);
    has(script, "set yrange [0:0.1]");
    free(script);
    sim_report_free(&r);
}

/* ---- the page ---- */

TEST(page_is_harmless_whatever_names_hold)
{
    static const char *const names[3] = {"<script>alert(1)</script>", "\"'&\033[31m\xff", "none"};
    struct sim_report r;
    small_report_begin(&r, 1, names);
    free(r.head.workload);
    r.head.workload = strdup("a\"><img src=x>'`date`'");
    small_report_add(&r, "stock", "recorded", 550, 1100);
    sim_report_refuse(&r, "software", "recorded", "<b>no</b>");
    sim_report_warn(&r, "%s", "<i>note</i>");
    r.what_if = (struct sim_what_if){.now = {NULL, 0, 0.1, 0.09}, .n = 1, .row = {{"wait", 0.5, 0.06, 0.08}}};
    char *page = small_report_page(&r);
    has(page,
        "<title>a&quot;&gt;&lt;img src=x&gt;&#39;`date`&#39; on A &lt;processor&gt;: simulation (modelled)</title>");
    has(page, "Modelled, not measured");
    has(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
    has(page, "<li>software, scheduler recorded: &lt;b&gt;no&lt;/b&gt;</li>");
    has(page, "<li>&lt;i&gt;note&lt;/i&gt;</li>");
    has(page, "What would help most: wait times 0.5");
    has(page, "doc/simulation.md</code> of characterize 1.2.3");
    has(page, "Nothing had to be bounded.");
    has(page, "<dt>CPUs</dt><dd>1, on 1 core</dd>");
    has(page, "<dt>active cores</dt><dd>counted</dd>");
    has(page, "No plot: no time line with ");
    static const char *const never[] = {"<script>alert", "<img", "<b>no", "<i>note", "\033", "nan"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        has_not(strstr(page, "<body>"), never[i]);
    if (plot_possible())
        has(page, "<svg class=\"plot\"");
    else
        has(page, "gnuplot is not installed");
    free(page);
    sim_report_free(&r);
}

TEST(page_shows_what_was_bounded)
{
    struct sim_report r;
    small_report_single(&r);
    r.head.cores = 4;
    r.head.cpus = 8;
    r.head.smt = true;
    r.head.active_cores = 16;
    char *page = small_report_page(&r);
    has(page, "<li>wait from level 1 to 0: 600 us, between 500 and inf: not measured</li>");
    has(page, "<dt>CPUs</dt><dd>8, on 4 cores with hyper-threading</dd>");
    has(page, "<dt>active cores</dt><dd>always 16</dd>");
    has(page, "Not requested (<code>--what-if</code>).");
    free(page);
    char *text = small_report_text(&r);
    has(text, "\n4 cores, 8 CPUs, hyper-threading, active cores always 16, recorded at 2.8 GHz, seed 5\n");
    free(text);
    sim_report_free(&r);
}

TEST(page_of_nothing_says_so)
{
    struct sim_report r;
    small_report_begin(&r, 1, small_report_names);
    r.head.modelled = false;
    char *page = small_report_page(&r);
    has(page, "No policy could be simulated.");
    has(page, "No plot: there are no results.");
    has_not(page, "class=\"banner\"");
    free(page);
    char *text = small_report_text(&r);
    has_not(text, "MODELLED");
    free(text);
    sim_report_free(&r);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
