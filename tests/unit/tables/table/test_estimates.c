/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rows of tables can carry: exact cases, at the bounds and beside them. */
#include "tables/registry.h"
#include "tables/table/estimates.h"
#include "tests/support/test.h"

TEST(estimates_agree_within_their_limits)
{
    const struct estimate a = {10, 7, 13}, b = {14.9, 10.9, 18.9}; /* 3 and 4: 5 together */
    assert_true(estimates_agree(&a, &b, 0) && estimates_agree(&b, &a, 0));
    assert_true(estimates_agree(&a, &(struct estimate){16, 12, 20}, 1));
    assert_false(estimates_agree(&a, &(struct estimate){15.1, 11.1, 19.1}, 0));
    assert_false(estimates_agree(&a, &(struct estimate){NAN, 11, 19}, 0));
    assert_true(estimates_above(&b, &(struct estimate){9, 8, 10.8}));
    assert_false(estimates_above(&b, &(struct estimate){9, 8, 10.9}));
    assert_false(estimates_above(&b, &(struct estimate){9, NAN, 10}));
    assert_false(estimates_known(&(struct estimate){NAN, 1, 2}) || estimates_known(&(struct estimate){1, 1, NAN}));
    assert_true(estimates_frequencies_agree(&(struct estimate){3, 2.97, 3.03}, &(struct estimate){3.05, 3.01, 3.09}));
    assert_false(estimates_frequencies_agree(&(struct estimate){3, 2.97, 3.03}, &(struct estimate){3.06, 3.02, 3.1}));
}

TEST(what_nobody_would_call_a_difference)
{
    const struct table_column ghz = {"freq_ghz", "GHz", TABLE_REAL, false, 3},
                              us = {"wait_us", "us", TABLE_REAL, false, 1}, share = {"share", "", TABLE_REAL, false, 3},
                              n = {"n", "", TABLE_WHOLE, false, 0}, ipc = {"ipc", "", TABLE_REAL, false, 3};
    assert_close(estimates_least_difference(&ghz, 2), 0.009, 1e-12);
    assert_close(estimates_least_difference(&us, 20), 0.05, 1e-12);
    assert_close(estimates_least_difference(&us, -100), 0.2, 1e-12);
    assert_close(estimates_least_difference(&share, 1), 0.01, 1e-12);
    assert_close(estimates_least_difference(&ipc, 2), 0.004, 1e-12);
    assert_close(estimates_least_difference(&n, 1000), 0, 0);
    assert_close(estimates_widening(0.025, 5), 1, 1e-9);
    assert_close(estimates_widening(0.005, 0), 2.5758 / 1.95996, 1e-4);
    assert_close(estimates_widening(0.005, 5), 4.0321 / 2.5706, 1e-4);
}

TEST(values_are_written_with_their_limits)
{
    char text[ESTIMATE_TEXT_MAX];
    assert_string_equal(estimates_text(&(struct estimate){42.71, 42.5, -0.04}, 1, text), "42.7 [42.5, 0.0]");
    assert_string_equal(estimates_text(&(struct estimate){42.71, NAN, 43}, 0, text), "43");
    assert_string_equal(estimates_text(&(struct estimate){NAN, 1, 2}, 0, text), "-");
    assert_string_equal(estimates_cores_text(1, text), "1 active core");
    assert_string_equal(estimates_cores_text(16, text), "16 active cores");
}

/* ---- levels ---- */

static void put_level(struct table *t, int cpu, double level)
{
    table_add_row(t);
    table_put_number(t, "cpu", cpu);
    table_put_number(t, "level", level);
}

/* What is noted in a table that was measured on a CPU; "": that there are levels. */
static void expect_noted(const struct table *frequency, const char *cpu, const char *why)
{
    struct table t;
    table_init(&t, table_relaxation.name, table_relaxation.columns, table_relaxation.n_columns);
    assert_null(estimates_no_levels(&t));
    assert_false(estimates_noted_floating(&t));
    table_set_setting(&t, "measured_cpu", cpu);
    estimates_note_levels(&t, frequency);
    assert_string_equal(estimates_no_levels(&t) ? estimates_no_levels(&t) : "", why);
    assert_int_equal(estimates_noted_floating(&t), strncmp(why, "no steps", 8) == 0);
    table_free(&t);
}

TEST(levels_are_noted_or_why_there_are_none)
{
    struct table f;
    table_init(&f, table_frequency.name, table_frequency.columns, table_frequency.n_columns);
    expect_noted(NULL, "1", "table frequency was not measured, so no levels are known");
    expect_noted(&f, "1", "table frequency has no rows, so no levels are known");
    put_level(&f, 1, NAN);
    expect_noted(&f, "1", "table frequency shows no levels");
    put_level(&f, 1, 0);
    put_level(&f, 2, 1);
    expect_noted(&f, "1", "all kernels of table frequency share one level");
    expect_noted(&f, "2", "");
    expect_noted(&f, "7", "all kernels of table frequency share one level"); /* those of the first CPU */
    table_set_setting(&f, "steps of CPU 2", "no steps, it floats");
    expect_noted(&f, "2", "no steps, it floats");
    assert_false(estimates_relative(&f, 2));
    table_set_setting(&f, "steps of CPU 2", "levels by the ratio to 64add");
    expect_noted(&f, "2", "");
    assert_true(estimates_relative(&f, 2));
    assert_false(estimates_relative(&f, 1));
    table_set_setting(&f, "steps", "no steps at all"); /* of the only one */
    expect_noted(&f, "2", "no steps at all");
    table_free(&f);
}

/* ---- waits ---- */

struct wait {
    const char *what;
    double wait_us, half_us, sd_us, mode, duty_us, share_lo, cores;
    const char *rearmed, *by;
};

static void put_wait(struct table *t, const struct wait *w)
{
    table_add_row(t);
    table_put_text(t, "from", "512fma");
    table_put_text(t, "to", "128fma");
    table_put_text(t, "what", w->what);
    table_put_number(t, "active_cores", w->cores);
    table_put_limits(t, "wait_us", w->wait_us, w->wait_us - w->half_us, w->wait_us + w->half_us);
    table_put_number(t, "sd_us", w->sd_us);
    table_put_number(t, "mode", w->mode);
    table_put_number(t, "duty_us", w->duty_us);
    table_put_limits(t, "share", 0.5, w->share_lo, 1);
    table_put_text(t, "rearmed", w->rearmed);
    table_put_text(t, "by", w->by);
    table_put_limits(t, "slow_ghz", 2, 1.9, 2.1);
    table_put_limits(t, "plain_ghz", 3, 2.9, 3.1);
}

TEST(what_supports_a_wait)
{
    static const struct {
        struct wait wait, other;
        enum estimates_wait_support is;
    } cases[] = {
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1},
         {"rearm", 1023.9, 4, 0, 1, NAN, NAN, 1, "yes"},
         WAIT_REPORTED}, /* 2 % and 5 */
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1}, {"rearm", 1025.1, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_CONTRADICTED},
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1},
         {"rearm", 1500, 4, 0, 1, NAN, NAN, 2, "yes"},
         WAIT_REPORTED}, /* other cores */
        {{"wait", 1000, 3, 0, 1, NAN, NAN, NAN}, {"rearm", 1500, 4, 0, 1, NAN, NAN, 2, "yes"}, WAIT_CONTRADICTED},
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1}, {"rearm", 1500, 4, 0, 1, NAN, NAN, 1, "no"}, WAIT_REPORTED},
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1},
         {"rearm", 1500, 4, 0, 1, NAN, NAN, 1, "yes", "interrupt"},
         WAIT_REPORTED},
        {{"wait", 1000, 3, 90, 1, NAN, NAN, 1}, {"rearm", 1094, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_REPORTED},
        {{"wait", 1000, 3, 90, 1, NAN, NAN, 1}, {"rearm", 1096, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_CONTRADICTED},
        {{"wait", 50, 3, 0, 1, NAN, NAN, 1},
         {"rearm", 56.9, 4, 0, 1, NAN, NAN, 1, "yes"},
         WAIT_REPORTED}, /* 2 us and 5 */
        {{"wait", 50, 3, 0, 1, NAN, NAN, 1}, {"rearm", 57.1, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_CONTRADICTED},
        /* twice the wait is the wait, too */
        {{"wait", 1000, 4, 0, 1, NAN, NAN, 1}, {"rearm", 2049.9, 6, 0, 1, NAN, NAN, 1, "yes"}, WAIT_REPORTED},
        {{"wait", 1000, 4, 0, 1, NAN, NAN, 1}, {"rearm", 2050.1, 6, 0, 1, NAN, NAN, 1, "yes"}, WAIT_CONTRADICTED},
        {{"wait", 2000, 8, 0, 2, NAN, NAN, 1}, {"rearm", 1000, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_REPORTED},
        {{"wait", 2000, 8, 180, 2, NAN, NAN, 1}, {"rearm", 1097, 4, 0, 1, NAN, NAN, 1, "yes"}, WAIT_CONTRADICTED},
        /* the only pause is the longest one */
        {{"wait", 1000, 3, 0, 1, NAN, NAN, 1}, {"toggle", 500, 4, 0, 1, 900, 0.1, 1}, WAIT_CONTRADICTED},
        {{"wait", 0, 3, 0, 1, NAN, NAN, 1}, {"toggle", 500, 4, 0, 1, 900, 0.1, 1}, WAIT_NO_LIMITS},
        {{"wait", 1000, NAN, 0, 1, NAN, NAN, 1}, {"toggle", 500, 4, 0, 1, 900, 0.1, 1}, WAIT_NO_LIMITS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        size_t against = 77;
        table_init(&t, table_relaxation.name, table_relaxation.columns, table_relaxation.n_columns);
        put_wait(&t, &cases[i].wait);
        put_wait(&t, &cases[i].other);
        if (estimates_wait_support(&t, 0, &against) != cases[i].is)
            fail_msg("case %zu: %d", i, (int)estimates_wait_support(&t, 0, &against));
        assert_int_equal(against, cases[i].is == WAIT_CONTRADICTED ? 1 : 2);
        if (cases[i].is == WAIT_REPORTED) {
            table_set_limits(&t, 0, "plain_ghz", 2.3, 2.1, 2.5);
            assert_int_equal(estimates_wait_support(&t, 0, &against), WAIT_NOT_SLOWER);
            table_set_number(&t, 0, "plain_ghz_lo", NAN);
            assert_int_equal(estimates_wait_support(&t, 0, &against), WAIT_NO_LIMITS);
        }
        table_free(&t);
    }
}

/* Of two pauses the shorter one tells where it is longer than the wait, or the frequency rises in most of them. */
TEST(which_pauses_tell_a_wait)
{
    static const struct {
        double duty_us, share_lo;
        bool tells;
    } cases[] = {{999, 0.5, false}, {1000, 0.5, true}, {999, 0.51, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        size_t against;
        table_init(&t, table_relaxation.name, table_relaxation.columns, table_relaxation.n_columns);
        put_wait(&t, &(struct wait){"wait", 1000, 3, 0, 1, NAN, NAN, 1});
        put_wait(&t, &(struct wait){"toggle", 500, 4, 0, 1, cases[i].duty_us, cases[i].share_lo, 1});
        put_wait(&t, &(struct wait){"toggle", 1000, 4, 0, 1, 5000, 1, 1});
        assert_int_equal(estimates_wait_support(&t, 0, &against), cases[i].tells ? WAIT_CONTRADICTED : WAIT_REPORTED);
        table_free(&t);
    }
}
