/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_chart.c, chart_spans.c, plot.c, gnuplot.c: the script, its labels, and what gnuplot makes of it. */
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/plot/chart_script.h"
#include "output/plot/charts.h"
#include "output/plot/plot.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* A throttle and a halt between two levels, in a few repetitions. */
struct example {
    struct trace trace;
    struct phases phases;
    struct phase list[4];
    double levels[2];
};

static void set_phase(struct phase *p, enum phase_kind kind, double start, double end, int level)
{
    *p = (struct phase){
        .kind = kind, .start_us = start, .duration_us = {end - start, NAN, NAN}, .ipc_ratio = 0.25, .level = level};
}

static void make_example(struct example *e)
{
    memset(e, 0, sizeof(*e));
    trace_init(&e->trace);
    assert_int_equal(trace_add_run(&e->trace), 0);
    assert_int_equal(trace_add_channel(&e->trace, TRACE_FREQ), 0);
    assert_int_equal(trace_add_channel(&e->trace, TRACE_IPC), 0);
    for (uint32_t run = 0; run < 4; run++) {
        for (int i = -50; i < 100; i++) {
            if (i > 20 && i < 30)
                continue;
            assert_int_equal(trace_append(&e->trace, run, i + 0.25 * run), 0);
            e->trace.channel[TRACE_FREQ][e->trace.n - 1] = i <= 20 ? 2.8f : 1.9f;
            e->trace.channel[TRACE_IPC][e->trace.n - 1] = i > 0 && i <= 20 ? 0.5f : 2.0f;
        }
    }
    set_phase(&e->list[0], PHASE_STEADY, -50, 0, 0);
    set_phase(&e->list[1], PHASE_THROTTLE, 0, 20, 0);
    set_phase(&e->list[2], PHASE_HALT, 20, 30, -1);
    set_phase(&e->list[3], PHASE_STEADY, 30, 100, 1);
    e->levels[0] = 2.8;
    e->levels[1] = 1.9;
    e->phases = (struct phases){
        .runs = 4, .runs_used = 4, .phases = e->list, .n_phases = 4, .levels_ghz = e->levels, .n_levels = 2};
}

static char *script_of(const struct example *e)
{
    char *text = NULL, why[300];
    size_t size = 0;
    struct chart chart;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(trace_chart(&e->trace, &e->phases, &chart, why, sizeof(why)), 0);
    assert_int_equal(chart_script(&chart, PLOT_SVG, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    chart_free(&chart);
    return text;
}

static int draw_to(const struct example *e, const char *name, char *why, size_t size)
{
    struct chart chart;
    int status = trace_chart(&e->trace, &e->phases, &chart, why, size);
    status = status == 0 ? plot_write(&chart, name, why, size) : status;
    chart_free(&chart);
    return status;
}

TEST(endings_choose_the_form)
{
    enum plot_form form;
    assert_int_equal(plot_form_of("a.svg", &form), 0);
    assert_int_equal(form, PLOT_SVG);
    assert_int_equal(plot_form_of("dir.svg/a.PNG", &form), 0);
    assert_int_equal(form, PLOT_PNG);
    const char *others[] = {"a.pdf", "svg", ".svg", "a.svg.gz", "a.svgz", "", "-"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(plot_form_of(others[i], &form), -1);
}

TEST(only_measured_panels_appear)
{
    struct example e;
    make_example(&e);
    char *script = script_of(&e);
    assert_non_null(strstr(script, "frequency (GHz)"));
    assert_non_null(strstr(script, "IPC"));
    assert_null(strstr(script, "voltage"));
    assert_null(strstr(script, "share of cycles"));
    free(script);
    /* a column without values is no measurement either */
    assert_int_equal(trace_add_channel(&e.trace, TRACE_VOLTS), 0);
    script = script_of(&e);
    assert_null(strstr(script, "voltage"));
    free(script);
    for (size_t i = 0; i < e.trace.n; i++)
        e.trace.channel[TRACE_VOLTS][i] = 0.9f;
    script = script_of(&e);
    assert_non_null(strstr(script, "core voltage (V)"));
    free(script);
    trace_free(&e.trace);
}

/* In steps of a coarse clock single repetitions are a cloud: the band that most samples lie in takes its place. */
TEST(a_cloud_is_a_band)
{
    struct example e;
    make_example(&e);
    char *script = script_of(&e);
    assert_null(strstr(script, "filledcurves"));
    assert_non_null(strstr(script, "thin: single repetitions, thick: median over them"));
    free(script);
    assert_int_equal(trace_set(&e.trace, "frequency", "instantaneous"), 0);
    script = script_of(&e);
    assert_non_null(strstr(script, "$s0 using 1:3:4 with filledcurves fs solid 1.0 noborder lc rgb '#a00072b2'"));
    assert_non_null(strstr(script, "band: the middle 80 % of the samples"));
    assert_null(strstr(script, "lw 0.6")); /* no single repetition */
    free(script);
    e.phases.runs_used = 1;
    script = script_of(&e);
    assert_null(strstr(script, "filledcurves"));
    free(script);
    trace_free(&e.trace);
}

TEST(a_model_says_so)
{
    struct example e;
    char machine[] = "model:some", from[] = "128fma", to[] = "512fma";
    make_example(&e);
    char *script = script_of(&e);
    assert_null(strstr(script, "MODELLED"));
    free(script);
    e.phases.modelled = true;
    e.phases.machine = machine;
    e.phases.from = from;
    e.phases.to = to;
    script = script_of(&e);
    assert_non_null(strstr(script, "MODELLED"));
    assert_non_null(strstr(script, "model:some"));
    assert_non_null(strstr(script, "128fma \xE2\x86\x92 512fma"));
    assert_non_null(strstr(script, "4 of 4 repetitions used"));
    free(script);
    trace_free(&e.trace);
}

TEST(nothing_to_draw_is_said)
{
    struct example e;
    char why[300] = "";
    struct chart chart;
    make_example(&e);
    for (size_t i = 0; i < e.trace.n; i++)
        e.trace.channel[TRACE_FREQ][i] = e.trace.channel[TRACE_IPC][i] = NAN;
    assert_int_equal(trace_chart(&e.trace, &e.phases, &chart, why, sizeof(why)), -1);
    chart_free(&chart);
    assert_non_null(strstr(why, "no values"));
    e.trace.n = 0;
    assert_int_equal(trace_chart(&e.trace, &e.phases, &chart, why, sizeof(why)), -1);
    chart_free(&chart);
    assert_non_null(strstr(why, "no samples"));
    trace_free(&e.trace);
}

/* Whatever the widths of the phases: no two texts meet, and no pole crosses a text. */
TEST(labels_never_overlap)
{
    struct example e;
    struct phase many[200];
    struct rng r;
    make_example(&e);
    rng_init(&r, 1, 0);
    for (int round = 0; round < 200; round++) {
        size_t n = (size_t)rng_int(&r, 1, 200);
        double at = -50;
        for (size_t i = 0; i < n; i++) {
            double length = (rng_chance(&r, 0.3) ? 30.0 : 1.0) * rng_unit(&r) * 100.0 / (double)n;
            set_phase(&many[i], (enum phase_kind)rng_int(&r, 0, 4), at, at + length, rng_int(&r, -1, 2));
            at += length;
        }
        e.phases.phases = many;
        e.phases.n_phases = n;
        struct chart chart;
        char why[300];
        int rows;
        assert_int_equal(trace_chart(&e.trace, &e.phases, &chart, why, sizeof(why)), 0);
        assert_int_equal(chart.n_spans, n);
        struct chart_span_label *labels = chart_spans_labels(&chart, 78, CHART_WIDTH - 78, &rows);
        assert_non_null(labels);
        for (size_t i = 0; i < n; i++) {
            double width = (double)chart_characters(labels[i].text) * CHART_SPANS_CHARACTER;
            if (!labels[i].placed)
                continue;
            assert_in_range(labels[i].row, 0, rows - 1);
            assert_true(labels[i].start + width <= CHART_WIDTH);
            for (size_t j = 0; j < n; j++) {
                if (j == i || !labels[j].placed)
                    continue;
                double start = labels[j].start;
                double end = start + (double)chart_characters(labels[j].text) * CHART_SPANS_CHARACTER;
                if (labels[j].row == labels[i].row)
                    assert_true(labels[i].start >= end || labels[i].start + width <= start);
                if (labels[i].flag && labels[j].row < labels[i].row)
                    assert_true(labels[i].pole <= start || labels[i].pole >= end);
            }
        }
        free(labels);
        chart_free(&chart);
    }
    trace_free(&e.trace);
}

TEST(wide_phases_are_all_named)
{
    struct example e;
    make_example(&e);
    char *script = script_of(&e);
    assert_non_null(strstr(script, "'steady L0'"));
    assert_non_null(strstr(script, "'throttle \xC3\x97"
                                   "0.25'"));
    assert_non_null(strstr(script, "'halt'"));
    assert_non_null(strstr(script, "'steady L1'"));
    free(script);
    trace_free(&e.trace);
}

/* The images that gnuplot makes; skipped where it is missing. */

struct drawing {
    char directory[FOLDER_PATH_MAX], svg[128], png[128];
};

static int begin_drawing(void **state)
{
    struct drawing *d = calloc(1, sizeof(*d));
    assert_non_null(d);
    folder_make(d->directory);
    snprintf(d->svg, sizeof(d->svg), "%s/plot.svg", d->directory);
    snprintf(d->png, sizeof(d->png), "%s/plot.png", d->directory);
    *state = d;
    return 0;
}

static int end_drawing(void **state)
{
    struct drawing *d = *state;
    folder_remove(d->directory);
    free(d);
    return 0;
}

static void need_gnuplot(void)
{
    if (!plot_possible()) {
        print_message("skipped: gnuplot is not installed\n");
        skip();
    }
}

static char *contents(const char *name, size_t *size)
{
    FILE *in = fopen(name, "r");
    assert_non_null(in);
    struct stat s;
    assert_int_equal(fstat(fileno(in), &s), 0);
    char *text = calloc(1, (size_t)s.st_size + 1);
    assert_non_null(text);
    *size = fread(text, 1, (size_t)s.st_size, in);
    fclose(in);
    return text;
}

static void draw(const struct example *e, const char *name)
{
    char why[400] = "";
    if (draw_to(e, name, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

TEST_WITH(gnuplot_draws_both_forms, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    size_t size;
    need_gnuplot();
    make_example(&e);
    draw(&e, d->svg);
    char *image = contents(d->svg, &size);
    assert_non_null(strstr(image, "<svg"));
    assert_non_null(strstr(image, "</svg>"));
    assert_non_null(strstr(image, "frequency (GHz)"));
    assert_non_null(strstr(image, "halt"));
    free(image);
    draw(&e, d->png);
    image = contents(d->png, &size);
    assert_true(size > 1000);
    assert_memory_equal(image, "\x89PNG\r\n\x1a\n", 8);
    free(image);
    trace_free(&e.trace);
}

/* Metadata come from files of others: markup, quotes, commands and broken text must stay text. */
TEST_WITH(untrusted_names_stay_text, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    size_t size;
    char victim[160], cpu[600], machine[] = "\"; set output 'x'; \xFF\x1b]0;t\x07", from[] = "it's \\n `id` {/*9 x}",
                                to[] = "</text><script>alert(1)</script>";
    need_gnuplot();
    make_example(&e);
    snprintf(victim, sizeof(victim), "%s/victim", d->directory);
    snprintf(cpu, sizeof(cpu), "`touch %s` $(touch %s) '; system(\"touch %s\"); # _{a}^b @x <b>&amp;", victim, victim,
             victim);
    e.phases.cpu = cpu;
    e.phases.machine = machine;
    e.phases.from = from;
    e.phases.to = to;
    assert_int_equal(trace_set(&e.trace, "active_cores", "`touch /tmp/x`'"), 0);
    draw(&e, d->svg);
    assert_int_equal(access(victim, F_OK), -1);
    char *image = contents(d->svg, &size);
    assert_null(strstr(image, "<script>alert"));
    assert_non_null(strstr(image, "alert(1)"));
    assert_null(strchr(image, '\x1b'));
    assert_null(strstr(image, "\xFF"));
    free(image);
    trace_free(&e.trace);
}

TEST_WITH(a_million_samples_make_a_small_file, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    struct stat s;
    need_gnuplot();
    make_example(&e);
    e.trace.n = 0;
    struct rng r;
    rng_init(&r, 1, 0);
    for (uint32_t run = 0; run < 500; run++) {
        for (int i = 0; i < 2000; i++) {
            assert_int_equal(trace_append(&e.trace, run, i), 0);
            e.trace.channel[TRACE_FREQ][e.trace.n - 1] = 2.8f + 0.1f * (float)rng_unit(&r);
            e.trace.channel[TRACE_IPC][e.trace.n - 1] = 2.0f + 0.1f * (float)rng_unit(&r);
        }
    }
    draw(&e, d->svg);
    assert_int_equal(stat(d->svg, &s), 0);
    print_message("a million samples: %ld bytes\n", (long)s.st_size);
    assert_true(s.st_size < 3500000);
    trace_free(&e.trace);
}

TEST_WITH(odd_traces_are_drawn, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    need_gnuplot();
    make_example(&e);
    e.trace.n = 1; /* a single sample, no phases */
    e.phases.n_phases = 0;
    e.phases.n_levels = 0;
    draw(&e, d->svg);
    e.trace.n = 3; /* all at one time, one of them missing, far from zero */
    for (int i = 0; i < 3; i++) {
        e.trace.time_us[i] = 1e9;
        e.trace.channel[TRACE_FREQ][i] = i == 1 ? NAN : 0;
    }
    draw(&e, d->svg);
    trace_free(&e.trace);
}

/* gnuplot replaced by something that fails: its reason is passed on and no file is left. */
TEST_WITH(a_failing_gnuplot_leaves_nothing, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    char program[160], why[400] = "";
    const char *before = getenv("PATH");
    char *path = strdup(before != NULL ? before : "/usr/bin:/bin");
    assert_non_null(path);
    make_example(&e);
    snprintf(program, sizeof(program), "%s/gnuplot", d->directory);
    FILE *out = fopen(program, "w");
    assert_non_null(out);
    fputs("#!/bin/sh\necho half of it\necho 'line 3: no such thing' >&2\nexit 1\n", out);
    fclose(out);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(setenv("PATH", d->directory, 1), 0);
    int status = draw_to(&e, d->svg, why, sizeof(why));
    assert_int_equal(unlink(program), 0);
    int possible = plot_possible();
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_int_equal(status, -1);
    assert_non_null(strstr(why, "no such thing"));
    assert_int_equal(access(d->svg, F_OK), -1);
    assert_false(possible);
    trace_free(&e.trace);
}

TEST_WITH(a_full_disk_is_an_error, begin_drawing, end_drawing)
{
    struct drawing *d = *state;
    struct example e;
    char why[400] = "";
    need_gnuplot();
    make_example(&e);
    if (mount("tmpfs", d->directory, "tmpfs", 0, "size=4k") != 0) {
        print_message("skipped: no small file system to fill: mount: %s\n", strerror(errno));
        trace_free(&e.trace);
        skip();
    }
    int status = draw_to(&e, d->svg, why, sizeof(why));
    assert_int_equal(umount(d->directory), 0);
    assert_int_equal(status, -2);
    assert_non_null(strstr(why, "No space left"));
    trace_free(&e.trace);
}
