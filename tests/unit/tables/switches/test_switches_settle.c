/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Effects that begin before a recording or end after it, in the tables of switches: throttling and waits longer than
 * the usual recording, recordings that are requested too short, a machine that keeps its state from one repetition to
 * the next, and one whose frequency floats.
 */
#include "probes/guarded.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* The 6130 with other durations: of throttling at less than 0.4 of the rate, of milder throttling, of waits. */
static void load(struct model *m, double deep_us, double mild_us, double wait_us)
{
    rig_load_plain("xeon-gold-6130", m);
    m->wait_us = wait_us;
    for (size_t i = 0; i < m->n_classes; i++)
        for (size_t j = 0; j < m->n_classes; j++)
            for (size_t k = 0; k < m->transitions[i][j].n_steps; k++) {
                struct model_step *s = &m->transitions[i][j].steps[k];
                s->us = s->ratio < 0.4 ? deep_us : mild_us;
                s->n_variants = 0;
            }
}

static void defaults(struct tables_options *o)
{
    tables_options_default(o);
    o->brief = true;
    o->runs = 20;
    o->n_active = 1;
    o->n_kernels = 2;
    o->kernels[0] = rig_payload("128fma");
    o->kernels[1] = rig_payload("512fma");
}

/* The row of 128fma -> 512fma (`down`) or back, the first phase or only row. */
static size_t row_of(const struct table *t, bool down)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (strcmp(table_text(t, row, "from"), down ? "128fma" : "512fma") == 0 &&
            strcmp(table_text(t, row, "to"), down ? "512fma" : "128fma") == 0)
            return row;
    fail_msg("no such row of %zu, %zu missing", t->n_rows, t->n_missing);
    return 0;
}

static void is_near(const struct table *t, size_t row, const char *column, double expected)
{
    double found = table_number(t, row, column);
    if (!(fabs(found - expected) <= fmax(1, 0.01 * expected)))
        fail_msg("%s of %s -> %s is %.3f, not %.3f", column, table_text(t, row, "from"), table_text(t, row, "to"),
                 found, expected);
}

/* Throttling of up to 500 us, as Intel allows, and two stretches of it. */
TEST(long_throttling_is_seen_whole)
{
    static const double us[][2] = {{140, 20}, {250, 20}, {100, 200}, {480, 20}, {30, 450}};
    for (size_t i = 0; i < rng_rounds(sizeof us / sizeof *us); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        double deep = us[i][0], mild = us[i][1];
        load(&m, deep, mild, 670);
        defaults(&o);
        rig_measure(&table_transitions, &m, &o, &t);
        size_t row = row_of(&t, true);
        assert_string_equal(table_text(&t, row, "kind"), "frequency");
        is_near(&t, row, "latency_us", deep + mild + 20);
        /* at 2.8 GHz, then at 2.4 GHz, against 1.9 GHz in the end */
        is_near(&t, row, "overhead_us", deep * (1 - 0.25 * 2.8 / 1.9) + mild * (1 - 0.5 * 2.4 / 1.9) + 20);
        assert_true(isnan(table_number(&t, row, "wait_us")));
        table_free(&t);
        rig_measure(&table_throttle, &m, &o, &t);
        row = row_of(&t, true);
        is_near(&t, row, "duration_us", deep);
        is_near(&t, row + 1, "duration_us", mild);
        assert_true(fabs(table_number(&t, row, "ipc_ratio") / 0.25 - 1) < 0.01);
        assert_true(fabs(table_number(&t, row + 1, "ipc_ratio") / 0.5 - 1) < 0.01);
        table_free(&t);
    }
}

TEST(long_waits_are_seen_whole)
{
    static const double us[] = {1600, 2000, 4000};
    for (size_t i = 0; i < rng_rounds(sizeof us / sizeof *us); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        load(&m, 20, 20, us[i]);
        defaults(&o);
        rig_measure(&table_transitions, &m, &o, &t);
        size_t row = row_of(&t, false);
        assert_string_equal(table_text(&t, row, "kind"), "frequency");
        is_near(&t, row, "wait_us", us[i]);
        assert_true(fabs(table_number(&t, row, "to_ghz") - 2.8) < 0.01);
        table_free(&t);
    }
}

/* A recording of 500 ms shows what one of 5 ms does not. */
TEST(a_long_wait_is_observed_for_longer)
{
    struct model m;
    struct table t;
    struct tables_options o;
    load(&m, 20, 20, 12000);
    defaults(&o);
    rig_measure(&table_transitions, &m, &o, &t);
    size_t row = row_of(&t, false);
    assert_string_equal(table_text(&t, row, "kind"), "frequency");
    assert_true(fabs(table_number(&t, row, "wait_us") / 12000 - 1) < 0.05);
    assert_true(fabs(table_number(&t, row, "to_ghz") - 2.8) < 0.01);
    table_free(&t);
}

/* Longer than anything that is looked for: no "none", and no frequency that is not the last. */
TEST(an_endless_wait_is_undecided)
{
    struct model m;
    struct table t;
    struct tables_options o;
    load(&m, 20, 20, 600e3);
    defaults(&o);
    rig_measure(&table_transitions, &m, &o, &t);
    size_t row = row_of(&t, false);
    assert_string_equal(table_text(&t, row, "kind"), "undecided");
    assert_true(isnan(table_number(&t, row, "to_ghz")) && isnan(table_number(&t, row, "latency_us")));
    assert_non_null(strstr(table_text(&t, row, "note"), "--observe"));
    assert_non_null(strstr(table_text(&t, row, "note"), "2.800 GHz"));
    assert_non_null(strstr(table_detail(&t, "512fma_128fma_16"), "--observe"));
    table_free(&t);
}

/* Only what was requested is recorded, and what lies after it is not made up. */
TEST(a_short_recording_is_undecided)
{
    static const double us[] = {15, 25, 40, 55};
    for (size_t i = 0; i < rng_rounds(sizeof us / sizeof *us); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        load(&m, 20, 20, 670);
        defaults(&o);
        o.observe_us = us[i];
        rig_measure(&table_transitions, &m, &o, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            assert_string_equal(table_text(&t, row, "kind"), "undecided");
            assert_true(isnan(table_number(&t, row, "latency_us")) && isnan(table_number(&t, row, "overhead_us")));
            assert_non_null(strstr(table_text(&t, row, "note"), "--observe"));
        }
        char *text = rig_printed(&table_transitions, &t);
        assert_null(strstr(text, "(null)"));
        assert_null(strstr(text, "nan"));
        assert_non_null(strstr(text, " and 0 show nothing, 2 are undecided"));
        assert_non_null(strstr(text, "longer --observe"));
        free(text);
        table_free(&t);
        rig_measure(&table_throttle, &m, &o, &t);
        size_t row = row_of(&t, true);
        assert_true(isnan(table_number(&t, row, "phase")) && isnan(table_number(&t, row, "ipc_ratio")));
        text = rig_printed(&table_throttle, &t);
        assert_null(strstr(text, "any of 2 switches"));
        assert_non_null(strstr(text, "It is undecided whether 1 of 2 pairs of kernels throttle"));
        assert_null(strstr(text, "nan"));
        free(text);
        table_free(&t);
    }
}

/* ---- a machine that keeps its state ---- */

/* As on silicon: a repetition begins in the state in which the one before ended. The model starts each at rest, so the
 * last kernel of the one before is put in front. */
struct carrying {
    struct machine machine; /* first: the machine's functions are handed its address */
    const struct machine_ops *own;
    struct machine_ops ops;
    struct segment last;
};

static int run_carrying(struct machine *machine, const struct run_request *r, struct recording *out,
                        struct machine_error *err)
{
    struct carrying *c = (struct carrying *)machine;
    struct segment segments[20];
    struct run_request request = *r;
    assert_true(r->n_segments < 20);
    bool first = !c->last.payload.kernel;
    if (!first) {
        segments[0] = c->last;
        segments[0].sampled = false;
        memcpy(segments + 1, r->segments, r->n_segments * sizeof *segments);
        request.segments = segments;
        request.n_segments++;
        request.zero_segment++;
    }
    c->last = r->segments[r->n_segments - 1];
    return c->own->run(machine, &request, out, err);
}

static void measure_carrying(const struct table_kind *k, const struct model *m, const struct tables_options *o,
                             struct table *out)
{
    struct carrying c = {.last = {.duration_us = 0}};
    struct machine_error err;
    assert_int_equal(machine_open_parsed_model(m, "model:test", &c.machine, &err), MACHINE_OK);
    c.own = c.machine.ops;
    c.ops = *c.own;
    c.ops.run = run_carrying;
    c.machine.ops = &c.ops;
    rig_measure_on(k, &c.machine, o, out);
    c.machine.ops->close(&c.machine);
}

TEST(the_first_kernel_is_back_before_the_switch)
{
    static const double waits[] = {670, 1100, 1600, 2400, 4000};
    for (size_t i = 0; i < rng_rounds(sizeof waits / sizeof *waits); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        load(&m, 20, 20, waits[i]);
        defaults(&o);
        measure_carrying(&table_transitions, &m, &o, &t);
        size_t row = row_of(&t, true);
        assert_string_equal(table_text(&t, row, "kind"), "frequency");
        assert_true(fabs(table_number(&t, row, "from_ghz") - 2.8) < 0.01);
        is_near(&t, row, "latency_us", 60);
        is_near(&t, row_of(&t, false), "wait_us", waits[i]);
        table_free(&t);
        measure_carrying(&table_throttle, &m, &o, &t);
        is_near(&t, row_of(&t, true), "duration_us", 20);
        table_free(&t);
    }
}

/* Line ends and runs of blanks made one blank: text that the table continues below itself. */
static void make_one_line(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!strchr(" \n", *from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
}

/* Where the warm-up was requested, the reason is reported and nothing else. */
TEST(a_short_warm_up_is_reported)
{
    struct model m;
    struct table t;
    struct tables_options o;
    load(&m, 20, 20, 1600);
    defaults(&o);
    o.warmup_us = 1000;
    measure_carrying(&table_transitions, &m, &o, &t);
    assert_string_equal(table_text(&t, row_of(&t, true), "kind"), "undecided");
    assert_string_equal(table_text(&t, row_of(&t, false), "kind"), "frequency");
    char *text = rig_printed(&table_transitions, &t);
    make_one_line(text);
    assert_non_null(strstr(text, "the core was not back at its own frequency"));
    assert_non_null(strstr(text, "--warmup"));
    free(text);
    table_free(&t);
}

/* ---- power limits ---- */

static bool holds_both(const struct estimate *e, double ghz, double factor)
{
    return e->hi > ghz * 0.999 && e->lo < ghz * factor * 1.001;
}

/* Returns true if the change was found, with limits that cover all repetitions. */
static bool slow_repetitions_are_kept(const struct model *m, const char *from, const char *to, uint64_t seed)
{
    struct machine machine;
    struct machine_error err;
    struct transition_setup s;
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct guard g = {.machine = &machine};
    struct switches_seen seen;
    transition_defaults(&s, &a, &b);
    s.machine.seed = seed;
    s.no_volts = true;
    assert_int_equal(machine_open_parsed_model(m, "model:test", &machine, &err), MACHINE_OK);
    if (guarded_switch(&g, &s, &seen, &err))
        fail_msg("%s", err.text);
    unsigned late = 0;
    for (size_t i = 0; i < seen.result.n_invalid; i++)
        late += strstr(seen.result.invalid[i].why, "not back") != NULL;
    if (late)
        fail_msg("seed %u: %u of %u are discarded as not back", (unsigned)seed, late, s.runs);
    bool reported = false;
    for (size_t i = 0; i < seen.phases.n_warnings; i++)
        reported = reported || strstr(seen.phases.warnings[i], "frequency from beginning to end");
    if (!reported)
        fail_msg("seed %u: a share of %.2f at %.2f: no warning", (unsigned)seed, m->scenario.limit_share,
                 m->scenario.limit_factor);
    const struct phases *p = &seen.phases;
    bool held = p->n_transitions == 1 && p->n_levels >= 2 && holds_both(&p->levels[0], 2.8, m->scenario.limit_factor) &&
                holds_both(&p->levels[p->n_levels - 1], 1.9, m->scenario.limit_factor);
    guarded_free(&seen);
    machine.ops->close(&machine);
    return held;
}

/* Where none of the few repetitions of the first kernel alone was limited, those that were "had not come back". */
TEST(limited_repetitions_have_come_back)
{
    struct rng x;
    unsigned held = 0, n = rng_rounds(30);
    rng_init(&x, 5, 0);
    for (unsigned i = 0; i < n; i++) {
        struct model m;
        rig_load("xeon-gold-6130", &m);
        m.n_interrupts = 0; /* one restarts the wait: that repetition ends elsewhere */
        m.scenario.limit_share = rng_range(&x, 0.1, 0.45);
        m.scenario.limit_factor = rng_range(&x, 0.7, 0.96);
        held += slow_repetitions_are_kept(&m, i % 3 ? "128fma" : "512fma", i % 3 ? "512fma" : "128fma", i + 1);
    }
    print_message("in %u of %u scenarios the change is found and the limits hold all repetitions\n", held, n);
    assert_true(held >= n * 9 / 10);
}

/* A clock that changes between the looks at either kernel alone and the recording, or while that lasts, as hypervisors
 * let it: nothing is late. Before, whole recordings were "not back". */
TEST(a_clock_that_changes_is_not_late)
{
    struct model m;
    unsigned reported = 0, n = rng_rounds(60);
    rig_load("generic-no-licence", &m);
    m.scenario.wander.step = 0.026;
    m.scenario.wander.step_us = 20e3;
    m.scenario.carries = true;
    m.scenario.gap_us = 300;
    for (unsigned i = 0; i < n; i++) {
        struct machine machine;
        struct machine_error err;
        struct transition_setup s;
        struct payload a = rig_payload("64add"), b = rig_payload("128or");
        struct guard g = {.machine = &machine, .warmup_given = true, .observe_given = true, .runs_given = true};
        struct switches_seen seen;
        transition_defaults(&s, &a, &b);
        s.machine.seed = i + 1;
        s.no_volts = true;
        s.warmup_us = 1000;
        s.observe_us = 50;
        s.runs = 30;
        assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), MACHINE_OK);
        if (guarded_switch(&g, &s, &seen, &err))
            fail_msg("seed %u: %s", i + 1, err.text);
        reported += strstr(seen.unsettled, "not back") != NULL;
        guarded_free(&seen);
        machine.ops->close(&machine);
    }
    if (reported)
        fail_msg("%u of %u: not back at its own frequency", reported, n);
}
