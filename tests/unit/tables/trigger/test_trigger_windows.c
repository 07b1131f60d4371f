/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: whole tables of triggers */
/*
 * The trigger table where transitions are slow and levels are kept for a short or a long time: what comes out is what
 * the model says, or is missing with the reason, and never another number.
 */
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* ---- the table ---- */

enum { KERNELS = 2 };
static const char *const kernels[KERNELS] = {"256fma", "512fma"};

static void options(struct tables_options *o)
{
    tables_options_default(o);
    o->brief = true;
    o->seed = 3;
    for (size_t i = 0; i < KERNELS; i++)
        o->kernels[o->n_kernels++] = rig_payload(kernels[i]);
}

static void measure(const struct model *m, struct table *out)
{
    static struct tables_options o; /* too large for the stack */
    options(&o);
    rig_measure(&table_trigger, m, &o, out);
}

/* The throttling that all transitions begin with. */
static void throttle_for(struct model *m, double us)
{
    for (size_t i = 0; i < m->n_classes; i++)
        for (size_t k = i + 1; k < m->n_classes; k++) {
            m->transitions[i][k].steps[0].us = us;
            m->transitions[i][k].steps[0].n_variants = 0;
        }
}

static bool says(const struct table *t, size_t row, const char *what, const char *kernel)
{
    return table_says(t, row, "what", what) && table_says(t, row, "kernel", kernel);
}

/* How many rows answer the question, each of which is checked: the level and the count, as far as they are there. */
static size_t check_counts(const struct table *t, double count)
{
    size_t found = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (says(t, i, "count", "512fma")) {
            assert_string_equal(table_text(t, i, "asks"), "level 2");
            assert_true(table_number(t, i, "count") < 400);
            assert_true(fabs(table_number(t, i, "freq_ghz") - 1.9) < 0.01);
            found++;
        }
        if (!says(t, i, "count", "256fma") || table_says(t, i, "asks", "throttle only"))
            continue;
        assert_string_equal(table_text(t, i, "asks"), "level 1");
        if (!(fabs(table_number(t, i, "count") / count - 1) < 0.012))
            fail_msg("%.0f instructions instead of %.0f", table_number(t, i, "count"), count);
        found++;
    }
    return found;
}

static size_t check_densities(const struct table *t)
{
    size_t found = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!table_says(t, i, "what", "density limit") || !(table_number(t, i, "rate_per_cycle_lo") > 0))
            continue;
        assert_true(table_number(t, i, "density") == 8); /* 4 instructions a cycle, 0.5 of these needed */
        assert_string_equal(table_text(t, i, "asks"), says(t, i, "density limit", "512fma") ? "level 2" : "level 1");
        found++;
    }
    return found;
}

static size_t missing(const struct table *t, const char *what, const char *words)
{
    size_t found = 0;
    for (size_t i = 0; i < t->n_missing; i++) {
        const char *is = table_missing_text(t, i, "what");
        found += is && strcmp(is, what) == 0 && strstr(t->missing[i].why, words);
    }
    return found;
}

/* The transition ends later than where the plain code after the burst was once looked at. */
TEST(slow_transitions_give_the_same_counts)
{
    static struct model m;
    static const double us[] = {300, 180, 250};
    for (unsigned c = 0; c < (rng_all_rounds() ? 3u : 1u); c++) {
        struct table t;
        rig_load_plain("xeon-gold-6130", &m);
        throttle_for(&m, us[c]);
        m.counts_licenses = m.counts_throttle = c % 2 == 0;
        measure(&m, &t);
        assert_int_equal(check_counts(&t, 13000), 2);
        assert_int_equal(check_densities(&t), 2);
        table_free(&t);
    }
}

/* Levels that lapse before that place, and some before the transition is over: then a count cannot be reported. */
TEST(short_waits_give_the_truth_or_nothing)
{
    static struct model m;
    static const struct {
        double us;
        size_t counts;
    } wait[] = {{60, 0}, {100, 2}, {20, 0}, {200, 2}};
    for (size_t c = 0; c < (rng_all_rounds() ? 4u : 2u); c++) {
        struct table t;
        rig_load_plain("xeon-gold-6130", &m);
        m.wait_us = wait[c].us;
        measure(&m, &t);
        assert_int_equal(check_counts(&t, 13000), wait[c].counts);
        assert_int_equal(check_densities(&t), 2);
        if (!wait[c].counts) {
            char *text = rig_findings(&table_trigger, &t);
            assert_int_equal(missing(&t, "count", "the core leaves its level"), 2);
            assert_null(strstr(text, "No lower frequency"));
            free(text);
        }
        for (size_t i = 0; i < t.n_rows; i++)
            assert_true(!table_says(&t, i, "what", "mixture") || table_number(&t, i, "level") == 2);
        table_free(&t);
    }
}

/* Code on clean registers is slow for longer than what was once waited for. */
TEST(long_waits_are_waited_for)
{
    static struct model m;
    struct table t;
    size_t dirty = 0;
    rig_load_plain("xeon-gold-6130", &m);
    m.wait_us = 4000;
    measure(&m, &t);
    assert_int_equal(check_counts(&t, 13000), 2);
    for (size_t i = 0; i < t.n_rows; i++) {
        if (!says(&t, i, "dirty", "512fma-dirty"))
            continue;
        assert_string_equal(table_text(&t, i, "asks"), "level 1");
        assert_true(fabs(table_number(&t, i, "plain_ghz") - 2.8) < 0.01 && table_number(&t, i, "level") == 1);
        assert_true(table_number(&t, i, "warmup_us") > 4000 && table_number(&t, i, "window_from_us") > 4000);
        dirty++;
    }
    assert_int_equal(dirty, 1);
    table_free(&t);
}

/* They cost more of the rate where samples are closer to one another, which is no throttling. */
TEST(slow_readings_are_no_throttling)
{
    static struct model m;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    m.split_read_ns = 100;
    measure(&m, &t);
    assert_int_equal(check_counts(&t, 13000), 2);
    table_free(&t);
}

/* A core that never comes back is no reference for anything. */
TEST(what_never_comes_back_is_refused)
{
    static struct model m;
    static struct tables_options o;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    m.wait_us = 1e5;
    options(&o);
    o.n_kernels = rng_few(KERNELS, 1);
    rig_measure(&table_trigger, &m, &o, &t);
    assert_int_equal(t.n_rows, 0);
    assert_int_equal(missing(&t, "count", "is not back at the frequency"), o.n_kernels);
    table_free(&t);
}

/* Bursts as long as it takes; and how long they were is said where nothing was seen. */
TEST(large_counts_are_found)
{
    static struct model m;
    struct table t;
    rig_load_plain("xeon-gold-6130", &m);
    for (size_t i = 0; i < m.n_demands; i++)
        if (m.demands[i].count > 1)
            m.demands[i].count = 2.5e6;
    measure(&m, &t);
    assert_int_equal(check_counts(&t, 2.5e6), 2);
    table_free(&t);
    rig_load("generic-no-licence", &m);
    measure(&m, &t);
    char *text = rig_findings(&table_trigger, &t);
    assert_ptr_equal(strstr(text, "No lower frequency was seen on 8 active cores while 2 kernels ran: none lower by "
                                  "more than 0.0"),
                     text);
    free(text);
    table_free(&t);
}

/* The first row of `what` with this kernel that requests `asks`, or the number of rows. */
static size_t find_row(const struct table *t, const char *what, const char *kernel, const char *asks)
{
    size_t i = 0;
    while (i < t->n_rows && !(says(t, i, what, kernel) && table_says(t, i, "asks", asks)))
        i++;
    return i;
}

/* Levels without counters: what lies near one another is told apart by its limits, or is no level. Three processors,
 * one by each clock, with two kernels, or 32. */
TEST(close_levels_are_distinguished_or_not_reported)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    static const double first[] = {0.01, 0.02, 0.05, 0.1}, second[] = {0.01, 0.02, 0.05, 0.2}, clocks[] = {0, 10, 25};
    static struct model m;
    static struct tables_options o;
    size_t reported = 0, sharp = 0, requested = 0;
    tables_options_default(&o);
    o.brief = true;
    const bool all = rng_all_rounds(); /* of the exact clock, and half of the others */
    for (size_t i = 0; i < KERNELS && !all; i++)
        o.kernels[o.n_kernels++] = rig_payload(kernels[i]);
    for (size_t c = 0; c < 3 * 4 * 4; c += all ? 1 + (c >= 16) : 21) {
        const double one = 1 - first[c / 4 % 4], two = one * (1 - second[c % 4]);
        struct table t;
        rig_load_plain("xeon-gold-6130", &m);
        m.no_counters = true;
        m.counts_licenses = m.counts_throttle = false;
        m.tsc_step_ns = clocks[c / 16];
        m.n_mixtures = m.n_dirty = 0;
        for (size_t i = 0; i < m.n_turbo; i++) {
            m.turbo[i].ghz[1] = m.turbo[i].ghz[0] * one;
            m.turbo[i].ghz[2] = m.turbo[i].ghz[0] * two;
        }
        for (size_t i = 0; i < m.n_demands; i++)
            m.demands[i].count = 1;
        o.seed = c;
        rig_measure(&table_trigger, &m, &o, &t);
        for (size_t i = 0; i < t.n_rows; i++) {
            bool heavy = table_says(&t, i, "kernel", "512fma");
            if (!table_says(&t, i, "what", "count") &&
                !(table_says(&t, i, "what", "density") && table_number(&t, i, "density") <= 1))
                continue;
            bool right = table_says(&t, i, "asks", heavy ? "level 2" : "level 1");
            requested++;
            reported += right;
            sharp += right && c < 16;
            if (!right && !table_says(&t, i, "asks", "undecided") && !table_says(&t, i, "asks", "lower frequency"))
                fail_msg("%g and %g %% with %g ns, row %zu (%s, %s): %s", 100 - 100 * one, 100 * second[c % 4],
                         m.tsc_step_ns, i, table_text(&t, i, "kernel"), table_text(&t, i, "what"),
                         table_text(&t, i, "asks"));
        }
        table_free(&t);
    }
    print_message("levels reported: %zu of %zu, %zu by an exact clock\n", reported, requested, sharp);
    assert_true((sharp > 30 || !all) && reported > requested / 4);
}

/* Frequencies that differ with one active core and are equal with all of them. */
TEST(one_core_is_tried_where_all_show_nothing)
{
    static struct model m;
    static struct tables_options o;
    struct table t;
    size_t all = 0, one = 0;
    rig_load("core-i5-1035g4", &m);
    m.counts_licenses = m.counts_throttle = false;
    measure(&m, &t); /* with none of the kernels that may request another level */
    assert_true(find_row(&t, "count", "512fma", "lower frequency") < t.n_rows);
    table_free(&t);
    options(&o);
    o.kernels[o.n_kernels++] = rig_payload("512or");
    rig_measure(&table_trigger, &m, &o, &t);
    for (size_t i = 0; i < t.n_rows; i++) {
        if (!says(&t, i, "count", "512fma"))
            continue;
        bool alone = table_number(&t, i, "active_cores") == 1;
        assert_string_equal(table_text(&t, i, "asks"), alone ? "level 1" : "throttle only");
        assert_true(alone ? table_number(&t, i, "level") == 1 : isnan(table_number(&t, i, "level")));
        *(alone ? &one : &all) += 1;
    }
    assert_true(one == 1 && all == 1);
    char *text = rig_findings(&table_trigger, &t);
    assert_non_null(strstr(text, "on 1 active core"));
    free(text);
    table_free(&t);
}
