/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of transitions on models: each row against what the model's parameters say by arithmetic alone; a processor
 * without transitions; determinism; and the summary of made phases.
 */
#include "tables/switches/transition_summary.h"
#include "drivers/model/model.h"
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
    double slack; /* us: phases shorter than four samples, which may be taken for part of their neighbours */
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

/* What the table must say of a switch of which `observe` us are recorded. */
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

TEST(every_shipped_model)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    char **names;
    size_t n, wrong = 0, rows = 0;
    rig_processors(&names, &n);
    for (size_t i = 0; i < rng_rounds((unsigned)n); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        rig_load_plain(names[i], &m);
        tables_options_default(&o);
        o.brief = true;
        o.runs = 25;
        o.seed = i;
        rig_measure(&table_transitions, &m, &o, &t);
        size_t before = wrong;
        rows += check_rows(&m, &t, &wrong);
        if (wrong > before)
            print_message("%zu wrong rows of %s\n", wrong - before, names[i]);
        table_free(&t);
    }
    model_list_free(names, n);
    print_message("%zu rows, %zu wrong\n", rows, wrong);
    assert_int_equal(wrong, 0);
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

static const struct estimate unknown = {NAN, NAN, NAN};

static struct phase made(enum phase_kind kind, double start, double us, double ghz, double ratio, int level)
{
    return (struct phase){.kind = kind,
                          .start_us = start,
                          .duration_us = {us, us - 1, us + 1},
                          .freq_ghz = ghz > 0 ? (struct estimate){ghz, ghz, ghz} : unknown,
                          .ipc = ratio * 2,
                          .ipc_ratio = ratio,
                          .level = level,
                          .agreeing_runs = 10};
}

static struct transition_summary summarize(struct phase *list, size_t n, size_t n_transitions, size_t agreeing)
{
    struct trace t;
    struct transition moves[2] = {{.latency_us = {20, 19, 21}, .agreeing_runs = agreeing},
                                  {.latency_us = {10, 9, 11}, .agreeing_runs = 10}};
    struct phase own[8];
    memcpy(own, list, n * sizeof *own);
    struct phases p = {.phases = own,
                       .n_phases = n,
                       .transitions = moves,
                       .n_transitions = n_transitions,
                       .runs = 10,
                       .runs_used = 10,
                       .detectable_freq = 0.01,
                       .detectable_freq_us = 20,
                       .detectable_throttle = NAN,
                       .detectable_halt_us = NAN};
    struct transition_summary s;
    trace_init(&t);
    phases_leave_out_timeless(&p);
    transition_summarize(&t, &p, &s);
    return s;
}

TEST(summaries_of_made_phases)
{
    struct phase nothing[] = {made(PHASE_STEADY, -50, 50, 3, 1, 0), made(PHASE_STEADY, 0, 150, 3, 1, 0)};
    struct transition_summary s = summarize(nothing, 2, 0, 10);
    assert_int_equal(s.kind, SWITCH_NONE);
    assert_true(isnan(s.latency_us.value) && isnan(s.overhead_us.value) && s.phases[0] == '\0');
    assert_string_equal(s.detectable, "a frequency step of 1 % for 20 us, within 150 us");
    assert_true(s.from_ghz.value == 3 && s.to_ghz.value == 3);
    /* a transition of the recording that no channel shows here: nothing that a machine without counters could tell */
    assert_int_equal(summarize(nothing, 2, 1, 10).kind, SWITCH_NONE);

    /* 20 us at a quarter of 3 GHz: work for 7.5 us at 2 GHz, so 12.5 us are lost; then a halt of 10 */
    struct phase down[] = {nothing[0], made(PHASE_THROTTLE, 0, 20, 3, 0.25, 0), made(PHASE_HALT, 20, 10, 0, NAN, -1),
                           made(PHASE_STEADY, 30, 120, 2, 1, 1)};
    s = summarize(down, 4, 1, 10);
    assert_int_equal(s.kind, SWITCH_FREQUENCY);
    assert_true(fabs(s.overhead_us.value - 22.5) < 1e-9 && s.latency_us.value == 20 && s.halts == 1);
    /* limits: 1 us of the throttle counts 0.625, of the halt 1 */
    assert_true(fabs(s.overhead_us.hi - 22.5 - hypot(0.625, 1)) < 1e-9);
    assert_string_equal(s.phases, "throttle 1/4 20.0 us, halt 10.0 us");
    assert_true(isnan(s.wait_us.value));
    s = summarize(down, 4, 1, 4);
    assert_int_equal(s.kind, SWITCH_UNDECIDED);
    assert_non_null(strstr(s.phases, "only in 4 of 10 repetitions"));
    assert_true(isnan(s.latency_us.value) && isnan(s.to_ghz.value));

    /* what is gained at the higher frequency before it falls: 10 us at 3 GHz are 15 at 2 GHz */
    struct phase late[] = {nothing[0], made(PHASE_STEADY, 0, 10, 3, 1, 0), made(PHASE_HALT, 10, 10, 0, NAN, -1),
                           made(PHASE_STEADY, 20, 130, 2, 1, 1)};
    assert_true(fabs(summarize(late, 4, 1, 10).overhead_us.value - 5) < 1e-9);

    /* back up: the wait does not count */
    struct phase up[] = {made(PHASE_STEADY, -50, 50, 2, 1, 1), made(PHASE_SLOW, 0, 670, 2, 1, 1),
                         made(PHASE_HALT, 670, 10, 0, NAN, -1), made(PHASE_STEADY, 680, 820, 3, 1, 0)};
    s = summarize(up, 4, 1, 10);
    assert_int_equal(s.kind, SWITCH_FREQUENCY);
    assert_true(s.wait_us.value == 670 && s.wait_us.hi == 671 && s.overhead_us.value == 10);
    assert_string_equal(s.phases, "slow 670.0 us, halt 10.0 us");

    struct phase cut[] = {nothing[0], made(PHASE_THROTTLE, 0, 150, 3, 0.5, 0)};
    assert_int_equal(summarize(cut, 2, 0, 10).kind, SWITCH_UNDECIDED);
    assert_int_equal(summarize(nothing, 1, 0, 10).kind, SWITCH_UNDECIDED);
    assert_int_equal(summarize(nothing, 0, 0, 10).kind, SWITCH_UNDECIDED);
    struct phase odd[] = {nothing[0], made(PHASE_UNKNOWN, 0, 20, 3, 1, 0), nothing[1]};
    strcpy(odd[1].why, "no idea");
    s = summarize(odd, 3, 0, 10);
    assert_int_equal(s.kind, SWITCH_UNDECIDED);
    assert_string_equal(s.phases, "unknown 20.0 us (no idea)");
    struct phase still[] = {nothing[0], made(PHASE_HALT, 0, 9, 0, NAN, -1), made(PHASE_STEADY, 9, 100, 3, 1, 0)};
    assert_int_equal(summarize(still, 3, 1, 10).kind, SWITCH_HALT_ONLY);
}

/* What begins before the switch was not caused by it; across it, nothing can be told. Seen on a machine without
 * counters: a throttle from -31.5 to -25.3 us became "licence only", with a latency of 6.2 us. */
TEST(what_begins_before_the_switch_is_not_of_it)
{
    struct phase list[] = {made(PHASE_STEADY, -50, 18.5, 3, 1, 0), made(PHASE_THROTTLE, -31.5, 6.2, 3, 0.8, 0),
                           made(PHASE_STEADY, -25.3, 25.3, 3, 1, 0), made(PHASE_STEADY, 0, 150, 3, 1, 0)};
    struct transition move = {.at_us = -31.5, .latency_us = {6.2, 6, 6.4}, .agreeing_runs = 10};
    struct phases p = {.phases = list,
                       .n_phases = 4,
                       .transitions = &move,
                       .n_transitions = 1,
                       .runs = 10,
                       .runs_used = 10,
                       .detectable_freq = 0.01,
                       .detectable_throttle = NAN,
                       .detectable_halt_us = NAN};
    struct transition_summary s;
    struct trace t;
    trace_init(&t);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            list[i].share[k] = NAN;
    transition_summarize(&t, &p, &s);
    assert_int_equal(s.kind, SWITCH_NONE);
    assert_true(isnan(s.latency_us.value) && isnan(s.overhead_us.value));
    assert_string_equal(s.phases, "");
    move.latency_us = (struct estimate){35, 34, 36};
    transition_summarize(&t, &p, &s);
    assert_int_equal(s.kind, SWITCH_UNDECIDED);
    assert_string_equal(s.phases, "a change that begins 31.5 us before the switch is not over by then");
}

/* What is smaller than the detection limit, or takes no time, is no finding; one repetition is no mode. */
TEST(what_is_too_small_is_none)
{
    struct phase faint[] = {made(PHASE_STEADY, -50, 50, 2.398, 1, 0), made(PHASE_STEADY, 0, 150, 2.389, 1, 1)};
    assert_int_equal(summarize(faint, 2, 1, 10).kind, SWITCH_NONE); /* 0.4 % where 1 % would be found */
    faint[1].freq_ghz.value = 2.33;
    assert_int_equal(summarize(faint, 2, 1, 10).kind, SWITCH_FREQUENCY);
    faint[1].freq_ghz.value = 2.389;
    faint[0].share[0] = faint[1].share[1] = 1; /* the license counters are not in doubt */
    assert_int_equal(summarize(faint, 2, 1, 10).kind, SWITCH_LICENSE_ONLY);

    struct phase flat[] = {made(PHASE_STEADY, -50, 50, 3, 1, 0), made(PHASE_HALT, 0, 0.01, 0, NAN, -1),
                           made(PHASE_STEADY, 0.01, 0.03, 3, 1, 0), made(PHASE_THROTTLE, 0.04, 0, 3, 0.5, 0),
                           made(PHASE_STEADY, 0.04, 150, 3, 1, 0)};
    struct transition_summary s = summarize(flat, 5, 0, 10);
    assert_int_equal(s.kind, SWITCH_NONE);
    flat[1].duration_us.value = 9;
    s = summarize(flat, 5, 1, 10);
    assert_int_equal(s.kind, SWITCH_HALT_ONLY);
    assert_string_equal(s.phases, "halt 9.0 us");
    assert_true(s.halts == 1);

    struct phase modes[] = {made(PHASE_STEADY, -50, 50, 2, 1, 1), made(PHASE_SLOW, 0, 670, 2, 1, 1),
                            made(PHASE_STEADY, 670, 800, 3, 1, 0)};
    modes[1].n_modes = 3;
    modes[1].modes[0] = (struct phase_mode){670, 0.7};
    modes[1].modes[1] = (struct phase_mode){1340, 0.2};
    modes[1].modes[2] = (struct phase_mode){762, 0.1}; /* one of ten */
    s = summarize(modes, 3, 1, 10);
    assert_string_equal(s.phases, "slow 670.0 us (in 20 % of the repetitions 1340.0 us)");
}

TEST(no_latency_is_below_zero)
{
    struct trace t;
    struct transition move = {.latency_us = {-0.01, -0.02, 0.01}, .agreeing_runs = 10};
    struct phase list[] = {made(PHASE_STEADY, -50, 50, 3, 1, 0), made(PHASE_STEADY, 0, 150, 2, 1, 1)};
    struct phases p = {.phases = list,
                       .n_phases = 2,
                       .transitions = &move,
                       .n_transitions = 1,
                       .runs = 10,
                       .runs_used = 10,
                       .detectable_freq = 0.01,
                       .detectable_throttle = NAN,
                       .detectable_halt_us = NAN};
    struct transition_summary s;
    trace_init(&t);
    transition_summarize(&t, &p, &s);
    assert_true(s.kind == SWITCH_FREQUENCY && s.latency_us.value == 0 && s.latency_us.lo == 0);
    transition_summary_withhold(&s);
    assert_true(s.kind == SWITCH_UNDECIDED && isnan(s.latency_us.value) && isnan(s.to_ghz.value) && !s.phases[0]);
}

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
