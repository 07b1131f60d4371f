/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curve, what-if, time line and the head of the report, of workloads whose every microsecond can be shown by hand. */
#include "schedulers/simulate/output/simulation.h"
#include "schedulers/simulate/studies.h"
#include "tests/support/export_text.h"
#include "tests/support/memory_workload.h"
#include "tests/support/test.h"

/* Two levels, 3 and 2 GHz; a change down halts for 20 us, one up for 10 us; the wait is 600 us. */
enum { DOWN_US = 20, UP_US = 10, WAIT_US = 600, WIDE_US = 100, PLAIN_US = 1000, IDEAL_US = WIDE_US + PLAIN_US };

static struct sim_params *processor(int down_us, int up_us, int wait_us)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"format\": \"characterize-export/1\", \"cpu\": \"By hand\", \"machine\": \"test\", \"modelled\": true,"
             "\"levels\": 2, \"classes\": [{\"class\": 0, \"width\": 64, \"heavy\": false, \"level\": 0},"
             "{\"class\": 1, \"width\": 512, \"heavy\": true, \"level\": 1}], \"level_events\": [], \"triggers\": [],"
             "\"frequencies\": [{\"cpu\": 0, \"active_cores\": 6, \"level\": 0, \"mhz\": 3000},"
             "{\"cpu\": 0, \"active_cores\": 6, \"level\": 1, \"mhz\": 2000}], \"turbo_levels\": [], \"costs\": [],"
             "\"level_costs\": [{\"from\": 0, \"to\": 1, \"active_cores\": 6, \"down_ns\": %d, \"up_ns\": %d}],"
             "\"relaxations\": [], \"level_relaxations\": [{\"from\": 1, \"to\": 0, \"mode\": 1, \"wait_ns\": %d}],"
             "\"throttles\": [], \"settings\": [], \"missing\": []}",
             1000 * down_us, 1000 * up_us, 1000 * wait_us);
    return export_text_read(text);
}

static void work(struct memory_workload *m, unsigned cpu, uint32_t task, enum sim_class class, double us)
{
    memory_workload_add(m, cpu,
                        (struct sim_row){.ps = llround(us * SIM_PS_PER_US), .task = task, .class = (uint16_t) class});
}

/* Wide and plain code in turn. */
static void toggling(struct memory_workload *m, unsigned cpu, int periods)
{
    for (int i = 0; i < periods; i++) {
        work(m, cpu, 0, SIM_512HEAVY, WIDE_US);
        work(m, cpu, 1, SIM_NONE, PLAIN_US);
    }
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g, not %.12g", value, expected);
}

/* A period: the halt down, wide code at 2 GHz, T at 2 GHz, the halt up, and the rest at 3 GHz. */
static double overhead_at(double timeout_us)
{
    double rest_us = PLAIN_US - timeout_us * 2 / 3;
    return (DOWN_US + WIDE_US * 1.5 + timeout_us + UP_US + rest_us) / IDEAL_US - 1;
}

TEST(curve_is_what_the_definition_says)
{
    struct sim_params *p = processor(DOWN_US, UP_US, WAIT_US);
    struct memory_workload m;
    struct machine_error err;
    struct sim_curve c;
    memory_workload_make(&m, 1, 1, false, 2, 30000);
    toggling(&m, 0, 10);
    const struct sim_options o = {.policy = SIM_NEVER, .timeout_given = true, .timeout_ps = 7};
    assert_int_equal(sim_curve_find(p, &m.w, &o, &c, &err), MACHINE_OK);
    assert_int_equal(c.n, SIM_CURVE_POINTS);
    near(c.point[0].timeout_us, 10);
    near(c.point[SIM_CURVE_POINTS - 1].timeout_us, 5000);
    near(c.point[12].timeout_us, sqrt(10.0 * 5000));
    for (size_t i = 0; i < c.n; i++) {
        double t = c.point[i].timeout_us;
        if (t < 1490) {
            near(round(1e6 * c.point[i].overhead), round(1e6 * overhead_at(t)));
            near(round(1e6 * c.point[i].remote), round(1e6 * (t / 3 + UP_US) / PLAIN_US));
        } else if (t > 1510) { /* longer than the plain code takes: one change */
            near(c.point[i].overhead, (10 * 1.5 * IDEAL_US + DOWN_US) / (10.0 * IDEAL_US) - 1);
        }
    }
    near(c.breakeven.timeout_us, 3.0 * (DOWN_US + UP_US)); /* eq. 5.2 */
    near(c.breakeven.overhead, overhead_at(90));
    near(c.stock.timeout_us, WAIT_US);
    near(c.stock.overhead, overhead_at(WAIT_US));
    near(c.stock.remote, 0.21);
    memory_workload_free(&m);
    sim_params_free(p);
}

TEST(curve_without_wide_code_has_no_marks)
{
    struct sim_params *p = processor(DOWN_US, UP_US, WAIT_US);
    struct memory_workload m;
    struct machine_error err;
    struct sim_curve c;
    const struct sim_options o = {0};
    memory_workload_make(&m, 1, 1, false, 1, 30000);
    work(&m, 0, 0, SIM_NONE, 50);
    assert_int_equal(sim_curve_find(p, &m.w, &o, &c, &err), MACHINE_OK);
    near(c.point[0].overhead, 0);
    assert_true(isnan(c.breakeven.timeout_us));
    assert_true(isnan(c.stock.timeout_us));
    work(&m, 0, 0, SIM_256HEAVY, 50); /* of which this export knows nothing */
    assert_int_equal(sim_curve_find(p, &m.w, &o, &c, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "256heavy"));
    memory_workload_free(&m);
    sim_params_free(p);
}

TEST(what_if_is_sorted_by_what_helps)
{
    static const struct {
        const char *parameter;
        double factor, lost_us; /* in a period */
    } expected[] = {
        {"wait", 0.1, 100},
        {"wait", 0.25, 130},
        {"distance of the levels", 0.5, 20 + 20 + 10 + 100},
        {"wait", 0.5, 180},
        {"distance of the levels", 0.75, 20 + 100 / 3.0 + 10 + 150},
        {"cost of a change", 0, 250},
        {"cost of a change", 0.5, 265},
        {"wait", 2, 480},
    };
    struct sim_params *p = processor(DOWN_US, UP_US, WAIT_US);
    struct memory_workload m;
    struct machine_error err;
    struct sim_what_if w;
    struct sim_result after;
    const struct sim_options o = {.policy = SIM_NEVER};
    memory_workload_make(&m, 1, 1, false, 2, 30000);
    toggling(&m, 0, 10);
    assert_int_equal(sim_what_if_find(p, &m.w, &o, &w, &err), MACHINE_OK);
    assert_null(w.now.parameter);
    near(w.now.overhead, 280.0 / IDEAL_US);
    near(w.now.remote, 0.21);
    assert_int_equal(w.n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < w.n; i++) {
        assert_string_equal(w.row[i].parameter, expected[i].parameter);
        near(w.row[i].factor, expected[i].factor);
        near(round(1e6 * w.row[i].overhead), round(1e6 * expected[i].lost_us / IDEAL_US));
    }
    /* nothing is left of the request */
    assert_int_equal(sim_run(p, &m.w, &(struct sim_options){.policy = SIM_STOCK}, &after, &err), MACHINE_OK);
    near(sim_times_overhead(&after.all), 280.0 / IDEAL_US);
    sim_result_free(&after);
    memory_workload_free(&m);
    sim_params_free(p);
}

/* Under stock: a halt down, level 1, a halt up, level 0. */
static void expect_period(const struct sim_time_line_policy *policy, size_t *at, unsigned core, double from_us,
                          double to_us)
{
    const double begin[] = {0, DOWN_US, DOWN_US + WIDE_US * 1.5 + WAIT_US, DOWN_US + WIDE_US * 1.5 + WAIT_US + UP_US};
    static const unsigned level[] = {0, 1, 1, 0}, permille[] = {0, 1000, 0, 1000};
    for (size_t i = 0; i < 4; i++) {
        while (policy->piece[*at].core != core)
            (*at)++;
        const struct sim_piece *piece = &policy->piece[(*at)++];
        near((double)piece->from / SIM_PS_PER_US, from_us + begin[i]);
        near((double)piece->to / SIM_PS_PER_US, i < 3 ? from_us + begin[i + 1] : to_us);
        assert_int_equal(piece->level, level[i]);
        assert_int_equal(piece->permille, permille[i]);
    }
}

TEST(time_line_is_where_levels_change)
{
    enum { PERIOD_US = 1380, QUIET_US = 8000 };
    static const enum sim_policy policies[] = {SIM_STOCK, SIM_NEVER};
    struct sim_params *p = processor(DOWN_US, UP_US, WAIT_US);
    struct memory_workload m;
    struct machine_error err;
    struct sim_time_line t = {0};
    const struct sim_options o = {.seed = 1};
    memory_workload_make(&m, 6, 6, false, 2, 30000);
    for (unsigned cpu = 0; cpu < 6; cpu++) {
        work(&m, cpu, 1, SIM_NONE, QUIET_US);
        toggling(&m, cpu, cpu == 1 || cpu == 3 ? 1 : 3);
        work(&m, cpu, 1, SIM_NONE, 3 * QUIET_US);
    }
    assert_int_equal(sim_time_line_find(p, &m.w, &o, policies, 2, &t, &err), MACHINE_OK);
    near((double)t.from, (double)QUIET_US * SIM_PS_PER_US);
    near((double)(t.to - t.from), (double)SIM_TIME_LINE_PS);
    assert_int_equal(t.n_cores, SIM_TIME_LINE_CORES);
    static const unsigned chosen[] = {0, 2, 4, 5};
    for (size_t i = 0; i < t.n_cores; i++) {
        size_t at = 0;
        assert_int_equal(t.core[i], chosen[i]);
        for (int period = 0; period < 3; period++)
            expect_period(&t.policy[0], &at, t.core[i], QUIET_US + period * PERIOD_US,
                          period < 2 ? QUIET_US + (period + 1) * PERIOD_US : QUIET_US + 4000);
    }
    assert_int_equal(t.n, 2);
    assert_string_equal(t.policy[1].policy, "never");
    assert_int_equal(t.policy[1].n, 6 * 2); /* a halt down, and level 1 for ever */
    assert_false(t.policy[0].cut || t.policy[1].cut);
    sim_time_line_free(&t);
    assert_int_equal(t.n, 0);
    memory_workload_free(&m);
    sim_params_free(p);
}

TEST(time_line_is_bounded)
{
    static const enum sim_policy policies[] = {SIM_STOCK};
    struct sim_params *p = processor(0, 0, 0);
    struct memory_workload m;
    struct machine_error err;
    struct sim_time_line t = {0};
    const struct sim_options o = {.seed = 1};
    memory_workload_make(&m, 1, 1, false, 1, 30000);
    for (int i = 0; i < 12000; i++) {
        work(&m, 0, 0, SIM_512HEAVY, 0.1);
        work(&m, 0, 0, SIM_NONE, 0.1);
    }
    assert_int_equal(sim_time_line_find(p, &m.w, &o, policies, 1, &t, &err), MACHINE_OK);
    assert_int_equal(t.policy[0].n, SIM_TIME_LINE_PIECES_MAX);
    assert_true(t.policy[0].cut);
    near((double)t.to / SIM_PS_PER_US, 12000 * 0.25); /* the recording is shorter than a stretch */
    sim_time_line_free(&t);
    memory_workload_free(&m);
    sim_params_free(p);
}

TEST(report_begins_with_what_is_known)
{
    struct sim_params *p = processor(DOWN_US, UP_US, WAIT_US);
    struct memory_workload m;
    struct sim_report r = {0};
    memory_workload_make(&m, 4, 2, false, 3, 28000);
    m.w.active_cores = 5;
    sim_report_begin(&r, p, "export.json", &m.w);
    memory_workload_free(&m);
    assert_false(r.failed);
    assert_string_equal(r.head.workload, "in memory");
    assert_string_equal(r.head.kind, "drawn");
    assert_string_equal(r.head.params, "export.json");
    assert_string_equal(r.head.cpu, "By hand");
    assert_string_equal(r.head.source, "");
    assert_true(r.head.modelled && r.head.smt);
    assert_int_equal(r.head.levels, 2);
    assert_int_equal(r.head.cores, 2);
    assert_int_equal(r.head.cpus, 4);
    assert_int_equal(r.head.active_cores, 5);
    near(r.head.recorded_ghz, 2.8);
    assert_int_equal(r.head.n_tasks, 3);
    assert_string_equal(r.head.tasks[0], "t0");
    assert_string_equal(r.head.tasks[2], "t2");
    sim_report_free(&r);
    sim_params_free(p);
}
