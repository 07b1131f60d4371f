/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies behind the fine part of a recording, by phases and short traces made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/phases/joined.h"
#include "analysis/phases/tail/tail.h"
#include "tests/support/close_to.h"
#include "tests/support/phases_rig.h"

/* ---- fine parts made by hand ---- */

/* From when on the second kernel ran undisturbed, where a phase of 3 GHz and 2 instructions a cycle comes before one of
 * these, in a recording that ends with its fine part. */
static double undisturbed_beside(double ghz, double ipc)
{
    struct phase phase[] = {rig_phase(PHASE_STEADY, -20, 20, 3, 1), rig_phase(PHASE_STEADY, 0, 50, 3, 2),
                            rig_phase(PHASE_STEADY, 50, 100, ghz, ipc)};
    const struct phases fine = {.phases = phase, .n_phases = 3};
    struct trace t;
    struct tail x;
    trace_init(&t);
    assert_int_equal(trace_set(&t, "fine_us", "150"), 0);
    assert_int_equal(tail_find(&t, &fine, &x), 0);
    trace_free(&t);
    return x.after;
}

/* A ramp that the fine part has cut into steps may begin where frequency and rate both begin to differ by little. */
static void a_ramp_begins_where_both_are_near(void **state)
{
    (void)state;
    assert_true(undisturbed_beside(3.03, 2.02) == 0);
    assert_true(undisturbed_beside(3.06, 2) == 50);
    assert_true(undisturbed_beside(3, 2.04) == 50);
    assert_true(undisturbed_beside(3.06, 2.04) == 50);
}

/* ---- traces made by hand ---- */

/* Samples that end at these times, of one repetition, with this frequency and rate (0: no such channel). */
static void add_run(struct trace *t, uint32_t run, const double *us, size_t n, double ghz, double ipc)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trace_append(t, run, us[i]), 0);
        if (t->channel[TRACE_FREQ])
            t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
        if (t->channel[TRACE_IPC])
            t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
    }
}

static void make_trace(struct trace *t, bool freq, bool ipc)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t), 0);
    assert_int_equal(freq ? trace_add_channel(t, TRACE_FREQ) : 0, 0);
    assert_int_equal(ipc ? trace_add_channel(t, TRACE_IPC) : 0, 0);
}

static void the_trace_says_where_its_fine_part_ends(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double us, period;
    } cases[] = {{NULL, NAN, 1}, {"150", 150, 150}, {"0.5", 0.5, 0.5}, {"0", NAN, 1}, {"-1", NAN, 1}, {"soon", NAN, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t;
        trace_init(&t);
        if (cases[i].text) {
            assert_int_equal(trace_set(&t, "fine_us", cases[i].text), 0);
            assert_int_equal(trace_set(&t, "period_us", cases[i].text), 0);
        }
        if (isnan(cases[i].us))
            assert_true(isnan(tail_begins(&t)));
        else
            assert_close(tail_begins(&t), cases[i].us, 0);
        assert_close(tail_period_us(&t), cases[i].period, 0);
        trace_free(&t);
    }
}

/* It ends half a period behind: samples may end a little later than they should. */
static void the_fine_part_is_a_trace_of_its_own(void **state)
{
    (void)state;
    const double us[] = {-2, 0, 9.9, 11, 11.1, 20};
    struct trace t, fine;
    make_trace(&t, true, false);
    assert_int_equal(trace_set(&t, "period_us", "2"), 0);
    assert_int_equal(trace_add_extra(&t, "unknown"), 0);
    add_run(&t, 3, us, 6, 2.5, 0);
    add_run(&t, 4, us + 1, 5, 2.6, 0);
    assert_int_equal(tail_fine_part(&t, 10, &fine), 0);
    assert_int_equal(fine.n, 4 + 3);
    assert_int_equal(fine.n_extra, 0);
    for (size_t i = 0; i < 7; i++) {
        assert_close(fine.time_us[i], i < 4 ? us[i] : us[i - 3], 0);
        assert_int_equal(fine.run[i], i < 4 ? 3 : 4);
        assert_close((double)fine.channel[TRACE_FREQ][i], i < 4 ? 2.5 : 2.6, 1e-6);
    }
    assert_null(fine.channel[TRACE_IPC]);
    assert_string_equal(trace_get(&fine, "period_us"), "2");
    part_free(&fine);
    assert_int_equal(fine.n, 0);
    trace_free(&t);
    trace_init(&t); /* of one repetition, without a column that says so */
    add_run(&t, 0, us, 6, 0, 0);
    assert_int_equal(tail_fine_part(&t, 10, &fine), 0);
    assert_int_equal(fine.n, 3);
    assert_null(fine.run);
    part_free(&fine);
    trace_free(&t);
}

/* Half of the repetitions that are used last so long: neither discarded ones nor readings of the voltage alone are. */
static void most_repetitions_end_where_half_do(void **state)
{
    (void)state;
    struct trace t;
    struct phases p = {.n_phases = 0};
    make_trace(&t, true, false);
    assert_close(tail_usual_end(&t, &p), 0, 0);
    for (uint32_t k = 0; k < 3; k++)
        add_run(&t, k, (const double[]){0, 100 + 100 * k}, 2, 3, 0);
    add_run(&t, 3, (const double[]){900}, 1, NAN, 0);
    assert_close(tail_usual_end(&t, &p), 200, 0);
    assert_int_equal(phases_discard(&p, 1, "disturbed"), 0);
    assert_int_equal(phases_discard(&p, 2, "disturbed"), 0);
    assert_close(tail_usual_end(&t, &p), 100, 0);
    phases_free(&p);
    trace_free(&t);
}

static void steady_phases_of_no_rate_are_doubted(void **state)
{
    (void)state;
    const struct {
        struct phase ph;
        bool rates, doubted;
    } cases[] = {
        {rig_phase(PHASE_STEADY, 0, 50, 3, NAN), true, true},
        {rig_phase(PHASE_STEADY, -1, 50, 3, NAN), true, true},
        {rig_phase(PHASE_STEADY, -1.1, 50, 3, NAN), true, false},
        {rig_phase(PHASE_STEADY, 0, 50, 3, NAN), false, false},
        {rig_phase(PHASE_STEADY, 0, 50, 3, 2), true, false},
        {rig_phase(PHASE_SLOW, 0, 50, 3, NAN), true, true},
        {rig_phase(PHASE_RAMP, 0, 50, 3, NAN), true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t;
        struct phase ph = cases[i].ph;
        struct phases fine = {.phases = &ph, .n_phases = 1};
        make_trace(&t, true, cases[i].rates);
        tail_doubt_rates(&t, &fine);
        assert_int_equal(ph.kind, cases[i].doubted ? PHASE_UNKNOWN : cases[i].ph.kind);
        assert_string_equal(ph.why, cases[i].doubted ? "the code gets slower within it, at the same frequency" : "");
        trace_free(&t);
    }
}

/* From when on, of phases of the fine part; those of several rates tell no beginning. */
static void what_disturbs_is_over_before_a_ramp_begins(void **state)
{
    (void)state;
    const struct {
        enum phase_kind before, last;
        double second, after;
    } cases[] = {
        {PHASE_STEADY, PHASE_STEADY, 2, 0},     {PHASE_UNKNOWN, PHASE_STEADY, 2, 0},
        {PHASE_RAMP, PHASE_SLOW, 2, 0},         {PHASE_THROTTLE, PHASE_STEADY, 2, 50},
        {PHASE_HALT, PHASE_STEADY, 2, 50},      {PHASE_STEADY, PHASE_THROTTLE, 2, 50},
        {PHASE_STEADY, PHASE_STEADY, NAN, 150},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct phase phase[] = {rig_phase(PHASE_STEADY, -20, 20, 3, 1), rig_phase(cases[i].before, 0, 50, 3, 2),
                                rig_phase(cases[i].last, 50, 100, 3, cases[i].second)};
        const struct phases fine = {.phases = phase, .n_phases = 3};
        struct trace t;
        struct tail x;
        make_trace(&t, true, true);
        assert_int_equal(trace_set(&t, "fine_us", "150"), 0);
        assert_int_equal(tail_find(&t, &fine, &x), 0);
        assert_close(x.after, cases[i].after, 0);
        assert_close(x.begin, 150, 0);
        assert_int_equal(x.n_runs, 0);
        trace_free(&t);
    }
}

static double steadily(double us)
{
    (void)us;
    return 2;
}

static double ramping(double us)
{
    return 2 - 0.4 * exp(-us / 80);
}

/* Of eight samples each, whose period grows from 1 us by one every 256 us, to 250 us; at least one, at most 240. */
static void bins_hold_as_many_samples(void **state)
{
    (void)state;
    const double two = 256 * expm1(16.0 / 256), uniform_two = 256 * expm1(4.0 / 256), grown = 256 * 249.0;
    const double many = grown + 250 * (8 * 185 - 256 * log(250)), most = grown + 250 * (8 * 240 - 256 * log(250));
    const struct {
        double us, after;
        bool uniform;
        size_t bins;
    } cases[] = {
        {1, 20, false, 1},
        {two - 0.01, 20, false, 1},
        {two + 0.01, 20, false, 2},
        {two + 0.01, 19, false, 12 + 2}, /* twelve of the fine part, where there is some of it */
        {uniform_two - 0.01, 20, true, 1},
        {uniform_two + 0.01, 20, true, 2},
        {many - 5, 20, false, 184},
        {many + 5, 20, false, 185},
        {most - 5, 20, false, 239},
        {most + 5, 20, false, 240},
        {2 * most, 20, false, 240},
    };
    const struct phases none = {.n_phases = 0};
    struct trace t;
    make_trace(&t, true, true);
    add_run(&t, 0, (const double[]){0, 1e6}, 2, 3, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tail x = {.begin = 20, .end = 20 + cases[i].us, .after = cases[i].after, .uniform = cases[i].uniform};
        struct tail_series s;
        assert_int_equal(tail_gather(&t, &none, &x, &s), 0);
        assert_int_equal(s.n_bins, cases[i].bins);
        assert_true(s.half[TAIL_FREQ] == 0 && s.half[TAIL_RATE] == 0); /* one repetition tells nothing of others */
        tail_free_series(&s);
    }
    trace_free(&t);
}

/* A recording of this length at 1 us until 20 us, then at a period that grows as it does when recorded. */
static void add_long_run(struct trace *t, uint32_t run, double end, double (*rate)(double us))
{
    for (double us = -5, period = 1; us <= end; us += period) {
        period = us < 20 ? 1 : 1 + (us - 20) / 256;
        add_run(t, run, &us, 1, 3, rate(us - 0.5 * period));
    }
}

static void make_long(struct trace *t, double (*rate)(double us))
{
    make_trace(t, true, true);
    assert_int_equal(trace_set(t, "fine_us", "20"), 0);
    assert_int_equal(trace_set(t, "period_us", "1"), 0);
    for (uint32_t k = 0; k < 4; k++)
        add_long_run(t, k, 700, rate);
}

static void a_long_recording_is_described(void **state)
{
    (void)state;
    struct phase phase[] = {rig_phase(PHASE_STEADY, -5, 5, 3, 1), rig_phase(PHASE_STEADY, 0, 20, 3, 1.6)};
    struct phases fine = {.phases = phase, .n_phases = 2};
    struct trace t;
    struct tail x;
    make_long(&t, ramping);
    add_long_run(&t, 4, 19, steadily); /* ends with the fine part: shows nothing of what is behind */
    assert_int_equal(tail_find(&t, &fine, &x), 0);
    assert_int_equal(x.n_runs, 4);
    assert_true(x.begin == 20 && x.after == 0 && x.samples == 4 * 352);
    assert_int_equal(x.course[TAIL_FREQ].kind, TAIL_CONSTANT);
    assert_close(x.course[TAIL_FREQ].to.value, 3, 1e-6);
    assert_int_equal(x.course[TAIL_RATE].kind, TAIL_RAMP);
    assert_close(x.course[TAIL_RATE].tau.value, 80, 2);
    assert_close(x.course[TAIL_RATE].to.value, 2, 0.005);
    trace_free(&t);
}

/* Below those beside it by 0.4 %, and where the frequency is told by chains above them, too. */
static void samples_that_lost_time_are_left_out(void **state)
{
    (void)state;
    struct phase phase[] = {rig_phase(PHASE_STEADY, -5, 5, 3, 1), rig_phase(PHASE_STEADY, 0, 20, 3, 2)};
    struct phases fine = {.phases = phase, .n_phases = 2};
    const struct {
        double ghz, ipc;
        size_t lost, by_chains;
    } cases[] = {{1, 0.9962, 0, 0}, {1, 0.9958, 1, 1}, {0.9958, 1, 1, 1}, {1, 1.0042, 0, 0}, {1.0042, 1, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int chains = 0; chains < 2; chains++) {
            struct trace t;
            struct tail x;
            make_long(&t, steadily);
            assert_int_equal(chains ? trace_set(&t, "frequency", "instantaneous") : 0, 0);
            t.channel[TRACE_FREQ][100] *= (float)cases[i].ghz;
            t.channel[TRACE_IPC][100] *= (float)cases[i].ipc;
            assert_int_equal(tail_find(&t, &fine, &x), 0);
            assert_int_equal(x.instant, chains);
            assert_int_equal(x.lost, chains ? cases[i].by_chains : cases[i].lost);
            /* short chains do not tell, and this ends before they are long */
            assert_int_equal(x.course[TAIL_RATE].kind, chains ? TAIL_MISSING : TAIL_CONSTANT);
            assert_true(chains || fabs(x.course[TAIL_RATE].to.value - 2) < 1e-6);
            trace_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_begins_where_both_are_near),
        cmocka_unit_test(the_trace_says_where_its_fine_part_ends),
        cmocka_unit_test(the_fine_part_is_a_trace_of_its_own),
        cmocka_unit_test(most_repetitions_end_where_half_do),
        cmocka_unit_test(steady_phases_of_no_rate_are_doubted),
        cmocka_unit_test(what_disturbs_is_over_before_a_ramp_begins),
        cmocka_unit_test(bins_hold_as_many_samples),
        cmocka_unit_test(a_long_recording_is_described),
        cmocka_unit_test(samples_that_lost_time_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
