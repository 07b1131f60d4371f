/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a model by its measured tables to what schedulers read, and to the comparison with what was published. */
#include "output/validate/validate.h"
#include "tables/registry.h"
#include "tables/published/sku.h"
#include "tests/support/export_rules.h"
#include "tests/support/model_rig.h"
#include "tests/support/schedule_tables.h"
#include "tests/support/test.h"

/* One table of four kernels, with the last number of cores of each published turbo level active. */
static void measure(const struct table_kind *k, const struct model *model, struct table *out)
{
    static const char *const kernels[] = {"128fma", "256fma", "512or", "512fma"};
    struct tables_options *o = calloc(1, sizeof *o);
    struct machine machine;
    struct machine_error err;
    assert_non_null(o);
    tables_options_default(o);
    o->brief = true;
    o->seed = 3;
    for (size_t i = 0; i < 4; i++)
        o->kernels[o->n_kernels++] = rig_payload(kernels[i]);
    for (int g = 0; g < GOLD_GROUPS; g++)
        o->active[o->n_active++] = (unsigned)gold_last_core[g];
    assert_int_equal(machine_open_parsed_model(model, "model:test", &machine, &err), MACHINE_OK);
    if (tables_measure(k, &machine, o, NULL, NULL, out, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
    free(o);
}

TEST(test_export)
{
    struct model model;
    struct table f, o;
    struct schedule s;
    char why[300];
    rig_load("xeon-gold-6130", &model);
    measure(&table_frequency, &model, &f);
    measure(&table_overhead, &model, &o);
    const struct table *tables[] = {&f, &o};
    if (schedule_from_tables(tables, 2, &s, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(s.n_levels, GOLD_LEVELS);
    assert_int_equal(s.cores, GOLD_CORES);
    assert_int_equal(s.n_turbos, GOLD_GROUPS);
    for (int g = 0; g < GOLD_GROUPS; g++)
        for (int l = 0; l < GOLD_LEVELS; l++)
            assert_true(abs(s.turbos[g].mhz[l].value - gold_mhz[l][g]) <= 1);
    /* the costs between levels are the largest of those between kernels, and each is reported */
    assert_true(s.n_level_costs >= 3);
    for (size_t i = 0; i < s.n_level_costs; i++)
        assert_true(s.level_costs[i].down_ns.present && s.level_costs[i].down_ns.value > 20000 &&
                    abs(s.level_costs[i].up_ns.value - 10000) < 1000);
    free(export_rules_json(&s));
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
}

static size_t deviations(const struct model *model, size_t *agreeing)
{
    struct sku sku;
    struct machine_error err;
    struct table f, out;
    assert_int_equal(sku_load("xeon-gold-6130", "data", &sku, &err), MACHINE_OK);
    measure(&table_frequency, model, &f);
    const struct table *tables[] = {&f};
    assert_int_equal(validate_tables(&sku, tables, 1, &out), 0);
    size_t n = validate_count(&out, "deviates");
    *agreeing = validate_count(&out, "agrees");
    table_free(&out);
    table_free(&f);
    sku_free(&sku);
    return n;
}

/* The published frequencies agree, and a processor that is one step of the clock slower in one field does not. */
TEST(test_validate)
{
    struct model model;
    size_t agreeing;
    rig_load("xeon-gold-6130", &model);
    assert_int_equal(deviations(&model, &agreeing), 0);
    /* and the levels of four kinds of kernels, and the limits that the processor states for each number of cores */
    assert_int_equal(agreeing, GOLD_LEVELS * GOLD_GROUPS + 4 + GOLD_GROUPS);
    model.turbo[4].ghz[2] -= 0.1;
    assert_int_equal(deviations(&model, &agreeing), 1);
    assert_int_equal(agreeing, GOLD_LEVELS * GOLD_GROUPS + 3 + GOLD_GROUPS);
}
