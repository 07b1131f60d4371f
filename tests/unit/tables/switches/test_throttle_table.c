/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: many whole tables of throttling */
/*
 * The table of throttling on models: each phase against the model's parameters, and the reach on scalar code for
 * reaches that no shipped model has.
 */
#include "tests/support/model_truth.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

#define TIME_US 1.0
#define RELATIVE 0.01

static bool is_part(const struct table *t, size_t row, const char *part)
{
    return strcmp(table_text(t, row, "part"), part) == 0;
}

/* Throttled phase number `wanted` (from 1) that the model has within the recording; false: there is none. *slack: how
 * long all phases shorter than four samples last, us. */
static bool expect(const struct model *m, const struct table *t, size_t row, unsigned wanted, struct model_phase *out,
                   double *slack)
{
    struct payload a = rig_payload(table_text(t, row, "from")), b = rig_payload(table_text(t, row, "to"));
    struct model_truth truth;
    struct machine_error err;
    unsigned number = 0;
    if (model_truth(m, &a, &b, (unsigned)table_number(t, row, "active_cores"), &truth, &err))
        fail_msg("%s", err.text);
    *slack = 0;
    for (size_t i = 0; i < truth.n && truth.phases[i].start_us < 150; i++)
        *slack += truth.phases[i].duration_us < 4 ? truth.phases[i].duration_us : 0;
    for (size_t i = 0; i < truth.n && truth.phases[i].start_us < 150; i++) {
        if (truth.phases[i].kind == MODEL_THROTTLED && ++number == wanted) {
            *out = truth.phases[i];
            return true;
        }
    }
    return false;
}

static bool row_is_right(const struct model *m, const struct table *t, size_t row)
{
    struct model_phase p;
    double slack, us = table_number(t, row, "duration_us"), ratio = table_number(t, row, "ipc_ratio");
    unsigned number = (unsigned)table_number(t, row, "phase");
    bool there = expect(m, t, row, number ? number : 1, &p, &slack), good = there == (number > 0);
    if (number == 0) {
        assert_true(isnan(us) && isnan(ratio));
        assert_non_null(strstr(table_text(t, row, "detectable"), "throttling below"));
    } else if (there) {
        good = fabs(us - p.duration_us) <= fmax(TIME_US, RELATIVE * p.duration_us) &&
               fabs(ratio / p.ipc_ratio - 1) <= RELATIVE;
        assert_true(table_number(t, row, "ipc_ratio_lo") <= ratio && table_number(t, row, "ipc_ratio_hi") >= ratio);
        assert_true(table_number(t, row, "duration_us_lo") < us && table_number(t, row, "n") >= 1);
    }
    if (!good)
        print_message("%s -> %s, %.0f cores, phase %u: %.3f us at %.4f, expected %.3f at %.4f\n",
                      table_text(t, row, "from"), table_text(t, row, "to"), table_number(t, row, "active_cores"),
                      number, us, ratio, there ? p.duration_us : NAN, there ? p.ipc_ratio : NAN);
    return good;
}

static double reach_of(const struct table *t, const char *kernel, const char *column)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_part(t, row, "reach") && strcmp(table_text(t, row, "to"), kernel) == 0)
            return table_number(t, row, column);
    fail_msg("no reach of %s", kernel);
    return NAN;
}

/*
 * All rows, and that no phase of the model is without its row. Left out is what holds a phase shorter than four samples
 * of 1 us: that, and where its neighbors begin and end, is not resolved (README, Limits).
 */
static size_t check_rows(const struct model *m, const struct table *t)
{
    size_t wrong = 0, phases = 0, expected = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct model_phase p;
        double slack;
        if (is_part(t, row, "reach") || (expect(m, t, row, 99, &p, &slack), slack > 0))
            continue;
        wrong += !row_is_right(m, t, row);
        phases += table_number(t, row, "phase") > 0;
        if (table_number(t, row, "phase") <= 1) /* the first or only row of its cell */
            for (unsigned k = 1; expect(m, t, row, k, &p, &slack) && (k == 1 || is_part(t, row, "phase")); k++)
                expected++;
    }
    assert_int_equal(phases, expected);
    return wrong;
}

TEST(every_pair_of_the_6130)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    struct model m;
    struct table t;
    struct tables_options o;
    rig_load_plain("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.runs = 20;
    rig_measure(&table_throttle, &m, &o, &t);
    assert_int_equal(check_rows(&m, &t), 0);
    assert_true(fabs(reach_of(&t, "512or-chain", "distance") - 75) < 0.75);
    assert_true(fabs(reach_of(&t, "256or-chain", "distance") - 75) < 0.75);
    assert_true(reach_of(&t, "512or-chain", "distance_lo") <= 75);
    assert_true(reach_of(&t, "512or-chain", "distance_hi") >= 75);
    assert_true(fabs(reach_of(&t, "512or-chain", "ipc_ratio") - 0.25) < 0.0025);
    assert_non_null(table_detail(&t, "64add_512or-chain@1-64_16"));
    char *text = rig_findings(&table_throttle, &t);
    assert_non_null(strstr(text, "at 1/4 of the rate for 20."));
    assert_non_null(strstr(text, "(512or-chain): reach 75."));
    free(text);
    table_free(&t);
}

/* Reaches and ratios that nobody shipped; 0: throttling acts on whatever runs. */
TEST(other_reaches)
{
    static const double distances[] = {5, 12, 40, 61, 120, 170, 0, 1000};
    for (size_t i = 0; i < rng_fewer_sanitized(sizeof distances / sizeof *distances); i++) {
        struct model m;
        struct table t;
        struct tables_options o;
        rig_load_plain("xeon-gold-6130", &m);
        m.throttle_distance = distances[i];
        tables_options_default(&o);
        o.runs = 20;
        o.n_kernels = 1;
        o.kernels[0] = rig_payload("512or");
        o.n_active = 1;
        rig_measure(&table_throttle, &m, &o, &t);
        double found = reach_of(&t, "512or-chain", "distance");
        if (distances[i] == 0 || distances[i] > 200) {
            assert_true(isnan(found));
            assert_true(reach_of(&t, "512or-chain", "distance_lo") == 200);
        } else if (fabs(found / distances[i] - 1) > 0.02) {
            fail_msg("a reach of %.1f, not %.1f", found, distances[i]);
        }
        table_free(&t);
    }
}

/* A hyper-thread runs beside, now and then and for as long as throttling lasts, and only a few spacings are beyond the
 * reach: where the rates are then not those of one distance, it is undecided. */
TEST(no_reach_where_rates_are_not_of_one)
{
    const unsigned trials = rng_rounds(16);
    unsigned undecided = 0, wrong = 0;
    struct rng r;
    rng_init(&r, 17, 0);
    for (unsigned k = 0; k < trials; k++) {
        struct model m;
        struct table t;
        struct tables_options o;
        rig_load_plain("xeon-gold-6130", &m);
        m.throttle_distance = floor(rng_range(&r, 110, 160));
        m.scenario.sibling = (struct model_sibling){.share = rng_range(&r, 0.2, 0.65),
                                                    .chain_factor = 1,
                                                    .period_us = rng_log(&r, 20, 800),
                                                    .factor = rng_range(&r, 0.4, 0.8)};
        tables_options_default(&o);
        o.runs = 20;
        o.seed = k;
        o.n_kernels = 1;
        o.kernels[0] = rig_payload("512or");
        o.n_active = 1;
        rig_measure(&table_throttle, &m, &o, &t);
        double found = reach_of(&t, "512or-chain", "distance");
        undecided += isnan(found);
        wrong += fabs(found / m.throttle_distance - 1) > 0.1;
        table_free(&t);
    }
    print_message("of %u reaches %u undecided, %u off by 10 %%\n", trials, undecided, wrong);
    assert_int_equal(wrong, 0);
    assert_true(undecided < trials && (undecided > 0 || !rng_all_rounds()));
}

/* A model that throttles once in each transition. */
static void throttle_once(struct model *m, double ratio, double us)
{
    rig_load_plain("xeon-gold-6130", m);
    for (size_t from = 0; from < m->n_classes; from++)
        for (size_t to = from + 1; to < m->n_classes; to++)
            m->transitions[from][to] = (struct model_transition){
                .n_steps = 2,
                .steps = {{.kind = MODEL_STEP_THROTTLE, .ratio = ratio, .us = us},
                          {.kind = MODEL_STEP_GRANT, .grant = (unsigned)to}}};
}

/* The table of the switch from 128fma to 512or on all cores. */
static void measure_512or(const struct model *m, unsigned runs, unsigned seed, struct table *t)
{
    struct tables_options o;
    tables_options_default(&o);
    o.runs = runs;
    o.seed = seed;
    o.kernels[o.n_kernels++] = rig_payload("128fma");
    o.kernels[o.n_kernels++] = rig_payload("512or");
    o.n_active = 1;
    rig_measure(&table_throttle, m, &o, t);
}

/* Returns true if a row is a decided one of that switch. */
static bool of_512or(const struct table *t, size_t row)
{
    return is_part(t, row, "phase") && strcmp(table_text(t, row, "to"), "512or") == 0 &&
           !isnan(table_number(t, row, "phase"));
}

/* One that throttles for as long as `us`, and whose code is cold as drawn at the same time. */
static void draw_cold(struct model *m, struct rng *r, double *ratio, double *us)
{
    *ratio = rng_range(r, 0.15, 0.6);
    *us = rng_range(r, 14, 45);
    throttle_once(m, *ratio, *us);
    m->halt_us = rng_chance(r, 0.5) ? m->halt_us : 0;
    m->scenario.cold_us = rng_range(r, 5, 0.6 * *us);
    m->scenario.cold_factor = rng_range(r, 0.2, 0.6);
    m->counts_throttle = rng_chance(r, 0.2); /* counted throttling is certain */
}

/* Cold code hides when throttling begins: the limits allow for all of that, and the ratio is that of what follows. */
TEST(throttling_that_begins_in_cold_code)
{
    unsigned reported = 0, denied = 0, hidden = 0, trials = rng_rounds(24);
    struct rng r;
    rng_init(&r, 23, 0);
    for (unsigned k = 0; k < trials; k++) {
        struct model m;
        struct table t;
        double ratio, us;
        draw_cold(&m, &r, &ratio, &us);
        measure_512or(&m, 20, k, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            if (!of_512or(&t, row))
                continue;
            const char *note = table_text(&t, row, "note");
            double lo = table_number(&t, row, "duration_us_lo"), hi = table_number(&t, row, "duration_us_hi");
            double seen = table_number(&t, row, "ipc_ratio");
            reported++;
            hidden += note && strstr(note, "may have begun that much later") != NULL;
            if (table_number(&t, row, "phase") == 1 && lo <= us && us <= hi && fabs(seen / ratio - 1) < 0.03)
                continue;
            denied++;
            print_message("%.1f us at %.3f, cold %.1f us at %.2f: phase %.0f, %.1f [%.1f, %.1f] us at %.3f\n", us,
                          ratio, m.scenario.cold_us, m.scenario.cold_factor, table_number(&t, row, "phase"),
                          table_number(&t, row, "duration_us"), lo, hi, seen);
        }
        table_free(&t);
    }
    print_message("of %u throttled phases %u reported, %u of them with a begin in doubt, %u denied\n", trials, reported,
                  hidden, denied);
    assert_true(20 * denied <= reported); /* of 95 % limits */
    assert_true(hidden >= trials / 6);
}

/* Chains whose first adds are throttled tell a lower frequency: the ratio may be lower by as much, and its limits have
 * it, where the core stays at its frequency until then and changes it without a halt, or no ratio is reported. */
TEST(chains_that_are_throttled_are_in_the_limits)
{
    unsigned reported = 0, undecided = 0, denied = 0, apart = 0, trials = rng_rounds(20);
    struct rng r;
    rng_init(&r, 29, 0);
    for (unsigned k = 0; k < trials; k++) {
        struct model m;
        struct table t;
        double ratio = rng_range(&r, 0.45, 0.75);
        throttle_once(&m, ratio, rng_range(&r, 8, 25));
        m.throttle_distance = floor(rng_range(&r, 90, 170));
        m.no_counters = true;
        m.counts_licenses = m.counts_throttle = false;
        m.halt_us = m.halt_sigma_us = 0;
        measure_512or(&m, 20, k, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            if (!of_512or(&t, row) || table_number(&t, row, "phase") != 1)
                continue;
            double seen = table_number(&t, row, "ipc_ratio"), lo = table_number(&t, row, "ipc_ratio_lo");
            double hi = table_number(&t, row, "ipc_ratio_hi");
            if (isnan(seen)) {
                undecided++;
                continue;
            }
            reported++;
            apart += fabs(seen / ratio - 1) > 0.05;
            if (lo <= 1.01 * ratio && hi >= 0.99 * ratio)
                continue;
            denied++;
            print_message("reach %.0f: %.3f [%.3f, %.3f], not %.3f\n", m.throttle_distance, seen, lo, hi, ratio);
        }
        table_free(&t);
    }
    print_message("of %u ratios %u reported, %u undecided; of those reported %u off by 5 %%, %u denied\n", trials,
                  reported, undecided, apart, denied);
    assert_true(3 * reported >= trials && apart >= trials / 5);
    assert_true(denied * 20 <= trials);
}

/* Two repetitions that differ by so much that the limits reach down to 0 do not show that there is any. */
TEST(what_may_take_no_time_is_not_reported)
{
    unsigned reported = 0, not_reported = 0;
    struct model m;
    struct table t;
    throttle_once(&m, 0.25, 12);
    m.throttle_sigma_us = 4;
    measure_512or(&m, 2, 0, &t);
    for (size_t row = 0; row < t.n_rows; row++) {
        if (strncmp(table_text(&t, row, "to"), "512or", 5) != 0 || is_part(&t, row, "reach"))
            continue;
        reported += table_number(&t, row, "phase") > 0;
        not_reported += table_number(&t, row, "phase") == 0;
        assert_false(table_number(&t, row, "duration_us_lo") <= 0);
    }
    assert_true(reported > 0 && not_reported > 0);
    table_free(&t);
}

TEST(nothing_where_there_is_nothing)
{
    struct model m;
    struct table t;
    struct tables_options o;
    rig_load("generic-no-licence", &m);
    tables_options_default(&o);
    o.brief = true;
    rig_measure(&table_throttle, &m, &o, &t);
    for (size_t row = 0; row < t.n_rows; row++)
        assert_true(table_number(&t, row, "phase") == 0 && isnan(table_number(&t, row, "duration_us")));
    char *text = rig_printed(&table_throttle, &t);
    const char *finding = strstr(text, "No throttling was found in any of"); /* one line, however long */
    assert_non_null(finding);
    assert_non_null(strstr(finding, "smallest detectable"));
    for (const char *line = text; line < finding; line = strchr(line, '\n') + 1)
        if (strcspn(line, "\n") > 100)
            fail_msg("too long: %.*s", (int)strcspn(line, "\n"), line);
    free(text);
    table_free(&t);
}

/* ---- the findings of made tables ---- */

static void phase_row(struct table *t, const char *from, const char *to, unsigned cores, double us, double ratio)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", cores);
    table_put_text(t, "part", "phase");
    table_put_number(t, "phase", 1);
    table_put_limits(t, "duration_us", us, us - 0.2, us + 0.2);
    if (ratio > 0)
        table_put_number(t, "ipc_ratio", ratio);
}

static char *reported(const struct table *t)
{
    char *text = rig_printed(&table_throttle, t);
    assert_null(strstr(text, "nan"));
    return text;
}

/* Durations are compared among pairs that are throttled to the same part, and others are named. */
TEST(unlike_pairs_are_not_mixed)
{
    struct table t;
    table_init(&t, "throttle", table_throttle.columns, table_throttle.n_columns);
    phase_row(&t, "64add", "256fma", 1, 30, 0.25);
    phase_row(&t, "64add", "512fma", 1, 3.6, 0.15);
    phase_row(&t, "64add", "512or", 1, 2, 0.71);
    phase_row(&t, "64add", "256fma", 16, 20, 0.25);
    phase_row(&t, "64add", "512fma", 16, 20.2, 0.251);
    phase_row(&t, "64add", "512or", 16, 19.9, 0.249);
    phase_row(&t, "128or", "512or", 16, 4.8, 0.91);
    phase_row(&t, "128or", "512fma", 16, 7, NAN);
    char *text = reported(&t);
    assert_non_null(strstr(text, "at 1/4 of the rate for 20.0 [19.7, 20.4] us (medians and outermost limits; 3 of 5 "
                                 "pairs that throttle agree).\n"));
    assert_non_null(strstr(text, "Otherwise: 128or -> 512or at 0.91 of the rate for 4.8 [4.6, 5.0] us; 128or -> 512fma "
                                 "at an unknown rate for 7.0 [6.8, 7.2] us.\n"));
    assert_non_null(strstr(text, "- 7.0"));
    free(text);
    phase_row(&t, "64add", "512mul", 1, 30.1, 0.25); /* one of three with fewer cores is not enough */
    text = reported(&t);
    assert_null(strstr(text, "with 1 active core"));
    free(text);
    for (size_t row = 0; row < t.n_rows; row++)
        table_set_number(&t, row, "duration_us_lo", NAN); /* a value without limits is not known */
    text = rig_findings(&table_throttle, &t);
    assert_null(strstr(text, " us"));
    free(text);
    table_free(&t);

    table_init(&t, "throttle", table_throttle.columns, table_throttle.n_columns);
    phase_row(&t, "64add", "256fma", 1, 3.6, 0.25);
    phase_row(&t, "64add", "512fma", 1, 2.3, 0.15);
    phase_row(&t, "64add", "512or", 1, 5.5, 0.71);
    text = reported(&t);
    assert_non_null(strstr(text, "3 pairs of kernels throttle with 1 active core, in 3 ways: 64add -> 256fma at 1/4 of "
                                 "the rate for 3.6 [3.4, 3.8] us; 64add -> 512fma at 0.15"));
    free(text);
    table_free(&t);
}

/* Numbers of cores whose durations differ are reported one by one, alike ones that follow each other together. */
TEST(alike_numbers_of_cores_are_reported_together)
{
    struct table t;
    table_init(&t, "throttle", table_throttle.columns, table_throttle.n_columns);
    for (unsigned cores = 1; cores <= 16; cores *= 2) {
        double us = cores == 1 ? 15.9 : cores <= 4 ? 30 : 20;
        phase_row(&t, "64add", "256fma", cores, us, 0.25);
        phase_row(&t, "64add", "512fma", cores, us + 0.1, 0.25);
    }
    char *text = reported(&t);
    assert_non_null(strstr(
        text, "15.9 [15.7, 16.2] us with 1 active core, 30.1 [29.8, 30.3] us with 2 to 4 active cores (medians"));
    free(text);
    table_free(&t);
}
