/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of --beside: which narrow code wide code is compared with, and when a cost is reported. */
#include "tables/beside/beside.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

TEST(test_narrow_code)
{
    static const char *const pairs[][2] = {{"512fma", "128fma"}, {"256or", "128or"},   {"512fma@1/8", "128fma@1/8"},
                                           {"amx", "64add"},     {"128mul", "128mul"}, {"64add", "64add"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct payload wide = rig_payload(pairs[i][0]);
        assert_string_equal(beside_narrow(&wide, ~0u).name, pairs[i][1]);
        /* without FMA */
        assert_string_equal(beside_narrow(&wide, ~(unsigned)KERNEL_NEEDS_FMA).name,
                            i == 0 || i == 2 ? "64add" : pairs[i][1]);
    }
}

struct cost {
    double value, lo, hi;
};

static void add_row(struct table *t, const char *name, struct cost cpu, struct cost time)
{
    table_add_row(t);
    table_put_text(t, "background", name);
    table_put_text(t, "place", "core");
    table_put_limits(t, "cpu_cost", cpu.value, cpu.lo, cpu.hi);
    table_put_limits(t, "time_cost", time.value, time.lo, time.hi);
    table_put_number(t, "n", 10);
}

/* What is said of 512fma. */
static void expect(struct cost null, struct cost cpu, struct cost time, const char *wanted)
{
    static const struct cost nothing = {NAN, NAN, NAN}, none = {0, -0.001, 0.001};
    char *text = NULL;
    size_t size;
    struct table t;
    table_init(&t, "beside", table_beside.columns, table_beside.n_columns);
    add_row(&t, "nothing", nothing, nothing);
    add_row(&t, "128fma", none, none);
    add_row(&t, "128fma again", null, none);
    add_row(&t, "512fma", cpu, time);
    FILE *out = open_memstream(&text, &size);
    table_beside.findings(out, &t);
    fclose(out);
    assert_false(t.failed);
    *strchr(text, '\n') = '\0';
    assert_string_equal(text, wanted);
    free(text);
    table_free(&t);
}

TEST(test_what_is_a_cost)
{
    static const struct cost null = {0, -0.01, 0.01}, none = {0, -0.001, 0.001};
    expect(null, (struct cost){0.12, 0.11, 0.13}, none,
           "Beside 512fma, against 128fma: 12.0 [11.0, 13.0] % more CPU time.");
    expect(null, (struct cost){-0.12, -0.13, -0.11}, (struct cost){-0.06, -0.07, -0.05},
           "Beside 512fma, against 128fma: 12.0 [11.0, 13.0] % less CPU time, 6.0 [5.0, 7.0] % less time to complete.");
    /* its limits exclude 0, but not what the null shows */
    expect((struct cost){0.01, -0.01, 0.02}, (struct cost){0.009, 0.008, 0.012}, none,
           "Beside 512fma, against 128fma: no cost in CPU time found (up to 1.2 % cannot be excluded).");
    expect((struct cost){-0.02, -0.03, 0.02}, (struct cost){0.009, 0.008, 0.012}, none,
           "Beside 512fma, against 128fma: 0.9 [0.8, 1.2] % more CPU time.");
    expect(
        null, (struct cost){0.02, -0.01, 0.05}, (struct cost){0.3, 0.2, 0.4},
        "Beside 512fma, against 128fma: no cost in CPU time found (up to 5.0 % cannot be excluded), 30.0 [20.0, 40.0] "
        "% more time to complete.");
    expect(
        null, (struct cost){-0.02, NAN, NAN}, (struct cost){0.3, NAN, NAN},
        "Beside 512fma, against 128fma: 2.0 % less CPU time, 30.0 % more time to complete; without limits, for which "
        "it takes 6 rounds.");
}

/* Clocks that nobody read are not said to be other ones. */
TEST(test_no_share_without_the_clock)
{
    static const struct cost none = {0, -0.001, 0.001};
    char *text = NULL;
    size_t size;
    struct table t;
    table_init(&t, "beside", table_beside.columns, table_beside.n_columns);
    add_row(&t, "as set", none, none);
    add_row(&t, "2.8 GHz", none, none);
    add_row(&t, "2.8 GHz again", none, none);
    add_row(&t, "1.9 GHz", none, none);
    for (size_t row = 0; row < t.n_rows; row++)
        table_set_text(&t, row, "place", "alone");
    FILE *out = open_memstream(&text, &size);
    table_beside.findings(out, &t);
    fclose(out);
    has(text, "No stall share: the frequency of its CPU was not measured");
    assert_null(strstr(text, "nan"));
    free(text);
    table_free(&t);
}
