/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The relaxation table on models whose waits are known: waits within 1 us, shares
 * within their limits, and nothing where there is nothing.
 */
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* ---- the table ---- */

static void measure(const struct model *m, const char *kernel, bool brief, struct table *out)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = brief;
    o.seed = 3;
    if (kernel)
        o.kernels[o.n_kernels++] = rig_payload(kernel);
    rig_measure(&table_relaxation, m, &o, out);
}

/* The only row with these fields that is not half way up; mode 0, `by` NULL: any. SIZE_MAX: none. */
static size_t row(const struct table *t, const char *what, const char *from, const char *by, int mode)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (strcmp(table_text(t, i, "what"), what) != 0 || strcmp(table_text(t, i, "from"), from) != 0 ||
            (by && strcmp(table_text(t, i, "by"), by) != 0) || (mode && table_number(t, i, "mode") != mode) ||
            table_says(t, i, "to", "256fma"))
            continue;
        if (found != SIZE_MAX)
            fail_msg("two rows %s %s", what, from);
        found = i;
    }
    return found;
}

static void check_wait(const struct table *t, const char *from, int mode, double wait, double share)
{
    size_t i = row(t, "wait", from, NULL, mode);
    assert_true(i != SIZE_MAX);
    double us = table_number(t, i, "wait_us"), slack = fmax(1, 0.01 * wait);
    if (!(fabs(us - wait) < slack))
        fail_msg("wait %.1f us, found %.1f", wait, us);
    assert_true(table_number(t, i, "wait_us_lo") - slack < wait && table_number(t, i, "wait_us_hi") + slack > wait);
    assert_true(table_number(t, i, "share_lo") <= share && table_number(t, i, "share_hi") >= share);
    assert_true(table_number(t, i, "n") >= 3);
}

static void check_rearm(const struct table *t, const char *from, const char *by, bool yes, double wait)
{
    size_t i = row(t, "rearm", from, by, 0);
    if (i == SIZE_MAX)
        fail_msg("no row %s by %s", from, by);
    if (strcmp(table_text(t, i, "rearmed"), yes ? "yes" : "no") != 0)
        fail_msg("%s by %s: %s", from, by, table_text(t, i, "rearmed"));
    assert_true(fabs(table_number(t, i, "wait_us") - (yes ? wait : wait / 2)) < 5);
}

/* Toggling with pauses just below and just above the wait. */
static void check_toggling(const struct table *t, const char *from, double wait, double share)
{
    size_t found = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        double duty = table_number(t, i, "duty_us");
        if (strcmp(table_text(t, i, "what"), "toggle") != 0 || strcmp(table_text(t, i, "from"), from) != 0)
            continue;
        found++;
        if (duty < wait) {
            assert_true(duty > 0.85 * wait && table_number(t, i, "share") == 0);
            assert_true(isnan(table_number(t, i, "wait_us")) && isnan(table_number(t, i, "trend_us")));
            assert_string_equal(table_text(t, i, "rearmed"), "yes");
        } else {
            assert_true(duty < 1.2 * wait);
            assert_true(table_number(t, i, "share_lo") <= share && share <= table_number(t, i, "share_hi"));
            assert_true(fabs(table_number(t, i, "wait_us") - wait) < 1.5);
            /* the wait does not change from toggle to toggle */
            assert_true(fabs(table_number(t, i, "trend_us")) < 0.7);
            assert_string_equal(table_text(t, i, "rearmed"), "no");
        }
    }
    assert_int_equal(found, 2);
}

TEST(the_published_waits_come_back)
{
    static const char *const from[] = {"256fma", "512or", "512fma"};
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure(&m, NULL, false, &t);
    for (size_t k = 0; k < 3; k++) {
        double share = k == 1 ? 0.1 : 0; /* of doubled waits: that is of the class of light 512 */
        check_wait(&t, from[k], 1, m.wait_us, 1 - share);
        check_toggling(&t, from[k], m.wait_us, 1 - share);
        check_rearm(&t, from[k], "interrupt", true, m.wait_us);
        check_rearm(&t, from[k], from[k], true, m.wait_us);
        check_rearm(&t, from[k], "64add", false, m.wait_us);
        check_rearm(&t, from[k], "128or", false, m.wait_us);
        check_rearm(&t, from[k], "256or", false, m.wait_us);
    }
    check_wait(&t, "512or", 2, 2 * m.wait_us, 0.1);
    assert_true(row(&t, "wait", "512fma", NULL, 2) == SIZE_MAX && row(&t, "wait", "256fma", NULL, 2) == SIZE_MAX);
    /* code that requests the same level keeps it; code that requests a lower one does not */
    check_rearm(&t, "256fma", "512or", true, m.wait_us);
    check_rearm(&t, "512or", "256fma", true, m.wait_us);
    check_rearm(&t, "512fma", "512or", false, m.wait_us);
    assert_true(fabs(table_number(&t, row(&t, "wait", "512fma", NULL, 1), "slow_ghz") - 1.9) < 0.01);
    assert_true(fabs(table_number(&t, row(&t, "wait", "512fma", NULL, 1), "fast_ghz") - 2.8) < 0.01);
    size_t half_way = 0, seen = 0;
    for (size_t i = 0; i < t.n_rows; i++)
        if (table_says(&t, i, "what", "wait") && table_says(&t, i, "to", "256fma") && ++seen)
            half_way = i;
    assert_int_equal(seen, 1);
    assert_true(table_says(&t, half_way, "from", "512fma"));
    assert_true(fabs(table_number(&t, half_way, "wait_us") - m.wait_us) < 0.01 * m.wait_us);
    assert_true(fabs(table_number(&t, half_way, "slow_ghz") - 1.9) < 0.01);
    assert_true(fabs(table_number(&t, half_way, "fast_ghz") - 2.4) < 0.01);
    table_free(&t);
}

/* Toggling with such a wait takes longer than a recording of three pilots, for which there once was room. */
TEST(a_long_wait_has_room)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.wait_us = 3900;
    m.wait_sigma_us = 2;
    m.n_interrupts = 0; /* one restarts a wait this long nearly always */
    measure(&m, "512fma", true, &t);
    check_wait(&t, "512fma", 1, m.wait_us, 1);
    size_t toggles = 0;
    for (size_t i = 0; i < t.n_rows; i++)
        toggles += strcmp(table_text(&t, i, "what"), "toggle") == 0;
    assert_int_equal(toggles, 2);
    table_free(&t);
}

/* Interrupts of 1 us, many of which cannot be seen, begin waits again: no wait is double. */
TEST(interrupts_that_cannot_be_seen_double_no_wait)
{
    for (unsigned seed = 0; seed < rng_rounds(2); seed++) {
        struct tables_options o;
        struct model m;
        struct table t;
        rig_load("xeon-gold-6130", &m);
        m.interrupts[0].rate_hz = 1000;
        m.interrupts[0].min_us = 0.3;
        m.interrupts[0].max_us = 1.5;
        tables_options_default(&o);
        o.brief = true;
        o.runs = 200;
        o.seed = seed;
        o.kernels[o.n_kernels++] = rig_payload("256fma");
        rig_measure(&table_relaxation, &m, &o, &t);
        size_t i = row(&t, "wait", "256fma", NULL, 1);
        assert_true(i != SIZE_MAX && fabs(table_number(&t, i, "wait_us") - m.wait_us) < 1);
        assert_true(row(&t, "wait", "256fma", NULL, 2) == SIZE_MAX);
        table_free(&t);
    }
}

/* The reason of every missing entry begins like this. */
static void check_missing(const struct table *t, const char *why)
{
    assert_true(t->n_missing > 0);
    for (size_t i = 0; i < t->n_missing; i++)
        if (!strstr(t->missing[i].why, why))
            fail_msg("'%s' is not about '%s'", t->missing[i].why, why);
}

TEST(short_waits_are_measured_or_refused_for_what_they_are)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.wait_us = 60;
    measure(&m, "512fma", true, &t);
    check_wait(&t, "512fma", 1, m.wait_us, 1);
    for (size_t i = 0; i < t.n_rows; i++)
        if (strcmp(table_text(&t, i, "what"), "toggle") == 0)
            assert_true(table_number(&t, i, "share") == (table_number(&t, i, "duty_us") > m.wait_us));
    check_missing(&t, "the wait is shorter than 80 us");
    table_free(&t);
    static const double early[] = {20, 7, 3, 0.5};
    for (size_t k = 0; k < sizeof early / sizeof *early; k++) {
        m.wait_us = early[k];
        measure(&m, "512fma", true, &t);
        assert_int_equal(t.n_rows, 0);
        check_missing(&t, "the frequency rises within 40 us");
        table_free(&t);
    }
}

/* Without counters few samples have a frequency, and the others' rates are made frequencies of: by the ratio of the
 * code that waits, not of the wide code, which does less in a cycle here and runs for longer than the waits take. */
TEST(slower_wide_code_moves_no_rise)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.wait_us = 90;
    m.no_counters = m.fixed_work = true;
    m.counts_licenses = m.counts_throttle = false;
    for (size_t i = 0; i < m.n_kernels; i++)
        if (!strcmp(m.kernels[i].name, "512fma"))
            m.kernels[i].throughput = 1;
    measure(&m, "512fma", true, &t);
    size_t toggles = 0;
    for (size_t i = 0; i < t.n_rows; i++)
        if (strcmp(table_text(&t, i, "what"), "toggle") == 0) {
            assert_true(table_number(&t, i, "share") == (table_number(&t, i, "duty_us") > m.wait_us));
            toggles++;
        }
    assert_int_equal(toggles, 2);
    table_free(&t);
}

TEST(a_rise_by_less_than_a_hundredth_is_reported)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    for (size_t i = 0; i < m.n_turbo; i++)
        for (int level = 0; level < 3; level++)
            m.turbo[i].ghz[level] = 3 - 0.01 * level;
    measure(&m, "512fma", true, &t);
    assert_int_equal(t.n_rows, 0);
    check_missing(&t, "rises by less than 1 %");
    table_free(&t);
}

/* The i5 runs all at one frequency while all its cores are active; by default it is measured with one then. */
TEST(few_cores_are_tried_where_all_show_nothing)
{
    struct tables_options o;
    struct model m;
    struct table t;
    char *text;
    rig_load("core-i5-1035g4", &m);
    measure(&m, "512fma", true, &t);
    check_wait(&t, "512fma", 1, m.wait_us, 1);
    for (size_t i = 0; i < t.n_rows; i++)
        assert_true(table_number(&t, i, "active_cores") == 1);
    check_missing(&t, "with 1 active core there is one");
    text = rig_findings(&table_relaxation, &t);
    assert_non_null(strstr(text, "] us (1 active core)"));
    free(text);
    table_free(&t);
    tables_options_default(&o);
    o.brief = true;
    o.kernels[o.n_kernels++] = rig_payload("512fma");
    o.active[o.n_active++] = 0; /* who chooses the number gets that one */
    rig_measure(&table_relaxation, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    check_missing(&t, "--active-cores 1");
    table_free(&t);
}

/* The two extremes of what is said of tiles: their limit ends with TILERELEASE, at once, or stays while they are in
 * use. Counters are not needed to tell. */
TEST(tiles_left_dirty_are_held_against_released_ones)
{
    struct model m;
    struct table t;
    rig_load("xeon-platinum-8480+", &m);
    m.classes[model_class_index(&m, "amx")].wait_us = 0.1;
    for (int counters = 1; counters >= 0; counters--) {
        m.no_counters = !counters;
        measure(&m, "amx", true, &t);
        assert_int_equal(t.n_rows, 0);
        check_missing(&t, counters ? "too early to time here" : "");
        table_free(&t);
        measure(&m, "amx-dirty", true, &t);
        assert_int_equal(t.n_rows, 0);
        check_missing(&t, "not returned within 5000 us: tiles left dirty keep the core below");
        assert_true(fabs(table_missing_number(&t, 0, "slow_ghz") - 2.2) < 0.01);
        assert_true(fabs(table_missing_number(&t, 0, "plain_ghz") - 3) < 0.01);
        table_free(&t);
    }
    m.n_dirty = 0; /* nor do dirty tiles keep it */
    measure(&m, "amx-dirty", true, &t);
    for (size_t i = 0; i < t.n_missing; i++)
        assert_null(strstr(t.missing[i].why, "not returned"));
    table_free(&t);
}

TEST(how_it_was_measured_is_reported)
{
    static const char *const settings[] = {"runs",       "runs_rearm", "runs_toggle", "period_us", "warmup_us",
                                           "observe_us", "search_us",  "burst_us",    "toggle_us"};
    struct tables_options o;
    struct model m;
    struct table t;
    tables_options_default(&o);
    o.brief = true;
    o.period_us = 4;
    o.kernels[o.n_kernels++] = rig_payload("512fma");
    rig_load("xeon-gold-6130", &m);
    rig_measure(&table_relaxation, &m, &o, &t);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        assert_non_null(table_setting(&t, settings[i]));
    assert_string_equal(table_setting(&t, "period_us"), "4");
    assert_string_equal(table_setting(&t, "runs"), "60");
    check_wait(&t, "512fma", 1, m.wait_us, 1);
    table_free(&t);
    o.period_us = 20; /* would measure 673 us */
    rig_measure(&table_relaxation, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    check_missing(&t, "sampling period");
    table_free(&t);
}

/* Where no frequency changes there is no row, and a reason. */
TEST(nothing_is_invented)
{
    static const char *const none[] = {"generic-no-licence", "core-i9-11900k"};
    for (size_t k = 0; k < 2; k++) {
        struct model m;
        struct table t;
        rig_load(none[k], &m);
        measure(&m, NULL, true, &t);
        assert_int_equal(t.n_rows, 0);
        assert_true(t.n_missing > 0);
        for (size_t i = 0; i < t.n_missing; i++)
            assert_non_null(strstr(t.missing[i].why, "no wait was seen"));
        table_free(&t);
    }
}

/* Neighbors, a clock that floats, no counters: rises in noise passed for waits on which repetitions disagree. */
TEST(a_busy_guest_is_decided)
{
    struct model m;
    struct table t;
    rig_load("cloud-guest", &m);
    measure(&m, "512fma", true, &t);
    assert_int_equal(t.n_rows, 0);
    for (size_t i = 0; i < t.n_missing; i++)
        if (!strstr(t.missing[i].why, "the same before and after the switch"))
            fail_msg("%s", t.missing[i].why);
    table_free(&t);
}

TEST(the_same_seed_gives_the_same_text)
{
    struct model m;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        struct table t;
        rig_load("xeon-w-2104", &m);
        measure(&m, NULL, true, &t);
        text[i] = rig_printed(&table_relaxation, &t);
        table_free(&t);
    }
    assert_string_equal(text[0], text[1]);
    assert_non_null(strstr(text[0], "modelled"));
    assert_non_null(strstr(text[0], "After 512or the core speeds up again after 66"));
    free(text[0]);
    free(text[1]);
}

/* A single interrupted wait tells nothing: a row that leaves the question open has no time. */
TEST(undecided_restarts_have_no_wait)
{
    struct tables_options o;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.brief = true;
    rig_measure(&table_relaxation, &m, &o, &t);
    size_t i = row(&t, "rearm", "512or", "interrupt", 0);
    assert_string_equal(table_text(&t, i, "rearmed"), "undecided");
    assert_true(table_number(&t, i, "n") == 1 && isnan(table_number(&t, i, "wait_us")));
    table_free(&t);
}
