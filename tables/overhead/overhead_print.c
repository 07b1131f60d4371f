/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead/overhead_print.h"

#include <math.h>
#include <string.h>

#include "tables/overhead/overhead_fit.h"
#include "tables/table/estimates.h"

enum { FIELD = 40, WIDE = 20 };
#define NOTHING_US 0.5 /* less than this is not worth a finding */

static bool overhead_print_same_pair(const struct table *t, size_t a, size_t b)
{
    const char *from[2] = {table_text(t, a, "from"), table_text(t, b, "from")};
    const char *to[2] = {table_text(t, a, "to"), table_text(t, b, "to")};
    return from[0] && from[1] && to[0] && to[1] && strcmp(from[0], from[1]) == 0 && strcmp(to[0], to[1]) == 0;
}

/* Without a minus before what is 0 as it is shown. */
static double overhead_print_shown(double value, int decimals)
{
    double unit = pow(10, -decimals);
    return fabs(value) < unit / 2 ? 0 : value;
}

static void overhead_print_number(double value, int decimals, char out[FIELD])
{
    if (isfinite(value))
        snprintf(out, FIELD, "%.*f", decimals, overhead_print_shown(value, decimals));
    else
        snprintf(out, FIELD, "-");
}

/* "42.7 [42.5, 42.9]", or a dash. */
static void overhead_print_limits(const struct table *t, size_t row, const char *column, int decimals, char out[FIELD])
{
    char name[40], lo[FIELD], hi[FIELD], value[FIELD];
    snprintf(name, sizeof name, "%s_lo", column);
    double low = table_number(t, row, name);
    overhead_print_number(low, decimals, lo);
    snprintf(name, sizeof name, "%s_hi", column);
    overhead_print_number(table_number(t, row, name), decimals, hi);
    overhead_print_number(table_number(t, row, column), decimals, value);
    if (isfinite(low))
        snprintf(out, FIELD, "%.9s [%.9s, %.9s]", value, lo, hi);
    else
        snprintf(out, FIELD, "%.9s", value);
}

static void overhead_print_row(FILE *out, const struct table *t, size_t row)
{
    char down[FIELD], up[FIELD], breakeven[FIELD], high[FIELD], low[FIELD], dropped[FIELD];
    overhead_print_limits(t, row, "down_us", 1, down);
    overhead_print_limits(t, row, "up_us", 1, up);
    overhead_print_limits(t, row, "breakeven_us", 0, breakeven);
    overhead_print_number(table_number(t, row, "high_ghz"), 3, high);
    overhead_print_number(table_number(t, row, "low_ghz"), 3, low);
    overhead_print_number(table_number(t, row, "dropped"), 0, dropped);
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
    overhead_print_number(p->down_us, 1, down);
    overhead_print_number(p->up_us, 1, up);
    overhead_print_number(p->breakeven_us, 0, breakeven);
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
        if (row == 0 || !overhead_print_same_pair(t, row - 1, row)) {
            const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
            fprintf(out, "%s%s - %s%s\n", colour ? "\033[1m" : "", from ? from : "", to ? to : "",
                    colour ? "\033[0m" : "");
            fprintf(out, "  %5s  %*s  %*s  %*s  %6s %6s  %7s\n", "cores", WIDE, "down us", WIDE, "up us", WIDE,
                    "break-even us", "high", "low", "dropped");
        }
        overhead_print_row(out, t, row);
        for (size_t i = 0; i < n_published; i++) {
            bool last = row + 1 == t->n_rows || !overhead_print_same_pair(t, row, row + 1);
            if (published[i].active_cores ? published[i].active_cores == table_number(t, row, "active_cores") : last)
                print_published(out, colour, t, row, &published[i]);
        }
    }
    for (size_t row = 0; row < t->n_rows; row++)
        if (isfinite(table_number(t, row, "breakeven_us"))) {
            fprintf(out, "Break-even times assume: %s. high, low: measured, in GHz.\n", overhead_assumption);
            break;
        }
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

static const char *overhead_print_value_text(const struct table *t, size_t row, const char *column, int decimals,
                                             char out[ESTIMATE_TEXT_MAX])
{
    struct estimate e = estimates_of_table(t, row, column);
    return estimates_text(&e, decimals, out);
}

/* The frequency that a row gives a kernel; false: none. Both, where it appears twice, are the same kernel's. */
static bool gives(const struct table *t, size_t row, const char *kernel, struct estimate *out)
{
    bool is_from = table_says(t, row, "from", kernel);
    if (!is_from && !table_says(t, row, "to", kernel))
        return false;
    *out = estimates_of_table(t, row, is_from ? "high_ghz" : "low_ghz");
    return estimates_known(out);
}

/* A row that gives one of this row's kernels another frequency with as many active cores, where no fewer do so than
 * give it the same; n_rows: none. */
static size_t contradicting(const struct table *t, size_t row)
{
    static const char *const columns[] = {"from", "to"};
    for (size_t k = 0; k < 2; k++) {
        const char *kernel = table_text(t, row, columns[k]);
        size_t pro = 0, contra = 0, first = t->n_rows;
        struct estimate mine, other;
        for (size_t i = 0; kernel && gives(t, row, kernel, &mine) && i < t->n_rows; i++) {
            if (i == row || table_number(t, i, "active_cores") != table_number(t, row, "active_cores") ||
                !gives(t, i, kernel, &other))
                continue;
            bool agrees = estimates_frequencies_agree(&mine, &other);
            pro += agrees;
            contra += !agrees;
            first = !agrees && first == t->n_rows ? i : first;
        }
        if (contra && contra >= pro)
            return first;
    }
    return t->n_rows;
}

/* A value of a row that may be told: with limits, in a row that others do not contradict. */
static bool is_told(const struct table *t, size_t row, const char *column, struct estimate *out)
{
    *out = estimates_of_table(t, row, column);
    return estimates_known(out) && contradicting(t, row) == t->n_rows;
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

static void tell_breakeven(FILE *out, const struct table *t)
{
    size_t longest = overhead_print_extreme(t, "breakeven_us", 1),
           shortest = overhead_print_extreme(t, "breakeven_us", -1);
    char text[ESTIMATE_TEXT_MAX];
    if (longest == t->n_rows)
        return;
    fprintf(out, "Speeding up pays off only if wide code stays away for at least %s us (%s - %s, %.0f active)",
            overhead_print_value_text(t, shortest, "breakeven_us", 0, text), table_text(t, shortest, "from"),
            table_text(t, shortest, "to"), table_number(t, shortest, "active_cores"));
    if (longest != shortest)
        fprintf(out, " to %s us (%s - %s, %.0f active)", overhead_print_value_text(t, longest, "breakeven_us", 0, text),
                table_text(t, longest, "from"), table_text(t, longest, "to"), table_number(t, longest, "active_cores"));
    fputs(".\n", out);
}

/* The first row that others contradict, with one of them. */
static void tell_contradiction(FILE *out, const struct table *t)
{
    char text[4][ESTIMATE_TEXT_MAX];
    size_t n = 0, row = t->n_rows;
    for (size_t i = t->n_rows; i-- > 0;)
        if (contradicting(t, i) < t->n_rows) {
            n++;
            row = i;
        }
    if (!n)
        return;
    size_t other = contradicting(t, row);
    fprintf(out,
            "Rows contradict each other; %zu %s not reported: with %.0f active, %s - %s at %s and %s GHz, against %s - "
            "%s at %s and %s GHz.\n",
            n, n == 1 ? "is" : "are", table_number(t, row, "active_cores"), table_text(t, row, "from"),
            table_text(t, row, "to"), overhead_print_value_text(t, row, "high_ghz", 3, text[0]),
            overhead_print_value_text(t, row, "low_ghz", 3, text[1]), table_text(t, other, "from"),
            table_text(t, other, "to"), overhead_print_value_text(t, other, "high_ghz", 3, text[2]),
            overhead_print_value_text(t, other, "low_ghz", 3, text[3]));
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
        return "the cost of coming back up is lost in the noise";
    if (changed)
        return "the cost of coming back up was not measured";
    if (missing_says(t, OVERHEAD_MOVES))
        return OVERHEAD_MOVES;
    if (steps_known < t->n_rows)
        return "a single repetition cannot show any change of the frequency";
    if (missing_says(t, "any change of the frequency") || missing_says(t, "the frequencies differ") ||
        missing_says(t, "faster with the second"))
        return "no drop in frequency is large enough to be sure of";
    return "no change of frequency was seen";
}

/* Where no cost down is told from noise, or all are next to nothing: what it could be at most. */
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
    if (!any)
        fputs("No cost of going down was measured", out);
    else if (isinf(most))
        fputs("The cost of going down has no limits (more --runs would help), or rows contradict each other", out);
    else if (up_told)
        fprintf(out, "The cost of going down is lost in the noise (at most %.1f us)", overhead_print_shown(most, 1));
    else
        fprintf(out, "No switch between the kernels costs more than %.1f us (upper 95 %% limit)",
                overhead_print_shown(most, 1));
}

static void overhead_print_tell_down(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    fprintf(out, "Going down costs %s us (%s - %s)", overhead_print_value_text(t, least, "down_us", 1, text),
            table_text(t, least, "from"), table_text(t, least, "to"));
    if (least != most)
        fprintf(out, " to %s us (%s - %s)", overhead_print_value_text(t, most, "down_us", 1, text),
                table_text(t, most, "from"), table_text(t, most, "to"));
}

static void overhead_print_tell_up(FILE *out, const struct table *t, size_t least, size_t most)
{
    char text[ESTIMATE_TEXT_MAX];
    if (most == t->n_rows) {
        fprintf(out, "; %s.\n", about_up(t));
        return;
    }
    fprintf(out, "; coming back up %s us", overhead_print_value_text(t, least, "up_us", 1, text));
    if (least != most)
        fprintf(out, " to %s us", overhead_print_value_text(t, most, "up_us", 1, text));
    fputs(".\n", out);
}

void overhead_findings(FILE *out, const struct table *t)
{
    size_t most = overhead_print_extreme(t, "down_us", 1), least = overhead_print_extreme(t, "down_us", -1);
    size_t up_most = overhead_print_extreme(t, "up_us", 1), up_least = overhead_print_extreme(t, "up_us", -1);
    const char *why = support_no_levels(t);
    if (t->n_rows == 0)
        return;
    bool costs = most < t->n_rows && table_number(t, most, "down_us") >= NOTHING_US;
    if (why && (support_noted_floating(t) || costs || up_most < t->n_rows)) {
        fprintf(out, "No cost of a frequency change is reported: %s.\n", why);
        return;
    }
    tell_breakeven(out, t);
    if (costs)
        overhead_print_tell_down(out, t, least, most);
    else
        tell_no_cost(out, t, up_most < t->n_rows);
    overhead_print_tell_up(out, t, up_least, up_most);
    tell_contradiction(out, t);
}
