/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the table share: names of narrower code, texts, rows that belong together. */
#include <math.h>
#include <stdio.h>

#include "tables/burst/burst.h"

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
