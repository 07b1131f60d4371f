/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table switching: the figures of models come back; what a model or a machine does not know is missing. */
#include "drivers/model/model_machine.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static const char *const names[SWITCHING_KINDS] = {"switch", "migration", "fault"};

static void measure_switching(const struct model *m, const struct tables_options *own, struct table *t)
{
    struct tables_options o;
    tables_options_default(&o);
    rig_measure(&table_switching, m, own ? own : &o, t);
}

TEST(random_figures_come_back)
{
    enum { MODELS = 200 };
    const unsigned models = rng_fewer_sanitized(MODELS);
    struct model m;
    unsigned held = 0;
    rig_load("cloud-guest", &m);
    for (unsigned n = 0; n < models; n++) {
        struct table t;
        struct tables_options o;
        struct rng r;
        rng_init(&r, 51, n);
        tables_options_default(&o);
        o.seed = n;
        o.brief = rng_chance(&r, 0.5);
        for (size_t i = 0; i < SWITCHING_KINDS; i++)
            m.switching_us[i] = rng_log(&r, 0.5, 200);
        measure_switching(&m, &o, &t);
        assert_int_equal(t.n_rows, SWITCHING_KINDS);
        assert_int_equal(t.n_missing, 0);
        for (size_t i = 0; i < SWITCHING_KINDS; i++) {
            assert_string_equal(table_text(&t, i, "what"), names[i]);
            assert_close(table_number(&t, i, "us") / m.switching_us[i], 1, 0.03);
            assert_close(table_number(&t, i, "null_us"), 0, 0.02);
            assert_true(table_number(&t, i, "n") >= 15);
            assert_int_equal((int)table_number(&t, i, "discarded"), 0);
            held += table_number(&t, i, "us_lo") <= m.switching_us[i] &&
                    table_number(&t, i, "us_hi") >= m.switching_us[i];
        }
        table_free(&t);
    }
    /* four standard deviations of a binomial distribution, 0.95 of so many */
    assert_true(held >= 0.95 * SWITCHING_KINDS * models - 4 * sqrt(0.0475 * SWITCHING_KINDS * models));
}

TEST(as_many_rounds_as_requested)
{
    struct model m;
    struct table t;
    struct tables_options o;
    tables_options_default(&o);
    o.runs = 33;
    rig_load("cloud-guest", &m);
    measure_switching(&m, &o, &t);
    for (size_t i = 0; i < SWITCHING_KINDS; i++)
        assert_int_equal((int)table_number(&t, i, "n"), 33);
    has(table_detail(&t, "migration"), "\"to_cpu\": 1");
    table_free(&t);
    o.runs = 1; /* has no limits */
    measure_switching(&m, &o, &t);
    assert_int_equal(t.n_rows, SWITCHING_KINDS);
    assert_true(isnan(table_number(&t, 0, "us_lo")));
    table_free(&t);
}

static void expect_missing(const struct table *t, size_t entry, const char *what, const char *why)
{
    assert_true(entry < t->n_missing);
    assert_string_equal(table_missing_text(t, entry, "what"), what);
    has(t->missing[entry].why, why);
}

TEST(what_a_model_does_not_say)
{
    static const char *const why[SWITCHING_KINDS] = {"the model does not say what a switch costs; add a section",
                                                     "the model does not say what a migration costs; add a section",
                                                     "the model does not say what a fault costs; add a section"};
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure_switching(&m, NULL, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(t.n_missing, SWITCHING_KINDS);
    for (size_t i = 0; i < SWITCHING_KINDS; i++)
        expect_missing(&t, i, names[i], why[i]);
    char *found = rig_findings(&table_switching, &t);
    assert_string_equal(found, "");
    free(found);
    table_free(&t);
}

TEST(a_model_of_one_core)
{
    struct model m;
    struct table t;
    rig_load("cloud-guest", &m);
    m.cores = m.turbo[0].cores.hi = 1;
    measure_switching(&m, NULL, &t);
    assert_int_equal(t.n_rows, 2);
    assert_int_equal(t.n_missing, 1);
    expect_missing(&t, 0, "migration", "a migration needs two CPUs");
    char *found = rig_findings(&table_switching, &t);
    has_not(found, "migrations");
    has(found, "A switch between two threads costs");
    free(found);
    table_free(&t);
}

/* A machine in which nothing ever happens, and one that cannot. */
static int nothing_happens(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                           struct machine_error *err)
{
    const int status = model_switching(m, r, out, err);
    out->happened = false;
    return status;
}

TEST(machines_that_do_not_switch)
{
    struct model model;
    struct machine m;
    struct machine_error err;
    struct table t;
    struct tables_options o;
    tables_options_default(&o);
    o.runs = 20;
    rig_load("cloud-guest", &model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &m, &err), MACHINE_OK);
    struct machine_ops ops = *m.ops;
    ops.switching = nothing_happens;
    m.ops = &ops;
    rig_measure_on(&table_switching, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    for (size_t i = 0; i < SWITCHING_KINDS; i++)
        expect_missing(&t, i, names[i], "in none of 20 rounds");
    table_free(&t);
    ops.switching = NULL;
    rig_measure_on(&table_switching, &m, &o, &t);
    for (size_t i = 0; i < SWITCHING_KINDS; i++)
        expect_missing(&t, i, names[i], "this machine cannot measure what switches cost; use --machine timing");
    table_free(&t);
    m.ops->close(&m);
}
