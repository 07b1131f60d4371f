/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/energy/energy.h"

#include <math.h>
#include <string.h>

#include "tables/table/pivot.h"

#define SAME_GHZ 0.01 /* relative: PAUSE and the kernel ran at one frequency */

void energy_print(FILE *out, bool colour, const struct table *t)
{
    static const char *const above[] = {"", "", "", "", "above PAUSE", "per operation", "64 bits", "PAUSE", "PAUSE"};
    static const struct pivot_field fields[] = {
        {"kernel", "kernel", PIVOT_PLAIN, NULL},         {"cores", "active_cores", PIVOT_PLAIN, NULL},
        {"frequency", "mode", PIVOT_PLAIN, NULL},        {"GHz", "freq_ghz", PIVOT_PLAIN, NULL},
        {"W [95 % limits]", "watts", PIVOT_PLAIN, NULL}, {"nJ [95 % limits]", "nj_per_op", PIVOT_PLAIN, NULL},
        {"nJ", "nj_per_lane", PIVOT_ALONE, NULL},        {"W", "idle_watts", PIVOT_ALONE, NULL},
        {"GHz", "idle_ghz", PIVOT_PLAIN, NULL},
    };
    enum { FIELDS = sizeof fields / sizeof *fields };
    struct pivot p;
    pivot_init(&p, 3, NULL);
    pivot_line(&p, PIVOT_HEADING);
    for (size_t i = 0; i < FIELDS; i++)
        pivot_word(&p, above[i]);
    pivot_headings(&p, fields, FIELDS);
    for (size_t row = 0; row < t->n_rows; row++)
        pivot_fields(&p, t, row, fields, FIELDS);
    pivot_print(out, colour, &p);
}

/* ---- findings ---- */

/* The kernels of one operation, from 128 bits on, under one mode on the fewest cores. */
static void tell_kernels(FILE *out, const struct table *t, const char *mode, const char *column, const char *head,
                         const char *unit, int decimals)
{
    char text[ESTIMATE_TEXT_MAX];
    double cores = INFINITY, ghz = NAN;
    size_t told = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (table_says(t, i, "mode", mode))
            cores = fmin(cores, table_number(t, i, "active_cores"));
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *kernel = table_text(t, i, "kernel");
        struct estimate e = estimates_of_table(t, i, column);
        if (!table_says(t, i, "mode", mode) || table_number(t, i, "active_cores") != cores || !strstr(kernel, "fma") ||
            !estimates_known(&e))
            continue;
        ghz = table_number(t, i, "freq_ghz");
        if (told++ == 0) {
            fprintf(out, "%s, %.0f core%s", head, cores, cores > 1 ? "s" : "");
            fprintf(out, strcmp(mode, "fixed") == 0 ? " at %.1f GHz: " : ": ", ghz);
        }
        fprintf(out, "%s%s %s %s", told > 1 ? ", " : "", kernel, estimates_text(&e, decimals, text), unit);
    }
    if (told)
        fprintf(out, ".\n");
}

/* That PAUSE ran at another frequency than the kernel whose power it is subtracted from. */
static void tell_idle(FILE *out, const struct table *t, bool fixed)
{
    size_t differ = 0, most = 0;
    double by = SAME_GHZ;
    for (size_t i = 0; i < t->n_rows; i++) {
        double apart = fabs(table_number(t, i, "idle_ghz") / table_number(t, i, "freq_ghz") - 1);
        differ += apart > SAME_GHZ;
        if (apart > by) {
            by = apart;
            most = i;
        }
    }
    if (differ)
        fprintf(out,
                "In %zu of %zu rows PAUSE ran at a different frequency from the kernel (%s on %.0f core%s: %.3f GHz "
                "against %.3f), so their watts and energy are not those of the code alone%s.\n",
                differ, t->n_rows, table_text(t, most, "kernel"), table_number(t, most, "active_cores"),
                table_number(t, most, "active_cores") > 1 ? "s" : "", table_number(t, most, "idle_ghz"),
                table_number(t, most, "freq_ghz"),
                fixed ? "; the rows at a fixed frequency are" : "; use --fixed-frequency to measure those");
}

/* That not all active cores are in the package or on the die whose energy was counted. */
static void tell_counted(FILE *out, const struct table *t)
{
    for (size_t i = t->n_rows; i-- > 0;) {
        double active = table_number(t, i, "active_cores"), counted = table_number(t, i, "counted_cores");
        if (counted < active) {
            fprintf(
                out,
                "The energy counter covers one package or die: of %.0f active cores, power and energy are for %.0f.\n",
                active, counted);
            return;
        }
    }
}

void energy_findings(FILE *out, const struct table *t)
{
    bool fixed = table_find(t, "mode", "fixed") < t->n_rows;
    const char *mode = fixed ? "fixed" : "automatic";
    tell_kernels(out, t, mode, "watts", "Power above a PAUSE loop", "W", 1);
    tell_kernels(out, t, mode, "nj_per_lane", "Energy of 64 bits of an operation", "nJ", 2);
    tell_idle(out, t, fixed);
    tell_counted(out, t);
}
