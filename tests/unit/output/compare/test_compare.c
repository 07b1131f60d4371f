/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements against each other: what differs, who is unlike the others, and how often that is said wrongly. */
#include <jansson.h>

#include "output/compare/compare.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

#define HEAD "# format: characterize-table/1\n# table: overhead\n"
#define NAMES "from,to,active_cores,down_us,down_us_lo,down_us_hi\n"

/* A measurement from the text of a table. */
static void add(struct comparison *c, const char *name, const char *kind, const char *text)
{
    char why[300], *copy = strdup(text);
    assert_true(compare_add(c, name) >= 0);
    if (compare_take(c, kind, copy, "f.csv", why, sizeof why))
        fail_msg("%s", why);
    free(copy);
}

/* One of a table of n values, each with limits of two standard errors (1.96 of them) either way. */
static void add_values(struct comparison *c, const char *name, const double *value, size_t n, double sigma)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, HEAD NAMES);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "128fma,512fma,%zu,%.12g,%.12g,%.12g\n", i + 1, value[i], value[i] - 1.96 * sigma,
                value[i] + 1.96 * sigma);
    assert_int_equal(fclose(out), 0);
    add(c, name, "overhead", text);
    free(text);
}

static const char *said(const struct table *t, size_t row)
{
    return table_text(t, row, "verdict");
}

static size_t count(const struct table *t, const char *verdict)
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        n += strcmp(said(t, row), verdict) == 0;
    return n;
}

/* With one cell and one pair, z is 1.96: apart by more than both half widths in quadrature. */
TEST(two_values_are_apart_beyond_their_limits)
{
    for (unsigned apart = 0; apart < 2; apart++) {
        struct comparison *c = compare_new();
        struct table t;
        double a = 30, b = 30 + sqrt(2) * 1.96 * (apart ? 1.001 : 0.999);
        add_values(c, "a", &a, 1, 1);
        add_values(c, "b", &b, 1, 1);
        assert_int_equal(compare_conclude(c, &t), 0);
        assert_int_equal(t.n_rows, 1);
        assert_string_equal(said(&t, 0), apart ? "differs" : "alike");
        assert_string_equal(table_text(&t, 0, "table"), "overhead");
        assert_string_equal(table_text(&t, 0, "cell"), "from=128fma to=512fma active_cores=1");
        assert_string_equal(table_text(&t, 0, "unit"), "us");
        assert_close(table_number(&t, 0, "difference"), b - a, 1e-7);
        assert_close(table_number(&t, 0, "difference_lo"), b - a - 1.96 * sqrt(2), 1e-6);
        assert_close(table_number(&t, 0, "percent"), 100 * (b - a) / a, 1e-6);
        assert_close(table_number(&t, 0, "detectable"), 2 * 1.96 * sqrt(2), 1e-3);
        table_free(&t);
        compare_free(c);
    }
}

/* Exact values may differ by what nobody would call a difference: 0.05 us, 0.2 %. */
TEST(the_least_difference_is_none)
{
    static const struct {
        double a, b;
        const char *verdict;
    } cases[] = {{10, 10.049, "alike"}, {10, 10.051, "differs"}, {100, 100.19, "alike"}, {100, 100.21, "differs"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct comparison *c = compare_new();
        struct table t;
        add_values(c, "a", &cases[i].a, 1, 1e-6);
        add_values(c, "b", &cases[i].b, 1, 1e-6);
        assert_int_equal(compare_conclude(c, &t), 0);
        assert_string_equal(said(&t, 0), cases[i].verdict);
        table_free(&t);
        compare_free(c);
    }
}

/* Pages on which something differs although all are of one processor: 5 % at most, whatever the size. */
TEST(pages_seldom_cry_wolf)
{
    enum { PAGES = 400, CELLS = 60, MOST = 30 };
    static const size_t sizes[] = {2, 3, 30};
    struct rng r;
    rng_init(&r, 5, 0);
    for (size_t s = 0; s < 3; s++) {
        unsigned alarms = 0, pages = sizes[s] == MOST ? PAGES / 4 : PAGES;
        for (unsigned page = 0; page < pages; page++) {
            struct comparison *c = compare_new();
            struct table t;
            for (size_t m = 0; m < sizes[s]; m++) {
                double v[CELLS];
                char name[40];
                for (size_t i = 0; i < CELLS; i++)
                    v[i] = 100 + rng_normal(&r);
                snprintf(name, sizeof name, "m%zu", m);
                add_values(c, name, v, CELLS, 1);
            }
            assert_int_equal(compare_conclude(c, &t), 0);
            assert_int_equal(t.n_rows, CELLS);
            alarms += count(&t, "differs") > 0;
            table_free(&t);
            compare_free(c);
        }
        print_message("%zu measurements: %u of %u pages\n", sizes[s], alarms, pages);
        assert_true(alarms <= pages * 0.05 + 3 * sqrt(pages * 0.05 * 0.95));
    }
}

/* One of forty is off in one value, and seven in another: those are no group of their own, but unlike. */
TEST(who_is_unlike_the_others)
{
    enum { MACHINES = 40, CELLS = 5 };
    struct comparison *c = compare_new();
    struct table t;
    struct rng r;
    rng_init(&r, 7, 0);
    for (size_t m = 0; m < MACHINES; m++) {
        double v[CELLS];
        char name[40];
        for (size_t i = 0; i < CELLS; i++)
            v[i] = 100 + rng_normal(&r);
        v[2] += m == 11 ? 12 : 0;
        v[4] += m >= 33 ? 30 : 0;
        snprintf(name, sizeof name, "m%zu", m);
        add_values(c, name, v, CELLS, 1);
    }
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_int_equal(count(&t, "differs"), 2);
    assert_int_equal((int)table_number(&t, 2, "unlike"), 1);
    assert_int_equal((int)table_number(&t, 4, "unlike"), 7);
    json_t *list = json_loads(table_detail(&t, "measurements"), 0, NULL);
    for (size_t m = 0; m < MACHINES; m++) {
        json_t *o = json_array_get(list, m);
        assert_int_equal(json_integer_value(json_object_get(o, "unlike")), m == 11 || m >= 33);
        assert_int_equal(json_integer_value(json_object_get(o, "values")), CELLS);
    }
    const char *farthest = json_string_value(json_object_get(json_array_get(list, 11), "farthest"));
    assert_non_null(strstr(farthest, "overhead from=128fma to=512fma active_cores=3 down_us: 11"));
    json_decref(list);
    table_free(&t);
    compare_free(c);
}

/* A spread that is the machines' own is no difference; who is far beyond it is unlike. */
TEST(a_spread_of_their_own_is_allowed)
{
    struct comparison *c = compare_new();
    struct table t;
    for (size_t m = 0; m < 100; m++) {
        double v = 100 + 0.05 * (double)m + (m == 50 ? 20 : 0);
        char name[40];
        snprintf(name, sizeof name, "m%zu", m);
        add_values(c, name, &v, 1, 0.05);
    }
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_string_equal(said(&t, 0), "differs");
    assert_int_equal((int)table_number(&t, 0, "unlike"), 1);
    table_free(&t);
    compare_free(c);
}

/* Half of them are otherwise: two groups, nobody unlike. */
TEST(halves_are_groups)
{
    struct comparison *c = compare_new();
    struct table t;
    for (size_t m = 0; m < 10; m++) {
        double v[2] = {100, m % 2 ? 90 : 100};
        char name[40];
        snprintf(name, sizeof name, "m%zu", m);
        add_values(c, name, v, 2, 0.1);
    }
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_string_equal(said(&t, 0), "alike");
    assert_string_equal(said(&t, 1), "differs");
    assert_int_equal((int)table_number(&t, 1, "unlike"), 0);
    json_t *groups = json_loads(table_detail(&t, "groups"), 0, NULL);
    assert_int_equal(json_array_size(groups), 2);
    for (size_t g = 0; g < 2; g++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(groups, g), "size")), 5);
    json_decref(groups);
    table_free(&t);
    compare_free(c);
}

/* Wide limits must not bridge what is apart, and are undecided. */
TEST(the_imprecise_join_no_group)
{
    struct comparison *c = compare_new();
    struct table t;
    static const double v[] = {100, 100.1, 90, 95};
    for (size_t m = 0; m < 4; m++)
        add_values(c, (const char *const[]){"a", "b", "c", "wide"}[m], &v[m], 1, m == 3 ? 20 : 0.1);
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_int_equal((int)table_number(&t, 0, "groups"), 2);
    assert_int_equal((int)table_number(&t, 0, "unlike"), 1);
    table_free(&t);
    compare_free(c);
}

/* Texts and counts as they are; the CPU that was measured is chance; what is undecided is not compared. */
TEST(counts_and_texts_count)
{
    struct comparison *c = compare_new();
    struct table t;
    static const char a[] =
        "# format: characterize-table/1\n# table: frequency\n# environment: kernel 6.1; microcode 0x1\n"
        "cpu,kernel,active_cores,core,level,freq_ghz,freq_ghz_lo,freq_ghz_hi\n"
        "0,256fma,1,\"P, \"\"x\"\"\",1,3.0,2.99,3.01\r\n";
    static const char b[] =
        "# format: characterize-table/1\n# table: frequency\n# environment: kernel 6.1; microcode 0x2\n"
        "level,cpu,kernel,active_cores,core,freq_ghz,freq_ghz_lo,freq_ghz_hi\n"
        "2,7,256fma,1,\"P, \"\"x\"\"\",3.0,2.99,3.01\n";
    add(c, "a", "frequency", a);
    add(c, "b", "frequency", b);
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_int_equal(t.n_rows, 2);
    assert_string_equal(table_text(&t, 0, "column"), "level");
    assert_string_equal(said(&t, 0), "differs");
    assert_string_equal(said(&t, 1), "alike");
    assert_string_equal(table_text(&t, 1, "cell"), "kernel=256fma active_cores=1 core=\"P, \"x\"\"");
    json_t *settings = json_loads(table_detail(&t, "settings"), 0, NULL);
    assert_int_equal(json_array_size(settings), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(settings, 0), "key")), "microcode");
    json_decref(settings);
    table_free(&t);
    compare_free(c);
    c = compare_new();
    static const char *const kinds[] = {"none", "frequency", "undecided"};
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "# format: characterize-table/1\n# table: transitions\nkind,active_cores,to,from\n%s,3,2,1\n",
                 kinds[i]);
        add(c, kinds[i], "transitions", text);
    }
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_int_equal((int)table_number(&t, 0, "n"), 2);
    assert_string_equal(table_text(&t, 0, "texts"), "none: 1; frequency: 1");
    assert_string_equal(said(&t, 0), "differs");
    table_free(&t);
    compare_free(c);
}

/* Where the clock floats, limits hold what it moves from one measurement to the next. */
TEST(a_floating_clock_makes_no_difference)
{
    static const char *const moves[] = {"", "# frequency_moves_percent: 10\n"};
    for (unsigned k = 0; k < 4; k++) {
        struct comparison *c = compare_new();
        struct table t;
        for (unsigned m = 0; m < 2; m++) {
            char text[400];
            double value = m ? k / 2 ? 112 : 108 : 100;
            snprintf(text, sizeof text, HEAD "%s" NAMES "a,b,1,%g,%g,%g\n", moves[k % 2], value, value - 0.01,
                     value + 0.01);
            add(c, m ? "b" : "a", "overhead", text);
        }
        assert_int_equal(compare_conclude(c, &t), 0);
        assert_string_equal(said(&t, 0), k == 1 ? "alike" : "differs");
        table_free(&t);
        compare_free(c);
    }
}

/* A file that cannot be a table is refused with its line, and leaves nothing. */
TEST(what_is_no_table_is_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "f.csv:1: not a table of characterize: the first line is not '# format: characterize-table/1'"},
        {"x\n", "f.csv:1: not a table of characterize: the first line is not '# format: characterize-table/1'"},
        {HEAD, "f.csv: has no line of column names"},
        {HEAD NAMES "1,2,3\n", "f.csv:4: 3 fields instead of 6"},
        {HEAD NAMES "1,2,3,4,3,6\n\"1,2,3\n", "f.csv:5: 0 fields instead of 6"},
        {HEAD NAMES "a,b,1,nan,1,2\n", "f.csv:4: down_us 'nan' is no number"},
        {HEAD NAMES "a,b,1,3us,1,2\n", "f.csv:4: down_us '3us' is no number"},
        {HEAD NAMES "a,b,1,3,4,5\n", "f.csv:4: down_us 3 is outside its limits, 4 to 5"},
        {HEAD NAMES "a,b,1,3,5,1\n", "f.csv:4: down_us 3 is outside its limits, 5 to 1"},
        {HEAD "from,to,active_cores,down_us,down_us\n", "f.csv:3: two columns are named down_us"},
        {HEAD "from,to,down_us\n", "f.csv:3: there is no column active_cores"},
        {"# format: characterize-table/1\n# table: umask\n", "f.csv:2: holds the table umask, not overhead"},
    };
    struct comparison *c = compare_new();
    double v = 30;
    add_values(c, "a", &v, 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[300], *copy = strdup(cases[i].text);
        assert_int_equal(compare_add(c, "bad"), 1);
        assert_int_equal(compare_take(c, "overhead", copy, "f.csv", why, sizeof why), -1);
        assert_string_equal(why, cases[i].why);
        compare_drop(c);
        assert_int_equal(compare_measurements(c), 1);
        free(copy);
    }
    add_values(c, "b", &v, 1, 1);
    struct table t;
    assert_int_equal(compare_conclude(c, &t), 0);
    assert_int_equal(t.n_rows, 1);
    assert_int_equal((int)table_number(&t, 0, "n"), 2);
    table_free(&t);
    compare_free(c);
}
