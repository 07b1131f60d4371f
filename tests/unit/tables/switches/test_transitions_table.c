/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of transitions on models: each row against what the model's parameters say by arithmetic alone; a processor
 * without transitions; determinism.
 */
#include "tables/switches/transition_summary.h"
#include "tests/support/model_truth.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

#define TIME_US 1.0
#define RELATIVE 0.01

struct expected {
    const char *kind;
    double latency, wait, overhead, from, to, first_sign;
    unsigned halts;
    double slack; /* us: phases shorter than four samples, which may be taken for part of their neighbors */
};

/* Adds a phase to what is expected; `final`: the frequency in the end. */
static void add_phase(const struct model_phase *p, double us, double final, struct expected *e)
{
    bool halted = p->kind == MODEL_HALTED, throttled = p->kind == MODEL_THROTTLED;
    e->halts += halted;
    e->slack += us < 4 ? us : 0;
    if (halted || throttled) {
        if (!(e->latency > 0))
            e->first_sign = p->start_us - e->wait;
        e->latency = p->start_us + us - e->first_sign - e->wait; /* waits do not count, other full rate does */
    }
    if (p->kind == MODEL_SLOW)
        e->wait += us;
    else
        e->overhead += us * (1 - (halted ? 0 : p->ipc_ratio * p->ghz / final));
}

/* The row that the table must have for a switch of which `observe` us are recorded. */
static struct expected expect(const struct model *m, const struct payload *a, const struct payload *b, unsigned cores,
                              double observe)
{
    struct model_truth t;
    struct machine_error err;
    struct expected e = {.kind = "none"};
    size_t last = 0;
    if (model_truth(m, a, b, cores, &t, &err))
        fail_msg("%s", err.text);
    while (last + 1 < t.n && t.phases[last + 1].start_us < observe)
        last++;
    e.from = t.from_ghz;
    e.to = t.phases[last].ghz;
    for (size_t i = 0; i < last; i++)
        add_phase(&t.phases[i], t.phases[i].duration_us, e.to, &e);
    if (e.from != e.to)
        e.kind = "frequency";
    else if (e.latency > 0)
        e.kind = "throttle only";
    else if (t.phases[last].level != t.from_level && m->counts_licenses) /* levels of one frequency */
        e.kind = "licence only";
    return e;
}

static bool close_to(double found, double expected, double slack, const char *what, const char *row)
{
    if (fabs(found - expected) <= slack + fmax(TIME_US, RELATIVE * fabs(expected)))
        return true;
    print_message("%s: %s is %.3f, not %.3f\n", row, what, found, expected);
    return false;
}

static bool row_is_right(const struct table *t, size_t row, const struct expected *e)
{
    char name[120];
    bool none = strcmp(e->kind, "none") == 0, good = true;
    snprintf(name, sizeof name, "%s -> %s, %.0f cores", table_text(t, row, "from"), table_text(t, row, "to"),
             table_number(t, row, "active_cores"));
    if (strcmp(table_text(t, row, "kind"), e->kind) != 0) {
        print_message("%s: %s (%s), not %s\n", name, table_text(t, row, "kind"),
                      table_text(t, row, "phases") ? table_text(t, row, "phases") : "", e->kind);
        return false;
    }
    good &= fabs(table_number(t, row, "from_ghz") / e->from - 1) < RELATIVE;
    good &= fabs(table_number(t, row, "to_ghz") / e->to - 1) < RELATIVE;
    good &= table_number(t, row, "halts") == e->halts;
    if (!good)
        print_message("%s: frequencies or halts differ\n", name);
    if (none) {
        assert_true(isnan(table_number(t, row, "latency_us")) && isnan(table_number(t, row, "overhead_us")));
        assert_non_null(strstr(table_text(t, row, "detectable"), "frequency step"));
        return good;
    }
    good &= close_to(table_number(t, row, "latency_us"), e->latency, e->slack, "latency", name);
    good &= close_to(table_number(t, row, "overhead_us"), e->overhead, e->slack, "overhead", name);
    if (e->wait > 0)
        good &= close_to(table_number(t, row, "wait_us"), e->wait, e->slack, "wait", name);
    else
        good &= isnan(table_number(t, row, "wait_us")) != 0;
    assert_true(table_number(t, row, "latency_us_lo") <= table_number(t, row, "latency_us"));
    assert_true(table_number(t, row, "overhead_us_hi") >= table_number(t, row, "overhead_us"));
    assert_true(table_number(t, row, "n") >= 1);
    return good;
}

/* Every row of a table against the model; returns how many there were. */
static size_t check_rows(const struct model *m, const struct table *t, size_t *wrong)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        struct payload a = rig_payload(table_text(t, row, "from")), b = rig_payload(table_text(t, row, "to"));
        /* from a wider or heavier kernel the rise must be in the recording */
        struct expected e = expect(m, &a, &b, (unsigned)table_number(t, row, "active_cores"), INFINITY);
        *wrong += !row_is_right(t, row, &e);
    }
    return t->n_rows;
}

TEST(every_pair_of_the_6130)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    struct model m;
    struct table t;
    struct tables_options o;
    size_t wrong = 0;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.brief = true;
    o.runs = 25;
    o.n_active = rng_rounds(4);
    o.active[1] = 2;
    o.active[2] = 6;
    o.active[3] = 11;
    rig_measure(&table_transitions, &m, &o, &t);
    assert_int_equal(t.n_rows, 42 * o.n_active);
    assert_int_equal(t.n_missing, 1); /* amx */
    assert_int_equal(check_rows(&m, &t, &wrong), 42 * o.n_active);
    assert_int_equal(wrong, 0);
    assert_non_null(table_detail(&t, "128fma_512fma_16"));
    table_free(&t);
}

static void lines_fit(const char *text, size_t width)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > width)
            fail_msg("a line of %zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

TEST(the_matrix_groups_what_is_alike)
{
    struct model m;
    struct table t;
    struct tables_options o;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.runs = 12;
    static const char *const names[] = {"64add", "128or", "128fma", "256or", "256perm", "512fma"};
    for (size_t i = 0; i < 6; i++)
        o.kernels[o.n_kernels++] = rig_payload(names[i]);
    o.kernels[o.n_kernels++] = rig_payload("64add"); /* named twice */
    rig_measure(&table_transitions, &m, &o, &t);
    assert_int_equal(t.n_rows, 30);
    char *text = rig_printed(&table_transitions, &t);
    assert_non_null(strstr(text, "\nKernels that behave alike\ngroup    kernels\n64add+2  64add 128or 128fma\n"));
    assert_non_null(strstr(text, "\n256or+1  256or 256perm\n"));
    assert_non_null(strstr(text, "16 active cores"));
    assert_non_null(
        strstr(text, ".: nothing found; the smallest effects that would have been detected (64add -> 128or): "));
    char *end = strstr(text, "Longest transition");
    assert_non_null(end);
    *end = '\0';
    lines_fit(text, 100);
    free(text);
    table_free(&t);
}

TEST(nothing_is_said_to_be_nothing)
{
    struct model m;
    struct table t;
    struct tables_options o;
    rig_load("generic-no-licence", &m);
    tables_options_default(&o);
    o.brief = true;
    rig_measure(&table_transitions, &m, &o, &t);
    assert_true(t.n_rows > 0);
    for (size_t row = 0; row < t.n_rows; row++) {
        assert_string_equal(table_text(&t, row, "kind"), "none");
        assert_non_null(table_text(&t, row, "detectable"));
        assert_null(table_text(&t, row, "phases"));
        assert_true(table_number(&t, row, "n") > 3);
    }
    char *text = rig_printed(&table_transitions, &t);
    assert_non_null(strstr(text, "smallest detectable: a frequency step"));
    free(text);
    table_free(&t);
}

/* A row depends on the machine, the options and itself: not on what else is measured. */
TEST(rows_do_not_depend_on_others)
{
    struct model m;
    struct table all, few;
    struct tables_options o;
    rig_load("xeon-w-2104", &m);
    tables_options_default(&o);
    o.brief = true;
    o.seed = 3;
    rig_measure(&table_transitions, &m, &o, &all);
    o.n_kernels = 2;
    o.kernels[0] = rig_payload("512fma");
    o.kernels[1] = rig_payload("128fma");
    rig_measure(&table_transitions, &m, &o, &few);
    assert_int_equal(few.n_rows, 2);
    size_t found = 0;
    for (size_t i = 0; i < few.n_rows; i++)
        for (size_t row = 0; row < all.n_rows; row++)
            if (strcmp(table_text(&all, row, "from"), table_text(&few, i, "from")) == 0 &&
                strcmp(table_text(&all, row, "to"), table_text(&few, i, "to")) == 0) {
                found++;
                assert_true(table_number(&all, row, "latency_us") == table_number(&few, i, "latency_us"));
                assert_true(table_number(&all, row, "overhead_us_hi") == table_number(&few, i, "overhead_us_hi"));
            }
    assert_int_equal(found, 2);
    assert_string_equal(table_detail(&all, "128fma_512fma_4"), table_detail(&few, "128fma_512fma_4"));
    table_free(&all);
    table_free(&few);
}

static int stop_at_once(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    (void)k, (void)n, (void)part;
    return ++*(unsigned *)data > 10 || done > 3;
}

TEST(a_stop_is_heeded)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct tables_options o;
    struct table t;
    unsigned calls = 0;
    struct tables_watch watch = {.progress = stop_at_once, .data = &calls};
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), 0);
    assert_int_equal(tables_measure(&table_transitions, &machine, &o, NULL, &watch, &t, &err), MACHINE_FAILED);
    assert_true(calls < 20);
    machine.ops->close(&machine);
}

TEST(one_kernel_is_refused)
{
    struct model m;
    struct machine machine;
    struct machine_error err;
    struct tables_options o;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.n_kernels = 1;
    o.kernels[0] = rig_payload("512fma");
    assert_int_equal(machine_open_parsed_model(&m, "model:test", &machine, &err), 0);
    assert_int_equal(tables_measure(&table_transitions, &machine, &o, NULL, NULL, &t, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "two kernels"));
    machine.ops->close(&machine);
}

/* ---- the summary of made phases ---- */

TEST(ratios_in_words)
{
    static const struct {
        double ratio;
        const char *text;
    } cases[] = {{0.25, "1/4"},  {0.2504, "1/4"}, {0.256, "0.26"}, {0.5, "1/2"},  {0.1, "1/10"},
                 {0.36, "0.36"}, {0.9, "0.90"},   {1, "1.00"},     {0.02, "0.02"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        transition_ratio_text(cases[i].ratio, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}
