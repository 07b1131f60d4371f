/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/throttle_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/robust.h"
#include "tables/kinds.h"
#include "tables/switches.h"

enum { COLUMN = 24, SHOWN_COUNTS = 3, NAMES = 25 };
#define SAME_US 1.0       /* durations that differ by less are told as one ... */
#define SAME_DURATION 0.1 /* ... or by less than this, relative */
#define SAME_RATIO 0.1    /* the same for parts of the rate */

static bool is_part(const struct table *t, size_t row, const char *part)
{
    const char *text = table_text(t, row, "part");
    return text && strcmp(text, part) == 0;
}

static bool same_pair(const struct table *t, size_t a, size_t b)
{
    const char *from_a = table_text(t, a, "from"), *from_b = table_text(t, b, "from");
    const char *to_a = table_text(t, a, "to"), *to_b = table_text(t, b, "to");
    return is_part(t, a, "phase") && is_part(t, b, "phase") && from_a && from_b && to_a && to_b &&
           strcmp(from_a, from_b) == 0 && strcmp(to_a, to_b) == 0;
}

/* All phases of a pair at one number of active cores: "1/4 20.0, 1/2 20.1". */
static void phases_text(const struct table *t, size_t pair, unsigned cores, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t row = 0; row < t->n_rows; row++) {
        char ratio[16];
        size_t used = strlen(out);
        if (!same_pair(t, pair, row) || switches_cores(t, row) != cores)
            continue;
        if (!(table_number(t, row, "phase") > 0)) {
            snprintf(out, size, "none");
            return;
        }
        ratio_text(table_number(t, row, "ipc_ratio"), ratio, sizeof ratio);
        snprintf(out + used, size - used, "%s%s %.1f", used ? ", " : "", ratio, table_number(t, row, "duration_us"));
    }
}

static bool first_of_pair(const struct table *t, size_t row)
{
    for (size_t before = 0; before < row; before++)
        if (same_pair(t, before, row))
            return false;
    return is_part(t, row, "phase");
}

static bool pair_throttles(const struct table *t, size_t pair)
{
    for (size_t row = pair; row < t->n_rows; row++)
        if (same_pair(t, pair, row) && table_number(t, row, "phase") > 0)
            return true;
    return false;
}

static void print_pairs(FILE *out, const struct table *t, const unsigned *cores, size_t n)
{
    size_t without = 0, any = t->n_rows;
    char text[200];
    fprintf(out, "Part of the full rate and duration in us of each throttled phase, by active cores\n%-*s", NAMES,
            "from -> to");
    for (size_t c = 0; c < n; c++)
        fprintf(out, " %-*u", COLUMN - 1, cores[c]);
    fprintf(out, "\n");
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!first_of_pair(t, row))
            continue;
        if (!pair_throttles(t, row)) {
            any = without++ ? any : row;
            continue;
        }
        snprintf(text, sizeof text, "%s -> %s", table_text(t, row, "from"), table_text(t, row, "to"));
        fprintf(out, "%-*s", NAMES, text);
        for (size_t c = 0; c < n; c++) {
            phases_text(t, row, cores[c], text, sizeof text);
            fprintf(out, " %-*s", COLUMN - 1, text);
        }
        fprintf(out, "\n");
    }
    if (!without)
        return;
    int column = fprintf(out, "%zu other pairs show no throttling.", without);
    const char *detectable = table_text(t, any, "detectable");
    if (detectable)
        column += fprintf(out, " Found would have been (%s -> %s):", table_text(t, any, "from"),
                          table_text(t, any, "to"));
    switches_print_wrapped(out, detectable ? detectable : "", column, 2);
}

/* "75.1 [74.4, 75.8]", "at least 200", ... */
static void reach_text(const struct table *t, size_t row, char *out, size_t size)
{
    double value = table_number(t, row, "distance"), lo = table_number(t, row, "distance_lo");
    double hi = table_number(t, row, "distance_hi");
    if (isfinite(value))
        snprintf(out, size, "%.1f [%.1f, %.1f] instructions", value, lo, hi);
    else if (isfinite(lo))
        snprintf(out, size, "at least %.0f instructions", lo);
    else if (isfinite(hi))
        snprintf(out, size, "less than %.0f instructions", hi);
    else
        snprintf(out, size, "not found");
}

static void print_reach(FILE *out, const struct table *t, size_t reach)
{
    char text[100];
    const char *to = table_text(t, reach, "to"), *note = table_text(t, reach, "note");
    int column = 0;
    if (!to)
        return;
    fprintf(out, "\nOne %s in N, the rest dependent adds: rate while throttled; %u active cores\n", to,
            switches_cores(t, reach));
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "to");
        double ratio = table_number(t, row, "ipc_ratio");
        if (!is_part(t, row, "distance") || !name || strncmp(name, to, strlen(to)) != 0 ||
            switches_cores(t, row) != switches_cores(t, reach))
            continue;
        if (column > 84)
            column = fprintf(out, "\n") - 1;
        column += isfinite(ratio) ? fprintf(out, "  %3.0f: %.3f", table_number(t, row, "distance"), ratio)
                                  : fprintf(out, "  %3.0f: none ", table_number(t, row, "distance"));
    }
    reach_text(t, reach, text, sizeof text);
    fprintf(out, "\n");
    int begun = fprintf(out, "Reach of the throttling behind a wide instruction: %s%s", text, note ? ";" : "");
    switches_print_wrapped(out, note ? note : "", begun, 4);
}

void throttle_print(FILE *out, bool colour, const struct table *t)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n = switches_core_counts(t, cores, TABLES_CORES_MAX);
    table_print_head(out, colour, t, table_throttle.title);
    for (size_t begin = 0; begin < n; begin += SHOWN_COUNTS) {
        fprintf(out, "\n");
        print_pairs(out, t, cores + begin, n - begin < SHOWN_COUNTS ? n - begin : SHOWN_COUNTS);
    }
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_part(t, row, "reach"))
            print_reach(out, t, row);
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

/* The median of a column over the first phases at one number of active cores (0: any); NaN if there are none. */
static double median_first(const struct table *t, const char *column, unsigned cores)
{
    double *x = calloc(t->n_rows + 1, sizeof *x), value = NAN;
    size_t n = 0;
    if (!x)
        return value;
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_part(t, row, "phase") && table_number(t, row, "phase") == 1 &&
            (!cores || switches_cores(t, row) == cores) && isfinite(table_number(t, row, column)))
            x[n++] = table_number(t, row, column);
    if (n)
        value = median_of(x, n);
    free(x);
    return value;
}

static bool is_first_at(const struct table *t, size_t row, unsigned cores)
{
    return is_part(t, row, "phase") && table_number(t, row, "phase") == 1 && switches_cores(t, row) == cores;
}

static bool same_duration(double a, double b)
{
    return fabs(a - b) <= fmax(SAME_US, SAME_DURATION * fmax(a, b));
}

/* First phases at this number of active cores, and how many of them are about so long and so slow. */
static size_t count_first(const struct table *t, unsigned cores, double us, double ratio, size_t *like)
{
    size_t n = 0;
    *like = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_first_at(t, row, cores)) {
            n++;
            *like += same_duration(table_number(t, row, "duration_us"), us) &&
                     fabs(table_number(t, row, "ipc_ratio") / ratio - 1) <= SAME_RATIO;
        }
    return n;
}

/* Other durations with fewer active cores; neighbouring core counts that are alike are told together. */
static void tell_few_cores(FILE *out, const struct table *t, const unsigned *cores, size_t n, double usual)
{
    for (size_t c = 0; c + 1 < n; c++) {
        double us = median_first(t, "duration_us", cores[c]);
        if (isnan(us) || same_duration(us, usual))
            continue;
        size_t last = c;
        while (last + 2 < n && same_duration(median_first(t, "duration_us", cores[last + 1]), us))
            last++;
        if (last > c)
            fprintf(out, ", %.1f us with %u to %u active cores", us, cores[c], cores[last]);
        else
            fprintf(out, ", %.1f us with %u active core%s", us, cores[c], cores[c] == 1 ? "" : "s");
        c = last;
    }
}

static void tell_first_phase(FILE *out, const struct table *t)
{
    unsigned cores[TABLES_CORES_MAX];
    char text[16];
    size_t n = switches_core_counts(t, cores, TABLES_CORES_MAX), like, all;
    double usual = n ? median_first(t, "duration_us", cores[n - 1]) : NAN;
    double ratio = n ? median_first(t, "ipc_ratio", cores[n - 1]) : NAN;
    if (isnan(usual) || isnan(ratio))
        return;
    all = count_first(t, cores[n - 1], usual, ratio, &like);
    if (2 * like < all) {
        fprintf(out, "%zu pairs of kernels throttle with %u active cores, each in its own way.\n", all, cores[n - 1]);
        return;
    }
    ratio_text(ratio, text, sizeof text);
    fprintf(out, "The first throttled phase runs at %s of the rate for %.1f us", text, usual);
    tell_few_cores(out, t, cores, n, usual);
    fprintf(out, " (medians; %zu of %zu pairs that throttle agree).\n", like, all);
}

void throttle_findings(FILE *out, const struct table *t)
{
    size_t with = 0, pairs = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (first_of_pair(t, row)) {
            pairs++;
            with += pair_throttles(t, row);
        }
    if (pairs && !with) {
        fprintf(out, "No throttling was found in any of %zu switches between kernels", pairs);
        for (size_t row = 0; row < t->n_rows; row++)
            if (table_text(t, row, "detectable")) {
                fprintf(out, "; found would have been %s", table_text(t, row, "detectable"));
                break;
            }
        fprintf(out, ".\n");
    } else if (pairs) {
        tell_first_phase(out, t);
    }
    for (size_t row = 0; row < t->n_rows; row++) {
        char text[100];
        if (!is_part(t, row, "reach") || !(table_number(t, row, "phase") > 0))
            continue;
        reach_text(t, row, text, sizeof text);
        fprintf(out, "Scalar adds behind a wide instruction (%s) are throttled, too: %s far.\n",
                table_text(t, row, "to"), text);
    }
}
