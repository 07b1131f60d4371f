/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxation table for a person. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tables/relaxation.h"

static bool is(const struct table *t, size_t row, const char *what)
{
    return table_says(t, row, "what", what);
}

static bool any(const struct table *t, const char *what)
{
    return table_find(t, "what", what) < t->n_rows;
}

static void print_pair(FILE *out, const struct table *t, size_t row)
{
    char name[80];
    snprintf(name, sizeof name, "%.30s to %.30s", table_text(t, row, "from"), table_text(t, row, "to"));
    fprintf(out, "  %-18s %5.0f", name, table_number(t, row, "active_cores"));
}

/* A value with its limits, in `width` columns; nothing where there is none. */
static void print_limits(FILE *out, const struct table *t, size_t row, const char *column, int decimals, double scale,
                         int width)
{
    char lo[40], hi[40], text[80] = "";
    snprintf(lo, sizeof lo, "%.30s_lo", column);
    snprintf(hi, sizeof hi, "%.30s_hi", column);
    double value = scale * table_number(t, row, column), a = scale * table_number(t, row, lo),
           b = scale * table_number(t, row, hi);
    if (!isnan(value) && !isnan(a) && !isnan(b))
        snprintf(text, sizeof text, "%.*f [%.*f, %.*f]", decimals, value, decimals, a, decimals, b);
    else if (!isnan(value))
        snprintf(text, sizeof text, "%.*f", decimals, value);
    fprintf(out, "  %-*s", width, text);
}

static void print_waits(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %-5s  %-24s  %-6s  %-20s  %4s\n", "the wait after", "cores", "waits", "us", "sd us",
            "% of repetitions", "n");
    for (size_t i = 0; i < t->n_rows; i++) {
        double sd = table_number(t, i, "sd_us");
        if (!is(t, i, "wait"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %-5s", table_number(t, i, "mode") > 1 ? "two" : "one");
        print_limits(out, t, i, "wait_us", 1, 1, 24);
        if (isnan(sd))
            fprintf(out, "  %6s", "");
        else
            fprintf(out, "  %6.1f", sd);
        print_limits(out, t, i, "share", 1, 100, 20);
        fprintf(out, "  %4.0f\n", table_number(t, i, "n"));
    }
}

static void print_rearming(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %-12s  %-12s  %-24s  %4s\n", "started anew?", "cores", "by", "", "us after that",
            "n");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!is(t, i, "rearm"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %-12s  %-12s", table_text(t, i, "by"), table_text(t, i, "rearmed"));
        print_limits(out, t, i, "wait_us", 1, 1, 24);
        fprintf(out, "  %4.0f\n", table_number(t, i, "n"));
    }
}

static void print_toggling(FILE *out, const struct table *t)
{
    fprintf(out, "\n  %-18s %5s  %9s  %-20s  %-22s  %-18s\n", "toggling", "cores", "pause us", "% that speed up",
            "after us", "longer each time us");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!is(t, i, "toggle"))
            continue;
        print_pair(out, t, i);
        fprintf(out, "  %9.1f", table_number(t, i, "duty_us"));
        print_limits(out, t, i, "share", 1, 100, 20);
        print_limits(out, t, i, "wait_us", 1, 1, 22);
        print_limits(out, t, i, "trend_us", 2, 1, 18);
        fputc('\n', out);
    }
}

void relaxation_print(FILE *out, bool colour, const struct table *t)
{
    table_print_head(out, colour, t, RELAXATION_TITLE);
    if (any(t, "wait"))
        print_waits(out, t);
    if (any(t, "rearm"))
        print_rearming(out, t);
    if (any(t, "toggle"))
        print_toggling(out, t);
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

enum { SAID_MOST = 5 };

static const char *name_cores(const struct table *t, size_t row, char *out, size_t size)
{
    double cores = table_number(t, row, "active_cores");
    snprintf(out, size, "%.0f active core%s", cores, cores > 1 ? "s" : "");
    return out;
}

static void waits_found(FILE *out, const struct table *t)
{
    size_t said = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        char cores[40];
        if (!is(t, i, "wait"))
            continue;
        if (table_number(t, i, "mode") > 1) {
            fprintf(out, ", in %.0f %% of the cases after %.0f us", 100 * table_number(t, i, "share"),
                    table_number(t, i, "wait_us"));
        } else {
            if (said == SAID_MOST)
                break;
            fprintf(out, "%s%s a core speeds up again after %.0f us (95 %%: %.1f to %.1f; %s)",
                    said++ ? "; after " : "After ", table_text(t, i, "from"), table_number(t, i, "wait_us"),
                    table_number(t, i, "wait_us_lo"), table_number(t, i, "wait_us_hi"),
                    name_cores(t, i, cores, sizeof cores));
        }
    }
    if (said)
        fprintf(out, ".\n");
}

/* Of the kernel that was measured last: the defaults begin with the lightest. */
static void rearming_found(FILE *out, const struct table *t)
{
    size_t last = SIZE_MAX;
    char cores[40];
    for (size_t i = 0; i < t->n_rows; i++)
        if (is(t, i, "rearm"))
            last = i;
    for (int yes = 1; yes >= 0 && last != SIZE_MAX; yes--) {
        size_t said = 0;
        for (size_t i = 0; i < t->n_rows; i++) {
            const char *rearmed = table_text(t, i, "rearmed"), *by = table_text(t, i, "by");
            if (!is(t, i, "rearm") || !rearmed || (strcmp(rearmed, "yes") == 0) != yes ||
                strcmp(table_text(t, i, "from"), table_text(t, last, "from")) != 0 ||
                table_number(t, i, "active_cores") != table_number(t, last, "active_cores"))
                continue;
            if (!said++)
                fprintf(out, yes ? "After %s (%s) the wait is started anew by "
                                 : "After %s (%s) it is not started anew by ",
                        table_text(t, last, "from"), name_cores(t, last, cores, sizeof cores));
            fprintf(out, "%s%s", said > 1 ? ", " : "", strcmp(by, "interrupt") == 0 ? "interrupts" : by);
        }
        if (said)
            fprintf(out, ".\n");
    }
}

static void toggling_found(FILE *out, const struct table *t)
{
    size_t rows = 0, attenuated = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        double lo = table_number(t, i, "trend_us_lo"), hi = table_number(t, i, "trend_us_hi");
        rows += is(t, i, "toggle") && !isnan(lo);
        attenuated += is(t, i, "toggle") && (lo > 1 || hi < -1);
    }
    if (rows && attenuated)
        fprintf(out, "Frequent toggling changes the wait (%zu of %zu cases).\n", attenuated, rows);
    else if (rows)
        fprintf(out, "Frequent toggling does not change the wait.\n");
}

void relaxation_findings(FILE *out, const struct table *t)
{
    waits_found(out, t);
    rearming_found(out, t);
    toggling_found(out, t);
}
