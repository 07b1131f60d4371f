/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What phases that were made by hand come to, at the bounds that decide and beside them: the answers are
 * tests/golden/switches.made. After an intended change `make golden` rewrites it, and the diff shows what changed.
 */
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "tables/switches/transition_summary.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

enum { PHASES_MOST = 12 };

/* "~0.5" behind a value: its limits, else it has none. */
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

static void write_figure(FILE *out, const char *name, const struct estimate *e)
{
    if (!isnan(e->value))
        fprintf(out, "; %s %.4g", name, e->value);
    if (!isnan(e->lo) && !isnan(e->hi))
        fprintf(out, " [%.4g, %.4g]", e->lo, e->hi);
}

static void write_summary(FILE *out, const char *text)
{
    struct phase phase[PHASES_MOST];
    struct transition transition[PHASES_MOST];
    struct phases p = {.phases = phase, .transitions = transition};
    struct transition_summary s;
    struct trace t;
    trace_init(&t);
    read_phases(text, &p);
    phases_leave_out_timeless(&p);
    transition_summarize(&t, &p, &s);
    fprintf(out, "%s\n  %s, %zu repetitions, %g halts", text, transition_switch_kind_name(s.kind), s.n, s.halts);
    write_figure(out, "latency", &s.latency_us);
    write_figure(out, "wait", &s.wait_us);
    write_figure(out, "overhead", &s.overhead_us);
    write_figure(out, "from", &s.from_ghz);
    write_figure(out, "to", &s.to_ghz);
    fprintf(out, "%s%s%s%s\n", s.phases[0] ? "; " : "", s.phases, s.detectable[0] ? "; detectable: " : "",
            s.detectable);
    trace_free(&t);
}

#define BEFORE "S-50+50:2.8~0.01/0 "
#define AFTER "S0+100:2.8~0.01/0 "

static const char *const made_phases[] = {
    "",
    BEFORE,
    AFTER,
    BEFORE AFTER,
    BEFORE AFTER "d0.03",
    BEFORE AFTER "v",
    BEFORE AFTER "r20/18",
    /* a fall with throttling and a halt */
    BEFORE "T0+10~0.1:2.8~0.01/0*0.25 H10+5~0.2 S15+85:1.9~0.01/1 >0+15~0.3 d0.03",
    BEFORE "T0+10~0.1:2.8~0.01/0*0.25 H10+5~0.2 S15+85:1.9~0.01/1 >0+15~0.3x9",
    BEFORE "T0+10~0.1:2.8~0.01/0*0.25 H10+5~0.2 S15+85:1.9~0.01/1 >0+15~0.3x8",
    BEFORE "S0+100:1.9/1 >0+0x4 r20/4",
    BEFORE "S0+100:1.9/1 >0+0x5 r20/5",
    BEFORE "S0+100:1.9/1 >0+0x4 r8/4",
    BEFORE "S0+100:1.9/1 >0+0x4 r9/4",
    /* a rise after a wait, also of two periods */
    "S-50+50:1.9~0.01/1 W0+670~2:1.9~0.01/1 H670+10~0.2 S680+100:2.8~0.01/0 >670+10~0.3",
    "S-50+50:1.9~0.01/1 W0+670~2:1.9~0.01/1m10 S680+100:2.8~0.01/0 >670+10~0.3",
    "S-50+50:1.9~0.01/1 W0+670~2:1.9~0.01/1m7 S680+100:2.8~0.01/0 >670+10~0.3",
    "S-50+50:1.9~0.01/1 W0+1~2:1.9~0.01/1 S1+100:2.8~0.01/0 >1+1~3",
    /* there and back; two steps with a wait between */
    BEFORE "S0+20:1.9~0.01/1 S20+50:2.8~0.01/0 >0+5 >20+5",
    BEFORE "H0+5~0.1 S5+20~0.1:2.4~0.01/1 H25+5~0.1 S30+50:1.9~0.01/2 >0+5~0.1 >25+5~0.1",
    BEFORE "H0+5~0.1 W5+20~0.1:2.4~0.01/1 H25+5~0.1 S30+50:2.8~0.01/0 >0+5~0.1 >25+5~0.1",
    /* what begins before the switch, and what is not over by then */
    BEFORE "S0+100:1.9~0.01/1 >-0.9+5",
    BEFORE "S0+100:1.9~0.01/1 >-1.1+5",
    BEFORE "S0+100:1.9~0.01/1 >-10+11.1",
    BEFORE "S0+100:1.9~0.01/1 >-10+10.9",
    /* phases of no length, and halves of the first */
    BEFORE "T0+0.04:2.8/0*0.5 " AFTER,
    BEFORE "T0+0.06:2.8/0*0.5 " AFTER,
    BEFORE "H0+0.04 " AFTER,
    BEFORE "H0+0.06 " AFTER,
    "S-50+40:2.8/0 T-10+19:2.8/0*0.5 S9+50:2.8/0",
    "S-50+40:2.8/0 T-10+21:2.8/0*0.5 S11+50:2.8/0",
    /* a step that is smaller than what would have been found, unless the core halts for it */
    BEFORE "S0+50:2.9~0.01/1 >0+5 d0.03",
    BEFORE "S0+50:2.87~0.01/1 >0+5 d0.03",
    BEFORE "H0+5 S5+50:2.87~0.01/1 >0+5 d0.03",
    BEFORE "H0+5 S5+50:2.815~0.01/1 >0+5 d0.03",
    /* license levels alone */
    BEFORE "S0+50:2.8~0.01/0l1 >0+5",
    BEFORE "S0+50:2.8~0.01/0l1",
    BEFORE "S0+50:2.8~0.01/0l1 >0+5 v",
    /* throttled; ramps; unknown */
    BEFORE "T0+20~1:2.8~0.01/0*0.5 S20+50:2.8~0.01/0 >0+20~1",
    BEFORE "T0+20~1:2.8~0.01/0 S20+50:2.8~0.01/0 >0+20~1",
    BEFORE "R0+90~1:2.4~0.01/-1 S90+50:1.9~0.01/1 >0+90~1",
    BEFORE "U0+20:2.8/0 S20+50:2.8~0.01/0 >0+20",
    /* neither end may be anything but steady */
    BEFORE "T0+20:2.8/0*0.5",
    "T-50+50:2.8/0*0.5 " AFTER,
    "W-50+50:2.8/0 " AFTER,
};

TEST(phases_made_by_hand)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof made_phases / sizeof *made_phases; i++)
        write_summary(out, made_phases[i]);
    golden_expect(&g, "switches", "made", true);
}

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

/* Samples that lost time are left out behind the fine part of a long recording: "0 halts" and a cost of 0 [0, 0] were
 * told of a step between two of the others, which had been a halt of 18 us. */
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
