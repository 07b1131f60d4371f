/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of bursts: a model gives back what follows from its parameters; without levels nothing is lost; the
 * break-even is where rows say it is, and nowhere where they do not say.
 */
#include "tables/burst/burst.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* data/models/xeon-gold-6130.model, one core: narrow to heavy512 */
#define THROTTLE_US 14.2
#define HALT_US 10.0
#define WAIT_US 670.0

static void measure_row(const struct model *m, const char *kernel, double count, double every_us, struct table *t)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = true;
    o.seed = 3;
    o.n_kernels = 1;
    o.kernels[0] = rig_payload(kernel);
    o.burst_count = count;
    o.burst_every_us = every_us;
    rig_measure(&table_burst, m, &o, t);
    assert_int_equal(t->n_rows, 1);
}

static void assert_near(const struct table *t, const char *column, double expected, double slack)
{
    struct estimate e = estimates_of_table(t, 0, column);
    if (!(fabs(e.value - expected) <= slack) || !(e.lo <= e.value && e.value <= e.hi))
        fail_msg("%s is %g [%g, %g], not %g", column, e.value, e.lo, e.hi, expected);
}

/* A level is reached in two steps, held for the wait, and released: each with a halt. */
TEST(test_the_loss_follows_from_the_model)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    rig_silence(&m);
    const double fast = model_mean_ghz(&m, 0, 1), middle = model_mean_ghz(&m, 1, 1), slow = model_mean_ghz(&m, 2, 1);
    const double slow_us = WAIT_US - 2 * (THROTTLE_US + HALT_US);
    const double lost_us = 3 * HALT_US + THROTTLE_US * (1 - middle / fast) + slow_us * (1 - slow / fast);
    measure_row(&m, "512fma", 1, 1000, &t);
    assert_near(&t, "loss", lost_us / 1000, 1e-4);
    table_free(&t);
    measure_row(&m, "512fma", 1000, 1000, &t);
    assert_near(&t, "loss", lost_us / 1000, 1e-4);
    assert_near(&t, "cold_us", 1000 / (2 * fast * 1e3) * 4, 0.001); /* throttled to a quarter */
    assert_near(&t, "warm_us", 1000 / (2 * slow * 1e3), 0.001);
    assert_near(&t, "saves_us", (2000 - 1000) / (2 * fast * 1e3) * 4 - lost_us, 0.2);
    table_free(&t);
    measure_row(&m, "512fma", 1000, 100, &t); /* more often than the wait: held for good */
    assert_near(&t, "loss", 1 - slow / fast, 1e-4);
    assert_near(&t, "cold_us", 1000 / (2 * slow * 1e3), 0.001);
    table_free(&t);
    measure_row(&m, "256fma", 1000, 1000, &t); /* too few of them for a level */
    assert_near(&t, "loss", 0, 1e-4);
    table_free(&t);
}

/* Also with all that a model is disturbed by, the truth lies near the limits. */
TEST(test_disturbed_repetitions_are_left_out)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure_row(&m, "512fma", 1000, 100, &t);
    assert_near(&t, "loss", 1 - 3.5 / 3.7, 2e-3);
    assert_true(table_number(&t, 0, "n") >= 6);
    table_free(&t);
}

TEST(test_nothing_is_lost_without_levels)
{
    struct model m;
    struct table t;
    rig_load("generic-no-licence", &m);
    measure_row(&m, "256fma", 1e4, 100, &t);
    struct estimate loss = estimates_of_table(&t, 0, "loss"), saves = estimates_of_table(&t, 0, "saves_us");
    assert_true(fabs(loss.value) < 2 * estimate_half(&loss) && estimate_half(&loss) < 2e-3);
    assert_true(saves.lo > 0);
    char *findings = rig_findings(&table_burst, &t);
    assert_non_null(strstr(findings, "A burst of 1e4 256fma every 100 us costs other code "));
    assert_non_null(strstr(findings, " us less than as 128fma."));
    free(findings);
    table_free(&t);
}

static void add_saving(struct table *t, double count, double saves, double half)
{
    table_add_row(t);
    table_put_text(t, "kernel", "512fma");
    table_put_number(t, "count", count);
    table_put_number(t, "every_us", 1000);
    table_put_limits(t, "saves_us", saves, saves - half, saves + half);
}

static void assert_breakeven(double value, double lo, double hi, const double saves[4], double half)
{
    struct table t;
    table_init(&t, "burst", table_burst.columns, table_burst.n_columns);
    for (int i = 0; i < 4; i++)
        add_saving(&t, pow(10, i), saves[i], half);
    assert_int_equal(table_burst.conclude(&t), 0);
    for (size_t row = 0; row < 4; row++) {
        struct estimate e = estimates_of_table(&t, row, "breakeven");
        if (isnan(value))
            assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.hi));
        else if (!(fabs(e.value - value) < 2e-3 * value && e.lo == lo && e.hi == hi))
            fail_msg("%g [%g, %g], not %g [%g, %g]", e.value, e.lo, e.hi, value, lo, hi);
        assert_true(isnan(table_number(&t, row, "breakeven128")));
    }
    table_free(&t);
}

TEST(test_where_it_breaks_even)
{
    assert_breakeven(100, 10, 1000, (const double[]){-3, -2, 0.001, 3}, 0.5);
    assert_breakeven(10 * sqrt(10), 10, 100, (const double[]){-3, -2, 2, 3}, 0.5);
    assert_breakeven(1, 1, 1, (const double[]){1.5, 2, 2, 3}, 0.5);
    assert_breakeven(1000, 1, 1000, (const double[]){0.1, -0.2, 0.2, 3}, 0.5); /* at most */
    assert_breakeven(NAN, NAN, NAN, (const double[]){-3, -2, 2, 0.3}, 0.5);
    assert_breakeven(NAN, NAN, NAN, (const double[]){-3, -2, -2, -3}, 0.5);
}

/* A burst that does not fit into the time is no cell, and is refused where it is requested. */
TEST(test_cells_that_fit)
{
    struct tables_options o;
    struct machine m;
    struct machine_error err;
    struct cells cells = {0};
    tables_options_default(&o);
    assert_int_equal(machine_open_model("xeon-gold-6130", "data", &m, &err), MACHINE_OK);
    assert_int_equal(tables_plan(&table_burst, &m, &o, &cells, &err), MACHINE_OK);
    double seconds = 0;
    for (size_t i = 0; i < cells.n; i++) {
        seconds += cells.cell[i].seconds;
        assert_null(strstr(cells.cell[i].id, "_1e5_every_10us"));
    }
    assert_true(seconds < 300);
    assert_int_equal(cells.n, 2 * 29);
    tables_free_cells(&cells);
    o.burst_count = 1e5;
    o.burst_every_us = 10;
    assert_int_equal(tables_plan(&table_burst, &m, &o, &cells, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "half of 10 us"));
    tables_free_cells(&cells);
    m.ops->close(&m);
}
