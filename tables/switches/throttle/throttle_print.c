/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table throttle for a person: phases by pair and cores, reach, findings, and the plot. */
#include "tables/switches/throttle/throttle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "util/order.h"
#include "util/text_list.h"

enum { GROUPS_REPORTED = 3 }; /* of pairs that throttle alike, in the findings */
#define SAME_US 1.0           /* durations that differ by less are reported as one ... */
#define SAME_DURATION 0.1     /* ... or by less than this, relative */
#define SAME_RATIO 0.1        /* the same for parts of the rate */

static bool same_pair(const struct table *t, size_t a, size_t b)
{
    return table_says(t, a, "part", "phase") && table_says(t, b, "part", "phase") && table_same_pair(t, a, b);
}

static bool is_undecided(const struct table *t, size_t row)
{
    return isnan(table_number(t, row, "phase"));
}

static void part_text(double ratio, char *out, size_t size)
{
    if (isfinite(ratio))
        transition_ratio_text(ratio, out, size);
    else
        snprintf(out, size, "-");
}

static bool same_duration(double a, double b)
{
    return fabs(a - b) <= fmax(SAME_US, SAME_DURATION * fmax(a, b));
}

static bool is_phase_of(const struct table *t, size_t row, size_t pair, unsigned cores)
{
    return same_pair(t, pair, row) && switches_cores(t, row) == cores;
}

/* All phases of a pair at one number of active cores: "1/4 20.0, 1/2 20.1"; "0.21 32.3-39.9" where it may well have
 * lasted for longer; "?" where the data do not decide. */
static void put_phases(struct pivot *p, const struct table *t, size_t pair, unsigned cores)
{
    const char *separator = "";
    pivot_word(p, "");
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_phase_of(t, row, pair, cores) && !(table_number(t, row, "phase") > 0)) {
            pivot_more(p, is_undecided(t, row) ? "?" : "none");
            return;
        }
    for (size_t row = 0; row < t->n_rows; row++) {
        char ratio[16], us[ESTIMATE_TEXT_MAX];
        if (!is_phase_of(t, row, pair, cores))
            continue;
        part_text(table_number(t, row, "ipc_ratio"), ratio, sizeof ratio);
        struct estimate e = estimates_of_table(t, row, "duration_us"), least = {e.value, NAN, NAN};
        pivot_more(p, "%s%s %s", separator, ratio, estimates_text(&least, 1, us));
        if (e.hi > e.value && !same_duration(e.value, e.hi))
            pivot_more(p, "-%.1f", e.hi);
        separator = ", ";
    }
}

static bool first_of_pair(const struct table *t, size_t row)
{
    for (size_t before = 0; before < row; before++)
        if (same_pair(t, before, row))
            return false;
    return table_says(t, row, "part", "phase");
}

static bool pair_throttles(const struct table *t, size_t pair)
{
    for (size_t row = pair; row < t->n_rows; row++)
        if (same_pair(t, pair, row) && table_number(t, row, "phase") > 0)
            return true;
    return false;
}

/* The first row of a pair that the data do not decide, at any number of active cores; n_rows: there is none. */
static size_t pair_undecided(const struct table *t, size_t pair)
{
    size_t row = pair;
    while (row < t->n_rows && !(same_pair(t, pair, row) && is_undecided(t, row)))
        row++;
    return row;
}

static void print_pairs(FILE *out, bool colour, const struct table *t)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n = switches_core_counts(t, cores, TABLES_CORES_MAX);
    size_t without = 0, any = t->n_rows, undecided = t->n_rows;
    struct pivot p;
    pivot_init(&p, 1, "Fraction of the full rate, and duration in us, of each throttled phase, by active cores");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "from -> to");
    for (size_t c = 0; c < n; c++)
        pivot_text(&p, "%u", cores[c]);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!first_of_pair(t, row))
            continue;
        undecided = undecided < t->n_rows ? undecided : pair_undecided(t, row);
        if (!pair_throttles(t, row) && pair_undecided(t, row) == t->n_rows) {
            any = without++ ? any : row;
            continue;
        }
        pivot_line(&p, PIVOT_ROW);
        pivot_pair(&p, t, row);
        for (size_t c = 0; c < n; c++)
            put_phases(&p, t, row, cores[c]);
    }
    bool other = pivot_print(out, colour, &p);
    if (undecided < t->n_rows) {
        const char *note = table_text(t, undecided, "note");
        pivot_note(out, 3, "?: the data do not decide (%s -> %s): %s", table_text(t, undecided, "from"),
                   table_text(t, undecided, "to"), note ? note : "see the CSV or JSON");
    }
    if (without)
        pivot_note(out, 2, "%zu %spair%s no throttling.", without, other ? "other " : "",
                   without == 1 ? " shows" : "s show");
    if (without && table_text(t, any, "detectable"))
        pivot_note(out, 2, "The smallest effects that would have been detected (%s -> %s): %s",
                   table_text(t, any, "from"), table_text(t, any, "to"), table_text(t, any, "detectable"));
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
        snprintf(out, size, is_undecided(t, row) ? "undecided" : "not found");
}

/* A row of the same kernel as this row of `reach`, one in N of whose code it is. */
static bool is_of_reach(const struct table *t, size_t row, size_t reach)
{
    const char *to = table_text(t, reach, "to"), *name = table_text(t, row, "to");
    return table_says(t, row, "part", "distance") && to && name && strncmp(name, to, strlen(to)) == 0 &&
           switches_cores(t, row) == switches_cores(t, reach);
}

static void print_reach(FILE *out, bool colour, const struct table *t, size_t reach)
{
    char text[ESTIMATE_TEXT_MAX];
    const char *to = table_text(t, reach, "to"), *note = table_text(t, reach, "note");
    struct pivot p;
    pivot_init(&p, 1, "One %s in N, the rest dependent adds: rate while throttled; %s", to ? to : "-",
               estimates_cores_text(switches_cores(t, reach), text));
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "N");
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_of_reach(t, row, reach))
            pivot_text(&p, "%.0f", table_number(t, row, "distance"));
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "rate");
    for (size_t row = 0; row < t->n_rows; row++) {
        double ratio = table_number(t, row, "ipc_ratio");
        if (is_of_reach(t, row, reach) && isfinite(ratio))
            pivot_number(&p, ratio, 3);
        else if (is_of_reach(t, row, reach))
            pivot_mark(&p, is_undecided(t, row) ? "?" : "none");
    }
    pivot_print(out, colour, &p);
    reach_text(t, reach, text, sizeof text);
    pivot_note(out, 4, "Reach of the throttling after a wide instruction: %s%s%s", text, note ? "; " : "",
               note ? note : "");
}

void throttle_print(FILE *out, bool colour, const struct table *t)
{
    print_pairs(out, colour, t);
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_says(t, row, "part", "reach"))
            print_reach(out, colour, t, row);
}

/* ---- as a plot ---- */

static int ratio_colour(double ratio)
{
    static const double classes[] = {0.2, 0.3, 0.4, 0.6};
    int colour = 0;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        colour += ratio > classes[i];
    return colour;
}

static const char *ratio_class(double ratio)
{
    static const char *const names[] = {"below 0.2 of the full rate", "about 1/4 (0.2 to 0.3)",
                                        "about 1/3 (0.3 to 0.4)", "about 1/2 (0.4 to 0.6)", "above 0.6"};
    return names[ratio_colour(ratio)];
}

/* Switches in which no throttling was found have no bar: they are counted. */
static void tell_none(const struct table *t, struct chart_panel *p)
{
    size_t none = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        none += chart_row_is(t, row, "part", "phase") && table_number(t, row, "phase") == 0;
    if (none)
        text_list_add(p->note, sizeof p->note, " ", "%zu switch%s: no throttling.", none, none == 1 ? "" : "es");
}

/* Phases of a change in a row. A row that has a distance says how far throttling reaches instead. */
static void plot_durations(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Throttled phases: duration and share of the full rate",
                                            "\xC2\xB5s of throttling", "");
    double *end = calloc(t->n_rows + 1, sizeof *end);
    char name[200], text[CHART_TEXT_MAX];
    for (size_t row = 0; end && row < t->n_rows; row++) {
        struct estimate v = estimates_of_table(t, row, "duration_us");
        double ratio = table_number(t, row, "ipc_ratio");
        if (!(v.value > 0) || isfinite(table_number(t, row, "distance")) || !chart_row_is(t, row, "part", "phase"))
            continue;
        chart_pair(t, row, cores, name, sizeof name);
        if (chart_find_name(&p->categories, name) == p->categories.n && p->categories.n >= CHART_ROWS_MAX) {
            p->omitted++;
            continue;
        }
        size_t k = chart_name(c, &p->categories, name);
        if (isfinite(ratio)) {
            chart_add_legend(c, p, ratio_class(ratio), ratio_colour(ratio));
            snprintf(text, sizeof text, "%.2f", ratio);
        }
        chart_add_bar(c, p,
                      (struct chart_bar){.category = k,
                                         .from = end[k],
                                         .to = end[k] + v.value,
                                         .lo = end[k] + v.lo,
                                         .hi = end[k] + v.hi,
                                         .colour = isfinite(ratio) ? ratio_colour(ratio) : -1,
                                         .inside = true},
                      isfinite(ratio) ? text : "");
        end[k] += v.value;
    }
    c->failed = c->failed || !end;
    chart_tell_omitted(p, p->categories.n, "transitions");
    tell_none(t, p);
    chart_group_alike(c, p, SAME_DURATION, SAME_US);
    free(end);
}

/* "512or-chain, 16 cores": without the density, which is the distance. */
static const char *kernel_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    char *at = strstr(chart_pair(t, row, chart_varies(t, "active_cores"), out, CHART_NAME_MAX), "@1/");
    if (at) {
        size_t length = 3 + strspn(at + 3, "0123456789");
        memmove(at, at + length, strlen(at + length) + 1);
    }
    return out;
}

static const struct picture distances = {.panel = {.kind = CHART_LINES,
                                                   .title = "Rate of scalar adds with one wide instruction in every N",
                                                   .x_label = "distance N between wide instructions",
                                                   .y_label = "share of full rate",
                                                   .log_x = true,
                                                   .whole_x = true,
                                                   .from_zero = true,
                                                   .apart = true},
                                         .column = "part",
                                         .says = "distance",
                                         .value = "ipc_ratio",
                                         .name.text = kernel_name,
                                         .across.column = "distance"};

void throttle_plot(const struct table *t, struct chart *c)
{
    plot_durations(t, c);
    chart_table_draw(&distances, t, c);
}

/* ---- findings ---- */

/* A first phase whose duration has limits; others are not reported. */
static bool is_first_at(const struct table *t, size_t row, unsigned cores)
{
    struct estimate us = estimates_of_table(t, row, "duration_us");
    return table_says(t, row, "part", "phase") && table_number(t, row, "phase") == 1 &&
           switches_cores(t, row) == cores && estimates_known(&us) && us.lo > 0;
}

/* Pairs whose first throttled phases run at about one part of the rate. */
struct alike {
    size_t *row, n;     /* their rows at the number of active cores by which they are compared */
    double ratio;       /* the median */
    struct estimate us; /* the median, and the outermost of their limits */
};

static double median_of_column(const struct table *t, const size_t *row, size_t n, const char *column)
{
    double *x = calloc(n + 1, sizeof *x), value = NAN;
    size_t m = 0;
    for (size_t i = 0; x && i < n; i++)
        if (isfinite(table_number(t, row[i], column)))
            x[m++] = table_number(t, row[i], column);
    if (m)
        value = order_median(x, m);
    free(x);
    return value;
}

/* The median duration of rows, with the outermost of their limits. */
static struct estimate duration_of(const struct table *t, const size_t *row, size_t n)
{
    struct estimate us = {median_of_column(t, row, n, "duration_us"), INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        us.lo = fmin(us.lo, table_number(t, row[i], "duration_us_lo"));
        us.hi = fmax(us.hi, table_number(t, row[i], "duration_us_hi"));
    }
    return us;
}

static bool same_ratio(double a, double b)
{
    return fabs(a / b - 1) <= SAME_RATIO || (isnan(a) && isnan(b));
}

/* Moves the rows like the first one to the front of the list; returns how many there are. */
static size_t gather(const struct table *t, size_t *row, size_t n)
{
    double ratio = table_number(t, row[0], "ipc_ratio"), us = table_number(t, row[0], "duration_us");
    size_t k = 1;
    for (size_t i = 1; i < n; i++)
        if (same_ratio(table_number(t, row[i], "ipc_ratio"), ratio) &&
            same_duration(table_number(t, row[i], "duration_us"), us)) {
            size_t other = row[i];
            memmove(row + k + 1, row + k, (i - k) * sizeof *row);
            row[k++] = other;
        }
    return k;
}

/* Splits the rows into groups, the largest first. Returns how many. */
static size_t find_alike(const struct table *t, size_t *row, size_t n, struct alike *out)
{
    size_t groups = 0;
    for (size_t begin = 0; begin < n;) {
        struct alike a = {.row = row + begin, .n = gather(t, row + begin, n - begin)};
        a.ratio = median_of_column(t, a.row, a.n, "ipc_ratio");
        a.us = duration_of(t, a.row, a.n);
        begin += a.n;
        size_t at = groups++;
        for (; at && out[at - 1].n < a.n; at--)
            out[at] = out[at - 1];
        out[at] = a;
    }
    return groups;
}

/* The median duration with so many active cores, of these pairs where they run at the same part of the rate; NaN: of
 * less than half of them. */
static struct estimate duration_with(const struct table *t, const struct alike *a, unsigned cores)
{
    size_t *row = calloc(a->n + 1, sizeof *row), n = 0;
    struct estimate us = {NAN, NAN, NAN};
    for (size_t i = 0; row && i < a->n; i++)
        for (size_t k = 0; k < t->n_rows; k++)
            if (same_pair(t, a->row[i], k) && is_first_at(t, k, cores) &&
                same_ratio(table_number(t, k, "ipc_ratio"), a->ratio)) {
                row[n++] = k;
                break;
            }
    if (2 * n >= a->n)
        us = duration_of(t, row, n);
    free(row);
    return us;
}

/* Other durations with fewer active cores; neighboring core counts that are alike are reported together. */
static void tell_few_cores(FILE *out, const struct table *t, const unsigned *cores, size_t n, const struct alike *a)
{
    for (size_t c = 0; c < n; c++) {
        struct estimate us = duration_with(t, a, cores[c]);
        char text[ESTIMATE_TEXT_MAX];
        if (isnan(us.value) || same_duration(us.value, a->us.value))
            continue;
        size_t last = c;
        while (last + 1 < n && same_duration(duration_with(t, a, cores[last + 1]).value, us.value)) {
            struct estimate more = duration_with(t, a, cores[++last]);
            us.lo = fmin(us.lo, more.lo);
            us.hi = fmax(us.hi, more.hi);
        }
        fprintf(out, ", %s us with ", estimates_text(&us, 1, text));
        if (last > c)
            fprintf(out, "%u to ", cores[c]);
        fputs(estimates_cores_text(cores[last], text), out);
        c = last;
    }
}

/* "1/4 of the rate for 20.0 us" */
static void tell_rate(FILE *out, const struct alike *a)
{
    char part[16], us[ESTIMATE_TEXT_MAX];
    part_text(a->ratio, part, sizeof part);
    estimates_text(&a->us, 1, us);
    if (isfinite(a->ratio))
        fprintf(out, "%s of the rate for %s us", part, us);
    else
        fprintf(out, "an unknown rate for %s us", us);
}

static void tell_groups(FILE *out, const struct table *t, const struct alike *a, size_t n)
{
    for (size_t g = 0; g < n && g < GROUPS_REPORTED; g++) {
        fprintf(out, "%s %s -> %s", g ? ";" : "", table_text(t, a[g].row[0], "from"), table_text(t, a[g].row[0], "to"));
        if (a[g].n > 1)
            fprintf(out, " and %zu more", a[g].n - 1);
        fprintf(out, " at ");
        tell_rate(out, &a[g]);
    }
    if (n > GROUPS_REPORTED)
        fprintf(out, "; %zu more such groups", n - GROUPS_REPORTED);
    fprintf(out, ".\n");
}

/* First phases at the largest number of active cores (the last of n) at which anything throttles. */
static void tell_first_phase(FILE *out, const struct table *t)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n_cores = switches_core_counts(t, cores, TABLES_CORES_MAX), n = 0;
    size_t *row = calloc(t->n_rows + 1, sizeof *row);
    struct alike *a = calloc(t->n_rows + 1, sizeof *a);
    for (; row && a && n_cores; n_cores--) {
        for (size_t k = 0; k < t->n_rows; k++)
            if (is_first_at(t, k, cores[n_cores - 1]))
                row[n++] = k;
        if (n)
            break;
    }
    size_t groups = n ? find_alike(t, row, n, a) : 0;
    if (groups && 2 * a->n >= n && isfinite(a->ratio)) {
        fprintf(out, "The first throttled phase runs at ");
        tell_rate(out, a);
        tell_few_cores(out, t, cores, n_cores - 1, a);
        fprintf(out, " (medians and outermost limits; %zu of %zu pair%s that throttle%s agree%s).\n", a->n, n,
                n == 1 ? "" : "s", n == 1 ? "s" : "", n == 1 ? "s" : "");
        if (groups > 1) {
            fprintf(out, "Otherwise:");
            tell_groups(out, t, a + 1, groups - 1);
        }
    } else if (groups) {
        char with[ESTIMATE_TEXT_MAX];
        fprintf(out, "%zu pairs of kernels throttle with %s, in %zu ways:", n,
                estimates_cores_text(cores[n_cores - 1], with), groups);
        tell_groups(out, t, a, groups);
    }
    free(row);
    free(a);
}

void throttle_findings(FILE *out, const struct table *t)
{
    size_t with = 0, pairs = 0, undecided = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (first_of_pair(t, row)) {
            pairs++;
            with += pair_throttles(t, row);
            undecided += !pair_throttles(t, row) && pair_undecided(t, row) < t->n_rows;
        }
    if (undecided)
        fprintf(out, "It is undecided whether %zu of %zu pairs of kernels throttle; see the notes.\n", undecided,
                pairs);
    if (pairs > undecided && !with) {
        size_t n = pairs - undecided;
        fprintf(out, "No throttling was found in any of %zu %sswitch%s between kernels", n, undecided ? "other " : "",
                n == 1 ? "" : "es");
        for (size_t row = 0; row < t->n_rows; row++)
            if (table_text(t, row, "detectable")) {
                fprintf(out, "; smallest detectable: %s", table_text(t, row, "detectable"));
                break;
            }
        fprintf(out, ".\n");
    } else if (pairs) {
        tell_first_phase(out, t);
    }
    for (size_t row = 0; row < t->n_rows; row++) {
        char text[100];
        if (!table_says(t, row, "part", "reach") || !(table_number(t, row, "phase") > 0))
            continue;
        reach_text(t, row, text, sizeof text);
        fprintf(out, "Throttling also slows scalar adds after a wide instruction (%s): reach %s.\n",
                table_text(t, row, "to"), text);
    }
}
