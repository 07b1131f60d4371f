/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The published picture of the core voltage, from end to end: probe, trace, analysis, JSON and plot. It falls with the
 * frequency, and it is raised at the start of a throttle only from 256-bit FMA to 512 bits with two active cores
 * (Skylake-SP dissertation, section 3.2.2 and figure 3.3).
 */
#include "analysis/phases/phases.h"
#include "output/plot/chart_script.h"
#include "output/plot/charts.h"
#include "output/plot/plot_series.h"
#include "drivers/model/model.h"
#include "tests/support/model_truth.h"
#include "probes/transition.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

struct measured {
    struct trace trace;
    struct phases phases;
};

static void measure_model(const char *model, const char *from, const char *to, unsigned cores, uint64_t seed,
                          struct measured *out)
{
    struct machine m;
    struct machine_error err;
    struct transition_setup s;
    struct repetitions r;
    struct payload a = rig_payload(from), b = rig_payload(to);
    char why[200];
    transition_defaults(&s, &a, &b);
    s.machine.active_cores = cores;
    s.machine.seed = seed;
    if (machine_open_model(model, "data", &m, &err) || transition_run(&m, &s, NULL, NULL, &r, &err))
        fail_msg("%s", err.text);
    m.ops->close(&m);
    /* the modelled CPU is taken away now and then, too */
    assert_true(r.volts_missing[0] == '\0' || strstr(r.volts_missing, " readings: something else ran") != NULL);
    out->trace = r.trace; /* taken over */
    if (phases_find(&out->trace, &out->phases, why, sizeof why))
        fail_msg("%s", why);
    free(r.invalid);
}

static void measure(const char *from, const char *to, unsigned cores, struct measured *out)
{
    measure_model("xeon-gold-6130", from, to, cores, 0, out);
}

static void release(struct measured *m)
{
    phases_free(&m->phases);
    trace_free(&m->trace);
}

/* The median reading between two times. */
static double volts_between(const struct trace *t, double begin, double end)
{
    static float v[2000];
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < 2000; i++) {
        float x = t->channel[TRACE_VOLTS][i];
        if (!isnan(x) && t->time_us[i] >= begin && t->time_us[i] < end) {
            size_t k = n++;
            for (; k > 0 && v[k - 1] > x; k--)
                v[k] = v[k - 1];
            v[k] = x;
        }
    }
    assert_true(n > 10);
    return (double)v[n / 2];
}

/* Phases at 2.8, 2.4 and 1.9 GHz: each lower frequency with its lower voltage, which the model's file gives as 0.88,
 * 0.82 and 0.75 V. */
TEST(voltage_falls_with_the_frequency)
{
    struct measured m;
    double before = INFINITY, volts = INFINITY;
    unsigned seen = 0;
    measure("128fma", "512fma", 16, &m);
    for (size_t i = 0; i < m.phases.n_phases; i++) {
        const struct phase *p = &m.phases.phases[i];
        assert_true((p->kind == PHASE_HALT) == (isnan(p->volts) != 0)); /* nobody reads in a halt */
        if (p->kind == PHASE_HALT || !(p->freq_ghz.value < before - 0.1))
            continue;
        assert_true(p->volts < volts - 0.05);
        before = p->freq_ghz.value;
        volts = p->volts;
        static const double expected[3] = {0.88, 0.82, 0.75};
        assert_true(seen < 3 && fabs(volts - expected[seen]) < 0.002);
        seen++;
    }
    assert_int_equal(seen, 3);
    assert_true(m.phases.n_volt_steps >= 1);
    /* and back up */
    release(&m);
    measure("512fma", "128fma", 16, &m);
    assert_true(volts_between(&m.trace, -50, 0) < 0.755);
    assert_true(volts_between(&m.trace, 600, 650) < 0.755);
    assert_true(volts_between(&m.trace, 1200, 1500) > 0.875);
    release(&m);
}

TEST(boost_only_where_it_was_seen)
{
    static const struct {
        const char *from, *to;
        unsigned cores;
        bool boost;
    } cases[] = {{"256fma", "512fma", 2, true},
                 {"256fma", "512or", 2, true},
                 {"256fma", "512fma", 16, false},
                 {"128fma", "512fma", 2, false},
                 {"128fma", "256fma", 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measured m;
        measure(cases[i].from, cases[i].to, cases[i].cores, &m);
        double rise = volts_between(&m.trace, 1, 15) - volts_between(&m.trace, -50, 0);
        if (cases[i].boost ? rise < 0.01 : rise > 0.003)
            fail_msg("%s -> %s, %u cores: %+.4f V", cases[i].from, cases[i].to, cases[i].cores, rise);
        release(&m);
    }
}

/* With two active cores it is "largely very similar" (3.2.2): where the frequency has fallen, so has the voltage, boost
 * or not. */
TEST(a_boost_is_less_than_what_the_frequency_takes)
{
    static const char *const cases[][2] = {
        {"128fma", "256fma"}, {"128fma", "512or"}, {"128fma", "512fma"}, {"256fma", "512fma"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measured m;
        measure(cases[i][0], cases[i][1], 2, &m);
        double rise = volts_between(&m.trace, 90, 150) - volts_between(&m.trace, -50, 0);
        if (!(rise < -0.003))
            fail_msg("%s -> %s: %+.4f V", cases[i][0], cases[i][1], rise);
        release(&m);
    }
}

/* The line of the plot is the running median of 21 neighbors in time, whatever the order of reading. */
TEST(the_plot_shows_it)
{
    struct measured m;
    struct series_grid grid;
    struct chart drawn = {.n_panels = 0};
    char *text = NULL, why[200];
    size_t size = 0;
    measure("128fma", "512fma", 16, &m);
    FILE *out = open_memstream(&text, &size);
    struct chart chart;
    assert_int_equal(trace_chart(&m.trace, &m.phases, &chart, why, sizeof why), 0);
    assert_int_equal(chart_script(&chart, PLOT_SVG, out, NULL), 0);
    chart_free(&chart);
    fclose(out);
    assert_non_null(strstr(text, "core voltage (V)"));
    assert_non_null(strstr(text, "MODELLED")); /* whose voltage it is */
    free(text);
    assert_int_equal(plot_series_grid_find(&m.trace, NULL, 0, &grid), 0);
    struct chart_series *line = chart_series(&drawn, chart_add_panel(&drawn, CHART_LINES, "", "", ""), "median");
    plot_series_median(&m.trace, &grid, TRACE_VOLTS, 10000, &drawn, line);
    assert_false(drawn.failed);
    assert_true(line->n > 300);
    double last = -INFINITY, highest = 0, lowest = INFINITY;
    for (size_t i = 0; i < line->n; i++) {
        if (isnan(line->points[i].y))
            continue;
        assert_true(line->points[i].x >= last);
        last = line->points[i].x;
        highest = fmax(highest, line->points[i].y);
        lowest = fmin(lowest, line->points[i].y);
        if (line->points[i].x < 10)
            assert_true(fabs(line->points[i].y - 0.88) < 0.003);
        else if (line->points[i].x > 65)
            assert_true(fabs(line->points[i].y - 0.75) < 0.003);
    }
    assert_true(highest < 0.885 && lowest > 0.745);
    chart_free(&drawn);
    plot_series_grid_free(&grid);
    release(&m);
}

TEST(the_json_holds_it)
{
    struct measured m;
    size_t numbers = 0;
    measure("128fma", "512fma", 16, &m);
    char *text = phases_to_json(&m.phases);
    assert_non_null(text);
    size_t halts = 0;
    for (size_t i = 0; i < m.phases.n_phases; i++)
        halts += m.phases.phases[i].kind == PHASE_HALT;
    assert_int_equal(halts, 2);
    for (const char *p = text; (p = strstr(p, "\"volts\": ")) != NULL; p++) {
        if (strncmp(p, "\"volts\": null", strlen("\"volts\": null")) == 0)
            continue;
        double volts = strtod(p + strlen("\"volts\": "), NULL);
        assert_true(volts > 0.74 && volts < 0.89);
        numbers++;
    }
    assert_int_equal(numbers, m.phases.n_phases - halts);
    assert_non_null(strstr(text, "\"modelled\": true"));
    free(text);
    release(&m);
}

/* The phases that the model's parameters say, by the middle of one that was found; NULL: before the switch. */
static const struct model_phase *phase_at(const struct model_truth *t, double time)
{
    const struct model_phase *found = NULL;
    for (size_t i = 0; i < t->n && t->phases[i].start_us <= time; i++)
        found = &t->phases[i];
    return found;
}

/* Each phase has the voltage of its own frequency, and a halt has none, as nobody reads in it: not that of before. */
TEST(volts_are_those_of_their_time)
{
    static const struct {
        const char *model, *from, *to;
    } cases[] = {{"xeon-gold-6130", "128fma", "512fma"}, {"xeon-gold-6130", "512fma", "128fma"},
                 {"xeon-gold-6130", "256fma", "512fma"}, {"xeon-gold-6130", "512fma", "256fma"},
                 {"xeon-w-2104", "128or", "512or-lat"},  {"xeon-w-2104", "512fma", "128or"},
                 {"core-i9-7940x", "128fma", "512fma"},  {"core-i9-7940x", "512or", "128fma"}};
    size_t halts = 0, others = 0, wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t seed = 0; seed < rng_fewer_sanitized(3); seed++) {
            struct payload a = rig_payload(cases[i].from), b = rig_payload(cases[i].to);
            unsigned cores = seed == 1 ? 1 : 0;
            struct model_truth truth;
            struct machine_error err;
            struct measured m;
            struct model model;
            rig_load(cases[i].model, &model);
            assert_int_equal(model_truth(&model, &a, &b, cores, &truth, &err), MACHINE_OK);
            measure_model(cases[i].model, cases[i].from, cases[i].to, cores, seed, &m);
            for (size_t k = 0; k < m.phases.n_phases; k++) {
                const struct phase *p = &m.phases.phases[k];
                double middle = p->start_us + p->duration_us.value / 2;
                const struct model_phase *is = phase_at(&truth, middle);
                double volts = middle < 0 || !is ? truth.from_volts : is->volts;
                bool halt = middle > 0 && is && is->kind == MODEL_HALTED;
                bool right = halt ? isnan(p->volts) != 0 : fabs(p->volts - volts) < 0.002;
                if (!right) {
                    print_message("%s, %s -> %s, seed %u, at %.1f us: %.4f V, not %.4f\n", cases[i].model,
                                  cases[i].from, cases[i].to, (unsigned)seed, middle, p->volts, halt ? NAN : volts);
                }
                wrong += !right;
                halts += halt;
                others += !halt;
            }
            release(&m);
        }
    }
    print_message("%zu halts, %zu other phases, %zu wrong\n", halts, others, wrong);
    assert_int_equal(wrong, 0);
    assert_true(halts >= rng_fewer_sanitized(24) && others >= rng_fewer_sanitized(60));
}
