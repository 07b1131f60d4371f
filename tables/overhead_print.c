/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead_print.h"

#include <math.h>
#include <string.h>

#include "analysis/overhead.h"

enum { FIELD = 40, WIDE = 20 };
#define NOTHING_US 0.5 /* less than this is not worth a finding */

static bool same_pair(const struct table *t, size_t a, size_t b)
{
    const char *from[2] = {table_text(t, a, "from"), table_text(t, b, "from")};
    const char *to[2] = {table_text(t, a, "to"), table_text(t, b, "to")};
    return from[0] && from[1] && to[0] && to[1] && strcmp(from[0], from[1]) == 0 && strcmp(to[0], to[1]) == 0;
}

/* Without a minus before what is 0 as it is shown. */
static double shown(double value, int decimals)
{
    double unit = pow(10, -decimals);
    return fabs(value) < unit / 2 ? 0 : value;
}

static void number(double value, int decimals, char out[FIELD])
{
    if (isfinite(value))
        snprintf(out, FIELD, "%.*f", decimals, shown(value, decimals));
    else
        snprintf(out, FIELD, "-");
}

/* "42.7 [42.5, 42.9]", or a dash. */
static void limits(const struct table *t, size_t row, const char *column, int decimals, char out[FIELD])
{
    char name[40], lo[FIELD], hi[FIELD], value[FIELD];
    snprintf(name, sizeof name, "%s_lo", column);
    double low = table_number(t, row, name);
    number(low, decimals, lo);
    snprintf(name, sizeof name, "%s_hi", column);
    number(table_number(t, row, name), decimals, hi);
    number(table_number(t, row, column), decimals, value);
    if (isfinite(low))
        snprintf(out, FIELD, "%.9s [%.9s, %.9s]", value, lo, hi);
    else
        snprintf(out, FIELD, "%.9s", value);
}

static void print_row(FILE *out, const struct table *t, size_t row)
{
    char down[FIELD], up[FIELD], breakeven[FIELD], high[FIELD], low[FIELD], dropped[FIELD];
    limits(t, row, "down_us", 1, down);
    limits(t, row, "up_us", 1, up);
    limits(t, row, "breakeven_us", 0, breakeven);
    number(table_number(t, row, "high_ghz"), 3, high);
    number(table_number(t, row, "low_ghz"), 3, low);
    number(table_number(t, row, "dropped"), 0, dropped);
    fprintf(out, "  %5.0f  %*s  %*s  %*s  %6s %6s  %7s\n", table_number(t, row, "active_cores"), WIDE, down, WIDE, up,
            WIDE, breakeven, high, low, dropped);
}

static void print_published(FILE *out, bool colour, const struct table *t, size_t row,
                            const struct overhead_published *p)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    char down[FIELD], up[FIELD], breakeven[FIELD];
    if (!from || !to || strcmp(from, p->from) != 0 || strcmp(to, p->to) != 0)
        return;
    number(p->down_us, 1, down);
    number(p->up_us, 1, up);
    number(p->breakeven_us, 0, breakeven);
    fprintf(out, "%s  %5s  %*s  %*s  %*s  published", colour ? "\033[2m" : "", "", WIDE, down, WIDE, up, WIDE,
            breakeven);
    if (p->active_cores)
        fprintf(out, " for %u", p->active_cores);
    fprintf(out, "%s\n", colour ? "\033[0m" : "");
}

void overhead_print(FILE *out, bool colour, const struct table *t, const char *title,
                    const struct overhead_published *published, size_t n_published)
{
    table_print_head(out, colour, t, title);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (row == 0 || !same_pair(t, row - 1, row)) {
            const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
            fprintf(out, "%s%s - %s%s\n", colour ? "\033[1m" : "", from ? from : "", to ? to : "",
                    colour ? "\033[0m" : "");
            fprintf(out, "  %5s  %*s  %*s  %*s  %6s %6s  %7s\n", "cores", WIDE, "down us", WIDE, "up us", WIDE,
                    "break-even us", "high", "low", "dropped");
        }
        print_row(out, t, row);
        for (size_t i = 0; i < n_published; i++) {
            bool last = row + 1 == t->n_rows || !same_pair(t, row, row + 1);
            if (published[i].active_cores ? published[i].active_cores == table_number(t, row, "active_cores") : last)
                print_published(out, colour, t, row, &published[i]);
        }
    }
    for (size_t row = 0; row < t->n_rows; row++)
        if (isfinite(table_number(t, row, "breakeven_us"))) {
            fprintf(out, "Break-even times assume: %s. high, low: measured, in GHz.\n",
                    overhead_assumption);
            break;
        }
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

/* The row with the least (sign -1) or most (sign 1) of a column, of those that are above 0 by their limits; n_rows:
 * none is. */
static size_t extreme(const struct table *t, const char *column, double sign)
{
    size_t best = t->n_rows;
    char lo[40];
    snprintf(lo, sizeof lo, "%.30s_lo", column);
    for (size_t row = 0; row < t->n_rows; row++) {
        double x = table_number(t, row, column);
        bool told_from_noise = !(table_number(t, row, lo) <= 0); /* one repetition has no limits */
        if (isfinite(x) && told_from_noise && (best == t->n_rows || sign * x > sign * table_number(t, best, column)))
            best = row;
    }
    return best;
}

static void tell_breakeven(FILE *out, const struct table *t)
{
    size_t longest = extreme(t, "breakeven_us", 1), shortest = extreme(t, "breakeven_us", -1);
    if (longest == t->n_rows)
        return;
    fprintf(out, "A higher frequency pays only if it lasts %.0f us (%s - %s, %.0f active)",
            table_number(t, shortest, "breakeven_us"), table_text(t, shortest, "from"), table_text(t, shortest, "to"),
            table_number(t, shortest, "active_cores"));
    if (longest != shortest)
        fprintf(out, " to %.0f us (%s - %s, %.0f active)", table_number(t, longest, "breakeven_us"),
                table_text(t, longest, "from"), table_text(t, longest, "to"),
                table_number(t, longest, "active_cores"));
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
    size_t steps_known = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        changed = changed || isfinite(table_number(t, row, "up_n")); /* only where the frequency was seen to change */
        measured = measured || isfinite(table_number(t, row, "up_us"));
        steps_known += isfinite(table_number(t, row, "high_ghz_lo")) && isfinite(table_number(t, row, "low_ghz_lo"));
    }
    if (measured)
        return "the cost of coming back up is too small to tell";
    if (changed)
        return "the cost of coming back up was not measured";
    if (missing_says(t, OVERHEAD_MOVES))
        return OVERHEAD_MOVES;
    if (steps_known < t->n_rows)
        return "one repetition cannot tell whether the frequency changes";
    if (missing_says(t, "whether the frequency changes") || missing_says(t, "the frequencies differ") ||
        missing_says(t, "faster with the second"))
        return "no change down of the frequency is large enough to tell";
    return "no change of the frequency was seen";
}

/* Where no cost down is told from noise, or all are next to nothing. */
static void tell_no_cost(FILE *out, const struct table *t, size_t most, bool up_told)
{
    bool any = false;
    for (size_t row = 0; row < t->n_rows; row++)
        any = any || isfinite(table_number(t, row, "down_us"));
    if (!any)
        fputs("No cost of going down was measured", out);
    else if (most == t->n_rows && up_told)
        fputs("What going down costs is lost in the noise", out);
    else if (most == t->n_rows)
        fputs("No switch between the kernels costs what could be told from noise", out);
    else
        fprintf(out, "No switch between the kernels costs more than %.1f us", NOTHING_US);
}

static void tell_down(FILE *out, const struct table *t, size_t least, size_t most)
{
    fprintf(out, "Going down costs %.1f us (%s - %s)", shown(table_number(t, least, "down_us"), 1),
            table_text(t, least, "from"), table_text(t, least, "to"));
    if (least != most)
        fprintf(out, " to %.1f us (%s - %s)", table_number(t, most, "down_us"), table_text(t, most, "from"),
                table_text(t, most, "to"));
}

void overhead_findings(FILE *out, const struct table *t)
{
    size_t most = extreme(t, "down_us", 1), least = extreme(t, "down_us", -1);
    size_t up_most = extreme(t, "up_us", 1), up_least = extreme(t, "up_us", -1);
    if (t->n_rows == 0)
        return;
    tell_breakeven(out, t);
    if (most == t->n_rows || table_number(t, most, "down_us") < NOTHING_US)
        tell_no_cost(out, t, most, up_most < t->n_rows);
    else
        tell_down(out, t, least, most);
    if (up_most < t->n_rows && up_least == up_most)
        fprintf(out, "; coming back up %.1f us.\n", shown(table_number(t, up_most, "up_us"), 1));
    else if (up_most < t->n_rows)
        fprintf(out, "; coming back up %.1f to %.1f us.\n", shown(table_number(t, up_least, "up_us"), 1),
                shown(table_number(t, up_most, "up_us"), 1));
    else
        fprintf(out, "; %s.\n", about_up(t));
}
