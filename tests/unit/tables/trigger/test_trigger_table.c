/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: whole tables of triggers */
/*
 * The trigger table on models with known parameters, and its analysis on made-up answers: what comes out must be what
 * the model file says, by arithmetic that is done here.
 */
#include "analysis/stats/threshold.h"
#include "probes/sequence.h"
#include "tables/trigger/trigger.h"
#include "tables/registry.h"
#include "tests/support/clock_models.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* ---- the analysis ---- */

TEST(a_sharp_threshold_lies_between_the_answers)
{
    const struct threshold_trial trial[] = {{100, false}, {400, true}, {200, false}, {300, true}};
    struct threshold t;
    threshold_fit(trial, 4, &t);
    assert_true(t.at.value == 250 && t.at.lo == 200 && t.at.hi == 300 && t.sigma == 0);
    threshold_fit(trial, 1, &t); /* only one kind of answer: nothing is known */
    assert_true(isnan(t.at.value) && isnan(t.at.lo));
    threshold_fit(trial, 0, &t);
    assert_true(isnan(t.at.value));
}

/* Thresholds that vary: the limits must hold the median in about 95 % of the cases, and not be far too wide. */
TEST(a_scattered_threshold_is_found_with_honest_limits)
{
    enum { CASES = 100, TRIALS = 200 };
    unsigned hits = 0;
    double width = 0, sigma = 0;
    struct rng r;
    rng_init(&r, 20, 0);
    for (int c = 0; c < CASES; c++) {
        struct threshold_trial trial[TRIALS];
        struct threshold t;
        for (int i = 0; i < TRIALS; i++) {
            double x = 600 + 800 * rng_unit(&r);
            trial[i] = (struct threshold_trial){x, x >= 1000 + 250 * rng_normal(&r)};
        }
        threshold_fit(trial, TRIALS, &t);
        hits += t.at.lo <= 1000 && 1000 <= t.at.hi;
        width += (t.at.hi - t.at.lo) / CASES;
        sigma += t.sigma / CASES;
    }
    assert_in_range(hits, 88, 100);
    /* at best 2 * 1.96 * 1.2533 * 250 / sqrt(200) = 87, with all trials at the median */
    assert_true(width > 80 && width < 140);
    assert_true(fabs(sigma / 250 - 1) < 0.15);
}

TEST(shares_have_the_limits_of_clopper_and_pearson)
{
    struct estimate none = threshold_share(0, 10), half = threshold_share(5, 10), nothing = threshold_share(0, 0);
    assert_true(none.value == 0 && none.lo == 0 && fabs(none.hi - 0.30850) < 1e-4);
    assert_true(half.value == 0.5 && fabs(half.lo - 0.18709) < 1e-4 && fabs(half.hi - 0.81291) < 1e-4);
    assert_true(isnan(nothing.value) && isnan(nothing.lo));
}

/* ---- the table ---- */

static void measure(const struct model *m, const char *const *kernels, size_t n, bool brief, struct table *out)
{
    struct tables_options o;
    tables_options_default(&o);
    o.brief = brief;
    o.seed = 7;
    for (size_t i = 0; i < n; i++)
        o.kernels[o.n_kernels++] = rig_payload(kernels[i]);
    rig_measure(&table_trigger, m, &o, out);
}

/* The row with these fields; what is NULL does not matter. The only one, or the test fails. */
static size_t row(const struct table *t, const char *what, const char *kernel, const char *with, const char *asks)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *partner = table_text(t, i, "with");
        if (strcmp(table_text(t, i, "what"), what) != 0 || strcmp(table_text(t, i, "kernel"), kernel) != 0 ||
            (with && (!partner || strcmp(partner, with) != 0)) || (asks && strcmp(table_text(t, i, "asks"), asks) != 0))
            continue;
        if (found != SIZE_MAX)
            fail_msg("two rows %s %s", what, kernel);
        found = i;
    }
    if (found == SIZE_MAX)
        fail_msg("no row %s %s %s %s", what, kernel, with ? with : "", asks ? asks : "");
    return found;
}

static bool has_row(const struct table *t, const char *what, const char *asks)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (strcmp(table_text(t, i, "what"), what) == 0 && strcmp(table_text(t, i, "asks"), asks) == 0)
            return true;
    return false;
}

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found / expected - 1) <= relative))
        fail_msg("found %.6g, expected %.6g within %g %%", found, expected, 100 * relative);
}

/* The shortest burst asks: a chunk of a twentieth of the sample period, at 4 instructions a cycle and 4 GHz at most. */
static void check_at_once(const struct table *t, const char *kernel, const char *asks)
{
    size_t i = row(t, "count", kernel, NULL, asks);
    assert_true(table_number(t, i, "count") >= 1 && table_number(t, i, "count") < 400);
    assert_true(table_number(t, i, "count_lo") == 1);
}

/* The largest N at which one in N reaches `rate` per cycle; independent of model_need(). */
static unsigned sparsest(double throughput, double issue, double rate, double *at, double *next)
{
    unsigned found = 0;
    for (unsigned n = 1; n <= KERNEL_DENSITY_MAX; n++) {
        double cycles = fmax(1 / throughput, n / issue);
        if (1 / cycles >= rate * (1 - 1e-9))
            found = n;
    }
    *at = 1 / fmax(1 / throughput, found / issue);
    *next = 1 / fmax(1 / throughput, (found + 1) / issue);
    return found;
}

static void check_density(const struct table *t, const char *kernel, const char *asks, double throughput, double issue,
                          double rate)
{
    double at, next;
    size_t i = row(t, "density limit", kernel, NULL, asks);
    unsigned expected = sparsest(throughput, issue, rate, &at, &next);
    assert_int_equal((unsigned)table_number(t, i, "density"), expected);
    assert_near(table_number(t, i, "rate_per_cycle"), at, 0.01);
    assert_near(table_number(t, i, "rate_per_cycle_lo"), next, 0.015); /* some of it is taken by the readings */
    assert_true(table_number(t, i, "n") >= 4);
}

static void check_mixture(const struct table *t, const char *one, const char *two, unsigned together, unsigned first,
                          unsigned second)
{
    size_t i = row(t, "mixture", one, two, NULL);
    assert_true(table_number(t, i, "level") == together && table_number(t, i, "level_kernel") == first &&
                table_number(t, i, "level_with") == second);
}

TEST(the_published_triggers_come_back)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure(&m, NULL, 0, false, &t);
    size_t i = row(&t, "count", "256fma", NULL, "level 1");
    double value = table_number(&t, i, "count"), lo = table_number(&t, i, "count_lo"),
           hi = table_number(&t, i, "count_hi");
    /* sigma 0.3: 3900 of 13000; 300 trials give no better than 1.2533 * 3900 / sqrt(300) = 282 */
    print_message("13000 instructions: found %.0f [%.0f, %.0f], spread %.2f (0.3)\n", value, lo, hi,
                  table_number(&t, i, "spread"));
    assert_true(fabs(value - 13000) < 4 * 282 && hi - lo < 6 * 282 && hi - lo > 2 * 282);
    assert_near(table_number(&t, i, "spread"), 0.3, 0.35);
    assert_true(table_number(&t, i, "n") >= 300);
    check_at_once(&t, "512or", "level 1");
    check_at_once(&t, "512fma", "level 2");
    row(&t, "count", "256or", NULL, "throttle only");
    row(&t, "count", "256fma", NULL, "throttle only");
    for (size_t k = 0; k < 3; k++)
        row(&t, "count", (const char *const[]){"64add", "128or", "128fma"}[k], NULL, "nothing");
    check_density(&t, "512fma", "level 2", 2, 4, 0.5);
    check_density(&t, "256fma", "level 1", 2, 4, 0.5);
    assert_true(table_number(&t, row(&t, "density limit", "512or", NULL, "level 1"), "density") == 256);
    check_mixture(&t, "256fma", "512or", 2, 1, 1);
    check_mixture(&t, "128fma", "256or", 1, 0, 0);
    for (size_t k = 0; k < 2; k++) {
        const char *code = (const char *const[]){"64add", "128or"}[k];
        assert_true(table_number(&t, row(&t, "dirty", "512or-dirty", code, NULL), "level") == 1);
        assert_true(table_number(&t, row(&t, "dirty", "512fma-dirty", code, NULL), "level") == 1);
        assert_true(table_number(&t, row(&t, "dirty", "256fma-dirty", code, NULL), "level") == 0);
    }
    assert_near(table_number(&t, i, "freq_ghz"), 2.4, 0.003);
    assert_near(table_number(&t, i, "plain_ghz"), 2.8, 0.003);
    table_free(&t);
}

/* Nothing may be found that a model does not have. */
TEST(nothing_is_invented)
{
    static const char *const kernels[] = {"256fma", "512or"};
    struct model m;
    struct table t;
    static const char *const none[] = {"generic-no-licence", "core-i9-11900k", "core-i7-6700hq"};
    for (size_t k = 0; k < 3; k++) {
        rig_load(none[k], &m);
        measure(&m, NULL, 0, k == 0, &t);
        for (size_t i = 0; i < t.n_rows; i++) {
            const char *asks = table_text(&t, i, "asks");
            double level = table_number(&t, i, "level");
            assert_true(strcmp(asks, "nothing") == 0 || (k == 2 && strcmp(asks, "throttle only") == 0));
            /* the same frequency alone does not say that it is level 0 */
            assert_true(m.counts_licenses ? level == 0 : isnan(level));
        }
        assert_true(has_row(&t, "count", k == 2 ? "throttle only" : "nothing"));
        table_free(&t);
    }
    /* without mixtures and dirty halves in the model the parts request what they request alone */
    rig_load("xeon-gold-6130", &m);
    m.n_mixtures = m.n_dirty = 0;
    measure(&m, kernels, 2, true, &t);
    check_mixture(&t, "256fma", "512or", 1, 1, 1);
    assert_true(table_number(&t, row(&t, "dirty", "512or-dirty", "64add", NULL), "level") == 0);
    table_free(&t);
}

/* A guest whose clock floats by 12 % and whose siblings come and go: of 512-bit code it is reported that it is
 * throttled, and of all other code that nothing is requested. */
TEST(a_busy_guest_gets_answers)
{
    static const char *const kernels[] = {"128fma", "256fma", "512or", "512fma"};
    struct model m;
    struct table t;
    rig_load("cloud-guest", &m);
    measure(&m, kernels, 4, true, &t);
    assert_int_equal(t.n_missing, 0);
    for (size_t i = 0; i < t.n_rows; i++) {
        const char *asks = table_text(&t, i, "asks");
        bool wide = strncmp(table_text(&t, i, "kernel"), "512", 3) == 0 ||
                    (table_text(&t, i, "with") && strncmp(table_text(&t, i, "with"), "512", 3) == 0);
        if (strcmp(asks, wide && !table_says(&t, i, "what", "dirty") ? "throttle only" : "nothing") != 0)
            fail_msg("row %zu, %s %s: %s", i, table_text(&t, i, "what"), table_text(&t, i, "kernel"), asks);
        assert_true(isnan(table_number(&t, i, "level")) && table_number(&t, i, "ratio_lo") > 0.98);
    }
    for (size_t i = 0; i < 4; i++)
        row(&t, "count", kernels[i], NULL, NULL);
    char *text = rig_findings(&table_trigger, &t);
    assert_non_null(strstr(text, "No lower frequency was seen on 2 active cores while 4 kernels ran: none lower by"));
    free(text);
    table_free(&t);
}

/* Code on dirty registers runs at another clock than the burst ahead of it, and as fast as on clean ones: without
 * counters 0.96 and 1.04 of that were reported, the ratios of the clocks. */
TEST(dirty_registers_do_not_slow_by_the_clock)
{
    static const char *const kernels[] = {"512or", "512fma"};
    struct model m;
    struct table t;
    size_t n = 0;
    rig_load("xeon-gold-6130", &m);
    clock_by_chains(&m, 10);
    measure(&m, kernels, 2, true, &t);
    for (size_t i = 0; i < t.n_rows; i++)
        if (table_says(&t, i, "what", "dirty")) {
            assert_true(fabs(table_number(&t, i, "ipc_ratio") - 1) < 0.01);
            n++;
        }
    assert_true(n >= 2);
    table_free(&t);
}

/* Where nothing is requested below a count what throttles is the level: a count of throttling above that of the level
 * was reported beside it. */
TEST(what_a_level_throttles_is_no_row_of_its_own)
{
    static const char *const kernels[] = {"256fma"};
    static const double counts[] = {500, 3000, 13000};
    for (size_t i = 0; i < 3; i++) {
        struct model m;
        struct table t;
        rig_load("xeon-gold-6130", &m);
        for (size_t d = 0; d < m.n_demands; d++)
            if (m.demands[d].width == 256 && m.demands[d].weight == KERNEL_HEAVY) {
                m.demands[d].count = counts[i];
                m.demands[d].count_sigma = 0;
                m.demands[d].below = 0;
            }
        measure(&m, kernels, 1, true, &t);
        assert_false(has_row(&t, "count", "throttle only"));
        assert_near(table_number(&t, row(&t, "count", "256fma", NULL, "level 1"), "count"), counts[i], 0.2);
        table_free(&t);
    }
}

/* A throttle to 0.88 of the rate, which passed for the full one; and where nothing is requested, what would have been
 * found. */
TEST(mild_throttling_is_found)
{
    struct model m;
    struct table t;
    size_t nothing = 0;
    rig_load("core-i7-6700hq", &m);
    for (size_t from = 0; from < m.n_classes; from++)
        for (size_t to = from + 1; to < m.n_classes; to++)
            for (size_t i = 0; i < m.transitions[from][to].n_steps; i++)
                m.transitions[from][to].steps[i].ratio = 0.88;
    measure(&m, NULL, 0, false, &t);
    assert_true(has_row(&t, "count", "throttle only"));
    for (size_t i = 0; i < t.n_rows; i++) {
        const char *detectable = table_text(&t, i, "detectable");
        bool asks_nothing = table_says(&t, i, "asks", "nothing");
        assert_true(asks_nothing || !detectable);
        nothing += asks_nothing && detectable && strstr(detectable, "throttling below 0.94 of the rate");
    }
    assert_true(nothing > 0);
    table_free(&t);
}

TEST(the_same_seed_gives_the_same_rows)
{
    static const char *const both[] = {"256fma", "512fma"}, *const one[] = {"512fma"};
    struct model m;
    struct table a, b;
    rig_load("xeon-gold-6130", &m);
    measure(&m, both, 2, true, &a);
    measure(&m, one, 1, true, &b);
    /* cells do not depend on what was measured before them */
    for (size_t i = 0; i < b.n_rows; i++) {
        size_t found = 0;
        for (size_t k = 0; k < a.n_rows; k++) {
            bool same = true;
            for (size_t c = 0; c < a.n_columns && same; c++) {
                const struct table_value *x = &a.values[k * a.n_columns + c], *y = &b.values[i * b.n_columns + c];
                same = x->text || y->text ? x->text && y->text && strcmp(x->text, y->text) == 0
                                          : (isnan(x->number) && isnan(y->number)) || x->number == y->number;
            }
            found += same;
        }
        assert_int_equal(found, 1);
    }
    assert_true(b.n_rows > 5);
    table_free(&a);
    table_free(&b);
}

TEST(it_is_reported_in_words)
{
    char *text = NULL;
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    measure(&m, NULL, 0, true, &t);
    text = rig_printed(&table_trigger, &t);
    assert_non_null(strstr(text, "modelled"));
    assert_non_null(strstr(text, "256fma mixed with 512or triggers level 2"));
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") <= 100 || strstr(line, " triggers level") || strstr(line, "runs at"));
    free(text);
    table_free(&t);
}

/* A count that varies, by few bursts and by many: what is reported lies within its own limits, or no reader takes
 * it. Two seeds, or 16. */
TEST(limits_are_around_the_value)
{
    skip_where_sanitized_in_brief("the others and --all run the same code there");
    struct model m;
    rig_load("core-i9-7940x", &m);
    const unsigned seeds = rng_few(16, 2);
    for (uint64_t i = 0; i < 2 * seeds; i++) {
        uint64_t seed = 1 + i % seeds, pass = i / seeds;
        struct table t;
        struct tables_options o;
        tables_options_default(&o);
        o.brief = pass == 0;
        o.seed = seed;
        o.kernels[o.n_kernels++] = rig_payload("256fma");
        rig_measure(&table_trigger, &m, &o, &t);
        for (size_t row = 0; row < t.n_rows; row++) {
            double value = table_number(&t, row, "count");
            if (value < table_number(&t, row, "count_lo") || value > table_number(&t, row, "count_hi"))
                fail_msg("seed %u: %g is not within %g to %g", (unsigned)seed, value, table_number(&t, row, "count_lo"),
                         table_number(&t, row, "count_hi"));
        }
        table_free(&t);
    }
}
