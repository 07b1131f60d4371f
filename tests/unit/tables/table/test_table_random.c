/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is printed of rows drawn at random, which bars become one, what is told of estimates, and what cells are called.
 * Held in tests/golden/table.random; after an intended change `make golden` rewrites it.
 */
#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "tables/table/tables.h"
#include "tests/support/chart_text.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { PIVOTS = 60, CHARTS = 60, ESTIMATES = 200, NUMBERS = 60 };

static struct estimate draw_estimate(struct rng *r)
{
    const double values[] = {3.2, 3.2, 3.2144, 3.2143, 3.19, 0, -0.04, 12345.678, NAN, INFINITY};
    const double half[] = {0, 0.01, 0.03, NAN, 0.0144};
    return estimate_around(rng_one_of(r, values, 10), rng_one_of(r, half, 5));
}

/* ---- rows ---- */

static void put_one(struct rng *r, struct pivot *p, bool value)
{
    static const char *const words[] = {"", "a", "512fma", "in part", "\xc3\xa9t\xc3\xa9", "a word or two more"};
    const struct estimate e = draw_estimate(r);
    if (value && rng_chance(r, 0.8))
        pivot_value(p, &e, rng_int(r, 0, 3));
    else if (value)
        pivot_mark(p, rng_chance(r, 0.5) ? "-" : "more");
    else if (rng_chance(r, 0.9))
        pivot_text(p, "%s", words[rng_int(r, 0, 5)]);
    else
        pivot_word(p, NULL);
}

static void write_pivot(FILE *out, struct rng *r, unsigned number)
{
    struct pivot p;
    bool value[14];
    const int columns = rng_int(r, 0, rng_chance(r, 0.3) ? 14 : 5), rows = rng_int(r, 0, 5);
    for (int c = 0; c < columns; c++)
        value[c] = rng_chance(r, 0.6);
    fprintf(out, "== rows %u\n", number);
    pivot_init(&p, (size_t)rng_int(r, 0, 2), rng_chance(r, 0.7) ? "Title %u" : NULL, number);
    if (rng_chance(r, 0.8)) {
        pivot_line(&p, PIVOT_HEADING);
        for (int c = 0; c < columns; c++)
            pivot_text(&p, "column %d", c);
    }
    for (int i = 0; i < rows; i++) {
        const bool group = rng_chance(r, 0.2);
        pivot_line(&p, group ? PIVOT_GROUP : rng_chance(r, 0.2) ? PIVOT_ASIDE : PIVOT_ROW);
        if (group)
            pivot_text(&p, "all that is below");
        for (int c = 0; c < columns - (i % 3 == 2) && !group; c++)
            put_one(r, &p, value[c]);
        if (!group && columns > 0 && rng_chance(r, 0.2))
            for (int n = rng_int(r, 1, 12); n > 0; n--)
                pivot_more(&p, " and so %d", n);
    }
    const bool any = pivot_print(out, rng_chance(r, 0.2), &p);
    fprintf(out, "%s\n", any ? "" : "nothing");
    pivot_notes(out, false, rng_chance(r, 0.5) ? "Notes" : NULL, "one\n\ntwo\nthree", (size_t)rng_int(r, 0, 4));
}

/* ---- bars ---- */

static void write_chart(FILE *out, struct rng *r, unsigned number)
{
    static struct chart c; /* too large for the stack */
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    memset(&c, 0, sizeof c);
    struct chart_panel *p = chart_add_panel(&c, CHART_BARS, "Bars", "x", "");
    const int categories = rng_int(r, 1, 6), lanes = rng_int(r, 1, 2);
    for (int k = 0; k < categories; k++)
        for (int lane = 0; lane < lanes && rng_chance(r, 0.9); lane++) {
            const double to = rng_one_of(r, (const double[]){10, 10, 10.1, 10.11, 9.9, 20}, 6);
            const struct estimate e = estimate_around(to, rng_one_of(r, (const double[]){0.1, 1, 2, NAN}, 4));
            struct chart_bar look = {.lane = lane, .lanes = lanes, .from = rng_chance(r, 0.2) ? 1 : 0};
            look.colour = rng_chance(r, 0.1) ? 2 : 1;
            look.dot = rng_chance(r, 0.05);
            look.hatched = rng_chance(r, 0.05);
            chart_add_row(&c, p, names[k], &e, look, rng_chance(r, 0.3) ? "told" : NULL);
        }
    chart_group_alike(&c, p, rng_one_of(r, (const double[]){0, 0.01, 0.1}, 3),
                      rng_one_of(r, (const double[]){0, 0.11}, 2));
    assert_false(c.failed);
    fprintf(out, "== bars %u\n", number);
    chart_write_text(out, &c);
    chart_free(&c);
}

/* ---- estimates and numbers ---- */

static void write_estimates(FILE *out, struct rng *r)
{
    const struct estimate a = draw_estimate(r), b = draw_estimate(r);
    char text[ESTIMATE_TEXT_MAX], number[20];
    fprintf(out, "%s;%s%s%s%s%s", estimates_text(&a, rng_int(r, 0, 3), text), estimates_known(&a) ? " known" : "",
            estimates_above(&a, &b) ? " above" : "",
            estimates_agree(&a, &b, rng_one_of(r, (const double[]){0, 0.0144, 1}, 3)) ? " agree" : "",
            estimates_frequencies_agree(&a, &b) ? " the same" : "",
            estimates_frequency_same(a.value, NAN, b.value, estimate_half(&b)) ? " nearly" : "");
    const char *const units[] = {"GHz", "us", "", "share"};
    const int unit = rng_int(r, 0, 3);
    const struct table_column column = {unit == 3 ? "share" : "x", unit == 3 ? "" : units[unit],
                                        rng_chance(r, 0.2) ? TABLE_WHOLE : TABLE_REAL, false, 2};
    golden_put(out, "; least", estimates_least_difference(&column, rng_one_of(r, (const double[]){1, -40, 25, 5}, 4)));
    golden_put(out, "wider",
               estimates_widening(rng_one_of(r, (const double[]){0.025, 0.001, 0.01}, 3), rng_int(r, 0, 5)));
    const double near[] = {0,    0.0099, 0.01, 0.0101, 9.94, 9.95,  9.96,  99.4,  99.5, 99.6,  999, 999.5,
                           1000, 1000.4, 9994, 9995,   9996, 99499, 99500, 99501, -0.0, -9.95, 12.5};
    chart_number(rng_one_of(r, near, 23), number, sizeof number);
    fprintf(out, "; %s\n", number);
}

static void write_cells(FILE *out)
{
    static const char *const ids[] = {"a",   "a",   ".a", "-a", "a.",       "a-",  "a.b",
                                      "a/b", "a-b", "_a", "",   "\xc3\xa9", "x y", "Z9@+_"};
    struct cells cells = {0};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct cell *c = cells_add(&cells, NULL, NULL, 3, "%s", ids[i]);
        fprintf(out, "cell %s: %s\n", ids[i], c ? c->id : "is there");
        if (c)
            assert_true(c->active_cores == 3 && c->cpu == -1 && c->seconds == 0.1 && !c->a.kernel && !c->b.kernel);
    }
    cells_free(&cells);
}

TEST(what_is_told_of_random_values_stays)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    rng_init(&r, 11, 0);
    for (unsigned i = 1; i <= PIVOTS; i++)
        write_pivot(out, &r, i);
    for (unsigned i = 1; i <= CHARTS; i++)
        write_chart(out, &r, i);
    for (unsigned i = 1; i <= ESTIMATES; i++)
        write_estimates(out, &r);
    write_cells(out);
    golden_expect(&g, "table", "random", false);
}
