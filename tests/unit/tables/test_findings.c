/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings of handmade tables that contradict themselves as those of a guest did whose frequency moves by itself:
 * nothing is reported that lacks limits, that other rows contradict, or that the machine could not see. */
#include "tables/relaxation/relaxation_fit.h"
#include "tables/table/estimates.h"
#include "analysis/stats/threshold.h"
#include "tables/registry.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

#define FLOATS "no steps, the frequency floats: 3 of 8 frequencies had changed on remeasurement"

static void begin(struct table *t, const struct table_kind *k)
{
    table_init(t, k->name, k->columns, k->n_columns);
}

static void put(struct table *t, const char *column, double value, double half)
{
    table_put_limits(t, column, value, value - half, value + half);
}

static void pair(struct table *t, const char *from, const char *to)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", 2);
}

static void says(const struct table_kind *k, const struct table *t, const char *what)
{
    char *text = rig_findings(k, t);
    if (!strstr(text, what))
        fail_msg("%s\nnot in\n%s", what, text);
    free(text);
}

static void says_not(const struct table_kind *k, const struct table *t, const char *what)
{
    char *text = rig_findings(k, t);
    if (strstr(text, what))
        fail_msg("%s\nin\n%s", what, text);
    free(text);
}

/* ---- relaxation ---- */

static void relaxation_row(struct table *t, const char *from, const char *what, double us, double slow, double plain)
{
    pair(t, from, "128fma");
    table_put_text(t, "what", what);
    table_put_text(t, "by", strcmp(what, "toggle") == 0 ? "every 6360 us" : "nothing");
    put(t, "wait_us", us, 30);
    put(t, "slow_ghz", slow, 0.002);
    put(t, "plain_ghz", plain, 0.002);
    put(t, "share", 1, 0);
    if (strcmp(what, "wait") == 0)
        table_put_number(t, "mode", 1);
}

TEST(waits_that_rows_contradict_are_not_reported)
{
    struct table t;
    begin(&t, &table_relaxation);
    relaxation_row(&t, "256fma", "wait", 11335, 3.4, 3.6);
    relaxation_row(&t, "256fma", "toggle", 4376, 3.4, 3.6);
    table_put_number(&t, "duty_us", 4860);
    relaxation_row(&t, "256fma", "toggle", 5599, 3.4, 3.6);
    table_put_number(&t, "duty_us", 6210);
    relaxation_row(&t, "512or", "wait", 670, 3.4, 3.6);
    says(&table_relaxation, &t,
         "Rows contradict each other, so no wait is reported: after 256fma (2 active cores) 11335.0 [11305.0, "
         "11365.0] us, but 4376.0 [4346.0, 4406.0] us in its row toggle");
    says_not(&table_relaxation, &t, "After 256fma the core speeds up");
    says(&table_relaxation, &t, "After 512or the core speeds up again after 670.0 [640.0, 700.0] us (2 active cores).");
    table_set_number(&t, 0, "wait_us", 5590);
    table_set_number(&t, 0, "wait_us_lo", 5500);
    table_set_number(&t, 0, "wait_us_hi", 5700);
    table_set_number(&t, 1, "share_lo", 0.01);
    says(&table_relaxation, &t, "After 256fma the core speeds up again after 5590.0 [5500.0, 5700.0] us");
    table_free(&t);
}

/* Where few of the pauses were long enough for the wait, the longest of them tell how long it is: of this pair. */
TEST(the_longest_pause_of_a_pair_contradicts)
{
    struct table t;
    begin(&t, &table_relaxation);
    relaxation_row(&t, "256fma", "wait", 9000, 3.4, 3.6);
    relaxation_row(&t, "256fma", "toggle", 4376, 3.4, 3.6);
    table_put_number(&t, "duty_us", 4860);
    table_put_number(&t, "share_lo", 0.01);
    says(&table_relaxation, &t,
         "after 256fma (2 active cores) 9000.0 [8970.0, 9030.0] us, but 4376.0 [4346.0, 4406.0]");
    relaxation_row(&t, "512or", "toggle", 670, 3.4, 3.6);
    table_put_number(&t, "duty_us", 7000);
    says(&table_relaxation, &t, "but 4376.0 [4346.0, 4406.0] us in its row toggle");
    relaxation_row(&t, "256fma", "toggle", 8990, 3.4, 3.6);
    table_put_number(&t, "duty_us", 6210);
    table_put_number(&t, "share_lo", 0.01);
    says(&table_relaxation, &t, "After 256fma the core speeds up again after 9000.0 [8970.0, 9030.0] us");
    table_free(&t);
}

TEST(a_wait_takes_a_lower_frequency)
{
    struct table t;
    begin(&t, &table_relaxation);
    relaxation_row(&t, "512fma", "wait", 1175, 3.625, 3.626);
    says(
        &table_relaxation, &t,
        "After 512fma (2 active cores) no wait is reported: before the rise the core runs at 3.625 [3.623, 3.627] GHz, "
        "the same code alone at 3.626 [3.624, 3.628] GHz.");
    says_not(&table_relaxation, &t, "speeds up");
    table_set_number(&t, 0, "slow_ghz_lo", NAN);
    says(&table_relaxation, &t, "have no limits");
    table_set_setting(&t, "frequency_levels", "none: " FLOATS);
    says(&table_relaxation, &t, "No wait is reported: " FLOATS ".\n");
    says_not(&table_relaxation, &t, "1175");
    table_free(&t);
}

/* 2 of 7 are 29 % [4, 71]: no answer. */
TEST(a_verdict_takes_limits_beside_a_half)
{
    static const struct {
        size_t yes, n;
        const char *verdict;
    } cases[] = {{2, 7, "undecided"}, {0, 7, "no"},          {7, 7, "yes"},   {5, 7, "undecided"},
                 {0, 0, "undecided"}, {12, 24, "undecided"}, {20, 24, "yes"}, {4, 24, "no"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct estimate share = threshold_share(cases[i].yes, cases[i].n);
        assert_string_equal(relaxation_verdict(&share), cases[i].verdict);
    }
    struct table t;
    struct estimate share = threshold_share(2, 7);
    begin(&t, &table_relaxation);
    relaxation_row(&t, "512fma", "wait", 670, 1.9, 2.8);
    relaxation_row(&t, "512fma", "rearm", NAN, 1.9, 2.8);
    table_put_text(&t, "by", "64add");
    table_put_limits(&t, "share", share.value, share.lo, share.hi);
    table_put_text(&t, "rearmed", "undecided");
    says(&table_relaxation, &t, "it is undecided whether it is restarted by 64add (29 [4, 71] %)");
    table_set_number(&t, 0, "slow_ghz_hi", 3); /* no wait, nothing to start again */
    says_not(&table_relaxation, &t, "anew");
    table_free(&t);
}

TEST(a_trend_across_its_bound_is_undecided)
{
    struct table t;
    begin(&t, &table_relaxation);
    relaxation_row(&t, "512fma", "wait", 100, 1.9, 2.8);
    relaxation_row(&t, "512fma", "toggle", 100, 1.9, 2.8);
    table_put_number(&t, "duty_us", 150);
    put(&t, "trend_us", 0.5, 0.4);
    says(&table_relaxation, &t, "does not change the wait (by at most 0.9 us");
    put(&t, "trend_us", 0.5, 0.7);
    says(&table_relaxation, &t, "It is undecided whether frequent toggling changes the wait (1 of 1 cases");
    put(&t, "trend_us", 5, 0.7);
    says(&table_relaxation, &t, "Frequent toggling changes the wait (1 of 1 cases)");
    table_free(&t);
}

/* ---- transitions ---- */

static void switch_row(struct table *t, const char *from, const char *to, const char *kind, double from_ghz,
                       double to_ghz)
{
    pair(t, from, to);
    table_put_text(t, "kind", kind);
    put(t, "from_ghz", from_ghz, 0.002);
    put(t, "to_ghz", to_ghz, 0.002);
}

TEST(costs_are_reported_with_limits_or_not_at_all)
{
    struct table t;
    begin(&t, &table_transitions);
    switch_row(&t, "128fma", "512fma", "frequency", 2.8, 1.9);
    put(&t, "latency_us", 60, 0.2);
    put(&t, "overhead_us", 40, 0.3);
    says(&table_transitions, &t,
         "Longest transition: 128fma to 512fma, 60.0 [59.8, 60.2] us with 2 active cores, 2.800 [2.798, 2.802] to "
         "1.900 [1.898, 1.902] GHz; it costs 40.0 [39.7, 40.3] us.\n");
    put(&t, "overhead_us", 0.02, 0.3);
    says_not(&table_transitions, &t, "costs");
    table_put_limits(&t, "overhead_us", 40, NAN, NAN);
    says_not(&table_transitions, &t, "costs");
    put(&t, "overhead_us", 40, 0.3);
    table_put_limits(&t, "latency_us", 60, NAN, NAN);
    says_not(&table_transitions, &t, "Longest");
    put(&t, "latency_us", 60, 0.2);
    table_set_setting(&t, "frequency_levels", "none: " FLOATS);
    says(&table_transitions, &t,
         "No frequency change, wait or cost is reported: " FLOATS ".\n"
         "Of 1 switches between kernels, 0 change the frequency");
    says_not(&table_transitions, &t, "Longest");
    table_free(&t);
}

TEST(a_rise_takes_two_frequencies)
{
    struct table t;
    begin(&t, &table_transitions);
    switch_row(&t, "512fma", "256or", "frequency", 3.626, 3.626);
    put(&t, "latency_us", 10, 0.1);
    put(&t, "wait_us", 1175, 20);
    says_not(&table_transitions, &t, "1175");
    says(&table_transitions, &t, "1 is not supported by its limits or by other rows");
    char *text = rig_printed(&table_transitions, &t);
    assert_non_null(strstr(text, "!: after a wait that its limits or other rows do not support"));
    assert_null(strstr(text, "w: after a wait"));
    free(text);
    put(&t, "from_ghz", 3.4, 0.002);
    says(&table_transitions, &t,
         "Back up: 512fma to 256or waits 1175.0 [1155.0, 1195.0] us at the lower frequency, then takes 10.0 [9.9, "
         "10.1] us with 2 active cores, 3.400 [3.398, 3.402] to 3.626");
    switch_row(&t, "512fma", "64add", "none", 3.626, 3.626); /* as fast as before: which is it? */
    says(&table_transitions, &t,
         "Rows contradict each other; 1 is not reported: 512fma to 256or (frequency, waits 1175.0 ");
    says_not(&table_transitions, &t, "Back up");
    table_free(&t);
}

/* A change, throttling and halts are counted where their limits bear them out. */
TEST(switches_are_counted_by_what_they_show)
{
    static const char *const rows[][2] = {
        {"512mul", "frequency"},    {"512fma", "throttle only"}, {"512add", "throttle only"}, {"256mul", "halt only"},
        {"256fma", "voltage only"}, {"256add", "licence only"},  {"256or", "undecided"},      {"64add", "none"}};
    static const char *const unsupported[] = {"", ", 1 is not supported by its limits or by other rows",
                                              ", 2 are not supported by their limits or by other rows"};
    for (int k = 0; k < 3; k++) {
        struct table t;
        char text[400];
        begin(&t, &table_transitions);
        for (int i = 0; i < 8; i++) {
            switch_row(&t, "128fma", rows[i][0], rows[i][1], 2.8, i == 0 ? 1.9 : 2.8);
            if (i < 4)
                put(&t, "latency_us", 10, i > 0 && i <= k ? 11 : 1);
        }
        table_put_text(&t, "detectable", "1 %");
        snprintf(text, sizeof text,
                 "Of 8 switches between kernels, 1 change the frequency, %d throttle or halt at one frequency, and 1 "
                 "show nothing, in 2 only the voltage or the license level changes, 1 is undecided%s; smallest "
                 "detectable: 1 %%.\n",
                 3 - k, unsupported[k]);
        says(&table_transitions, &t, text);
        table_free(&t);
    }
}

TEST(a_throttle_that_others_do_not_show_is_not_reported)
{
    struct table t;
    begin(&t, &table_transitions);
    switch_row(&t, "128or", "64add", "throttle only", 3.6, 3.6);
    put(&t, "latency_us", 6.2, 0.2);
    says(&table_transitions, &t, "Longest transition: 128or to 64add");
    switch_row(&t, "128fma", "64add", "none", 3.6, 3.6);
    says_not(&table_transitions, &t, "Longest");
    says(&table_transitions, &t,
         "Rows contradict each other; 1 is not reported: 128or to 64add (throttle only, 3.600 ");
    table_free(&t);
}

/* ---- overhead and trigger ---- */

static void overhead_row(struct table *t, const char *to, double high, double low)
{
    pair(t, "128fma", to);
    put(t, "down_us", 20, 1);
    put(t, "up_us", 10, 1);
    put(t, "breakeven_us", 150, 5);
    put(t, "high_ghz", high, 0.002);
    put(t, "low_ghz", low, 0.002);
}

TEST(costs_are_reported_whatever_the_levels_are)
{
    struct table t;
    begin(&t, &table_overhead);
    overhead_row(&t, "512fma", 3.74, 3.5);
    says(&table_overhead, &t,
         "Speeding up pays off only if wide code stays away for at least 150 [145, 155] us (128fma -> 512fma, 2 active "
         "cores).\nGoing down costs "
         "20.0 [19.0, 21.0] us (128fma -> 512fma); coming back up 10.0 [9.0, 11.0] us.\n");
    table_set_setting(&t, "frequency_levels", "none: " FLOATS); /* costs are of ratios within repetitions */
    says(&table_overhead, &t, "Going down costs 20.0");
    table_free(&t);
    begin(&t, &table_overhead);
    pair(&t, "128fma", "512fma");
    put(&t, "down_us", 0.1, 0.9);
    says(&table_overhead, &t, "No switch between the kernels costs more than 1.0 us (upper 95 % limit)");
    table_set_setting(&t, "frequency_levels", "none: all kernels of table frequency share one level");
    says(&table_overhead, &t, "No switch between the kernels costs more than 1.0 us (upper 95 % limit)");
    table_set_setting(&t, "frequency_levels", "none: " FLOATS);
    says(&table_overhead, &t, "No switch");
    table_free(&t);
}

TEST(a_lower_frequency_is_one_by_its_limits)
{
    struct table t;
    begin(&t, &table_trigger);
    table_add_row(&t);
    table_put_text(&t, "kernel", "512fma");
    table_put_number(&t, "active_cores", 2);
    table_put_text(&t, "what", "count");
    table_put_text(&t, "asks", "lower frequency");
    table_put_limits(&t, "count", 500, 400, 600);
    put(&t, "freq_ghz", 3.5, 0.02);
    put(&t, "plain_ghz", 3.53, 0.02);
    says_not(&table_trigger, &t, "512fma triggers");
    says(&table_trigger, &t,
         "1 row that triggers a lower frequency is not reported, because the limits overlap those of plain code: "
         "512fma at "
         "3.500 [3.480, 3.520] GHz, plain code at 3.530 [3.510, 3.550] GHz.");
    put(&t, "plain_ghz", 3.6, 0.02);
    says(&table_trigger, &t, "512fma triggers a lower frequency after 500 instructions (95 %: 400 to 600)");
    table_set_setting(&t, "frequency_levels", "none: " FLOATS);
    says_not(&table_trigger, &t, "512fma triggers");
    table_free(&t);
}

/* ---- what one table says to another ---- */

/* Frequencies that are one are reported with the limits of all of them, in whichever order rows come. */
TEST(equal_frequencies_are_reported_with_the_limits_of_all)
{
    static const char *const kernels[] = {"64add", "256fma", "512fma"};
    static const double half[] = {0.002, 0.004, 0.001};
    for (int first = 0; first < 3; first++) {
        struct table t;
        begin(&t, &table_frequency);
        for (int i = 0; i < 3; i++) {
            int k = (first + i) % 3;
            table_add_row(&t);
            table_put_number(&t, "cpu", 5);
            table_put_text(&t, "kernel", kernels[k]);
            table_put_number(&t, "active_cores", 1);
            put(&t, "freq_ghz", 3.7, half[k]);
        }
        says(&table_frequency, &t, "With 1 active core, all 3 kernels run at 3.700 [3.696, 3.704] GHz.");
        table_free(&t);
    }
}

TEST(levels_are_noted)
{
    struct table f, t;
    char why[SUPPORT_WHY_MAX];
    begin(&t, &table_overhead);
    assert_null(estimates_no_levels(&t));
    assert_false(estimates_levels(NULL, -1, why));
    begin(&f, &table_frequency);
    assert_false(estimates_levels(&f, -1, why));
    for (int level = 0; level < 2; level++) {
        table_add_row(&f);
        table_put_number(&f, "cpu", 5);
        table_put_text(&f, "kernel", level ? "512fma" : "64add");
        table_put_number(&f, "active_cores", 1);
        put(&f, "freq_ghz", 3.7, 0.002);
    }
    estimates_note_levels(&t, &f);
    assert_string_equal(estimates_no_levels(&t), "table frequency shows no levels");
    table_set_number(&f, 0, "level", 0);
    table_set_number(&f, 1, "level", 0);
    estimates_note_levels(&t, &f);
    assert_string_equal(estimates_no_levels(&t), "all kernels of table frequency share one level");
    table_set_number(&f, 1, "level", 1);
    estimates_note_levels(&t, &f);
    assert_null(estimates_no_levels(&t));
    table_set_setting(&f, "steps", FLOATS); /* whatever counters say of levels */
    estimates_note_levels(&t, &f);
    assert_string_equal(estimates_no_levels(&t), FLOATS);
    table_free(&t);
    table_free(&f);
}
