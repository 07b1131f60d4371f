/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The core voltage through transitions: one reading a repetition, at a varied point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "tables/switches/voltage/volt_points.h"
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "util/plain_text.h"

enum { ROWS_OF_PLATEAU = 4 }; /* fewer are on the way from one plateau to the next */
#define PLATEAU_VOLTS 0.004   /* medians of neighbors differ by less unless the voltage steps */

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"time_us", "us", TABLE_REAL, true, 1},
    TABLE_LIMITS("volts", "V", 4),
    {"n", "", TABLE_WHOLE, false, 0}, /* readings that the value is the median of */
    {"level_ghz", "GHz", TABLE_REAL, false, 3},
    /* in the first row of a pair: that the recording ended too soon, or how many readings failed, and why */
    {"note", "", TABLE_TEXT, false, 0},
};

static const struct switches_wish voltage_wishes[] = {
    {.runs = 50, .volts = true}, {.runs = 12, .volts = true, .volt_readings = 400}}; /* the second: in brief */

/* Down and up between no license and the licenses of each width and weight, as published pictures have them. */
static const char *const pairs[][2] = {
    {"128fma", "256or"},  {"128fma", "256fma"}, {"256fma", "128fma"}, {"128fma", "512or"}, {"128fma", "512fma"},
    {"512fma", "128fma"}, {"256fma", "512fma"}, {"512fma", "256fma"}, {"256fma", "512or"}, {"512or", "256fma"},
};
static const char *const pairs_brief[][2] = {{"128fma", "512fma"}, {"128fma", "256fma"}};

static int add_pairs(const struct tables_context *x, struct cells *out, unsigned cores, struct table *t)
{
    static const char *const names[] = {"128fma", "256or", "256fma", "512or", "512fma"};
    struct payload kernels[TABLES_KERNELS_MAX], a, b;
    const struct switches_wish *w = &voltage_wishes[x->options->brief];
    size_t n = tables_each_once(kernels, tables_kernels(x, names, sizeof names / sizeof *names, kernels, t));
    if (x->options->n_kernels)
        return switches_add_all(x, out, kernels, n, &cores, 1, w);
    const char *const(*list)[2] = x->options->brief ? pairs_brief : pairs;
    size_t n_pairs = x->options->brief ? sizeof pairs_brief / sizeof *pairs_brief : sizeof pairs / sizeof *pairs;
    for (size_t i = 0; i < n_pairs; i++)
        if (tables_can_run(x, list[i][0], &a) && tables_can_run(x, list[i][1], &b) &&
            switches_add(x, out, &a, &b, cores, w))
            return -1;
    return 0;
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    unsigned cores[TABLES_CORES_MAX];
    const struct switches_wish *w = &voltage_wishes[x->options->brief];
    struct table unused;
    switches_note(x, w, t);
    if (!x->machine->ops->read_register) {
        table_add_missing(
            t,
            "machine %.80s cannot read registers; remedy: use one that can: msr or perf as root with the module msr "
            "loaded (modprobe msr), helper, or model:NAME",
            x->info.name);
        return MACHINE_OK;
    }
    /* a rise of the voltage was published for two active cores only (dissertation on Skylake-SP, section 3.2.2) */
    size_t n = tables_active_cores(x, x->options->brief ? CORES_ALL : CORES_TWO_AND_ALL, cores);
    for (size_t i = 0; i < n; i++) {
        table_init(&unused, t->name, columns, sizeof columns / sizeof *columns);
        int bad = add_pairs(x, out, cores[i], i ? &unused : t); /* kernels that cannot run are reported once */
        table_free(&unused);
        if (bad)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    return MACHINE_OK;
}

static int put_rows(struct table *rows, const struct cell *c, const struct switches_seen *s, struct machine_error *err)
{
    struct volt_point *v;
    size_t n;
    if (volt_points_find(&s->result.trace, &s->phases, 0, &v, &n, NULL))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!n) {
        free(v);
        return machine_fail(err, MACHINE_CANNOT, "", "%s",
                            s->result.volts_missing[0] ? s->result.volts_missing : "no voltage could be read");
    }
    for (size_t i = 0; i < n; i++) {
        table_add_row(rows);
        switches_put_keys(rows, c, s);
        table_put_number(rows, "time_us", v[i].time_us);
        estimates_put(rows, "volts", v[i].volts);
        table_put_number(rows, "n", (double)v[i].n);
        table_put_number(rows, "level_ghz", v[i].level_ghz);
        if (i == 0 && (s->unsettled[0] || s->result.volts_missing[0]))
            table_put_text(rows, "note", s->unsettled[0] ? s->unsettled : s->result.volts_missing);
    }
    free(v);
    return MACHINE_OK;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    return switches_measure_rows(x, table_voltage.name, c, &voltage_wishes[x->options->brief], put_rows, rows, err);
}

/* ---- for a person ---- */

static bool same_cell(const struct table *t, size_t a, size_t b)
{
    return table_same_pair(t, a, b) && table_same(t, a, b, "active_cores");
}

/* Rows first..end of about one voltage; its mean in *volts. */
static size_t plateau_end(const struct table *t, size_t first, size_t end, double *volts)
{
    double sum = 0;
    size_t row = first;
    for (; row < end; row++) {
        double v = table_number(t, row, "volts");
        if (row > first && fabs(v - sum / (double)(row - first)) > PLATEAU_VOLTS)
            break;
        sum += v;
    }
    *volts = sum / (double)(row - first);
    return row;
}

/* The voltages of rows first..end, one after the other: "0.880 V at 2.80 GHz until 31 us, 0.820 V at 2.40 GHz". */
static void put_plateaus(struct pivot *p, const struct table *t, size_t first, size_t end)
{
    double volts;
    const char *separator = "";
    pivot_word(p, "");
    for (size_t row = first, next; row < end; row = next) {
        next = plateau_end(t, row, end, &volts);
        if (next - row < ROWS_OF_PLATEAU && end - first > ROWS_OF_PLATEAU) /* on the way from one to the next */
            continue;
        double ghz = table_number(t, row + (next - row) / 2, "level_ghz");
        pivot_more(p, "%s%.3f V", separator, volts);
        if (isfinite(ghz))
            pivot_more(p, " at %.2f GHz", ghz);
        if (next < end)
            pivot_more(p, " until %.0f us", plain_number(table_number(t, next, "time_us"), 0));
        separator = ", ";
    }
}

static void print(FILE *out, bool colour, const struct table *t)
{
    struct pivot p;
    pivot_init(&p, 2, NULL);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "from -> to");
    pivot_word(&p, "cores");
    pivot_word(&p, "core voltage");
    for (size_t row = 0, end; row < t->n_rows; row = end) {
        for (end = row + 1; end < t->n_rows && same_cell(t, row, end); end++)
            ;
        pivot_line(&p, PIVOT_ROW);
        pivot_pair(&p, t, row);
        pivot_number(&p, table_number(t, row, "active_cores"), 0);
        put_plateaus(&p, t, row, end);
    }
    pivot_print(out, colour, &p);
}

/* The row with the highest or lowest voltage at full or throttled rate, of those with limits. */
static size_t extreme(const struct table *t, double sign)
{
    size_t best = t->n_rows;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate volts = estimates_of_table(t, row, "volts");
        if (estimates_known(&volts) && isfinite(table_number(t, row, "level_ghz")) &&
            (best == t->n_rows || sign * volts.value > sign * table_number(t, best, "volts")))
            best = row;
    }
    return best;
}

static void findings(FILE *out, const struct table *t)
{
    size_t highest = extreme(t, 1), lowest = extreme(t, -1);
    if (highest == t->n_rows)
        return;
    char low[ESTIMATE_TEXT_MAX], high[ESTIMATE_TEXT_MAX];
    struct estimate least = estimates_of_table(t, lowest, "volts"), most = estimates_of_table(t, highest, "volts");
    fprintf(out, "Core voltage: from %s V at %.3f GHz (%s -> %s) to %s V at %.3f GHz (%s -> %s).\n",
            estimates_text(&least, 3, low), table_number(t, lowest, "level_ghz"), table_text(t, lowest, "from"),
            table_text(t, lowest, "to"), estimates_text(&most, 3, high), table_number(t, highest, "level_ghz"),
            table_text(t, highest, "from"), table_text(t, highest, "to"));
}

enum { VOLTAGE_PANELS_IN_COLUMN = 4 };

static void plot(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_names names = {0};
    char name[200];
    for (size_t row = 0; row < t->n_rows; row++) {
        double volts = table_number(t, row, "volts");
        if (isfinite(volts))
            chart_name(c, &names, chart_pair(t, row, cores, name, sizeof name));
    }
    for (size_t i = 0; i < names.n && i < CHART_PANELS_MAX; i++) {
        struct chart_panel *p = chart_add_panel(c, CHART_LINES, names.name[i], "\xC2\xB5s from the switch", "V");
        struct chart_series *s = chart_series(c, p, names.name[i]);
        if (!s)
            break;
        s->in_legend = false;
        s->mark = 0;
        for (size_t row = 0; row < t->n_rows; row++)
            if (strcmp(chart_pair(t, row, cores, name, sizeof name), names.name[i]) == 0) {
                struct estimate v = estimates_of_table(t, row, "volts");
                chart_add_point(c, s, table_number(t, row, "time_us"), v.value, v.lo, v.hi);
            }
        if (i + 1 == CHART_PANELS_MAX) {
            p->omitted = names.n - CHART_PANELS_MAX;
            chart_tell_omitted(p, CHART_PANELS_MAX, "transitions");
        }
    }
    c->two_columns = names.n > VOLTAGE_PANELS_IN_COLUMN;
    chart_free_names(&names);
}

const struct table_kind table_voltage = {
    .name = "voltage",
    .title = "Core voltage through transitions, running median of 21 readings",
    .about = "core voltage over time through transitions, one reading per repetition",
    .method = "Reading the voltage disturbs the code being measured, so each repetition reads it only once, at a "
              "different point of the transition; the readings of all repetitions are sorted by time and smoothed with "
              "a running median of 21 (G 3.2.2).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "active_cores", "time_us", "volts", "level_ghz"},
    .plan = plan,
    .measure = measure,
    .print = print,
    .findings = findings,
    .plot = plot,
};
