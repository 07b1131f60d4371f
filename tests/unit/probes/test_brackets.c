/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brackets on models, whose ratios are known: what they give back, when rounds end, and what outlasts a slot. */
#include "probes/brackets.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { KERNELS = 4 };

static struct payload kernels[KERNELS];

static struct brackets_setup set_up(void)
{
    static const char *const names[KERNELS] = {"64add", "128fma", "512or", "512fma"};
    struct brackets_setup s;
    for (size_t k = 0; k < KERNELS; k++)
        kernels[k] = rig_payload(names[k]);
    brackets_defaults(&s, &kernels[0], kernels, KERNELS);
    s.machine.active_cores = 16;
    s.machine.seed = 5;
    s.least = 10;
    s.most = 40;
    s.seconds = 10;
    s.enough = 0.0025;
    return s;
}

static int uncore(const struct machine *m, double *ghz, struct machine_error *err)
{
    (void)m;
    (void)err;
    *ghz = 2.2;
    return MACHINE_OK;
}

static void measure(const struct model *model, const struct brackets_setup *s, struct brackets_result *out)
{
    struct machine m;
    struct machine_error err;
    assert_int_equal(machine_open_parsed_model(model, "model:test", &m, &err), MACHINE_OK);
    struct machine_ops ops = *m.ops;
    ops.uncore = uncore;
    m.ops = &ops;
    assert_int_equal(brackets_run(&m, s, out, &err), MACHINE_OK);
    assert_float_equal(out->uncore_ghz, 2.2, 1e-9);
    m.ops->close(&m);
}

static void expect_ratios(const struct brackets_result *r, double tolerance)
{
    static const double ratios[KERNELS] = {1, 1, 2.4 / 2.8, 1.9 / 2.8}; /* at 16 cores (G table 3.1) */
    for (size_t k = 0; k < KERNELS; k++) {
        const struct estimate e = brackets_ratio_of(r, k);
        assert_true(fabs(e.value / ratios[k] - 1) < tolerance);
        assert_true(e.lo <= e.value && e.value <= e.hi);
        assert_true(r->seen[k].n > 0 && trace_count_runs(&r->seen[k]) <= r->rounds);
    }
}

TEST(test_parameters_come_back)
{
    struct model model;
    struct brackets_setup s = set_up();
    struct brackets_result r;
    rig_load("xeon-gold-6130", &model);
    measure(&model, &s, &r);
    assert_int_equal(r.rounds, s.least); /* limits suffice at once */
    expect_ratios(&r, 5e-4);
    brackets_free(&r);
}

/* Chains of adds against a coarse clock while the frequency floats by 5 %. */
TEST(test_a_clock_that_floats)
{
    struct model model;
    struct brackets_setup s = set_up();
    struct brackets_result r;
    rig_load("xeon-gold-6130", &model);
    model.no_counters = true;
    model.counts_licenses = model.counts_throttle = false;
    model.tsc_step_ns = 10;
    model.scenario.wander = (struct model_wander){.sigma = {0.05}, .us = {1e6}};
    measure(&model, &s, &r);
    expect_ratios(&r, 0.006);
    for (size_t k = 0; k < KERNELS; k++) {
        const struct estimate e = brackets_ratio_of(&r, k);
        assert_true(estimate_half(&e) < 0.005);
    }
    brackets_free(&r);
}

static int stop_after_three(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    (void)wanted;
    return done == 3;
}

TEST(test_rounds_end_when_time_is_over)
{
    struct model model;
    struct brackets_setup s = set_up();
    struct brackets_result r;
    rig_load("xeon-gold-6130", &model);
    s.enough = 0; /* never */
    s.least = 2;
    s.seconds = 15 * brackets_round_seconds(&s);
    measure(&model, &s, &r);
    assert_in_range(r.rounds, 14, 16);
    assert_true(r.seconds >= s.seconds && r.seconds < 1.3 * s.seconds);
    brackets_free(&r);
    s.progress = stop_after_three;
    measure(&model, &s, &r);
    assert_int_equal(r.rounds, 3);
    brackets_free(&r);
}

/* A level that is held for longer than a slot: slots grow, or the first kernel would be as slow as the others. */
TEST(test_what_outlasts_a_slot)
{
    struct model model;
    struct brackets_setup s = set_up();
    struct brackets_result r;
    rig_load("xeon-gold-6130", &model);
    model.wait_us = 6000;
    measure(&model, &s, &r);
    expect_ratios(&r, 1e-3);
    brackets_free(&r);
}

/* Those that end behind its beginning, and by its end; what has no frequency counts among them. */
TEST(test_samples_of_a_window)
{
    struct trace t;
    double scratch[20];
    trace_init(&t);
    assert_true(isnan(brackets_ghz(&t, 0, 10, 0, scratch)));
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    for (int i = 1; i <= 10; i++) {
        assert_int_equal(trace_append(&t, 0, i), 0);
        t.channel[TRACE_FREQ][t.n - 1] = (float)i;
    }
    assert_close(brackets_ghz(&t, 3, 6, 3, scratch), 3 / (1 / 4.0 + 1 / 5.0 + 1 / 6.0), 1e-6); /* their times' mean */
    assert_true(isnan(brackets_ghz(&t, 3, 6, 4, scratch)));
    assert_true(isnan(brackets_ghz(&t, 10, 20, 0, scratch)));
    t.channel[TRACE_FREQ][4] = NAN;
    assert_close(brackets_ghz(&t, 3, 6, 3, scratch), 2 / (1 / 4.0 + 1 / 6.0), 1e-6);
    trace_free(&t);
}
