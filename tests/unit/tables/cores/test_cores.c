/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of cores: a model gives back which of its cores are unlike the others and which code throttles; cores
 * that are alike are one group, also where the frequency moves by itself from one measurement to the next.
 */
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static struct tables_options cores_options(void)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = true;
    o.seed = 5;
    o.n_kernels = 2;
    o.kernels[0] = rig_payload("128or");
    o.kernels[1] = rig_payload("512fma");
    return o;
}

static void measure_model(const struct model *m, struct table *t)
{
    struct tables_options o = cores_options();
    rig_measure(&table_cores, m, &o, t);
}

TEST(test_unlike_cores_are_found)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.n_unlike = 2;
    m.unlike[0] = (struct model_unlike){.cpus = {8, 15}, .factor = 0.97, .label = "die 1"};
    m.unlike[1] = (struct model_unlike){.cpus = {3, 3}, .factor = 0.985};
    measure_model(&m, &t);
    assert_int_equal(t.n_rows, 32);
    for (size_t row = 0; row < t.n_rows; row++) {
        unsigned cpu = (unsigned)table_number(&t, row, "cpu"), group = cpu >= 8 ? 3 : cpu == 3 ? 2 : 1;
        bool wide = table_says(&t, row, "kernel", "512fma");
        const struct model_unlike *unlike = model_unlike_of(&m, (int)cpu);
        double factor = unlike ? unlike->factor : 1, one = factor * model_mean_ghz(&m, wide ? 2 : 0, 1);
        assert_int_equal((unsigned)table_number(&t, row, "group"), group);
        assert_true(fabs(table_number(&t, row, "freq_ghz") - one) < 1e-3 * one);
        assert_true(table_number(&t, row, "freq_ghz_lo") <= table_number(&t, row, "freq_ghz"));
        assert_true(fabs(table_number(&t, row, "freq_all_ghz") - factor * model_mean_ghz(&m, wide ? 2 : 0, 16)) < 2e-3);
        assert_true(table_says(&t, row, "throttle", wide ? "yes" : "no"));
        assert_true((table_text(&t, row, "core") != NULL) == (cpu >= 8));
    }
    char *findings = rig_findings(&table_cores, &t);
    assert_non_null(strstr(findings, "CPU 0-2, 4-7 3.70 GHz; CPU 3 3.64 GHz; CPU 8-15 3.59 GHz."));
    assert_non_null(
        strstr(findings, "Throttled at first, of the cores for which this is known: 512fma on 16 of 16 cores."));
    free(findings);
    table_free(&t);
}

/* Cores that are alike, measured at two times between which the frequency has moved. */
TEST(test_a_frequency_that_moves_makes_no_groups)
{
    enum { TABLES = 200, CORES = 12 };
    struct rng r;
    unsigned split = 0;
    rng_init(&r, 11, 0);
    for (unsigned n = 0; n < TABLES; n++) {
        struct table t;
        table_init(&t, "cores", table_cores.columns, table_cores.n_columns);
        for (int cpu = 0; cpu < CORES; cpu++) {
            char key[60], json[120];
            double once = 3 + 0.04 * rng_normal(&r), again = 3 + 0.04 * rng_normal(&r);
            table_add_row(&t);
            table_put_number(&t, "cpu", cpu);
            table_put_text(&t, "kernel", "64add");
            table_put_limits(&t, "freq_ghz", once, once - 0.001, once + 0.001);
            snprintf(key, sizeof key, "again 1 CPU %d 64add", cpu);
            snprintf(json, sizeof json, "{\"freq_ghz\": [%.9g, %.9g, %.9g]}", again, again - 0.001, again + 0.001);
            table_set_detail(&t, key, json);
        }
        assert_int_equal(table_cores.conclude(&t), 0);
        double groups[CORES];
        split += table_numbers(&t, "group", groups, CORES) > 1;
        table_free(&t);
    }
    assert_true(split <= TABLES / 20);
}

/* Without limits nothing is said of a core. */
TEST(test_what_has_no_limits_is_in_no_group)
{
    struct table t;
    table_init(&t, "cores", table_cores.columns, table_cores.n_columns);
    table_add_row(&t);
    table_put_number(&t, "cpu", 0);
    table_put_text(&t, "kernel", "64add");
    table_put_number(&t, "freq_ghz", 3);
    assert_int_equal(table_cores.conclude(&t), 0);
    assert_true(isnan(table_number(&t, 0, "group")));
    char *findings = rig_findings(&table_cores, &t);
    assert_string_equal(findings, "");
    free(findings);
    table_free(&t);
}
