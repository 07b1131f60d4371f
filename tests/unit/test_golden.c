/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No result of a shipped model changes unnoticed: the plan of each table, its rows, the printed table and its plot are
 * those of tests/golden/; likewise what is told of a profile that was made by hand. After an intended change, `make
 * golden` rewrites these, and the diff shows what changed.
 */
#include "output/plot/chart_script.h"
#include "output/plot/charts.h"
#include "profiler/output/profile_output.h"
#include "tables/registry.h"
#include "tests/support/clock_models.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/sample_profile.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"
#include "util/text_list.h"

enum { DETAILS_MOST = 2 }; /* of a table: phases, distributions; all of them are megabytes */

/* All cells, not only those of --brief, and how long they are expected to take. */
static void write_plan(FILE *out, const struct table_kind *k, struct machine *m)
{
    struct tables_options all;
    struct cells cells = {0};
    struct machine_error err;
    double seconds = 0;
    tables_options_default(&all);
    if (tables_plan(k, m, &all, &cells, &err) != MACHINE_OK)
        fail_msg("%s: %s", k->name, err.text);
    for (size_t i = 0; i < cells.n; i++)
        seconds += cells.cell[i].seconds;
    fprintf(out, "# plan: %zu cells, %.6f s\n", cells.n, seconds);
    cells_free(&cells);
}

static char *rows_and_plot(const struct table_kind *k, struct machine *m, const struct table *t)
{
    char *text = NULL, why[300];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct chart chart;
    assert_non_null(out);
    write_plan(out, k, m);
    assert_int_equal(table_write_csv(out, t), 0);
    for (size_t i = 0; i < t->n_details && i < DETAILS_MOST; i++)
        fprintf(out, "# %s: %s\n", t->details[i].key, t->details[i].value);
    if (table_chart(t, NULL, &chart, why, sizeof why) == 0)
        assert_int_equal(chart_script(&chart, PLOT_SVG, out, NULL), 0);
    else
        fprintf(out, "no plot: %s\n", why);
    chart_free(&chart);
    assert_int_equal(fclose(out), 0);
    return text;
}

static bool table_is_golden(const char *model, struct machine *m, const struct table_kind *k)
{
    struct tables_options o;
    struct table t;
    char what[40];
    tables_options_default(&o);
    o.brief = true;
    o.seed = 7;
    rig_measure_on(k, m, &o, &t);
    table_set_meta(&t, "date", "today");
    table_set_meta(&t, "version", "this");
    char *rows = rows_and_plot(k, m, &t), *printed = rig_printed(k, &t);
    snprintf(what, sizeof what, "%s.csv", k->name);
    bool same = golden_is(model, what, rows, false);
    snprintf(what, sizeof what, "%s.txt", k->name);
    same &= golden_is(model, what, printed, true);
    free(rows);
    free(printed);
    table_free(&t);
    return same;
}

/* only: the tables that such a model makes another matter, NULL: all. The tests of each table run with the sanitizers;
 * that would take minutes here. */
static void tables_are_golden(const char *name, const struct model *model, const char *only)
{
    skip_where_sanitized("numbers are compared in the ordinary build");
    struct machine machine;
    struct machine_error err;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    bool same = true;
    if (machine_open_parsed_model(model, "model:test", &machine, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++)
        if (!only || text_list_has(only, kinds[i]->name))
            same &= table_is_golden(name, &machine, kinds[i]);
    machine.ops->close(&machine);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

/* Three levels, each change with throttling and a halt. */
TEST(a_shipped_model)
{
    struct model model;
    rig_load("xeon-gold-6130", &model);
    tables_are_golden("xeon-gold-6130", &model, NULL);
}

/* All that comes between: interrupts, also ones that restart waits, firmware, a sibling, a power limit. */
static void disturb(struct model *m)
{
    m->n_interrupts = 2;
    m->interrupts[0] = (struct model_interrupt){.rate_hz = 300, .min_us = 2, .max_us = 6};
    m->interrupts[1] = (struct model_interrupt){
        .rate_hz = 60, .min_us = 10, .max_us = 60, .rearm = 0.5, .taken_off = 0.3};
    m->world.sibling = (struct model_sibling){
        .share = 0.08, .period_us = 2000, .factor = 0.7, .chain_factor = 0.85, .lockstep = false};
    m->world.limit_share = 0.1;
    m->world.limit_factor = 0.94;
    m->world.smi_rate_hz = 10;
    m->world.smi_min_us = 5;
    m->world.smi_max_us = 20;
}

TEST(a_disturbed_machine)
{
    struct model model;
    rig_load("xeon-gold-6130", &model);
    disturb(&model);
    tables_are_golden("disturbed", &model, "frequency,transitions,throttle,trigger,relaxation,overhead");
}

/* Each change of the frequency by a ramp of 25 us, without halts; the first part of the way with throttling. */
TEST(ramps)
{
    struct model m;
    rig_load("xeon-gold-6130", &m);
    clock_ramps(&m, 25);
    tables_are_golden("ramps", &m, "transitions,relaxation,overhead");
}

/* The frequency from chains of adds, by a TSC that advances in steps of 10 ns. */
TEST(a_coarse_clock)
{
    struct model model;
    rig_load("xeon-gold-6130", &model);
    clock_model(&model, CLOCK_HALT, 10);
    tables_are_golden("coarse-clock", &model, "frequency,transitions,throttle,trigger,relaxation,overhead");
}

/* What is printed of tables with options, of models that have other levels, or count none. */
TEST(other_models_and_options)
{
    static const struct {
        const char *model, *as, *only;
        const char *kernels[2];
        unsigned cores;
    } cases[] = {
        {"generic-no-licence", "no-licences", "frequency,trigger,relaxation,overhead,umask", {NULL}, 0},
        {"core-i5-1035g4", "two-kernels", "trigger,relaxation,overhead,umask", {"256fma", "512fma"}, 2},
    };
    skip_where_sanitized("numbers are compared in the ordinary build");
    bool same = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model model;
        struct tables_options o;
        size_t n;
        const struct table_kind *const *kinds = tables_all(&n);
        tables_options_default(&o);
        o.brief = true;
        o.seed = 11;
        for (; o.n_kernels < 2 && cases[i].kernels[o.n_kernels]; o.n_kernels++)
            o.kernels[o.n_kernels] = kernel_named(cases[i].kernels[o.n_kernels]);
        o.n_active = cases[i].cores > 0;
        o.active[0] = cases[i].cores;
        rig_load(cases[i].model, &model);
        for (size_t k = 0; k < n; k++) {
            struct table t;
            char what[40];
            if (!text_list_has(cases[i].only, kinds[k]->name))
                continue;
            rig_measure(kinds[k], &model, &o, &t);
            char *printed = rig_printed(kinds[k], &t);
            snprintf(what, sizeof what, "%s.txt", kinds[k]->name);
            same &= golden_is(cases[i].as, what, printed, true);
            free(printed);
            table_free(&t);
        }
    }
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

static int write_profile_text(FILE *out, const struct profile_result *r)
{
    profile_print(out, false, r, 20);
    return 0;
}

static int write_profile_json(FILE *out, const struct profile_result *r)
{
    char *text = profile_json(r);
    fputs(text ? text : "", out);
    free(text);
    return text ? 0 : -1;
}

static bool profile_is_golden(const char *name, const char *what, const struct profile_result *r,
                              int (*write)(FILE *out, const struct profile_result *r))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(write(out, r), 0);
    assert_int_equal(fclose(out), 0);
    bool same = golden_is(name, what, text, false);
    free(text);
    return same;
}

TEST(a_profile)
{
    struct profile_result r;
    sample_profile(&r);
    bool same = profile_is_golden("profile", "txt", &r, write_profile_text);
    same &= profile_is_golden("profile", "json", &r, write_profile_json);
    same &= profile_is_golden("profile", "csv", &r, profile_csv);
    sample_profile_without_sources(&r);
    sample_profile_without_table(&r);
    same &= profile_is_golden("profile-without", "txt", &r, write_profile_text);
    sample_profile_free(&r);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
