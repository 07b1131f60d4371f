/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output/plot/plot_series.c: medians, thinning and ranges of what a plot draws. */
#include "output/plot/plot_series.h"
#include "tests/support/test.h"

static void begin(struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t), 0);
    assert_int_equal(trace_add_channel(t, TRACE_FREQ), 0);
}

static void add(struct trace *t, uint32_t run, double time, double value)
{
    assert_int_equal(trace_append(t, run, time), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)value;
}

static void find(const struct trace *t, struct series_grid *g)
{
    assert_int_equal(plot_series_grid_find(t, NULL, 0, g), 0);
}

/* What is drawn into: a series of its own chart. */
struct line {
    struct chart chart;
    struct chart_series *s;
};

static void blank(struct line *line)
{
    *line = (struct line){.s = NULL};
    line->s = chart_series(&line->chart, chart_add_panel(&line->chart, CHART_LINES, "", "", ""), "line");
    assert_non_null(line->s);
}

static void median(const struct trace *t, const struct series_grid *g, size_t bins, struct line *line)
{
    blank(line);
    plot_series_median(t, g, TRACE_FREQ, bins, &line->chart, line->s);
    assert_false(line->chart.failed);
}

static size_t faint(const struct trace *t, const struct series_grid *g, size_t bins, size_t budget, struct line *line)
{
    blank(line);
    size_t drawn = plot_series_faint(t, g, TRACE_FREQ, bins, budget, &line->chart, line->s);
    assert_false(line->chart.failed);
    return drawn;
}

TEST(the_median_withstands_a_minority)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    begin(&t);
    /* of 9 repetitions 4 are far off, each elsewhere */
    for (uint32_t run = 0; run < 9; run++) {
        for (int i = 0; i < 50; i++) {
            bool off = (i + (int)run) % 9 < 4;
            add(&t, run, i + 0.1 * run, off ? 0.5 * run : 3.0);
        }
    }
    find(&t, &g);
    assert_int_equal(trace_count_runs(&t), 9);
    assert_true(fabs(g.period_us - 1) < 1e-9);
    median(&t, &g, 2000, &line);
    assert_in_range(line.s->n, 50, 52);
    for (size_t i = 0; i < line.s->n; i++) {
        assert_true(fabs(line.s->points[i].y - 3.0) < 1e-6);
        assert_true(i == 0 || line.s->points[i].x > line.s->points[i - 1].x);
    }
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

/* A halt: no samples, and then one that averages over it. */
TEST(a_halt_breaks_the_lines)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn, breaks = 0;
    begin(&t);
    for (uint32_t run = 0; run < 5; run++) {
        for (int i = 0; i <= 20; i++)
            add(&t, run, i, 2.8);
        add(&t, run, 31, 0.2);
        for (int i = 32; i < 50; i++)
            add(&t, run, i, 1.9);
    }
    find(&t, &g);
    median(&t, &g, 2000, &line);
    for (size_t i = 0; i < line.s->n; i++) {
        breaks += isnan(line.s->points[i].y);
        assert_true(isnan(line.s->points[i].y) || line.s->points[i].y > 1.8);
    }
    assert_int_equal(breaks, 1);
    chart_free(&line.chart);
    breaks = 0;
    drawn = faint(&t, &g, 2000, 100000, &line);
    assert_int_equal(drawn, 5);
    for (size_t i = 0; i < line.s->n; i++) {
        breaks += isnan(line.s->points[i].y);
        assert_true(isnan(line.s->points[i].y) || line.s->points[i].y > 1.8);
    }
    assert_int_equal(breaks, 5 + 4); /* one in each repetition, one between two of them */
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

/* A recording that is dense in one stretch and sparse in another has no halts: all of it is drawn. */
TEST(a_sparse_stretch_is_drawn)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn, values = 0;
    begin(&t);
    for (int i = 0; i < 100; i++)
        add(&t, 0, i, 3);
    for (int i = 0; i < 40; i++)
        add(&t, 0, 110 + 10 * i, 2);
    find(&t, &g);
    drawn = faint(&t, &g, 2000, 100000, &line);
    assert_int_equal(drawn, 1);
    for (size_t i = 0; i < line.s->n; i++)
        values += line.s->points[i].y == 2;
    assert_true(values >= 39);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

TEST(thinning_keeps_the_extremes)
{
    enum { SAMPLES = 1000000, BINS = 500 };
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn;
    double lo = INFINITY, hi = -INFINITY;
    begin(&t);
    for (int i = 0; i < SAMPLES; i++)
        add(&t, 0, i, i == 654321 ? 9 : i == 123456 ? 1 : 3);
    find(&t, &g);
    drawn = faint(&t, &g, BINS, 100000, &line);
    assert_int_equal(drawn, 1);
    assert_true(line.s->n <= 2 * BINS + 2);
    for (size_t i = 0; i < line.s->n; i++) {
        lo = fmin(lo, line.s->points[i].y);
        hi = fmax(hi, line.s->points[i].y);
    }
    assert_true(lo == 1 && hi == 9);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

TEST(the_budget_bounds_the_points)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn;
    begin(&t);
    for (uint32_t run = 0; run < 1000; run++)
        for (int i = 0; i < 200; i++)
            add(&t, run, i, 3);
    find(&t, &g);
    drawn = faint(&t, &g, 2000, 20000, &line);
    assert_in_range(drawn, 80, 100);
    assert_true(line.s->n <= 21000);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

TEST(discarded_repetitions_are_left_out)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn;
    const uint32_t skip[] = {1, 3};
    double lo, hi;
    begin(&t);
    for (uint32_t run = 0; run < 5; run++)
        for (int i = 0; i < 30; i++)
            add(&t, run, i, run);
    assert_int_equal(plot_series_grid_find(&t, skip, 2, &g), 0);
    drawn = faint(&t, &g, 2000, 100000, &line);
    assert_int_equal(drawn, 3);
    for (size_t i = 0; i < line.s->n; i++)
        assert_true(line.s->points[i].y != 1 && line.s->points[i].y != 3);
    chart_free(&line.chart);
    assert_int_equal(plot_series_range(&t, &g, TRACE_FREQ, 0, &lo, &hi), 90);
    assert_true(lo == 0 && hi == 4);
    plot_series_grid_free(&g);
    trace_free(&t);
}

/* Voltages: one value in each of many repetitions, at another time each. */
TEST(a_value_a_run_gets_a_running_median)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    begin(&t);
    for (uint32_t run = 0; run < 400; run++) {
        double time = 0.5 * run, value = time < 100 ? 0.88 : 0.75;
        add(&t, run, time, run % 10 == 0 ? 0 : value);
    }
    find(&t, &g);
    median(&t, &g, 2000, &line);
    assert_int_equal(line.s->n, 400);
    for (size_t i = 0; i < line.s->n; i++)
        if (fabs(line.s->points[i].x - 100) > 2)
            assert_true(fabs(line.s->points[i].y - (line.s->points[i].x < 100 ? 0.88 : 0.75)) < 1e-6);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
    /* nobody reads in a halt, and no line crosses it */
    begin(&t);
    for (uint32_t run = 0; run < 400; run++)
        add(&t, run, 0.5 * run + (run < 200 ? 0 : 10), run < 200 ? 0.88 : 0.75);
    find(&t, &g);
    median(&t, &g, 2000, &line);
    assert_int_equal(line.s->n, 401);
    for (size_t i = 0; i < line.s->n; i++)
        assert_true(i == 200 ? isnan(line.s->points[i].y) != 0
                             : fabs(line.s->points[i].y - (i < 200 ? 0.88 : 0.75)) < 1e-6);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

TEST(odd_traces_are_no_trouble)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    size_t drawn;
    double lo, hi;
    begin(&t);
    assert_int_equal(plot_series_grid_find(&t, NULL, 0, &g), -1);
    add(&t, 0, 5, 3); /* a single sample */
    find(&t, &g);
    assert_true(isnan(g.period_us));
    median(&t, &g, 10, &line);
    assert_int_equal(line.s->n, 1);
    chart_free(&line.chart);
    drawn = faint(&t, &g, 10, 10, &line);
    assert_int_equal(drawn, 1);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    for (int i = 0; i < 20; i++) /* all at the same time, and missing */
        add(&t, 0, 5, NAN);
    find(&t, &g);
    assert_int_equal(plot_series_range(&t, &g, TRACE_FREQ, 0.005, &lo, &hi), 1);
    assert_int_equal(plot_series_range(&t, &g, TRACE_VOLTS, 0.005, &lo, &hi), 0);
    median(&t, &g, 10, &line);
    assert_int_equal(line.s->n, 1);
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}

/* One repetition that was interrupted does not stretch the axis; where one in five lasts for longer, that is shown. */
TEST(single_repetitions_do_not_stretch_the_axis)
{
    for (uint32_t longer = 1; longer <= 8; longer += 7) {
        struct trace t;
        struct series_grid g;
        struct line line;
        begin(&t);
        for (uint32_t run = 0; run < 40; run++)
            for (int i = 0; i <= (run < longer ? 115 : 100); i++)
                add(&t, run, i, i <= 100 ? 3 : 1);
        find(&t, &g);
        assert_close(g.end_us, longer > 1 ? 115 : 100, 0);
        median(&t, &g, 1000, &line);
        assert_close(line.s->points[line.s->n - 1].x, g.end_us, 0.6);
        assert_close(line.s->points[line.s->n - 1].y, longer > 1 ? 1 : 3, 0);
        chart_free(&line.chart);
        plot_series_grid_free(&g);
        trace_free(&t);
    }
}

/* Readings in steps of a clock: the band holds eight in ten of them, in the unit of the values. */
TEST(a_band_holds_what_most_samples_say)
{
    struct trace t;
    struct series_grid g;
    struct line line;
    begin(&t);
    assert_int_equal(trace_set(&t, "frequency", "instantaneous"), 0);
    assert_int_equal(trace_set(&t, "clock_step_ns", "1"), 0);
    assert_int_equal(trace_set(&t, "chain_cycles", "100"), 0);
    for (uint32_t run = 0; run < 20; run++)
        for (int i = 0; i < 30; i++)
            add(&t, run, i, 2.0 + 0.01 * run);
    find(&t, &g);
    blank(&line);
    line.s->band = true;
    plot_series_median(&t, &g, TRACE_FREQ, 100, &line.chart, line.s);
    assert_in_range(line.s->n, 29, 31);
    for (size_t i = 0; i < line.s->n; i++) {
        const struct chart_point *q = &line.s->points[i];
        if (!(fabs(q->lo - 2.02) < 1e-6 && fabs(q->hi - 2.17) < 1e-6 && q->y > 2.08 && q->y < 2.11))
            fail_msg("%g [%g, %g]", q->y, q->lo, q->hi);
    }
    chart_free(&line.chart);
    plot_series_grid_free(&g);
    trace_free(&t);
}
