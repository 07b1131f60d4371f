/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries of handmade phases, at the bounds that decide and beside them. */
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "tables/switches/transition_summary.h"
#include "tests/support/test.h"

enum { PHASES_MOST = 12 };

/* "~0.5" after a value: its limits, else it has none. */
static struct estimate read_estimate(const char **text)
{
    char *end;
    struct estimate e = {strtod(*text, &end), NAN, NAN};
    if (*end == '~') {
        double half = strtod(end + 1, &end);
        e = (struct estimate){e.value, e.value - half, e.value + half};
    }
    *text = end;
    return e;
}

static double read_after(const char **text, char what, double otherwise)
{
    char *end;
    if (**text != what)
        return otherwise;
    double value = strtod(*text + 1, &end);
    *text = end;
    return value;
}

/*
 * "S-50+50~1:2.8~0.01/0*0.25l1": a steady phase (T throttled, H halt, W slow, R ramp, U unknown) that begins at -50 us
 * and lasts 50 [49, 51], at 2.8 [2.79, 2.81] GHz, the level 0, of 1/4 of the rate, at license level 1. m10: in 10 % of
 * the repetitions it lasts twice as long.
 */
static void read_phase(const char **text, struct phase *p)
{
    static const char kinds[] = "STHWRU";
    *p = (struct phase){.kind = (enum phase_kind)(strchr(kinds, *(*text)++) - kinds),
                        .freq_ghz = {NAN, NAN, NAN},
                        .freq_half_ghz = 0.001,
                        .ipc = 1,
                        .agreeing_runs = 20};
    p->start_us = strtod(*text, (char **)text);
    ++*text; /* + */
    p->duration_us = read_estimate(text);
    if (**text == ':') {
        ++*text;
        p->freq_ghz = read_estimate(text);
    }
    p->level = (int)read_after(text, '/', -1);
    p->ipc_ratio = read_after(text, '*', p->kind == PHASE_THROTTLE ? (double)NAN : 1);
    int license = (int)read_after(text, 'l', 0);
    p->share[license] = 1;
    if (p->kind == PHASE_UNKNOWN)
        snprintf(p->why, sizeof p->why, "nobody knows");
    if (p->kind == PHASE_RAMP) {
        p->to_ghz = (struct estimate){1.9, NAN, NAN};
        p->tau_us = (struct estimate){25, NAN, NAN};
    }
    if (**text == 'm') { /* two modes, the second in so many percent of the repetitions, twice as long */
        p->n_modes = 2;
        p->modes[1] = (struct phase_mode){2 * p->duration_us.value, read_after(text, 'm', 0) / 100};
    }
}

/* Phases; ">0+15~0.5x18": a transition at 0 of 15 us in 18 repetitions; "r20/18": 18 of 20 repetitions are used; "v":
 * the voltage steps; "d0.03": a step of 3 % would have been seen. */
static void read_phases(const char *text, struct phases *p)
{
    p->runs = p->runs_used = 20;
    p->detectable_freq = p->detectable_throttle = p->detectable_halt_us = NAN;
    for (; *text; text += strspn(text, " "))
        if (*text == '>') {
            struct transition *t = &p->transitions[p->n_transitions++];
            *t = (struct transition){.at_us = strtod(text + 1, (char **)&text)};
            text++;
            t->latency_us = read_estimate(&text);
            t->agreeing_runs = (size_t)read_after(&text, 'x', 20);
        } else if (*text == 'r') {
            p->runs = (size_t)read_after(&text, 'r', 0);
            p->runs_used = (size_t)read_after(&text, '/', 0);
        } else if (*text == 'v') {
            p->n_volt_steps = 1;
            text++;
        } else if (*text == 'd') {
            p->detectable_freq = read_after(&text, 'd', 0);
            p->detectable_freq_us = p->detectable_throttle_us = 5;
            p->detectable_throttle = 0.94;
            p->detectable_halt_us = 0.8;
        } else
            read_phase(&text, &p->phases[p->n_phases++]);
}

#define BEFORE "S-50+50:2.8~0.01/0 "
#define AFTER "S0+100:2.8~0.01/0 "

/* 1/2 to 1/10 where that is what it is within 2 %. */
TEST(ratios_are_fractions_where_they_are)
{
    static const struct {
        double ratio;
        const char *text;
    } cases[] = {{0.25, "1/4"},   {0.2549, "1/4"}, {0.2551, "0.26"}, {0.2451, "1/4"}, {0.2449, "0.24"}, {0.1, "1/10"},
                 {0.091, "0.09"}, {0.5, "1/2"},    {0.7, "0.70"},    {1, "1.00"},     {0.339, "1/3"},   {0, "0.00"}};
    char text[20];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        transition_ratio_text(cases[i].ratio, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Samples that lost time are left out after the fine part of a long recording: "0 halts" and a cost of 0 [0, 0] were
 * reported of a step between two of the others, which had been a halt of 18 us. */
TEST(a_step_between_coarse_samples_tells_no_halts)
{
    static const char text[] = "S-50+50:1.9/1 W0+1760:1.9/1 S1760+90000:2.8/0 >1760+0";
    for (int coarse = 0; coarse < 2; coarse++) {
        struct phase phase[PHASES_MOST];
        struct transition transition[PHASES_MOST];
        struct phases p = {.phases = phase, .transitions = transition};
        struct transition_summary s;
        struct trace t;
        trace_init(&t);
        assert_int_equal(trace_set_number(&t, "fine_us", coarse ? 150 : 4900), 0);
        read_phases(text, &p);
        transition_summarize(&t, &p, &s);
        assert_int_equal(s.kind, SWITCH_FREQUENCY);
        assert_int_equal(isnan(s.halts), coarse);
        assert_int_equal(isnan(s.overhead_us.value), coarse);
        assert_true(s.wait_us.value == 1760);
        trace_free(&t);
    }
}

TEST(withheld_it_tells_only_from_where)
{
    struct transition_summary s = {.kind = SWITCH_FREQUENCY,
                                   .halts = 3,
                                   .n = 4,
                                   .from_ghz = {2, 1, 3},
                                   .to_ghz = {1, 1, 1},
                                   .latency_us = {1, 1, 1},
                                   .wait_us = {1, 1, 1},
                                   .overhead_us = {1, 1, 1},
                                   .phases = "x",
                                   .detectable = "y"};
    transition_summary_withhold(&s);
    assert_int_equal(s.kind, SWITCH_UNDECIDED);
    assert_true(s.halts == 0);
    assert_true(s.from_ghz.value == 2 && s.n == 4);
    assert_true(isnan(s.to_ghz.value) && isnan(s.latency_us.value) && isnan(s.wait_us.value) &&
                isnan(s.overhead_us.value));
    assert_string_equal(s.phases, "");
    assert_string_equal(s.detectable, "");
}

/* Ascending, each once, in just the room there is; what is not known comes first, and what there is no room for is left
 * out. */
TEST(numbers_of_cores_are_sorted)
{
    static const double rows[] = {8, 2, 8, NAN, 4, 1, 2, -1, 16};
    static const struct {
        size_t max;
        unsigned cores[6];
    } cases[] = {{6, {0, 1, 2, 4, 8, 16}}, {5, {0, 1, 2, 4, 8}}, {4, {0, 2, 4, 8}}, {1, {8}}};
    struct table t;
    table_init(&t, "throttle", table_throttle.columns, table_throttle.n_columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_add_row(&t);
        if (rows[i] >= 0)
            table_put_number(&t, "active_cores", rows[i]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned *cores = malloc(cases[i].max * sizeof *cores);
        assert_non_null(cores);
        assert_int_equal(switches_core_counts(&t, cores, cases[i].max), cases[i].max);
        assert_memory_equal(cores, cases[i].cores, cases[i].max * sizeof *cores);
        free(cores);
    }
    table_free(&t);
}
