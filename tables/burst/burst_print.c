/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For a person: times between bursts down, lengths of bursts across, for each kernel. */
#include <math.h>
#include <string.h>

#include "tables/burst/burst.h"
#include "tables/table/pivot.h"

enum { COUNTS_MAX = 16 };

struct counts {
    size_t n;
    double count[COUNTS_MAX];
};

static struct counts burst_counts(const struct table *t, const char *kernel)
{
    struct counts c = {0};
    for (size_t row = 0; row < t->n_rows && c.n < COUNTS_MAX; row++) {
        double count = table_number(t, row, "count");
        size_t i = 0;
        while (i < c.n && c.count[i] != count)
            i++;
        if (i == c.n && table_says(t, row, "kernel", kernel))
            c.count[c.n++] = count;
    }
    return c;
}

static void print_heading(struct pivot *p, const struct counts *c)
{
    char text[ESTIMATE_TEXT_MAX];
    pivot_line(p, PIVOT_HEADING);
    pivot_word(p, "a burst every");
    for (size_t i = 0; i < c->n; i++)
        pivot_mark(p, burst_count_text(c->count[i], text));
}

/* The value of a column in `scale` times its unit, with the half width of its limits. */
static void print_cell(struct pivot *p, const struct table *t, size_t row, const char *column, double scale)
{
    struct estimate e = {NAN, NAN, NAN};
    if (row < t->n_rows)
        e = estimates_of_table(t, row, column);
    if (!isfinite(e.value)) {
        pivot_word(p, NULL);
        return;
    }
    double half = scale * estimate_half(&e), value = scale * e.value;
    int decimals = isfinite(half) && half > 0 ? (int)fmin(fmax(ceil(1 - log10(half)), 0), 4) : 3;
    char text[ESTIMATE_TEXT_MAX];
    if (isfinite(half))
        snprintf(text, sizeof text, "%.*f ±%.*f", decimals, value, decimals, half);
    else
        snprintf(text, sizeof text, "%.*f", decimals, value);
    pivot_mark(p, text);
}

static size_t burst_row_of(const struct table *t, const char *kernel, double every, double count)
{
    size_t row = burst_next(t, kernel, every, 0);
    while (row < t->n_rows && table_number(t, row, "count") != count)
        row = burst_next(t, kernel, every, row + 1);
    return row;
}

/* A row of what bursts take without a pause; of each length, wherever that was measured. */
static void print_warm(struct pivot *p, const struct table *t, const char *kernel, const struct counts *c)
{
    pivot_line(p, PIVOT_ROW);
    pivot_word(p, "without a pause");
    for (size_t i = 0; i < c->n; i++) {
        size_t row = 0;
        while (row < t->n_rows &&
               !(table_says(t, row, "kernel", kernel) && table_number(t, row, "count") == c->count[i]))
            row++;
        print_cell(p, t, row, "warm_us", 1);
    }
}

static void print_values(FILE *out, bool colour, const struct table *t, const char *kernel, const char *column,
                         double scale, const char *title)
{
    char every[ESTIMATE_TEXT_MAX];
    const struct counts c = burst_counts(t, kernel);
    struct pivot p;
    pivot_init(&p, 1, "%s: %s", kernel, title);
    print_heading(&p, &c);
    for (size_t first = 0; first < t->n_rows; first++) {
        if (!table_says(t, first, "kernel", kernel) || !burst_first(t, first))
            continue;
        double us = table_number(t, first, "every_us");
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, burst_time_text(us, every));
        for (size_t i = 0; i < c.n; i++)
            print_cell(&p, t, burst_row_of(t, kernel, us, c.count[i]), column, scale);
    }
    if (strcmp(column, "cold_us") == 0)
        print_warm(&p, t, kernel, &c);
    pivot_print(out, colour, &p);
}

static void print_breakeven(FILE *out, bool colour, const struct table *t, const char *kernel)
{
    char text[ESTIMATE_TEXT_MAX], name[32];
    struct pivot p;
    pivot_init(&p, 1, "%s: number of instructions from which a burst is cheaper than the same work in narrower code",
               kernel);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "a burst every");
    for (enum burst_narrower n = 0; n < BURST_NARROWER; n++)
        if (burst_narrower_name(kernel, n, name)[0])
            pivot_mark(&p, name);
    for (size_t first = 0; first < t->n_rows; first++) {
        if (!table_says(t, first, "kernel", kernel) || !burst_first(t, first))
            continue;
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, burst_time_text(table_number(t, first, "every_us"), text));
        for (enum burst_narrower n = 0; n < BURST_NARROWER; n++) {
            struct estimate e = estimates_of_table(t, first, burst_against[n].breakeven);
            if (!burst_narrower_name(kernel, n, name)[0])
                continue;
            pivot_word(&p, estimates_known(&e) ? burst_breakeven_text(&e, text) : NULL);
        }
    }
    pivot_print(out, colour, &p);
}

void burst_print(FILE *out, bool colour, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        if (!kernel || table_find(t, "kernel", kernel) != row)
            continue;
        print_values(out, colour, t, kernel, "loss", 100, "loss of other code, % of its work");
        print_values(out, colour, t, kernel, "cold_us", 1, "duration of a burst, us");
        if (burst_counts(t, kernel).n > 1)
            print_breakeven(out, colour, t, kernel);
    }
}
