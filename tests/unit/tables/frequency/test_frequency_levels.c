/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels and groups from frequencies: made-up tables with and without noise, disturbed ones, and ones without steps. */
#include "analysis/phases/repetitions/steady.h"
#include "tables/frequency/frequency.h"
#include "tables/registry.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { KERNELS = 6, CORES_MAX = 24 };

/* The frequencies of some kernels, by number of active cores from 1; rows by cores, then kernels. */
struct made {
    unsigned cores;
    size_t kernels;
    double ghz[KERNELS][CORES_MAX];
    struct table t;
};

static const char *const names[KERNELS] = {"a", "b", "c", "d", "e", "f"};

static void put(struct table *t, size_t kernel, unsigned cores, double ghz, double half, double ratio,
                double ratio_half)
{
    table_add_row(t);
    table_put_number(t, "cpu", 0);
    table_put_text(t, "kernel", names[kernel]);
    table_put_number(t, "active_cores", cores);
    table_put_limits(t, "freq_ghz", ghz, ghz - half, ghz + half);
    table_put_limits(t, "ratio", ratio, ratio - ratio_half, ratio + ratio_half);
}

static void begin(struct table *t)
{
    table_init(t, table_frequency.name, table_frequency.columns, table_frequency.n_columns);
}

static void make_rows(struct made *m, struct rng *r, double noise)
{
    begin(&m->t);
    for (unsigned c = 0; c < m->cores; c++)
        for (size_t k = 0; k < m->kernels; k++) {
            const double ratio = m->ghz[k][c] / m->ghz[0][c] * (1 + (r ? noise * rng_normal(r) : 0));
            const double ghz = m->ghz[k][c] * (1 + (r ? noise * rng_normal(r) : 0));
            put(&m->t, k, c + 1, ghz, noise * m->ghz[k][c], ratio, 2 * noise * ratio);
        }
}

/* The row of a kernel at some number of cores, measured again. */
static void put_again(struct made *m, size_t i, size_t kernel, unsigned cores, double ghz)
{
    char key[40], text[200];
    snprintf(key, sizeof key, FREQUENCY_AGAIN "%zu", i);
    snprintf(text, sizeof text,
             "{\"cpu\": 0, \"kernel\": \"%s\", \"active_cores\": %u, \"freq_ghz\": %g, \"half_width\": 0.001}",
             names[kernel], cores, ghz);
    table_set_detail(&m->t, key, text);
}

static void set_ghz(struct table *t, size_t row, double ghz, double half)
{
    table_set_limits(t, row, "freq_ghz", ghz, ghz - half, ghz + half);
}

static size_t row_of(const struct made *m, size_t kernel, unsigned cores)
{
    return (cores - 1) * m->kernels + kernel;
}

static int level_of(const struct table *t, size_t row)
{
    return table_holds(t, row, "level") ? (int)table_number(t, row, "level") : -1;
}

#define FLOATING "levels by the ratio to the first kernel around them; the frequency floats: "

/* The verdict begins with `steps`, the groups are `groups` (NULL: whatever they are), levels come from `source`. */
static void expect(struct table *t, const char *steps, const char *groups, const char *source)
{
    assert_int_equal(frequency_conclude(t), 0);
    const char *verdict = table_setting(t, "steps");
    if (strncmp(verdict ? verdict : "", steps, strlen(steps)) != 0)
        fail_msg("%s, not %s", verdict, steps);
    if (groups)
        assert_string_equal(table_setting(t, "groups"), groups);
    for (size_t row = 0; source && row < t->n_rows; row++)
        assert_string_equal(table_text(t, row, "level_source"), source);
}

/* Xeon Gold 6130 (G table 3.1): two kernels at L0, one at L1, one at L2. */
static void make_published(struct made *m)
{
    static const double level[3][5] = {{3.7, 3.5, 3.4, 3.1, 2.8}, {3.6, 3.4, 3.1, 2.6, 2.4}, {3.5, 3.1, 2.4, 2.1, 1.9}};
    static const unsigned last[5] = {2, 4, 8, 12, 16};
    static const unsigned level_of[4] = {2, 0, 1, 0};
    memset(m, 0, sizeof *m);
    m->cores = 16;
    m->kernels = 4;
    for (size_t k = 0; k < 4; k++)
        for (unsigned c = 0; c < 16; c++) {
            unsigned row = 0;
            while (last[row] < c + 1)
                row++;
            m->ghz[k][c] = level[level_of[k]][row];
        }
}

TEST(test_the_published_table)
{
    static const int levels[4] = {2, 0, 1, 0};
    struct made m;
    make_published(&m);
    make_rows(&m, NULL, 0);
    expect(&m.t, "steps", "1-2, 3-4, 5-8, 9-12, 13-16", "ratio");
    for (size_t k = 0; k < 4; k++)
        for (unsigned c = 1; c <= 16; c++)
            assert_int_equal(level_of(&m.t, row_of(&m, k, c)), levels[k]);
    assert_string_equal(table_text(&m.t, row_of(&m, 0, 7), "group"), "5-8");
    table_free(&m.t);
}

TEST(test_counted_levels_are_believed)
{
    struct made m;
    make_published(&m);
    make_rows(&m, NULL, 0);
    for (size_t row = 0; row < m.t.n_rows; row++)
        for (int level = 0; level < 3; level++)
            table_set_number(&m.t, row, ((const char *[]){"lvl0", "lvl1", "lvl2"})[level], level == 1 ? 0.97 : 0.01);
    expect(&m.t, "steps", NULL, "counters");
    for (size_t row = 0; row < m.t.n_rows; row++)
        assert_int_equal(level_of(&m.t, row), 1);
    /* one without a majority: then all are from the frequencies, so that the numbers mean one thing */
    table_set_number(&m.t, 3, "lvl1", 0.5);
    expect(&m.t, "steps", NULL, "ratio");
    assert_int_equal(level_of(&m.t, 0), 2);
    table_free(&m.t);
}

TEST(test_one_frequency_for_everything)
{
    struct made m = {.cores = 5, .kernels = 3};
    for (size_t k = 0; k < 3; k++)
        for (unsigned c = 0; c < 5; c++)
            m.ghz[k][c] = 2.6 + 0.001 * (double)k;
    make_rows(&m, NULL, 0);
    expect(&m.t, "one frequency for everything", "1-5", "ratio");
    for (size_t row = 0; row < m.t.n_rows; row++)
        table_set_number(&m.t, row, row % 2 ? "lvl2" : "lvl0", 0.9);
    expect(&m.t, "one frequency, as far as can be told; the levels are those of the license counters", "1-5",
           "counters");
    table_free(&m.t);
    begin(&m.t);
    assert_int_equal(frequency_conclude(&m.t), 0);
    assert_null(table_setting(&m.t, "steps"));
    table_free(&m.t);
}

/* Rows of a turbo table with falling multiples of 100 MHz, and kernels with a level each. */
static void make_random(struct made *m, struct rng *r, unsigned levels[KERNELS])
{
    memset(m, 0, sizeof *m);
    m->cores = (unsigned)rng_int(r, 1, CORES_MAX);
    m->kernels = (size_t)rng_int(r, 1, KERNELS);
    for (size_t k = 0; k < m->kernels; k++)
        levels[k] = (unsigned)rng_int(r, 0, 2);
    int ratio[3] = {rng_int(r, 38, 48), 0, 0};
    ratio[1] = ratio[0] - rng_int(r, 0, 4);
    ratio[2] = ratio[1] - rng_int(r, 0, 4);
    for (unsigned c = 0; c < m->cores; c++) {
        for (int level = 0; level < 3; level++)
            ratio[level] -= rng_chance(r, 0.2) && ratio[level] > 12 ? rng_int(r, 1, 3) : 0;
        for (int level = 1; level < 3; level++)
            ratio[level] = ratio[level] > ratio[level - 1] ? ratio[level - 1] : ratio[level];
        for (size_t k = 0; k < m->kernels; k++)
            m->ghz[k][c] = ratio[levels[k]] * 0.1;
    }
}

static bool ever_differ(const struct made *m, size_t a, size_t b)
{
    for (unsigned c = 0; c < m->cores; c++)
        if (m->ghz[a][c] != m->ghz[b][c])
            return true;
    return false;
}

/* What must come out, found another way: levels by counting the different kinds that are ever faster. */
static int expected_level(const struct made *m, size_t kernel)
{
    int level = 0;
    for (size_t k = 0; k < m->kernels; k++) {
        bool faster = false, first = true;
        for (unsigned c = 0; c < m->cores; c++)
            faster |= m->ghz[k][c] > m->ghz[kernel][c];
        for (size_t before = 0; before < k; before++)
            first &= ever_differ(m, before, k);
        level += faster && first;
    }
    return level;
}

static void check_random(struct made *m)
{
    char groups[400] = "";
    for (unsigned c = 1, first = 1; c <= m->cores; c++) {
        bool ends = c == m->cores;
        for (size_t k = 0; k < m->kernels; k++) {
            const bool changes = c < m->cores && m->ghz[k][c] != m->ghz[k][c - 1];
            ends |= changes;
            if (c < m->cores)
                assert_int_equal(strcmp(table_text(&m->t, row_of(m, k, c), "group"),
                                        table_text(&m->t, row_of(m, k, c + 1), "group")) != 0,
                                 changes);
            assert_int_equal(level_of(&m->t, row_of(m, k, c)), expected_level(m, k));
        }
        if (!ends)
            continue;
        const size_t n = strlen(groups);
        snprintf(groups + n, sizeof groups - n, first < c ? "%s%u-%u" : "%s%u", n ? ", " : "", first, c);
        first = c + 1;
    }
    assert_string_equal(table_setting(&m->t, "groups"), groups);
}

TEST(test_random_tables_with_noise)
{
    for (unsigned seed = 0; seed < rng_rounds(1000); seed++) {
        static struct made m;
        struct rng r;
        unsigned levels[KERNELS];
        rng_init(&r, 1, seed);
        make_random(&m, &r, levels);
        make_rows(&m, &r, 0.0004);
        expect(&m.t, "", NULL, "ratio");
        assert_non_null(strchr("so", table_setting(&m.t, "steps")[0])); /* steps, or one frequency */
        check_random(&m);
        table_free(&m.t);
    }
}

/* One frequency of a hundred is far off: it is shown as it is, but does not make the others doubtful. A quarter of
 * those that were measured again may have moved. */
TEST(test_disturbed_frequencies)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        struct made m;
        struct rng r;
        make_published(&m);
        rng_init(&r, 2, seed);
        make_rows(&m, &r, 0.0003);
        const unsigned cores = (unsigned)rng_int(&r, 1, 16); /* of a kernel that is not measured again there */
        table_set_number(&m.t, row_of(&m, cores % 4, cores), "freq_ghz", rng_range(&r, 1, 1.8));
        for (unsigned i = 0; i < 16; i++)
            put_again(&m, i, i % 4, 1 + i, m.ghz[i % 4][i] + (i % 5 == 2 ? 0.2 : 0)); /* 3 of them */
        expect(&m.t, "steps", NULL, "ratio");
        put_again(&m, 16, 0, 1, 3);
        put_again(&m, 17, 1, 1, 3);
        expect(&m.t, FLOATING "5 of 18 frequencies had changed on remeasurement", "no steps", "ratio");
        table_free(&m.t);
    }
}

/* Each number of cores is hardly slower than the one before: many such steps do not make one group. */
TEST(test_small_differences_add_up)
{
    static struct made m = {.cores = 20, .kernels = 1};
    for (unsigned c = 0; c < 20; c++)
        m.ghz[0][c] = 3 * (1 - 0.004 * c);
    make_rows(&m, NULL, 0);
    expect(&m.t, "steps", "1-2, 3-4, 5-6, 7-8, 9-10, 11-12, 13-14, 15-16, 17-18, 19-20", "ratio");
    table_free(&m.t);
}

/* Frequencies that wander by themselves, in fine or in whole steps of 100 MHz: no steps are made of them, but what the
 * brackets say holds; and their limits become as wide as they move. */
TEST(test_what_floats_has_no_steps)
{
    for (unsigned seed = 0; seed < rng_rounds(200); seed++) {
        static struct made m;
        struct rng r;
        unsigned levels[KERNELS];
        rng_init(&r, 3, seed);
        make_random(&m, &r, levels);
        make_rows(&m, &r, 0.0004);
        const bool whole = rng_chance(&r, 0.5);
        for (size_t row = 0; row < m.t.n_rows; row++)
            set_ghz(&m.t, row, whole ? rng_int(&r, 22, 30) * 0.1 : rng_range(&r, 2.2, 3.0), 0.001);
        for (unsigned i = 0; i < 8; i++) { /* by 6 % at most */
            const size_t row = i % m.t.n_rows;
            put_again(&m, i, row % m.kernels, 1 + (unsigned)(row / m.kernels),
                      table_number(&m.t, row, "freq_ghz") * (i % 2 ? 1.04 : 0.94));
        }
        expect(&m.t, FLOATING "8 of 8", "no steps", "ratio");
        for (size_t row = 0; row < m.t.n_rows; row++) {
            const double wider = table_number(&m.t, row, "freq_ghz_hi") / table_number(&m.t, row, "freq_ghz") - 1;
            assert_int_equal(level_of(&m.t, row), expected_level(&m, row % m.kernels));
            assert_string_equal(table_text(&m.t, row, "group"), "no steps");
            /* t of 8 is 2.306, the root mean square 5.1 %; two differ by sqrt(2) */
            assert_true(wider > 0.082 && wider < 0.085);
        }
        table_free(&m.t);
    }
}

/* A step of 1 % is told by ratios of 0.25 %; one of 0.3 % is none, and one that may be either is not told. */
TEST(test_what_brackets_decide)
{
    static const struct {
        double step, half;
        int level;
    } cases[] = {{0.01, 0.0025, 1}, {0.003, 0.0015, 0}, {0.01, 0.01, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        begin(&t);
        for (size_t k = 0; k < 2; k++)
            put(&t, k, 1, k ? 3.3 : 3, 0.1, 1 - (double)k * cases[i].step, cases[i].half);
        expect(&t, cases[i].level > 0 ? "levels by the ratio" : "", "no steps", NULL);
        assert_int_equal(level_of(&t, 1), cases[i].level);
        table_free(&t);
    }
}

/* A kernel that may be of either level leaves those below it without a level, but not without a finding. */
TEST(test_undecided_levels_hide_no_cost)
{
    struct made m = {.cores = 1, .kernels = 3};
    static const double ratio[] = {1, 0.99, 0.85};
    char *found = NULL;
    size_t size = 0;
    begin(&m.t);
    for (size_t k = 0; k < 3; k++)
        put(&m.t, k, 1, 3 * ratio[k], 0.1, ratio[k], k ? 0.01 : 0.001);
    put_again(&m, 0, 0, 1, 2.7);
    expect(&m.t, "levels by the ratio", "no steps", NULL);
    assert_int_equal(level_of(&m.t, 2), -1);
    FILE *f = open_memstream(&found, &size);
    assert_non_null(f);
    table_frequency.findings(f, &m.t);
    assert_int_equal(fclose(f), 0);
    if (!strstr(found, ": c at 0.850 [0.840, 0.860].") || strstr(found, "no kernel"))
        fail_msg("%s", found);
    free(found);
    table_free(&m.t);
}

/* Wide limits of the first one's null: a level if the next kernel is told from it, none if it is the only one. */
TEST(test_a_wide_null_leaves_what_others_show)
{
    static const struct {
        double next, half;
        int level;
    } cases[] = {{0.9, 0.004, 1}, {0.99, 0.01, -1}};
    for (size_t i = 0; i < 2; i++) {
        struct made m = {.cores = 1, .kernels = 2};
        begin(&m.t);
        put(&m.t, 0, 1, 3, 0.1, 1, 0.01);
        put(&m.t, 1, 1, 3 * cases[i].next, 0.1, cases[i].next, cases[i].half);
        put_again(&m, 0, 0, 1, 2.7);
        expect(&m.t, cases[i].level < 0 ? "no steps" : "levels by the ratio", NULL, NULL);
        assert_int_equal(level_of(&m.t, 0), cases[i].level < 0 ? -1 : 0);
        assert_int_equal(level_of(&m.t, 1), cases[i].level);
        table_free(&m.t);
    }
}

TEST(test_what_is_not_steady_has_no_steps)
{
    for (unsigned of = 4; of >= 3; of--) { /* a quarter, a third */
        struct made m;
        make_published(&m);
        make_rows(&m, NULL, 0);
        for (size_t row = 0; row < m.t.n_rows; row++)
            set_ghz(&m.t, row, table_number(&m.t, row, "freq_ghz"), row % of ? 0.001 : 0.05);
        expect(&m.t,
               of == 4 ? "steps"
                       : "levels by the ratio to the first kernel around them; the frequency floats, or its readings "
                         "are noisy: the limits of 22 of 64 frequencies are wider than 0.9 %",
               NULL, "ratio");
        table_free(&m.t);
    }
}

TEST(test_same)
{
    assert_true(estimates_frequency_same(2.8, NAN, 2.81, NAN));
    assert_false(estimates_frequency_same(2.8, NAN, 2.82, NAN));
    assert_false(estimates_frequency_same(5.5, NAN, 5.4, NAN)); /* the smallest step */
    assert_true(estimates_frequency_same(2.8, 0.03, 2.83, 0.02));
    assert_false(estimates_frequency_same(2.8, 0.02, 2.83, 0.02));
}

/* ---- the mean of a steady state ---- */

static struct trace make_trace(const double *means, size_t runs)
{
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t), 0);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    for (size_t run = 0; run < runs; run++)
        for (int i = 0; i < 40; i++) {
            assert_int_equal(trace_append(&t, (uint32_t)run, i), 0);
            /* one sample in 20 holds something else, one is missing */
            double ghz = means[run] + (i % 2 ? 1e-3 : -1e-3);
            t.channel[TRACE_FREQ][t.n - 1] = (float)(i % 20 == 7 ? 0.3 : i == 3 ? NAN : ghz);
        }
    return t;
}

TEST(test_steady_mean)
{
    static const double five[5] = {2.8, 2.801, 2.799, 2.8, 1.7}, moving[5] = {2.8, 2.8, 2.6, 2.4, 2.8};
    struct steady_value v;
    struct trace t = make_trace(five, 5);
    assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.005, &v), 0);
    assert_int_equal(v.runs, 5);
    assert_int_equal(v.used, 4);
    assert_true(fabs(v.mean.value - 2.8) < 1e-4);
    /* t(3, 0.975) = 3.182, s = 0.000816 of four: 0.0013 */
    assert_true(fabs(v.mean.hi - v.mean.value - 0.0013) < 2e-4);
    assert_int_equal(steady_mean(&t, TRACE_LVL0, 0.005, &v), 0);
    assert_int_equal(v.runs, 0);
    assert_true(isnan(v.mean.value));
    trace_free(&t);
    t = make_trace(moving, 5); /* two of five are no exception */
    assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.005, &v), 0);
    assert_int_equal(v.used, 5);
    assert_true(fabs(v.mean.value - 2.68) < 1e-3);
    trace_free(&t);
}

/* Another thread on the core takes a third of the IPC of nine samples in twenty, and 5 % of the chains in them. */
TEST(test_slowed_samples_are_left_out)
{
    static const double five[5] = {2.8, 2.801, 2.799, 2.8, 2.8};
    struct steady_value v;
    for (int chains = 0; chains < 2; chains++) {
        struct trace t = make_trace(five, 5);
        size_t left = 0;
        assert_int_equal(trace_add_channel(&t, TRACE_IPC), 0);
        assert_int_equal(trace_set(&t, "frequency", chains ? "instantaneous" : "mean"), 0);
        for (size_t i = 0; i < t.n; i++) {
            const bool slowed = i % 20 > 10;
            t.channel[TRACE_IPC][i] = slowed ? 1.4F : 2.0F - 0.02F * (float)(i % 5);
            t.channel[TRACE_FREQ][i] *= slowed ? 0.95F : 1;
        }
        assert_int_equal(steady_leave_out_slowed(&t), 0);
        for (size_t i = 0; i < t.n; i++)
            left += isfinite(t.channel[TRACE_IPC][i]);
        assert_int_equal(left, chains ? 110 : 200); /* counted cycles are right beside anybody */
        assert_int_equal(steady_mean(&t, TRACE_FREQ, 0.01, &v), 0);
        assert_true(!chains || fabs(v.mean.value - 2.8) < 1e-3);
        trace_free(&t);
    }
    struct trace none;
    trace_init(&none);
    assert_int_equal(steady_leave_out_slowed(&none), 0);
    trace_free(&none);
}
