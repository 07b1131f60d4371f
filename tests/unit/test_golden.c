/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No result of a shipped model changes unnoticed: the plan of each table, its rows and the printed table are those of
 * tests/golden/; likewise what is reported of a transition, and of a profile that was made by hand. After an intended
 * change, `make golden` rewrites these, and the diff shows what changed.
 */
#include "analysis/phases/phases.h"
#include "output/text/phases_text.h"
#include "probes/transition.h"
#include "profiler/output/profile_output.h"
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/made_tables.h"
#include "tests/support/model_rig.h"
#include "tests/support/sample_profile.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

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
    tables_free_cells(&cells);
}

static char *plan_and_rows(const struct table_kind *k, struct machine *m, const struct table *t)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write_plan(out, k, m);
    assert_int_equal(table_write_csv(out, t), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Measures one wide kernel beside scalar code: each form of a row, not each row. */
static bool table_is_golden(struct machine *m, const struct table_kind *k)
{
    struct tables_options o;
    struct table t;
    char what[40];
    tables_options_default(&o);
    o.brief = true;
    o.seed = 7;
    o.n_kernels = 2;
    o.kernels[0] = kernel_named("64add");
    o.kernels[1] = kernel_named("512fma");
    rig_measure_on(k, m, &o, &t);
    table_set_meta(&t, "date", "today");
    table_set_meta(&t, "version", "this");
    char *rows = plan_and_rows(k, m, &t), *printed = rig_printed(k, &t);
    snprintf(what, sizeof what, "%s.csv", k->name);
    bool same = golden_is("xeon-gold-6130", what, rows, false);
    snprintf(what, sizeof what, "%s.txt", k->name);
    same &= golden_is("xeon-gold-6130", what, printed, true);
    free(rows);
    free(printed);
    table_free(&t);
    return same;
}

/* Three levels, each change with throttling and a halt. The tests of each table run with the sanitizers. */
TEST(a_shipped_model)
{
    struct model model;
    struct machine machine;
    struct machine_error err;
    size_t n;
    bool same = true;
    const struct table_kind *const *kinds = tables_all(&n);
    skip_where_sanitized("numbers are compared in the ordinary build");
    rig_load("xeon-gold-6130", &model);
    if (machine_open_parsed_model(&model, "model:test", &machine, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++)
        if (made_of(kinds[i]))
            same &= table_is_golden(&machine, kinds[i]);
    machine.ops->close(&machine);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}

/* The output and the file of --transition. */
TEST(a_transition)
{
    struct model model;
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct repetitions r;
    struct phases p;
    char why[300], *text = NULL;
    size_t size;
    const struct payload from = kernel_named("64add"), to = kernel_named("512fma");
    skip_where_sanitized("numbers are compared in the ordinary build");
    rig_load("xeon-gold-6130", &model);
    transition_defaults(&s, &from, &to);
    if (machine_open_parsed_model(&model, "model:test", &machine, &err) != MACHINE_OK ||
        transition_run(&machine, &s, NULL, NULL, &r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
    assert_int_equal(phases_find(&r.trace, &p, why, sizeof why), 0);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    phases_text_print(out, false, &r.trace, &p, NULL);
    assert_int_equal(fclose(out), 0);
    char *json = phases_to_json(&p);
    bool same = golden_is("transition", "txt", text, true);
    same &= golden_is("transition", "json", json, false);
    free(text);
    free(json);
    phases_free(&p);
    repetitions_free(&r);
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
