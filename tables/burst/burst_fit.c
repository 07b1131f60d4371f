/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From which number of instructions on wide code costs less than narrower code that does the same; and the findings. */
#include "tables/burst/burst.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/text_list.h"

const struct burst_against burst_against[BURST_NARROWER] = {
    [BURST_HALF] = {"saves_us", "breakeven"},
    [BURST_128] = {"saves128_us", "breakeven128"},
};

unsigned burst_narrower_bits(unsigned bits, enum burst_narrower n)
{
    if (n == BURST_HALF)
        return bits > 128 && bits <= 512 ? bits / 2 : 0;
    return bits == 512 ? 128 : 0;
}

const char *burst_narrower_name(const char *kernel, enum burst_narrower n, char out[32])
{
    unsigned bits = 0;
    char operation[24] = "";
    out[0] = '\0';
    if (sscanf(kernel, "%3u%20s", &bits, operation) == 2 && burst_narrower_bits(bits, n) > 0)
        snprintf(out, 32, "%u%s", burst_narrower_bits(bits, n), operation);
    return out;
}

const char *burst_time_text(double us, char out[ESTIMATE_TEXT_MAX])
{
    bool ms = us >= 1000;
    snprintf(out, ESTIMATE_TEXT_MAX, "%.6g %s", ms ? us / 1000 : us, ms ? "ms" : "us");
    return out;
}

const char *burst_count_text(double count, char out[ESTIMATE_TEXT_MAX])
{
    double power = floor(log10(fmax(count, 1)) + 1e-9);
    if (count >= 1e4 && count == round(pow(10, power)))
        snprintf(out, ESTIMATE_TEXT_MAX, "1e%.0f", power);
    else
        snprintf(out, ESTIMATE_TEXT_MAX, "%.0f", count);
    return out;
}

const char *burst_breakeven_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX])
{
    if (e->value == e->hi && e->lo < e->hi)
        snprintf(out, ESTIMATE_TEXT_MAX, "at most %.0f", e->hi);
    else
        estimates_text(e, 0, out);
    return out;
}

size_t burst_next(const struct table *t, const char *kernel, double every_us, size_t row)
{
    while (row < t->n_rows && !(table_says(t, row, "kernel", kernel) && table_number(t, row, "every_us") == every_us))
        row++;
    return row;
}

bool burst_first(const struct table *t, size_t row)
{
    const char *kernel = table_text(t, row, "kernel");
    return kernel && burst_next(t, kernel, table_number(t, row, "every_us"), 0) == row;
}

/* ---- where it breaks even ---- */

/* Where the line between two rows, over the logarithm of the number of instructions, is 0. */
static double crossing(double n0, double y0, double n1, double y1)
{
    return n0 * pow(n1 / n0, y0 / (y0 - y1));
}

/* A value is surely not 0 that is so many half widths of its limits away from it: by one, some row of a table soon is. */
#define SURE 2.0

/*
 * The rows of one kernel and one time, in ascending order of instructions. hi: from it on all rows surely save; lo: the
 * last row before it that surely costs more, or the first of all. value: where the line from row to row crosses 0
 * between them; hi where no row surely costs more: nothing then tells it from less. NaN: they do not tell.
 */
static struct estimate burst_breakeven(const struct table *t, size_t first, const char *column)
{
    const char *kernel = table_text(t, first, "kernel");
    const double every = table_number(t, first, "every_us");
    struct estimate e = {NAN, NAN, NAN};
    double before = NAN, before_n = NAN;
    unsigned rows = 0;
    bool costs = false;
    for (size_t row = first; row < t->n_rows; row = burst_next(t, kernel, every, row + 1), rows++) {
        const struct estimate saves = estimates_of_table(t, row, column);
        const double n = table_number(t, row, "count");
        const double sure = SURE * estimate_half(&saves);
        if (rows == 0 || saves.value < -sure)
            e.lo = n;
        costs = costs || saves.value < -sure;
        if (!(saves.value > sure))
            e.hi = NAN;
        else if (isnan(e.hi))
            e.hi = n;
        if (before <= 0 && saves.value > 0)
            e.value = crossing(before_n, before, n, saves.value);
        else if (!(saves.value > 0))
            e.value = NAN;
        before = saves.value;
        before_n = n;
    }
    if (rows < 2 || isnan(e.hi))
        return (struct estimate){NAN, NAN, NAN};
    e.value = !costs ? e.hi : isnan(e.value) ? e.lo : fmin(fmax(e.value, e.lo), e.hi);
    return e;
}

int burst_conclude(struct table *t)
{
    for (size_t first = 0; first < t->n_rows; first++)
        for (enum burst_narrower n = 0; n < BURST_NARROWER && burst_first(t, first); n++) {
            const struct estimate e = burst_breakeven(t, first, burst_against[n].saves);
            const char *kernel = table_text(t, first, "kernel");
            const double every = table_number(t, first, "every_us");
            for (size_t row = first; row < t->n_rows; row = burst_next(t, kernel, every, row + 1))
                estimates_set(t, row, burst_against[n].breakeven, e);
        }
    return t->failed ? -1 : 0;
}

/* ---- findings ---- */

/* The row that is nearest to 1000 instructions of the first kernel every millisecond. */
static size_t typical_row(const struct table *t)
{
    size_t best = t->n_rows;
    double nearest = INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        double far = fabs(log10(table_number(t, row, "every_us") / 1e3)) * 10 +
                     fabs(log10(table_number(t, row, "count") / 1e3));
        if (table_text(t, row, "kernel") && table_same(t, row, 0, "kernel") && far < nearest) {
            nearest = far;
            best = row;
        }
    }
    return best;
}

/* "costs the other code 6.34 [6.26, 6.41] % of its work" */
static void loss_text(const struct table *t, size_t row, char *out, size_t size)
{
    char text[ESTIMATE_TEXT_MAX];
    struct estimate loss = estimates_of_table(t, row, "loss");
    const struct estimate percent = estimate_percent(&loss);
    if (estimates_known(&loss) && loss.lo <= 0)
        snprintf(out, size, "costs other code no more than %.2g %% of its work (95 %%)", fmax(percent.hi, 0.01));
    else
        snprintf(out, size, "costs other code %s %% of its work", estimates_text(&percent, 2, text));
}

static void tell_typical(FILE *out, const struct table *t, size_t row)
{
    char cost[200], count[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX], cold[ESTIMATE_TEXT_MAX],
        warm[ESTIMATE_TEXT_MAX], saved[ESTIMATE_TEXT_MAX], narrower[32];
    const char *kernel = table_text(t, row, "kernel");
    struct estimate saves = estimates_of_table(t, row, "saves_us");
    loss_text(t, row, cost, sizeof cost);
    fprintf(out, "A burst of %s %s every %s %s; it takes %s us, %s us when warm",
            burst_count_text(table_number(t, row, "count"), count), kernel,
            burst_time_text(table_number(t, row, "every_us"), every), cost,
            estimates_field_text(t, row, "cold_us", 3, cold), estimates_field_text(t, row, "warm_us", 3, warm));
    burst_narrower_name(kernel, BURST_HALF, narrower);
    if (!estimates_known(&saves) || !narrower[0]) {
        fprintf(out, ".\n");
        return;
    }
    const struct estimate more = {-saves.value, -saves.hi, -saves.lo};
    if (saves.lo > 0)
        fprintf(out, ", in total %s us less than as %s.\n", estimates_text(&saves, 3, saved), narrower);
    else if (saves.hi < 0)
        fprintf(out, ", in total %s us more than as %s.\n", estimates_text(&more, 3, saved), narrower);
    else
        fprintf(out, "; whether that is less in total than as %s is undecided.\n", narrower);
}

static void tell_most(FILE *out, const struct table *t, size_t typical)
{
    char cost[200], count[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX];
    size_t most = t->n_rows;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate loss = estimates_of_table(t, row, "loss");
        const double null = table_number(t, row, "null_hi"); /* NaN: of an older version */
        bool sure = loss.value > SURE * estimate_half(&loss) && !(loss.value <= null);
        if (sure && table_text(t, row, "kernel") && (most == t->n_rows || loss.value > table_number(t, most, "loss")))
            most = row;
    }
    if (most == t->n_rows || most == typical)
        return;
    loss_text(t, most, cost, sizeof cost);
    fprintf(out, "The costliest: %s %s every %s %s.\n", burst_count_text(table_number(t, most, "count"), count),
            table_text(t, most, "kernel"), burst_time_text(table_number(t, most, "every_us"), every), cost);
}

static void tell_burst_breakeven(FILE *out, const struct table *t)
{
    char text[400] = "", value[ESTIMATE_TEXT_MAX], every[ESTIMATE_TEXT_MAX], narrower[32] = "";
    size_t typical = typical_row(t);
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate e = estimates_of_table(t, row, "breakeven");
        if (!burst_first(t, row) || !table_same(t, row, typical, "kernel") || !estimates_known(&e))
            continue;
        text_list_add(text, sizeof text, "; ", "%s, every %s", burst_breakeven_text(&e, value),
                      burst_time_text(table_number(t, row, "every_us"), every));
    }
    if (text[0])
        fprintf(out, "It costs less than the same work as %s from this many instructions: %s.\n",
                burst_narrower_name(table_text(t, typical, "kernel"), BURST_HALF, narrower), text);
}

void burst_findings(FILE *out, const struct table *t)
{
    size_t typical = typical_row(t);
    if (typical == t->n_rows)
        return;
    tell_typical(out, t, typical);
    tell_most(out, t, typical);
    tell_burst_breakeven(out, t);
}
