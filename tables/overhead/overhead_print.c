/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead/overhead.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tables/published/sku.h"
#include "tables/table/pivot.h"
#include "util/text_list.h"

const char overhead_assumption[] = "performance proportional to frequency";

#define NOTHING_US 0.5 /* less than this is not worth a finding */

static const struct pivot_field fields[] = {
    {"cores", "active_cores", PIVOT_PLAIN, NULL}, {"down, us", "down_us", PIVOT_PLAIN, NULL},
    {"up, us", "up_us", PIVOT_PLAIN, NULL},       {"break-even, us", "breakeven_us", PIVOT_PLAIN, NULL},
    {"high", "high_ghz", PIVOT_ALONE, NULL},      {"low", "low_ghz", PIVOT_ALONE, NULL},
    {"dropped", "dropped", PIVOT_PLAIN, NULL},
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* What was published for the pair of a row with so many cores (0: whatever their number); NaN: nothing. */
static double published_figure(const json_t *figures, const struct table *t, size_t row, double cores,
                               const char *column)
{
    const char *to = table_text(t, row, "to");
    double found = NAN;
    size_t i;
    json_t *figure;
    json_array_foreach(figures, i, figure)
    {
        const char *from, *to_any, *of;
        json_t *with = NULL;
        double value;
        if (json_unpack(figure, "{s:{s:s, s:s, s?o}, s:s, s:F}", "keys", "from", &from, "to", &to_any, "active_cores",
                        &with, "column", &of, "value", &value) == 0 &&
            strcmp(of, column) == 0 && json_number_value(with) == cores && table_says(t, row, "from", from) && to &&
            text_list_has(to_any, to))
            found = value;
    }
    return found;
}

/* Published figures for the pair of a row: below the pair's last row those for any number of cores, and those for as
 * many as the row has. */
static void put_published_rows(struct pivot *p, const struct table *t, size_t row, const json_t *figures)
{
    const double cores[2] = {0, table_number(t, row, "active_cores")};
    bool last = row + 1 == t->n_rows || !table_same_pair(t, row, row + 1);
    for (size_t i = last ? 0 : 1; i < 2; i++) {
        double down = published_figure(figures, t, row, cores[i], "down_us"),
               up = published_figure(figures, t, row, cores[i], "up_us"),
               breakeven = published_figure(figures, t, row, cores[i], "breakeven_us");
        if (isnan(down) && isnan(up) && isnan(breakeven))
            continue;
        pivot_line(p, PIVOT_ASIDE);
        if (cores[i] > 0)
            pivot_number(p, cores[i], 0);
        else
            pivot_word(p, "any");
        pivot_number(p, down, 1);
        pivot_number(p, up, 1);
        pivot_number(p, breakeven, 0);
        for (size_t empty = 4; empty < FIELDS; empty++)
            pivot_word(p, "");
        pivot_word(p, "published");
    }
}

void overhead_print(FILE *out, bool colour, const struct table *t)
{
    const char *published = table_detail(t, "published");
    json_t *figures = published ? json_loads(published, 0, NULL) : NULL;
    struct pivot p;
    bool breakeven = false;
    pivot_init(&p, 1, NULL);
    pivot_headings(&p, fields, FIELDS);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (row == 0 || !table_same_pair(t, row - 1, row)) {
            pivot_line(&p, PIVOT_GROUP);
            pivot_pair(&p, t, row);
        }
        pivot_fields(&p, t, row, fields, FIELDS);
        put_published_rows(&p, t, row, figures);
        breakeven = breakeven || isfinite(table_number(t, row, "breakeven_us"));
    }
    json_decref(figures);
    pivot_print(out, colour, &p);
    if (breakeven)
        pivot_note(out, 2, "Break-even times assume: %s. high, low: measured, in GHz.", overhead_assumption);
}

/* ---- findings ---- */

/* A value of a row that may be told: with limits. */
static bool is_told(const struct table *t, size_t row, const char *column, struct estimate *out)
{
    *out = estimates_of_table(t, row, column);
    return estimates_known(out);
}

/* The row with the least (sign -1) or most (sign 1) of a column, of those that are above 0 by their limits; n_rows:
 * none is. */
static size_t overhead_print_extreme(const struct table *t, const char *column, double sign)
{
    size_t best = t->n_rows;
    struct estimate e;
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_told(t, row, column, &e) && e.lo > 0 &&
            (best == t->n_rows || sign * e.value > sign * table_number(t, best, column)))
            best = row;
    return best;
}

/* "156 [155, 157] us (128fma -> 512fma, 16 active cores)" */
static void tell_least_stay(FILE *out, const struct table *t, size_t row)
{
    char us[ESTIMATE_TEXT_MAX], cores[ESTIMATE_TEXT_MAX];
    fprintf(out, "%s us (%s -> %s, %s)", estimates_field_text(t, row, "breakeven_us", 0, us),
            table_text(t, row, "from"), table_text(t, row, "to"), estimates_cores_of(t, row, cores));
}

static void tell_breakeven(FILE *out, const struct table *t)
{
    size_t longest = overhead_print_extreme(t, "breakeven_us", 1),
           shortest = overhead_print_extreme(t, "breakeven_us", -1);
    if (longest == t->n_rows)
        return;
    fputs("Speeding up pays off only if wide code stays away for at least ", out);
    tell_least_stay(out, t, shortest);
    if (longest != shortest) {
        fputs(" to ", out);
        tell_least_stay(out, t, longest);
    }
    fputs(".\n", out);
}

static bool missing_says(const struct table *t, const char *what)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (strstr(t->missing[i].why, what))
            return true;
    return false;
}

/* What is known of coming back up, where no cost of it was told from noise. */
static const char *about_up(const struct table *t)
{
    bool changed = false, measured = false;
    for (size_t row = 0; row < t->n_rows; row++) {
        changed = changed || isfinite(table_number(t, row, "up_n")); /* only where the frequency was seen to change */
        measured = measured || isfinite(table_number(t, row, "up_us"));
    }
    if (measured)
        return "the cost of coming back up is lost in the noise";
    if (changed)
        return "the cost of coming back up was not measured";
    if (missing_says(t, "any change of the frequency") || missing_says(t, "the frequencies differ") ||
        missing_says(t, "faster with the second"))
        return "no drop in frequency is large enough to be sure of";
    return "no change of frequency was seen";
}

/* Where no cost down can be distinguished from noise, or all are next to nothing: what it could be at most. */
static void tell_no_cost(FILE *out, const struct table *t, bool up_told)
{
    bool any = false;
    double most = -INFINITY;
    struct estimate e;
    for (size_t row = 0; row < t->n_rows; row++) {
        any = any || isfinite(table_number(t, row, "down_us"));
        if (is_told(t, row, "down_us", &e))
            most = fmax(most, e.hi);
    }
    char text[ESTIMATE_TEXT_MAX];
    estimates_text(&(struct estimate){most, NAN, NAN}, 1, text);
    if (!any)
        fputs("No cost of going down was measured", out);
    else if (isinf(most))
        fputs("The cost of going down has no limits (more --runs would help)", out);
    else if (up_told)
        fprintf(out, "What going down costs is lost in the noise (at most %s us)", text);
    else
        fprintf(out, "No switch between the kernels costs more than %s us (upper 95 %% limit)", text);
}

static void overhead_print_tell_down(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    fprintf(out, "Going down costs %s us (%s -> %s)", estimates_field_text(t, least, "down_us", 1, text),
            table_text(t, least, "from"), table_text(t, least, "to"));
    if (least != most)
        fprintf(out, " to %s us (%s -> %s)", estimates_field_text(t, most, "down_us", 1, text),
                table_text(t, most, "from"), table_text(t, most, "to"));
}

static void overhead_print_tell_up(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    if (most == t->n_rows) {
        fprintf(out, "; %s.\n", about_up(t));
        return;
    }
    fprintf(out, "; coming back up %s us", estimates_field_text(t, least, "up_us", 1, text));
    if (least != most)
        fprintf(out, " to %s us", estimates_field_text(t, most, "up_us", 1, text));
    fputs(".\n", out);
}

void overhead_findings(FILE *out, const struct table *t)
{
    size_t most = overhead_print_extreme(t, "down_us", 1), least = overhead_print_extreme(t, "down_us", -1);
    size_t up_most = overhead_print_extreme(t, "up_us", 1), up_least = overhead_print_extreme(t, "up_us", -1);
    if (t->n_rows == 0)
        return;
    bool costs = most < t->n_rows && table_number(t, most, "down_us") >= NOTHING_US;
    tell_breakeven(out, t);
    if (costs)
        overhead_print_tell_down(out, t, least, most);
    else
        tell_no_cost(out, t, up_most < t->n_rows);
    overhead_print_tell_up(out, t, up_least, up_most);
}
