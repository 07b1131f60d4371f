/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table variability on a modelled core whose durations are known, in environments to be had or not; what is
 * concluded, said and drawn of it.
 */
#include "drivers/model/model_machine.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

enum { N_WORKLOADS = 8, SIZES = 16 /* up to four times the model's L3 */ };
static const char *const workloads[N_WORKLOADS] = {"register", "branch-cold", "branch-warm", "branch-ibpb",
                                                   "L1@mem",   "L2@mem",      "L3@mem",      "memory@mem"};

static size_t row_of(const struct table *t, const char *workload, enum refinement r)
{
    size_t row = 0;
    while (row < t->n_rows &&
           !(table_says(t, row, "workload", workload) && table_says(t, row, "refinement", tables_refinement_names[r])))
        row++;
    return row;
}

static double at(const struct table *t, const char *workload, enum refinement r, const char *column)
{
    size_t row = row_of(t, workload, r);
    if (row == t->n_rows)
        fail_msg("no row %s, %s", workload, tables_refinement_names[r]);
    return table_number(t, row, column);
}

static void is_close(double x, double expected, double by)
{
    if (!(fabs(x - expected) <= by))
        fail_msg("%.9g instead of %.9g", x, expected);
}

static size_t missing_of(const struct table *t, enum refinement r, const char *why)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_missing; i++) {
        const char *of = table_missing_text(t, i, "refinement");
        n += of && strcmp(of, tables_refinement_names[r]) == 0 && strstr(t->missing[i].why, why) != NULL;
    }
    return n;
}

/* The table reports what the model does. */
TEST(the_truth_comes_back)
{
    static struct tables_options o;
    static struct model m;
    struct machine machine;
    struct machine_error err;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    rig_measure(&table_variability, &m, &o, &t);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    const double cycles = model_trial_cycles(&machine, 300);
    machine.ops->close(&machine);
    const double interrupt = MODEL_INTERRUPT_CYCLES / cycles;
    assert_int_equal(t.n_rows, 3 * N_WORKLOADS + SIZES + 1);
    assert_int_equal(t.n_missing, 0);
    for (size_t w = 0; w < N_WORKLOADS; w++) {
        const char *name = workloads[w];
        for (unsigned r = REFINED_QUIET; r <= REFINED_WARM; r++)
            if (r == REFINED_QUIET || r >= REFINED_MASKED)
                assert_string_equal(table_text(&t, row_of(&t, name, (enum refinement)r), "unit"), "cycles");
        /* 300 ms and what interrupts add, one every 4 ms */
        is_close(at(&t, name, REFINED_QUIET, "interrupts"), 300.0 / 4, 2);
        assert_true(at(&t, name, REFINED_MASKED, "interrupts") == 0);
        assert_true(isnan(at(&t, name, REFINED_WARM, "interrupts")));
        is_close(at(&t, name, REFINED_QUIET, "resolution"), 1 / cycles, 1e-8);
    }
    for (size_t w = 0; w < 5; w += 4) { /* register, L1@mem: nothing but interrupts */
        const char *name = workloads[w];
        assert_true(at(&t, name, REFINED_QUIET, "mode") == cycles);
        is_close(at(&t, name, REFINED_QUIET, "spread"), interrupt, 1e-9);
        assert_true(at(&t, name, REFINED_QUIET, "p50") == 0 && at(&t, name, REFINED_QUIET, "p90") == 0);
        is_close(at(&t, name, REFINED_QUIET, "p99"), interrupt, 1e-9); /* one trial in 13 has one */
        assert_true(at(&t, name, REFINED_MASKED, "spread") == 0);
    }
    /* the predictor learns in five trials, which are what is left out to be warm */
    assert_true(at(&t, "branch-warm", REFINED_MASKED, "to_mode") == MODEL_TRIALS_TO_LEARN);
    is_close(at(&t, "branch-warm", REFINED_MASKED, "spread"), MODEL_TRIALS_TO_LEARN / 1000.0, 1e-5);
    assert_true(at(&t, "branch-warm", REFINED_WARM, "spread") == 0);
    assert_true(at(&t, "branch-warm", REFINED_WARM, "trials") == 1000 - MODEL_TRIALS_TO_LEARN);
    assert_true(at(&t, "branch-ibpb", REFINED_MASKED, "spread") == 0);
    is_close(at(&t, "branch-ibpb", REFINED_MASKED, "mode"), cycles * (1 + MODEL_CLEARED), 1);
    is_close(at(&t, "branch-cold", REFINED_MASKED, "mode"), cycles * (1 + MODEL_SPOILT),
             2 * cycles * MODEL_SPOILT_SIGMA);
    /* 99 of 100 of normal numbers are within 2.58 standard deviations */
    is_close(at(&t, "L2@mem", REFINED_MASKED, "p99"), 2.58 * MODEL_L2_SIGMA, 0.8 * MODEL_L2_SIGMA);
    is_close(at(&t, "L3@mem", REFINED_MASKED, "p99"), 2.58 * MODEL_L3_SIGMA, 0.8 * MODEL_L3_SIGMA);
    is_close(at(&t, "memory@mem", REFINED_MASKED, "p99"), 2.58 * MODEL_MEMORY_SIGMA, 0.8 * MODEL_MEMORY_SIGMA);
    /* concluding twice adds nothing */
    assert_int_equal(table_variability.conclude(&t), 0);
    assert_int_equal(t.n_rows, 3 * N_WORKLOADS + SIZES + 1);
    table_free(&t);
}

/* V's figure 3-13: mispredictions become fewer until the predictor has learnt. */
TEST(mispredictions_are_counted)
{
    static struct tables_options o;
    static struct model m;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    rig_measure(&table_variability, &m, &o, &t);
    const double cycles = at(&t, "register", REFINED_MASKED, "mode");
    const double branches = floor(cycles / MODEL_BRANCH_CYCLES), warm = branches / MODEL_MISPREDICTED_ONE_IN;
    const double untaught = cycles * MODEL_TRIALS_TO_LEARN / 1000.0 / MODEL_MISPREDICTED_CYCLES;
    for (unsigned r = REFINED_QUIET; r <= REFINED_MASKED; r += REFINED_MASKED - REFINED_QUIET) {
        assert_true(at(&t, "branch-warm", (enum refinement)r, "branches") == branches);
        is_close(at(&t, "branch-warm", (enum refinement)r, "mispredicted_last"), warm, 1);
        is_close(at(&t, "branch-warm", (enum refinement)r, "mispredicted_first"), warm + untaught, 1);
        is_close(at(&t, "branch-ibpb", (enum refinement)r, "mispredicted_last"),
                 warm + cycles * MODEL_CLEARED / MODEL_MISPREDICTED_CYCLES, 1);
    }
    assert_true(isnan(at(&t, "register", REFINED_QUIET, "mispredicted_last")));
    assert_true(isnan(at(&t, "branch-warm", REFINED_WARM, "mispredicted_last")));
    table_free(&t);
}

/* V's figure 4-3: the plateaus, and which size is the last of each. */
TEST(sizes_are_swept)
{
    static struct tables_options o;
    static struct model m;
    struct table t;
    size_t bytes = 4096, seen = 0;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    rig_measure(&table_variability, &m, &o, &t);
    for (size_t row = 0; row < t.n_rows; row++) {
        const char *name = table_text(&t, row, "workload");
        if (strncmp(name, "sweep@", 6) != 0)
            continue;
        char expected[40];
        snprintf(expected, sizeof expected, "sweep@%zu%s", bytes >> (bytes < 1 << 20 ? 10 : 20),
                 bytes < 1 << 20 ? "KiB" : "MiB");
        assert_string_equal(name, expected);
        assert_true(table_number(&t, row, "bytes") == (double)bytes);
        const double cycles = bytes <= model_caches.l1   ? MODEL_L1_CYCLES
                              : bytes <= model_caches.l2 ? MODEL_L2_CYCLES
                              : bytes <= model_caches.l3 ? MODEL_L3_CYCLES
                                                         : MODEL_MEMORY_CYCLES;
        is_close(table_number(&t, row, "per_access"), cycles, 3 * MODEL_MEMORY_SIGMA * cycles);
        bytes *= 2;
        seen++;
    }
    assert_int_equal(seen, SIZES);
    char *text = rig_printed(&table_variability, &t);
    assert_non_null(strstr(text, "\nsweep@2MiB "));
    assert_null(strstr(text, "  sweep@2MiB")); /* not beside the workloads that are repeated */
    free(text);
    table_free(&t);
}

/* V's figure 5-1. */
TEST(the_ramp_after_idling)
{
    static struct tables_options o;
    static struct model m;
    struct table t;
    struct chart c = {0};
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    rig_measure(&table_variability, &m, &o, &t);
    const double full_ms = 1e-3 * MODEL_RAMP_EVERY_US * (MODEL_RAMP_STEPS - 1);
    is_close(at(&t, "ramp", REFINED_QUIET, "start_rate"), model_ramp_shares[0], 0.001);
    is_close(at(&t, "ramp", REFINED_QUIET, "ramp_ms"), full_ms, 0.3 / model_ramp_shares[2] + 0.01); /* a trial */
    assert_true(at(&t, "ramp", REFINED_QUIET, "ramp_steps") == MODEL_RAMP_STEPS - 1);
    assert_string_equal(table_text(&t, row_of(&t, "ramp", REFINED_QUIET), "unit"), "ns");
    assert_int_equal(row_of(&t, "ramp", REFINED_MASKED), t.n_rows);
    char *text = rig_findings(&table_variability, &t);
    assert_non_null(
        strstr(text, "After 500 ms idle (quiet) the core begins at 40 % of its final rate and reaches 95 %"));
    assert_null(strstr(text, "time stamps"));
    free(text);
    tables_draw(&table_variability, &t, &c);
    const struct chart_panel *p = &c.panels[c.n_panels - 1], *sweep = p - 1;
    assert_string_equal(p->title, "register after idling");
    assert_true(p->own_axis && p->n_series == 1 && p->series[0].n == 2 * MODEL_RAMP_STEPS);
    is_close(p->series[0].points[0].y, 40, 0.1);
    is_close(p->series[0].points[7].y, 100, 0.1);
    assert_true(sweep->own_axis && sweep->series[0].n == SIZES);
    chart_free(&c);
    table_free(&t);
}

/* ---- the sibling ---- */

static bool sibling_busy;

static int prepare_seen(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    sibling_busy = s->siblings;
    return ((const struct machine_ops *)m->around)->prepare(m, s, err);
}

static int slower_beside(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                         struct machine_error *err)
{
    int status = model_trials(m, r, duration, seen, err);
    for (unsigned i = 0; i < r->trials && sibling_busy; i++)
        duration[i] *= 1.6;
    return status;
}

/* V's figure 5-2: one row has the sibling busy, all others have it idle. */
TEST(beside_a_busy_sibling)
{
    static struct tables_options o;
    static struct model m;
    struct machine machine;
    struct machine_error err;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    const struct machine_ops *own = machine.ops;
    struct machine_ops ops = *own;
    ops.trials = slower_beside;
    ops.prepare = prepare_seen;
    machine.ops = &ops;
    machine.around = (void *)(uintptr_t)own;
    tables_options_default(&o);
    o.brief = true;
    o.siblings = true;
    rig_measure_on(&table_variability, &machine, &o, &t);
    const double alone = at(&t, "register", REFINED_QUIET, "mode");
    is_close(at(&t, "register-sibling", REFINED_QUIET, "mode") / alone, 1.6, 1e-6);
    is_close(at(&t, "register-sibling", REFINED_MASKED, "mode") / alone, 1.6, 1e-6);
    is_close(at(&t, "L1@mem", REFINED_QUIET, "mode") / alone, 1, 1e-6);
    assert_string_equal(table_setting(&t, "siblings"), "busy beside register-sibling, else idle");
    char *text = rig_findings(&table_variability, &t);
    assert_non_null(strstr(text, "register: beside a busy sibling thread a trial takes 1.60 times as long (quiet)."));
    free(text);
    table_free(&t);
    machine.ops = own;
    machine.ops->close(&machine);
}

/* ---- refinements ---- */

struct steps {
    unsigned calls[REFINEMENTS];
    enum refinement last;
};

static int refine(void *data, enum refinement r, char *in_force, struct machine_error *err)
{
    struct steps *s = data;
    s->calls[r]++;
    assert_true(r >= s->last); /* never back: each is in addition to those before */
    s->last = r;
    if (r == REFINED_ISOLATED)
        return machine_fail(err, MACHINE_CANNOT, "as root", "no cpusets here");
    snprintf(in_force, 200, "step %u", (unsigned)r);
    return MACHINE_OK;
}

TEST(refinements_are_taken_in_turn)
{
    static struct tables_options o;
    static struct model m;
    static struct steps s = {{0}, REFINED_BUSY};
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.brief = true;
    o.runs = 30;
    o.observe_us = 100;
    o.refine = refine;
    o.refine_data = &s;
    rig_measure(&table_variability, &m, &o, &t);
    for (unsigned r = REFINED_BUSY; r < REFINED_WARM; r++)
        assert_int_equal(s.calls[r], 4); /* workloads of --brief */
    assert_int_equal(s.calls[REFINED_WARM], 0);
    assert_int_equal(missing_of(&t, REFINED_ISOLATED, "no cpusets here; as root"), 4);
    assert_int_equal(t.n_missing, 4);
    assert_int_equal(t.n_rows, 4 * 7);
    assert_true(at(&t, "register", REFINED_BUSY, "trials") == 30);
    char *text = rig_printed(&table_variability, &t);
    assert_non_null(strstr(text, "busy: step 0"));
    assert_non_null(strstr(text, "irqs-away: step 4"));
    assert_non_null(strstr(text, "tickless: step 5"));
    assert_non_null(strstr(text, "not measured here: Kozak 2020"));
    free(text);
    table_free(&t);
}

static int refine_fails(void *data, enum refinement r, char *in_force, struct machine_error *err)
{
    (void)data, (void)r, (void)in_force;
    return machine_fail(err, MACHINE_FAILED, "", "the journal is full");
}

/* A machine like this one: no masking, no barrier, and nothing that is changed. */
static int trials_in_user_space(struct machine *m, const struct trials_request *r, double *duration,
                                struct trials_seen *seen, struct machine_error *err)
{
    if (r->masked || r->before == TRIALS_IBPB)
        return machine_fail(err, MACHINE_CANNOT, "use the helper", "user space");
    int status = model_trials(m, r, duration, seen, err);
    if (r->idle_ms > 0) /* no ramp */
        for (unsigned i = 0; i < r->trials; i++)
            duration[i] = 300000 + i % 3;
    if (r->branches)
        snprintf(seen->uncounted, sizeof seen->uncounted, "no PMU here; get one");
    seen->cycles = false;
    seen->between.interrupts = NAN;
    return status;
}

static void model_said_not_to_be(const struct machine *m, struct machine_info *out)
{
    struct machine real = *m;
    struct machine_ops ops = *(const struct machine_ops *)m->around;
    real.ops = &ops;
    ops.info(&real, out);
    out->modelled = false;
}

TEST(what_cannot_be_is_missing)
{
    static struct tables_options o;
    static struct model m;
    struct machine machine;
    struct machine_error err;
    struct machine_ops ops;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
    const struct machine_ops *own = machine.ops;
    ops = *own;
    ops.trials = trials_in_user_space;
    ops.info = model_said_not_to_be;
    machine.ops = &ops;
    machine.around = (void *)(uintptr_t)own;
    tables_options_default(&o);
    o.runs = 20;
    rig_measure_on(&table_variability, &machine, &o, &t);
    assert_int_equal(missing_of(&t, REFINED_BUSY, "--interference"), 1);
    for (unsigned r = REFINED_SETTINGS; r < REFINED_MASKED; r++)
        assert_int_equal(missing_of(&t, (enum refinement)r, "--quiet-machine"), 1);
    assert_int_equal(missing_of(&t, REFINED_MASKED, "user space; use the helper"), N_WORKLOADS);
    assert_int_equal(missing_of(&t, REFINED_QUIET, "user space"), 1); /* branch-ibpb */
    assert_int_equal(missing_of(&t, REFINED_QUIET, "mispredicted: not counted: no PMU here; get one"), 2);
    assert_int_equal(t.n_rows, 2 * (N_WORKLOADS - 1) + SIZES + 1);
    assert_true(isnan(at(&t, "branch-warm", REFINED_QUIET, "mispredicted_first")));
    assert_true(isnan(at(&t, "ramp", REFINED_QUIET, "ramp_ms")) && isnan(at(&t, "ramp", REFINED_QUIET, "ramp_steps")));
    is_close(at(&t, "ramp", REFINED_QUIET, "start_rate"), 1, 1e-4);
    assert_true(isnan(at(&t, "register", REFINED_QUIET, "interrupts")));
    char *text = rig_findings(&table_variability, &t);
    assert_non_null(strstr(text, "time stamps"));
    assert_non_null(strstr(text, "no ramp of two trials (0.6 ms) or longer was found"));
    assert_non_null(strstr(text, "governor "));
    free(text);
    table_free(&t);
    /* a machine that knows no trials at all */
    ops.trials = NULL;
    rig_measure_on(&table_variability, &machine, &o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(missing_of(&t, REFINED_QUIET, "cannot run trials"),
                     N_WORKLOADS + 1 + 19); /* all sizes that there are */
    free(rig_printed(&table_variability, &t));
    table_free(&t);
    /* a failure is no missing row */
    ops.trials = trials_in_user_space;
    o.refine = refine_fails;
    assert_int_equal(tables_measure(&table_variability, &machine, &o, NULL, NULL, &t, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "the journal is full");
    machine.ops = own;
    machine.ops->close(&machine);
}

/* ---- words and pictures ---- */

/* Details of files are anybody's. */
TEST(details_of_strangers)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"in_force\": 3}",
        "{\"in_force\": \"\", \"rounds\": 1.0, \"warm\": {\"trials\": -4, \"mode\": 1, \"spread\": 0, \"p50\": 0, "
        "\"p90\": 0, \"p99\": 0, \"max\": 0}}",
        "{\"in_force\": \"\", \"rounds\": 1.0, \"warm\": {\"trials\": 4, \"mode\": 0, \"spread\": 0, \"p50\": 0, "
        "\"p90\": 0, \"p99\": 0, \"max\": 0}}",
        "{\"in_force\": \"\", \"warm\": \"x\"}",
    };
    struct table t;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        table_init(&t, "variability", table_variability.columns, table_variability.n_columns);
        table_add_row(&t);
        table_put_text(&t, "workload", "register");
        table_put_text(&t, "refinement", i % 2 ? "quiet" : "unheard of");
        if (texts[i][0])
            table_set_detail(&t, "register/quiet", texts[i]);
        assert_int_equal(table_variability.conclude(&t), 0);
        assert_int_equal(t.n_rows, 1);
        free(rig_printed(&table_variability, &t));
        struct chart c = {0};
        tables_draw(&table_variability, &t, &c);
        assert_false(c.failed);
        chart_free(&c);
        table_free(&t);
    }
}

TEST(the_picture)
{
    static struct tables_options o;
    static struct model m;
    struct table t;
    struct chart c = {0};
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.brief = true;
    rig_measure(&table_variability, &m, &o, &t);
    tables_draw(&table_variability, &t, &c);
    assert_int_equal(c.n_panels, 4);
    for (size_t p = 0; p < c.n_panels; p++) {
        assert_true(c.panels[p].log_x && c.one_axis && c.x_lo > 0 && c.x_lo < 1e-4 && c.x_hi > 1e4);
        for (size_t i = 0; i < c.panels[p].n_bars; i++)
            assert_true(c.panels[p].bars[i].to >= c.x_lo && c.panels[p].bars[i].to <= c.x_hi);
    }
    /* published values are hatched, and beside their own workload alone */
    for (size_t p = 0; p < c.n_panels; p++) {
        size_t hatched = 0;
        for (size_t i = 0; i < c.panels[p].n_bars; i++)
            hatched += c.panels[p].bars[i].hatched;
        assert_int_equal(hatched, p == 0 ? 6 : 0);
    }
    chart_free(&c);
    table_free(&t);
}
