/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of voltages on models: each running median against the model's parameters, away from the steps; what is
 * said where nothing can be read; and the running median of made readings.
 */
#include "tables/switches/voltage/volt_points.h"
#include "tests/support/model_truth.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"
#include "tests/support/voltage_truth.h"

#define VOLTS 0.002 /* a reading's noise is 1 mV, a median of 21 varies by a fifth of that */
#define RELATIVE 0.01
#define WINDOW_US 25.0 /* 21 readings take 10 us after a fall and 16 before a rise; and times scatter */

/* A boost is that of the class held, whether the core came to it from rest or from the repetition before. */
TEST(a_voltage_does_not_depend_on_what_ran_before)
{
    struct rng r;
    rng_init(&r, 31, 0);
    for (unsigned k = 0; k < rng_rounds(6); k++) {
        struct model m;
        struct model_truth truth;
        struct machine_error err;
        struct table t;
        struct tables_options o;
        struct payload a = rig_payload("512fma"), b = rig_payload("256fma");
        bool carried = k % 2 == 0;
        double lo, hi, boost = rng_range(&r, 0.01, 0.03);
        rig_load_plain("xeon-gold-6130", &m);
        m.n_boosts = 1;
        m.boosts[0] = (struct model_boost){
            .from = 0, .to = (unsigned)m.n_classes - 1, .cores = {1, m.cores}, .volts = boost};
        m.scenario.carries = true;
        m.scenario.gap_us = carried ? rng_range(&r, 1, 0.5 * m.wait_us) : rng_range(&r, 2, 5) * m.wait_us;
        tables_options_default(&o);
        o.brief = true;
        o.seed = k;
        o.kernels[o.n_kernels++] = a;
        o.kernels[o.n_kernels++] = b;
        rig_measure(&table_voltage, &m, &o, &t);
        assert_int_equal(model_truth(&m, &a, &b, 0, &truth, &err), MACHINE_OK);
        size_t row = 0, looked_at = 0;
        for (; row < t.n_rows; row++) {
            if (strcmp(table_text(&t, row, "from"), "512fma") != 0 || table_number(&t, row, "time_us") > 300)
                continue; /* until then its class is held */
            double volts = table_number(&t, row, "volts"), rest = truth.from_volts;
            voltage_range(&truth, table_number(&t, row, "time_us"), 1, &lo, &hi);
            looked_at++;
            if (fabs(volts - rest) > VOLTS)
                fail_msg("gap %.0f us, boost %.3f V: %.4f V, not %.4f V", m.scenario.gap_us, boost, volts, rest);
            assert_true(fabs(hi - rest) < 1e-9 && fabs(lo - rest) < 1e-9);
        }
        assert_true(looked_at > 3);
        table_free(&t);
    }
}

TEST(findings_for_a_person)
{
    struct model m;
    struct table t;
    struct tables_options o;
    char *text = NULL;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.n_kernels = 2;
    o.kernels[0] = rig_payload("256fma");
    o.kernels[1] = rig_payload("512fma");
    o.n_active = 1;
    o.active[0] = 2;
    rig_measure(&table_voltage, &m, &o, &t);
    assert_non_null(table_detail(&t, "256fma_512fma_2"));
    text = rig_printed(&table_voltage, &t);
    /* the published rise at the start of the throttling */
    assert_non_null(strstr(text, "\n256fma -> 512fma      2  1.030 V at 3.60 GHz until"));
    assert_non_null(strstr(text, "1.045 V at 3.60 GHz until"));
    assert_non_null(strstr(text, "Core voltage: from 1.0"));
    free(text);
    table_free(&t);
}

TEST(what_cannot_be_read_is_missing)
{
    struct model m;
    struct machine machine;
    struct machine_ops ops;
    struct machine_error err;
    struct tables_options o;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    ops = *machine.ops;
    ops.read_register = NULL;
    const struct machine blind = {.ops = &ops, .state = machine.state};
    struct machine copy = blind;
    assert_int_equal(tables_measure(&table_voltage, &copy, &o, NULL, NULL, &t, &err), MACHINE_OK);
    assert_true(t.n_rows == 0 && t.n_missing == 1);
    assert_non_null(strstr(t.missing[0].why, "cannot read registers; remedy:"));
    table_free(&t);
    machine.ops->close(&machine);
}

/* ---- made readings ---- */

static void add(struct trace *t, double time, double volts)
{
    assert_int_equal(trace_append(t, (uint32_t)t->n, time), 0);
    t->channel[TRACE_VOLTS][t->n - 1] = (float)volts;
}

TEST(a_median_keeps_steps_sharp)
{
    struct trace t;
    struct phases none = {0};
    struct volt_point *v;
    struct rng r;
    size_t n, readings;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
    rng_init(&r, 7, 0);
    for (int i = 0; i < 400; i++) { /* scattered in time, a wild one now and then */
        double time = -50 + (i * 241 % 400 + 0.5) / 2;
        add(&t, time, i % 57 == 0 ? 1.5 : (time < 20 ? 0.88 : 0.75) + 0.001 * rng_normal(&r));
    }
    add(&t, 30, NAN);
    assert_int_equal(volt_points_find(&t, &none, 0, &v, &n, &readings), 0);
    assert_int_equal(readings, 400);
    assert_int_equal(n, 100); /* 21 readings take 10.5 us, a fifth of that is about 2 */
    for (size_t i = 0; i < n; i++) {
        assert_true(v[i].time_us == -49 + 2 * (double)i && v[i].n == 21 && isnan(v[i].level_ghz));
        if (fabs(v[i].time_us - 20) > 1.5 && fabs(v[i].volts.value - (v[i].time_us < 20 ? 0.88 : 0.75)) > 0.001)
            fail_msg("%.4f V at %.1f us", v[i].volts.value, v[i].time_us);
        assert_true(v[i].volts.lo <= v[i].volts.value && v[i].volts.hi >= v[i].volts.value);
    }
    free(v);
    trace_free(&t);
}

/* The limits are the ranks of the binomial: of 21 readings the sixth from either end (Conover, Practical Nonparametric
 * Statistics, section 3.2). */
TEST(few_readings)
{
    struct phases none = {0};
    for (size_t count = 0; count <= 30; count++) {
        struct trace t;
        struct volt_point *v;
        size_t n, readings;
        trace_init(&t);
        assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
        for (size_t i = 0; i < count; i++)
            add(&t, 5 + 0.001 * (double)i, 1 + 0.01 * (double)i);
        assert_int_equal(volt_points_find(&t, &none, 10, &v, &n, &readings), 0);
        assert_int_equal(readings, count);
        assert_int_equal(n, count ? 1 : 0);
        if (count) {
            assert_int_equal(v[0].n, count < 21 ? count : 21);
            assert_true((count < 6) == (isnan(v[0].volts.lo) != 0));
        }
        if (count == 21) {
            assert_true(fabs(v[0].volts.value - 1.10) < 1e-6);
            assert_true(fabs(v[0].volts.lo - 1.05) < 1e-6 && fabs(v[0].volts.hi - 1.15) < 1e-6);
        }
        if (count == 6)
            assert_true(fabs(v[0].volts.lo - 1) < 1e-6 && fabs(v[0].volts.hi - 1.05) < 1e-6);
        free(v);
        trace_free(&t);
    }
}

TEST(a_level_is_that_of_the_phase)
{
    struct phase list[] = {{.kind = PHASE_STEADY, .start_us = -10, .duration_us = {10, 10, 10}, .freq_ghz = {3, 3, 3}},
                           {.kind = PHASE_HALT, .start_us = 0, .duration_us = {5, 5, 5}, .freq_ghz = {NAN, NAN, NAN}},
                           {.kind = PHASE_STEADY, .start_us = 5, .duration_us = {5, 5, 5}, .freq_ghz = {2, 2, 2}}};
    struct phases p = {.phases = list, .n_phases = 3};
    struct trace t;
    struct volt_point *v;
    size_t n;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
    for (int i = -20; i < 40; i++)
        add(&t, i * 0.5 + 0.25, 1);
    assert_int_equal(volt_points_find(&t, &p, 1, &v, &n, NULL), 0);
    assert_int_equal(n, 30);
    for (size_t i = 0; i < n; i++) {
        double expected = v[i].time_us < 0 ? 3 : v[i].time_us < 5 || v[i].time_us > 10 ? NAN : 2;
        assert_true(isnan(expected) ? isnan(v[i].level_ghz) : v[i].level_ghz == expected);
    }
    free(v);
    trace_free(&t);
    trace_init(&t); /* where nobody reads in the halt nothing is reported of it */
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_VOLTS), 0);
    for (int i = -20; i < 40; i++)
        if (i < 0 || i >= 10)
            add(&t, i * 0.5 + 0.25, i < 0 ? 1 : 2);
    assert_int_equal(volt_points_find(&t, &p, 1, &v, &n, NULL), 0);
    assert_int_equal(n, 25);
    for (size_t i = 0; i < n; i++)
        assert_true((v[i].time_us < 0 || v[i].time_us > 5) && v[i].volts.value == (v[i].time_us < 0 ? 1 : 2));
    free(v);
    trace_free(&t);
}
