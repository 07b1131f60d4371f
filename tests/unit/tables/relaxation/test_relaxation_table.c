/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The relaxation table on models whose waits are known, and its analysis on made-up traces: waits within 1 us, shares
 * within their limits, and nothing where there is nothing.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/relaxation/relaxation.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"

/* ---- one repetition ---- */

static void add_sample(struct trace *t, double time_us, double freq, double ipc)
{
    assert_int_equal(trace_append(t, 0, time_us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)freq;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
}

/*
 * Samples of 2 us over 300 us at 2.4, from `rise` on at 2.8 GHz, after a halt (0: none); time lost at `lost_at` (NaN:
 * none) for 5 us. The reading that is due in lost time is taken at its end.
 */
static void make_rise(struct trace *t, double rise, double halt, double lost_at)
{
    double now = 0;
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    add_sample(t, 0, 2.4, 2);
    while (now < 300) {
        double end = floor(now / 2 + 1e-9) * 2 + 2, work = 0;
        if (rise >= now && rise < end && halt > end - rise)
            end = rise + halt;
        if (lost_at >= now && lost_at < end)
            end = fmax(end, lost_at + 5);
        /* cycles, in thousands: step by step of 10 ns */
        for (double at = now + 0.005; at < end; at += 0.01)
            if (!(at >= lost_at && at < lost_at + 5) && !(at >= rise && at < rise + halt))
                work += 0.01 * (at < rise ? 2.4 : 2.8);
        add_sample(t, end, work / (end - now), 2);
        now = end;
    }
}

static void check_rise(double rise, double halt, double lost_at)
{
    struct trace t;
    struct relaxation_rise found;
    const struct relaxation_levels levels = {.slow = 2.4, .fast = 2.8};
    make_rise(&t, rise, halt, lost_at);
    assert_int_equal(relaxation_find(&t, sights_span(&t, 0), 0, 300, &levels, &found), 0);
    if (rise < 300 && !(fabs(found.at_us - rise) < 0.15))
        fail_msg("a rise at %.2f with a halt of %.1f us: found %.2f", rise, halt, found.at_us);
    assert_true(rise < 300 || isnan(found.at_us));
    assert_int_equal(found.interruptions, isnan(lost_at) ? 0 : 1);
    assert_true(isnan(lost_at) || fabs(found.first_us - lost_at) < 0.15);
    trace_free(&t);
}

static void a_rise_is_placed_to_a_fraction_of_the_period(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int i = 0; i < 60; i++) {
        double rise = rng_range(&r, 120, 200);
        check_rise(rise, 10, NAN);
        check_rise(rise, 0, NAN);
        check_rise(rise, 10, rng_range(&r, 10, rise - 10));
        check_rise(INFINITY, 0, i % 2 ? NAN : rise);
    }
}

/* ---- distributions ---- */

static void the_share_of_doubled_waits_is_not_biased_by_interruptions(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    struct relaxation_rise *rise = calloc(RUNS, sizeof *rise);
    struct relaxation_waits w;
    struct rng r;
    rng_init(&r, 11, 0);
    for (int i = 0; i < RUNS; i++) {
        double wait = rng_chance(&r, 0.3) ? 1340 : 670, at = -3000 * log(1 - rng_unit(&r));
        rise[i] = (struct relaxation_rise){wait + rng_normal(&r), 0, NAN, NAN};
        if (at < wait) /* starts it anew */
            rise[i] = (struct relaxation_rise){at + wait + rng_normal(&r), 1, at, at, NAN};
    }
    assert_int_equal(relaxation_waits(rise, RUNS, &w), 0);
    assert_true(w.mode[0].wait_us.lo < 670.05 && w.mode[0].wait_us.hi > 669.95 && w.mode[0].sd_us < 1.2);
    assert_true(fabs(w.mode[1].wait_us.value - 1340) < 0.3);
    assert_true(w.mode[1].share.lo < 0.3 && w.mode[1].share.hi > 0.3);
    assert_true(w.mode[1].share.hi - w.mode[1].share.lo < 0.05);
    assert_true(w.rearmed > 10 * w.not_rearmed && !w.kept);
    assert_true(fabs(w.after_interrupt_us.value - 670) < 0.5);
    free(rise);
}

/*
 * Interrupts too short to be seen begin waits anew at random: `rate` of them a second. `doubled`: part of the waits
 * that are double. Waits are 670 us, with a standard deviation of 2.
 */
static void unnoticed(struct rng *r, double rate, double doubled, size_t n, struct relaxation_waits *out)
{
    struct relaxation_rise rise[400];
    assert_true(n <= 400);
    for (size_t i = 0; i < n; i++) {
        double begun = 0, wait, at;
        do { /* until one is over before the next interrupt */
            wait = (rng_chance(r, doubled) ? 2 : 1) * (670 + 2 * rng_normal(r));
            at = -1e6 / rate * log(1 - rng_unit(r));
            begun += at < wait ? at : wait;
        } while (at < wait);
        rise[i] = (struct relaxation_rise){begun, 0, NAN, NAN};
    }
    assert_int_equal(relaxation_waits(rise, n, out), 0);
}

static void waits_begun_anew_unnoticed_are_not_taken_for_double_ones(void **state)
{
    (void)state;
    enum { TABLES = 300 };
    struct rng r;
    struct relaxation_waits w;
    size_t wrong = 0, found = 0, held = 0;
    rng_init(&r, 31, 0);
    for (int i = 0; i < TABLES; i++) {
        unnoticed(&r, rng_range(&r, 100, 500), 0, i % 2 ? 200 : 60, &w);
        wrong += w.mode[1].n > 0;
        assert_true(fabs(w.mode[0].wait_us.value - 670) < 1.5 && w.mode[0].sd_us < 3.5);
    }
    assert_true(wrong <= 2);           /* 0.3 are expected */
    for (int i = 0; i < TABLES; i++) { /* double ones are found among them */
        unnoticed(&r, 150, 0.25, 200, &w);
        found += w.mode[1].n > 0;
        /* of the repetitions, some are neither: nothing happened in exp(-0.15 * 0.67) and exp(-0.15 * 1.34) of them */
        held += w.mode[1].share.lo <= 0.25 * exp(-0.201) + 0.02 && w.mode[1].share.hi >= 0.25 * exp(-0.201);
        assert_true(w.mode[1].n == 0 || fabs(w.mode[1].wait_us.value - 1340) < 5);
    }
    assert_true(found == TABLES && held >= 0.93 * TABLES);
    /* three in 60 are enough where nothing else lies there; one is not */
    struct relaxation_rise rise[60];
    for (size_t n = 1; n <= 3; n += 2) {
        for (size_t i = 0; i < 60; i++)
            rise[i] = (struct relaxation_rise){(i < n ? 2 : 1) * 670 + rng_normal(&r), 0, NAN, NAN};
        assert_int_equal(relaxation_waits(rise, 60, &w), 0);
        assert_int_equal(w.mode[1].n, n == 3 ? 3 : 0);
        assert_int_equal(w.others, n == 3 ? 0 : 1);
    }
}

/* A timer that ticks more often than the wait is long, and does not matter: all waits are alike nevertheless. */
static void waits_that_are_always_interrupted_count_if_they_agree(void **state)
{
    (void)state;
    enum { RUNS = 100 };
    struct relaxation_rise rise[RUNS];
    struct relaxation_waits w;
    struct rng r;
    rng_init(&r, 12, 0);
    for (int i = 0; i < RUNS; i++) {
        double tick = rng_range(&r, 0, 500);
        rise[i] = (struct relaxation_rise){rng_range(&r, 1150, 1250), 3, tick, tick + 1000, NAN};
    }
    assert_int_equal(relaxation_waits(rise, RUNS, &w), 0);
    assert_true(w.kept && w.mode[0].n == RUNS && fabs(w.mode[0].wait_us.value - 1200) < 15);
    for (int i = 0; i < RUNS / 5; i++) /* fast from the start, because of something else: no wait of 5 us */
        rise[i].at_us = 5;
    for (int i = 0; i < RUNS; i++) /* ticks in the middle: they have not mattered */
        rise[i].last_us = 600;
    assert_int_equal(relaxation_waits(rise, RUNS, &w), 0);
    assert_true(w.mode[0].n == RUNS - RUNS / 5 && fabs(w.mode[0].wait_us.value - 1200) < 15);
    assert_true(w.others == RUNS / 5 && w.mode[0].share.value == 1);
    assert_true(w.rearmed == 0 && w.not_rearmed == RUNS - RUNS / 5);
    for (int i = 0; i < RUNS; i++) /* it does matter: a wait of 600 us after the last tick before it is over */
        rise[i] = (struct relaxation_rise){rng_range(&r, 600, 3000), 3, 10, 20, NAN};
    assert_int_equal(relaxation_waits(rise, RUNS, &w), 0);
    assert_true(w.close < 60);
}

static void once_twice_or_anew_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(relaxation_rearmed(335, 335, 670), 0);
    assert_int_equal(relaxation_rearmed(1005, 335, 670), 0); /* a doubled wait */
    assert_int_equal(relaxation_rearmed(672, 335, 670), 1);
    assert_int_equal(relaxation_rearmed(1340, 335, 670), 1);
    assert_int_equal(relaxation_rearmed(500, 335, 670), -1);
    assert_int_equal(relaxation_rearmed(NAN, 335, 670), -1);
}

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

/* The only row with these fields; mode 0, `by` NULL: any. SIZE_MAX: none. */
static size_t row(const struct table *t, const char *what, const char *from, const char *by, int mode)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (strcmp(table_text(t, i, "what"), what) != 0 || strcmp(table_text(t, i, "from"), from) != 0 ||
            (by && strcmp(table_text(t, i, "by"), by) != 0) || (mode && table_number(t, i, "mode") != mode))
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
            /* limits of 95 % miss now and then */
            assert_true(table_number(t, i, "share_lo") - 0.03 <= share &&
                        share <= table_number(t, i, "share_hi") + 0.03);
            assert_true(fabs(table_number(t, i, "wait_us") - wait) < 1.5);
            /* the wait does not change from toggle to toggle */
            assert_true(fabs(table_number(t, i, "trend_us")) < 0.7);
            assert_string_equal(table_text(t, i, "rearmed"), "no");
        }
    }
    assert_int_equal(found, 2);
}

static void the_published_waits_come_back(void **state)
{
    (void)state;
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
    /* what asks for the same level keeps it; what asks for a lower one does not */
    check_rearm(&t, "256fma", "512or", true, m.wait_us);
    check_rearm(&t, "512or", "256fma", true, m.wait_us);
    check_rearm(&t, "512fma", "512or", false, m.wait_us);
    assert_true(fabs(table_number(&t, row(&t, "wait", "512fma", NULL, 1), "slow_ghz") - 1.9) < 0.01);
    assert_true(fabs(table_number(&t, row(&t, "wait", "512fma", NULL, 1), "fast_ghz") - 2.8) < 0.01);
    table_free(&t);
}

static void random_waits_come_back(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 21, 0);
    for (int c = 0; c < 5; c++) {
        struct model m;
        struct table t;
        rig_load("xeon-gold-6130", &m);
        m.wait_us = rng_log(&r, 250, 1900);
        m.wait_sigma_us = rng_range(&r, 0, 4);
        m.halt_us = c == 4 ? 0 : rng_range(&r, 2, 20);
        m.halt_sigma_us = 0;
        double share = c % 2 ? 0.4 : 0;
        m.classes[model_class_index(&m, "light512")].wait_double = share;
        m.interrupts[0].rearm = c % 2;
        m.counts_licenses = m.counts_throttle = c % 2;
        measure(&m, "512or", true, &t);
        check_wait(&t, "512or", 1, m.wait_us, 1 - share);
        if (share > 0)
            check_wait(&t, "512or", 2, 2 * m.wait_us, share);
        else
            assert_true(row(&t, "wait", "512or", NULL, 2) == SIZE_MAX);
        check_rearm(&t, "512or", "512or", true, m.wait_us);
        table_free(&t);
    }
}

/* Toggling with such a wait takes longer than a recording of three pilots, for which there once was room. */
static void a_long_wait_has_room(void **state)
{
    struct model m;
    struct table t;
    (void)state;
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

/* Interrupts of 1 us, many of which cannot be seen, begin waits anew: no wait is double. */
static void interrupts_that_cannot_be_seen_double_no_wait(void **state)
{
    (void)state;
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

/* Interrupts begin most of these waits anew, so that many do not end within 5 ms; all that is asked is measured. */
static void long_waits_that_are_interrupted_are_measured(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.wait_us = 4000;
    measure(&m, "512fma", true, &t);
    check_wait(&t, "512fma", 1, m.wait_us, 1);
    check_toggling(&t, "512fma", m.wait_us, 1);
    table_free(&t);
}

/* The reason of every missing entry begins like this. */
static void check_missing(const struct table *t, const char *why)
{
    assert_true(t->n_missing > 0);
    for (size_t i = 0; i < t->n_missing; i++)
        if (!strstr(t->missing[i].why, why))
            fail_msg("'%s' is not about '%s'", t->missing[i].why, why);
}

static void short_waits_are_measured_or_refused_for_what_they_are(void **state)
{
    (void)state;
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

static void a_rise_by_less_than_a_hundredth_is_told(void **state)
{
    (void)state;
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
static void few_cores_are_tried_where_all_show_nothing(void **state)
{
    (void)state;
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

static void how_it_was_measured_is_told(void **state)
{
    (void)state;
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

/* No two rows have the same keys. */
static void keys_are_unique(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    m.classes[model_class_index(&m, "light512")].wait_double = 0.4;
    measure(&m, "512or", true, &t);
    assert_true(row(&t, "wait", "512or", NULL, 2) != SIZE_MAX);
    check_rearm(&t, "512or", "512or", true, m.wait_us);
    for (size_t i = 0; i < t.n_rows; i++)
        for (size_t k = 0; k < i; k++) {
            bool same = true;
            for (size_t c = 0; c < t.n_columns; c++) {
                const char *name = t.columns[c].name;
                if (!t.columns[c].key)
                    continue;
                if (t.columns[c].type == TABLE_TEXT)
                    same = same && strcmp(table_text(&t, i, name), table_text(&t, k, name)) == 0;
                else
                    same = same && (table_number(&t, i, name) == table_number(&t, k, name) ||
                                    (isnan(table_number(&t, i, name)) && isnan(table_number(&t, k, name))));
            }
            assert_false(same);
        }
    table_free(&t);
}

/* Where no frequency changes there is no row, and a reason. */
static void nothing_is_invented(void **state)
{
    (void)state;
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
static void a_busy_guest_is_decided(void **state)
{
    (void)state;
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

static void the_same_seed_gives_the_same_text(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rise_is_placed_to_a_fraction_of_the_period),
        cmocka_unit_test(the_share_of_doubled_waits_is_not_biased_by_interruptions),
        cmocka_unit_test(waits_that_are_always_interrupted_count_if_they_agree),
        cmocka_unit_test(once_twice_or_anew_are_told_apart),
        cmocka_unit_test(the_published_waits_come_back),
        cmocka_unit_test(random_waits_come_back),
        cmocka_unit_test(a_long_wait_has_room),
        cmocka_unit_test(waits_begun_anew_unnoticed_are_not_taken_for_double_ones),
        cmocka_unit_test(interrupts_that_cannot_be_seen_double_no_wait),
        cmocka_unit_test(long_waits_that_are_interrupted_are_measured),
        cmocka_unit_test(short_waits_are_measured_or_refused_for_what_they_are),
        cmocka_unit_test(a_rise_by_less_than_a_hundredth_is_told),
        cmocka_unit_test(few_cores_are_tried_where_all_show_nothing),
        cmocka_unit_test(how_it_was_measured_is_told),
        cmocka_unit_test(keys_are_unique),
        cmocka_unit_test(nothing_is_invented),
        cmocka_unit_test(a_busy_guest_is_decided),
        cmocka_unit_test(the_same_seed_gives_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
