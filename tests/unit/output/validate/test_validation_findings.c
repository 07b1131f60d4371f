/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remarkable findings about a measurement: each kind is found where it is, and not where it is not. */
#include "output/validate/validate.h"
#include "tables/registry.h"
#include "tests/support/test.h"

static char reported[2000];

static void add_reported(void *data, const char *kind, const char *text)
{
    (void)data;
    size_t n = strlen(reported);
    snprintf(reported + n, sizeof reported - n, "%s: %s\n", kind, text);
}

/* The findings of these tables, a line each. */
static void expect(const struct sku *sku, const struct table *a, const struct table *b, const char *expected)
{
    static const struct sku none = {.n_figures = 0};
    const struct table *tables[] = {a, b};
    struct table out;
    assert_int_equal(validate_tables(sku ? sku : &none, tables, b ? 2 : 1, &out), 0);
    reported[0] = '\0';
    (void)findings_each(&out, add_reported, NULL);
    assert_string_equal(reported, expected);
    table_free(&out);
}

static void begin(struct table *t, const struct table_kind *k)
{
    table_init(t, k->name, k->columns, k->n_columns);
}

static void umask_row(struct table *t, double umask, const char *documented, const char *reading, const char *disagrees)
{
    for (int when = 0; when < 2; when++) { /* reported once, however many rows there are */
        table_add_row(t);
        table_put_number(t, "event", 0x28);
        table_put_number(t, "umask", umask);
        table_put_text(t, "kernel", "128fma");
        table_put_text(t, "when", when ? "to 128fma" : "steady");
        table_put_text(t, "documented", documented);
        table_put_text(t, "reading", reading);
        if (disagrees)
            table_put_text(t, "disagrees", disagrees);
    }
}

TEST(umasks_that_count_nothing)
{
    struct table t;
    begin(&t, &table_umask);
    umask_row(&t, 0x02, "not documented", "up to 128 bit", NULL);
    umask_row(&t, 0x07, "A.B: up to 128 bit", "up to 128 bit", NULL);
    expect(NULL, &t, NULL, "");
    umask_row(&t, 0x10, "not documented", "nothing", NULL);
    expect(NULL, &t, NULL, "counts nothing: umask 10H of event 28H counts nothing here\n");
    umask_row(&t, 0x80, "not documented", "nothing", NULL);
    umask_row(&t, 0x20, "A.C: heavy 512", "nothing", "heavy 512 is not");
    umask_row(&t, 0x18, "A.D: heavy 256", "light 256", "heavy 256 is not");
    expect(NULL, &t, NULL,
           "counts nothing: umasks 10H, 80H of event 28H count nothing here\n"
           "counts nothing: umask 20H of event 28H counts nothing here (documented: A.C: heavy 512)\n"
           "not as documented: umask 18H of event 28H: heavy 256 is not (documented: A.D: heavy 256)\n");
    table_free(&t);
}

static void frequency_row(struct table *t, const char *kernel, double cores, double level, double ghz)
{
    table_add_row(t);
    table_put_number(t, "cpu", 0);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "active_cores", cores);
    table_put_number(t, "level", level);
    table_put_text(t, "level_source", "counters");
    table_put_limits(t, "freq_ghz", ghz, ghz - 0.001, ghz + 0.001);
}

TEST(code_that_asks_for_no_level)
{
    struct table t;
    begin(&t, &table_frequency);
    for (unsigned cores = 1; cores <= 4; cores += 3) {
        frequency_row(&t, "64add", cores, 0, 3);
        frequency_row(&t, "256or", cores, 0, 3); /* nobody expects a level of it */
        frequency_row(&t, "512or", cores, 1, 2.8);
    }
    expect(NULL, &t, NULL, "");
    frequency_row(&t, "256fma", 1, 0, 3);
    frequency_row(&t, "256fma", 4, 1, 2.8);
    expect(NULL, &t, NULL, "");
    frequency_row(&t, "256mul", 1, 0, 3);
    frequency_row(&t, "512fma", 1, 0, 3);
    expect(NULL, &t, NULL, "no level: 256mul, 512fma request no level\n");
    table_free(&t);
}

/* Levels that counters tell and the clock does not show with any number of cores; or the other way round. */
TEST(counters_and_clock_disagree)
{
    struct table t;
    begin(&t, &table_frequency);
    frequency_row(&t, "128fma", 1, 0, 3);
    frequency_row(&t, "512fma", 1, 1, 3.04); /* surely another, but by less than half a step */
    expect(NULL, &t, NULL,
           "level and clock: counters tell levels 0 and 1 apart; the clock runs alike at both, with every number of "
           "active cores measured\n");
    frequency_row(&t, "128fma", 4, 0, 3);
    frequency_row(&t, "512fma", 4, 1, 2.8);
    expect(NULL, &t, NULL, "");
    frequency_row(&t, "128or", 4, 0, 2.9);
    expect(NULL, &t, NULL,
           "level and clock: counters put 128fma and 128or on one level, 0; the clock runs at 3.000 and 2.900 GHz, "
           "with 4 active cores\n");
    table_free(&t);
}

static void switch_row(struct table *t, const char *from, const char *to, const char *kind)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", 4);
    table_put_text(t, "kind", kind);
}

TEST(no_transition_where_levels_are)
{
    struct table t, f;
    struct sku_figure level = {.table = "frequency", .column = "level", .published = true, .lo = 2, .hi = 2};
    struct sku listed = {.n_figures = 1, .figures = &level};
    begin(&t, &table_transitions);
    begin(&f, &table_frequency);
    switch_row(&t, "128fma", "512fma", "none");
    switch_row(&t, "128fma", "256or", "throttle only");
    expect(NULL, &t, NULL, "");
    expect(&listed, &t, NULL, "no transition: no transition in any of 2 rows, where 3 levels are listed\n");
    frequency_row(&f, "128fma", 4, 0, 3);
    frequency_row(&f, "512fma", 4, 2, 2);
    expect(NULL, &t, &f,
           "no transition: no transition in any of 2 rows, though table frequency has 128fma at level 0 and 512fma at "
           "level 2\n");
    switch_row(&t, "128fma", "256fma", "undecided");
    expect(&listed, &t, &f, "");
    table_free(&t);
    table_free(&f);
}

/* Among 16 CPUs number 7 is faster, 3 and 4 are slower. */
static void add_cores(struct table *t, const char *kernel, double ghz)
{
    for (unsigned cpu = 0; cpu < 16; cpu++) {
        bool slower = cpu == 3 || cpu == 4;
        table_add_row(t);
        table_put_number(t, "cpu", cpu);
        table_put_text(t, "kernel", kernel);
        table_put_number(t, "group", cpu == 7 ? 1 : slower ? 3 : 2);
        table_put_number(t, "freq_ghz", 3 + (cpu == 7 ? ghz : slower ? -ghz : 0));
    }
}

TEST(cores_that_are_unlike_the_others)
{
    struct table t;
    begin(&t, &table_cores);
    add_cores(&t, "512fma", 0.1);
    expect(NULL, &t, NULL,
           "core differs: CPU 7: 100 MHz faster than the 13 most alike, while running 512fma\n"
           "core differs: CPUs 3, 4: 100 MHz slower than the 13 most alike, while running 512fma\n");
    add_cores(&t, "128fma", 0.2);
    expect(NULL, &t, NULL,
           "core differs: CPU 7: 100 to 200 MHz faster than the 13 most alike, while running 512fma, 128fma\n"
           "core differs: CPUs 3, 4: 100 to 200 MHz slower than the 13 most alike, while running 512fma, 128fma\n");
    add_cores(&t, "256fma", -0.1);
    expect(NULL, &t, NULL,
           "core differs: CPU 7: 100 to 200 MHz faster than the 13 most alike, while running 512fma, 128fma\n"
           "core differs: CPUs 3, 4: 100 to 200 MHz slower than the 13 most alike, while running 512fma, 128fma\n"
           "core differs: CPU 7: 100 MHz slower than the 13 most alike, while running 256fma\n"
           "core differs: CPUs 3, 4: 100 MHz faster than the 13 most alike, while running 256fma\n");
    for (size_t row = 0; row < t.n_rows; row++)
        table_set_number(&t, row, "group", 1);
    expect(NULL, &t, NULL, "");
    table_free(&t);
}

TEST(what_an_entry_contradicts)
{
    struct table t;
    struct sku_figure figure = {.table = "frequency",
                                .where = "kernel=256fma",
                                .column = "level",
                                .published = true,
                                .contradicts = "common says 1"};
    const struct sku sku = {.n_figures = 1, .figures = &figure};
    begin(&t, &table_frequency);
    expect(&sku, &t, NULL, "contradiction: kernel=256fma level: common says 1\n");
    table_free(&t);
}
