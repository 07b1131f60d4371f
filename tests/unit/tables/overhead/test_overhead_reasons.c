/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the table overhead does not tell, and why: frequencies that move by themselves, differences that are no costs,
 * changes that are too small or seen once. A wrong figure is worse than none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/registry.h"
#include "tests/support/close_to.h"
#include "tests/support/model_rig.h"
#include "tests/support/overhead_truth.h"
#include "tests/support/table_rig.h"

static struct tables_options *options(const char *from, const char *to, unsigned runs)
{
    static struct tables_options o; /* too large for the stack */
    tables_options_default(&o);
    o.kernels[o.n_kernels++] = rig_payload(from);
    o.kernels[o.n_kernels++] = rig_payload(to);
    o.active[o.n_active++] = 16;
    o.runs = runs;
    o.seed = 1;
    return &o;
}

static bool missing_says(const struct table *t, const char *what)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (strstr(t->missing[i].why, what))
            return true;
    return false;
}

static void expect_finding(const struct table *t, const char *there, const char *not_there)
{
    char *text = rig_findings(&table_overhead, t);
    if (!strstr(text, there) || strstr(text, not_there))
        fail_msg("not \"%s\", or \"%s\" in: %s", there, not_there, text);
    free(text);
}

/* ---- a machine whose clock runs faster and slower, so that its frequency seems to ---- */

static struct {
    struct machine model;
    struct machine_ops ops;
    double period_us, size; /* of a wave: the frequency moves up and down by this part */
    double step;            /* the frequency changes by this part ... */
    uint64_t step_from;     /* ... from this repetition on, */
    bool until_switch;      /* ... and only until the switch */
    double elapsed_us;
    double tsc_hz;
} floating;

static int floating_run(struct machine *m, const struct run_request *r, struct recording *out,
                        struct machine_error *err)
{
    (void)m;
    int status = floating.model.ops->run(&floating.model, r, out, err);
    if (status != MACHINE_OK)
        return status;
    double stretched = 0, before = (double)out->words[0], zero = (double)out->zero_tsc;
    for (size_t i = 1; i < out->n; i++) {
        uint64_t *word = &out->words[i * out->stride];
        double now = (double)*word, us = floating.elapsed_us + (now - (double)out->words[0]) / floating.tsc_hz * 1e6;
        bool steps = r->repetition >= floating.step_from && !(floating.until_switch && i > out->zero_reading);
        double faster = 1 + (steps ? floating.step : 0);
        if (floating.period_us > 0)
            faster *= 1 + floating.size * sin(2 * M_PI * us / floating.period_us);
        stretched += (now - before) / faster;
        before = now;
        *word = out->words[0] + (uint64_t)llround(stretched);
        if (i == out->zero_reading)
            zero = (double)*word;
    }
    out->zero_tsc = (uint64_t)zero;
    floating.elapsed_us += 3900; /* and what is not recorded */
    return MACHINE_OK;
}

static void measure_floating(struct tables_options *o, struct table *out)
{
    struct model m;
    struct machine_error err;
    struct machine_info info;
    rig_load("xeon-gold-6130", &m);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &floating.model, &err), MACHINE_OK);
    floating.model.ops->info(&floating.model, &info);
    floating.tsc_hz = info.tsc_hz;
    floating.ops = *floating.model.ops;
    floating.ops.run = floating_run;
    struct machine machine = {.ops = &floating.ops, .state = floating.model.state};
    rig_measure_on(&table_overhead, &machine, o, out);
    floating.model.ops->close(&floating.model);
}

static void expect_moves(const struct table *t)
{
    assert_int_equal(t->n_rows, 1);
    if (!isnan(table_number(t, 0, "down_us")) || !isnan(table_number(t, 0, "up_us")) ||
        !isnan(table_number(t, 0, "breakeven_us")) || !isnan(table_number(t, 0, "down_median_us")))
        fail_msg("waves of %g us, %g: down %.2f us [%.2f, %.2f], %.4f and %.4f GHz", floating.period_us, floating.size,
                 table_number(t, 0, "down_us"), table_number(t, 0, "down_us_lo"), table_number(t, 0, "down_us_hi"),
                 table_number(t, 0, "high_ghz"), table_number(t, 0, "low_ghz"));
    assert_true(missing_says(t, "the frequency moves by itself ("));
    assert_false(missing_says(t, "no change of frequency"));
    expect_finding(t, "the frequency moves by itself", "no change");
}

/* Waves as long as an execution, as some repetitions, and as the cell; with few repetitions, too. The shortest may be
 * averaged out, where it is observed for longer: then the limits hold the truth. */
static void frequencies_that_move_have_no_costs(void **state)
{
    (void)state;
    struct overhead_truth e;
    struct model m;
    rig_load("xeon-gold-6130", &m);
    overhead_truth(&m, "128fma", "512fma", 16, &e);
    static const struct {
        double period_us, size;
    } waves[] = {{2000, 0.04}, {3100, 0.06}, {17000, 0.03}, {230000, 0.03}};
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++)
        for (unsigned runs = 24; runs <= 96; runs += 72) {
            struct table t;
            memset(&floating, 0, sizeof floating);
            floating.step_from = UINT64_MAX;
            floating.period_us = waves[i].period_us;
            floating.size = waves[i].size;
            measure_floating(options("128fma", "512fma", runs), &t);
            double lo = table_number(&t, 0, "down_us_lo"), hi = table_number(&t, 0, "down_us_hi");
            if (!(i == 0 && lo <= e.down_us && e.down_us <= hi))
                expect_moves(&t);
            table_free(&t);
        }
}

/* The last quarter runs 3 % slower: not a matter of single repetitions. */
static void a_frequency_that_moves_once_is_noticed(void **state)
{
    (void)state;
    struct table t;
    memset(&floating, 0, sizeof floating);
    floating.step = -0.03;
    floating.step_from = 75;
    measure_floating(options("128fma", "512fma", 100), &t);
    expect_moves(&t);
    table_free(&t);
}

/* The same before the switch alone: what comes after it is as it was. */
static void a_frequency_that_moves_before_the_switch_is_noticed(void **state)
{
    (void)state;
    struct table t;
    memset(&floating, 0, sizeof floating);
    floating.step = -0.03;
    floating.step_from = 75;
    floating.until_switch = true;
    measure_floating(options("128fma", "512fma", 100), &t);
    expect_moves(&t);
    assert_true(missing_says(&t, "before the switch it is 2.7"));
    table_free(&t);
}

/* What moves by little is measured, and the truth is within the limits. */
static void small_movements_are_within_the_limits(void **state)
{
    (void)state;
    struct overhead_truth e;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    overhead_truth(&m, "128fma", "512fma", 16, &e);
    memset(&floating, 0, sizeof floating);
    floating.step_from = UINT64_MAX;
    floating.period_us = 61000;
    floating.size = 0.004;
    measure_floating(options("128fma", "512fma", 100), &t);
    assert_true(table_number(&t, 0, "down_us_lo") <= e.down_us && e.down_us <= table_number(&t, 0, "down_us_hi"));
    assert_true(table_number(&t, 0, "breakeven_us_lo") <= e.breakeven_us &&
                e.breakeven_us <= table_number(&t, 0, "breakeven_us_hi"));
    table_free(&t);
}

/* ---- a machine whose throttling lasts longer from some repetition on ---- */

static struct {
    struct machine before, after;
    struct machine_ops ops;
} growing;

static int growing_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    (void)m;
    struct machine *now = r->repetition < 50 ? &growing.before : &growing.after;
    return now->ops->run(now, r, out, err);
}

static int growing_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    (void)m;
    assert_int_equal(growing.after.ops->prepare(&growing.after, s, err), MACHINE_OK);
    return growing.before.ops->prepare(&growing.before, s, err);
}

static void growing_finish(struct machine *m)
{
    (void)m;
    growing.before.ops->finish(&growing.before);
    growing.after.ops->finish(&growing.after);
}

static void throttle_longer(struct model *m, double factor)
{
    rig_load("xeon-gold-6130", m);
    for (unsigned a = 0; a < m->n_classes; a++)
        for (unsigned b = 0; b < m->n_classes; b++)
            for (size_t i = 0; i < m->transitions[a][b].n_steps; i++) {
                m->transitions[a][b].steps[i].us *= factor;
                for (size_t k = 0; k < m->transitions[a][b].steps[i].n_variants; k++)
                    m->transitions[a][b].steps[i].variants[k].us *= factor;
            }
}

/* Both costs, us. */
static void measure_growing(double factor, double cost[2], struct table *t)
{
    struct model m;
    struct machine_error err;
    struct overhead_truth e;
    throttle_longer(&m, 2);
    overhead_truth(&m, "128fma", "512fma", 16, &e);
    cost[0] = e.down_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &growing.before, &err), MACHINE_OK);
    throttle_longer(&m, 2 * factor);
    overhead_truth(&m, "128fma", "512fma", 16, &e);
    cost[1] = e.down_us;
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &growing.after, &err), MACHINE_OK);
    growing.ops = *growing.before.ops;
    growing.ops.run = growing_run;
    growing.ops.prepare = growing_prepare;
    growing.ops.finish = growing_finish;
    struct machine machine = {.ops = &growing.ops, .state = growing.before.state};
    rig_measure_on(&table_overhead, &machine, options("128fma", "512fma", 100), t);
    growing.before.ops->close(&growing.before);
    growing.after.ops->close(&growing.after);
}

/* A tenth of the cost is no more than what a cost varies by: 4 us of 60 are, 8 us are not. */
static void costs_that_grow_by_much_are_not_told(void **state)
{
    (void)state;
    for (int much = 0; much < 2; much++) {
        struct table t;
        double cost[2], told[2];
        measure_growing(much ? 1.2 : 1.1, cost, &t);
        assert_close(cost[0], 60, 1e-9);
        assert_close(cost[1], much ? 68 : 64, 1e-9);
        assert_int_equal(t.n_missing, much);
        if (much) {
            const char *why = strstr(t.missing[0].why, "(the cost is ");
            if (!why || sscanf(why, "(the cost is %lf us in some repetitions and %lf us", &told[0], &told[1]) != 2)
                fail_msg("%s", t.missing[0].why);
            for (int k = 0; k < 2; k++)
                assert_close(told[k], cost[k], 1);
            expect_moves(&t);
        } else {
            assert_close(table_number(&t, 0, "down_us"), 62, 1);
        }
        table_free(&t);
    }
}

/* ---- differences that are no costs ---- */

/* Heavy code runs at the high level for half an execution before it asks for the low one. */
static void slow_to_ask(struct model *m)
{
    rig_load("xeon-gold-6130", m);
    for (size_t i = 0; i < m->n_demands; i++)
        if (m->demands[i].count > 0)
            m->demands[i].count = 2500000;
}

static void a_gain_is_not_told_as_a_cost(void **state)
{
    (void)state;
    struct overhead_truth e;
    struct model m;
    struct table t;
    slow_to_ask(&m);
    overhead_truth(&m, "128fma", "256fma", 16, &e);
    assert_true(e.down_us < -20);
    rig_measure(&table_overhead, &m, options("128fma", "256fma", 60), &t);
    assert_int_equal(t.n_rows, 1);
    assert_true(isnan(table_number(&t, 0, "down_us")) && isnan(table_number(&t, 0, "down_us_hi")) &&
                isnan(table_number(&t, 0, "down_median_us")) && isnan(table_number(&t, 0, "down_p95_us")));
    assert_true(isnan(table_number(&t, 0, "breakeven_us")));
    assert_true(fabs(table_number(&t, 0, "up_us") - 10) < 0.3);
    assert_true(missing_says(&t, "took less time than the second"));
    assert_false(missing_says(&t, "lost in the noise"));
    expect_finding(&t, "No cost of going down was measured; coming back up", "costs what could");
    table_free(&t);
}

/* Where the count scatters, a few change in the second execution alone: it is observed for longer. */
static void late_changes_do_not_bend_the_mean(void **state)
{
    (void)state;
    struct overhead_truth e;
    struct model m;
    struct table t;
    slow_to_ask(&m);
    for (unsigned seed = 1; seed <= 3; seed++) {
        struct tables_options *o = options("128fma", "256fma", 150);
        o->active[0] = 1;
        o->seed = seed;
        overhead_truth(&m, "128fma", "256fma", 1, &e);
        rig_measure(&table_overhead, &m, o, &t);
        double down = table_number(&t, 0, "down_us");
        if (!(fabs(down - e.down_us) < 0.05 * e.down_us))
            fail_msg("%.2f us instead of %.2f", down, e.down_us);
        table_free(&t);
    }
}

/* ---- what was seen of the frequency ---- */

static void one_repetition_cannot_tell(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 1), &t);
    assert_true(missing_says(&t, "a single repetition cannot show"));
    assert_false(missing_says(&t, "no change of frequency"));
    expect_finding(&t, "a single repetition cannot show", "no change");
    table_free(&t);
}

static void small_steps_are_not_taken_for_none(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    for (size_t i = 0; i < m.n_turbo; i++)
        for (size_t level = 0; level < 3; level++)
            m.turbo[i].ghz[level] = level == 0 ? 3.000 : 2.980;
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 60), &t);
    assert_true(missing_says(&t, "differ by less than 1 %"));
    assert_false(missing_says(&t, "no change of frequency"));
    expect_finding(&t, "large enough to be sure of", "no change of frequency was seen");
    table_free(&t);
    /* and where there is none, that is said */
    for (size_t i = 0; i < m.n_turbo; i++)
        m.turbo[i].ghz[1] = m.turbo[i].ghz[2] = 3.000;
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 60), &t);
    assert_true(missing_says(&t, "no change of frequency"));
    expect_finding(&t, "no change of frequency was seen", "tell whether");
    table_free(&t);
}

static void changes_without_a_cost_up_are_changes(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.halt_us = m.halt_sigma_us = 0;
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 60), &t);
    assert_true(table_number(&t, 0, "high_ghz") - table_number(&t, 0, "low_ghz") > 0.8);
    if (!(table_number(&t, 0, "up_us_lo") > 0))
        expect_finding(&t, "coming back up is lost in the noise", "no change");
    table_free(&t);
    rig_load("xeon-gold-6130", &m);
    m.wait_us = 50000;
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 16), &t);
    expect_finding(&t, "coming back up was not measured", "no change");
    table_free(&t);
}

/* Halts whose lengths scatter by 60 us: 100 us from the median are too far, however much they scatter. */
static void costs_that_are_far_from_the_others_are_dropped(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.halt_us = 300;
    m.halt_sigma_us = 60;
    rig_measure(&table_overhead, &m, options("128fma", "512fma", 100), &t);
    /* of 100 repetitions 9.6 in the mean, as chance is of 1.67 standard deviations */
    assert_in_range(table_number(&t, 0, "up_n"), 84, 96);
    table_free(&t);
}

/* With few repetitions the cost down may be lost where the sum of both is not. */
static void findings_do_not_contradict_each_other(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct tables_options *o = options("128fma", "512fma", 2);
        o->seed = seed;
        rig_measure(&table_overhead, &m, o, &t);
        char *text = rig_findings(&table_overhead, &t);
        if (strstr(text, "pays off") && strstr(text, "No switch"))
            fail_msg("%s", text);
        free(text);
        table_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_that_move_have_no_costs),
        cmocka_unit_test(a_frequency_that_moves_once_is_noticed),
        cmocka_unit_test(a_frequency_that_moves_before_the_switch_is_noticed),
        cmocka_unit_test(small_movements_are_within_the_limits),
        cmocka_unit_test(costs_that_grow_by_much_are_not_told),
        cmocka_unit_test(a_gain_is_not_told_as_a_cost),
        cmocka_unit_test(late_changes_do_not_bend_the_mean),
        cmocka_unit_test(one_repetition_cannot_tell),
        cmocka_unit_test(small_steps_are_not_taken_for_none),
        cmocka_unit_test(changes_without_a_cost_up_are_changes),
        cmocka_unit_test(costs_that_are_far_from_the_others_are_dropped),
        cmocka_unit_test(findings_do_not_contradict_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
