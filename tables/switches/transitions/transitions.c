/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All ordered pairs of kernels, down and up: what happens when code changes from one to the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"
#include "tables/registry.h"
#include "tables/switches/switches.h"
#include "tables/switches/transitions/transitions.h"

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},          {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0}, {"kind", "", TABLE_TEXT, false, 0},
    TABLE_LIMITS("latency_us", "us", 1),        TABLE_LIMITS("wait_us", "us", 1),
    TABLE_LIMITS("overhead_us", "us", 1),       {"halts", "", TABLE_WHOLE, false, 0},
    TABLE_LIMITS("from_ghz", "GHz", 3),         TABLE_LIMITS("to_ghz", "GHz", 3),
    {"n", "", TABLE_WHOLE, false, 0},           {"runs", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},   {"phases", "", TABLE_TEXT, false, 0},
    {"detectable", "", TABLE_TEXT, false, 0},   {"note", "", TABLE_TEXT, false, 0},
};

static const struct switches_wish wishes[] = {{.runs = 50}, {.runs = 12}}; /* the second: in brief */

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct payload kernels[TABLES_KERNELS_MAX];
    unsigned cores[TABLES_CORES_MAX];
    const char *names[TABLES_KERNELS_MAX];
    const struct switches_wish *w = &wishes[x->options->brief];
    size_t n = tables_every_kernel(names, TABLES_KERNELS_MAX);
    n = x->options->brief ? tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernels, t)
                          : tables_kernels(x, names, n, kernels, t);
    n = tables_each_once(kernels, n);
    size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    if (x->options->n_kernels && n == 1)
        return machine_fail(err, MACHINE_BAD_INPUT, "name at least two kernels, as in --kernels 128fma,512fma",
                            "transitions need two kernels; of those given, only %s can run here", kernels[0].name);
    switches_note(x, w, t);
    table_set_setting(t, "voltage", "not read for this table; see table voltage");
    return switches_add_all(x, out, kernels, n, cores, n_cores, w)
               ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
               : MACHINE_OK;
}

static int put_row(struct table *rows, const struct cell *c, const struct switches_seen *s, struct machine_error *err)
{
    (void)err;
    struct transition_summary sum;
    transition_summarize(&s->result.trace, &s->phases, &sum);
    if (s->unsettled[0])
        transition_summary_withhold(&sum);
    table_add_row(rows);
    switches_put_keys(rows, c, s);
    table_put_text(rows, "kind", transition_switch_kind_name(sum.kind));
    estimates_put(rows, "latency_us", sum.latency_us);
    estimates_put(rows, "wait_us", sum.wait_us);
    estimates_put(rows, "overhead_us", sum.overhead_us);
    estimates_put(rows, "from_ghz", sum.from_ghz);
    estimates_put(rows, "to_ghz", sum.to_ghz);
    if (sum.kind != SWITCH_UNDECIDED)
        table_put_number(rows, "halts", sum.halts);
    table_put_number(rows, "n", (double)sum.n);
    if (sum.phases[0])
        table_put_text(rows, "phases", sum.phases);
    if (sum.detectable[0] && (sum.kind == SWITCH_NONE || sum.kind == SWITCH_UNDECIDED))
        table_put_text(rows, "detectable", sum.detectable);
    if (s->phases.n_warnings)
        table_put_text(rows, "note", s->phases.warnings[0]);
    return MACHINE_OK;
}

static int measure(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err)
{
    return switches_measure_rows(x, table_transitions.name, c, &wishes[x->options->brief], put_row, rows, err);
}

/* ---- plot ---- */

/* Shows a change without a latency in a few letters; by its `kind`, or by its values where the table does not state
 * one. */
static void transition_cell(const struct table *t, size_t row, struct chart_cell *cell)
{
    static const char *const signs[][2] = {{"none", "\xC2\xB7"},  {"throttle only", "t"}, {"halt only", "h"},
                                           {"voltage only", "v"}, {"licence only", "v"},  {"undecided", "?"}};
    const char *kind = table_text(t, row, "kind"), *sign = NULL;
    double latency = table_number(t, row, "latency_us"), overhead = table_number(t, row, "overhead_us");
    double wait = table_number(t, row, "wait_us");
    double whole = latency + (isfinite(wait) ? wait : 0);
    for (size_t i = 0; kind && i < sizeof signs / sizeof signs[0]; i++)
        sign = strcmp(kind, signs[i][0]) == 0 ? signs[i][1] : sign;
    if (!kind && !isfinite(latency))
        sign = overhead > 0 ? "t" : signs[0][1];
    if (sign || !(whole > 0)) { /* a time of 0 has no place on a logarithmic scale */
        char time[CHART_TEXT_MAX - 4] = "";
        if (whole > 0)
            chart_number(whole, time, sizeof time);
        cell->state = CELL_PLAIN;
        snprintf(cell->text, sizeof cell->text, "%s%s%s",
                 sign              ? sign
                 : isfinite(whole) ? "0.0"
                                   : "?",
                 *time ? " " : "", time);
        return;
    }
    cell->state = CELL_VALUE;
    cell->value = whole;
    chart_number(whole, cell->text, sizeof cell->text);
}

/* `left_out` goes after the title. */
static void plot_matrix(const struct table *t, struct chart *c, double cores, bool several, const char *left_out)
{
    char title[160];
    snprintf(title, sizeof title, "Time of the transition (\xC2\xB5s)");
    if (several)
        snprintf(title, sizeof title, "Time of the transition (\xC2\xB5s), %.0f active core%s%s", cores,
                 cores == 1 ? "" : "s", left_out);
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, title, "", "from \xE2\x86\x93   to \xE2\x86\x92");
    if (!p)
        return;
    snprintf(p->scale_label, sizeof p->scale_label, "\xC2\xB5s, from the switch or its first sign");
    snprintf(p->note, sizeof p->note,
             "At one frequency t: throttled, h: halted, v: other voltage or license; \xC2\xB7: no change; ?: "
             "undecided; hatched: not measured. Up: with wait.");
    p->log_scale = true;
    /* rows and columns in one order, so that the diagonal is one */
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *names[] = {table_text(t, row, "from"), table_text(t, row, "to")};
        for (size_t i = 0; i < 2; i++)
            if (names[i]) {
                chart_name(c, &p->categories, names[i]);
                chart_name(c, &p->columns, names[i]);
            }
    }
    chart_make_cells(c, p);
    for (size_t i = 0; i < p->columns.n; i++) {
        struct chart_cell *diagonal = chart_cell(p, i, i);
        if (diagonal)
            diagonal->state = CELL_PLAIN;
    }
    for (size_t row = 0; row < t->n_rows; row++) {
        double active = table_number(t, row, "active_cores");
        const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
        struct chart_cell *cell = from && to ? chart_cell(p, chart_find_name(&p->categories, from),
                                                          chart_find_name(&p->columns, to))
                                             : NULL;
        if (cell && (active == cores || !several))
            transition_cell(t, row, cell);
    }
}

static void plot(const struct table *t, struct chart *c)
{
    enum { MATRICES_MAX = 3 };
    unsigned cores[TABLES_CORES_MAX];
    size_t counts = switches_core_counts(t, cores, TABLES_CORES_MAX), n = counts < MATRICES_MAX ? counts : MATRICES_MAX;
    char left_out[80] = "";
    /* the first, one in the middle and the last: few active cores and all differ most */
    if (n < counts)
        snprintf(left_out, sizeof left_out, " (%zu of %zu numbers of active cores are drawn)", n, counts);
    for (size_t i = 0; i < n; i++)
        plot_matrix(t, c, cores[n < 2 ? 0 : i * (counts - 1) / (n - 1)], counts > 1, i ? "" : left_out);
}

const struct table_kind table_transitions = {
    .name = "transitions",
    .title = "Transitions: what happens when code switches from one kernel to another",
    .about = "all ordered pairs of kernels: phases, latency, overhead, halts, frequencies",
    .method = "The first kernel runs until its frequency has settled; the second one starts at time zero. Frequency "
              "and instructions per cycle are sampled about once a microsecond over many repetitions, and the phases "
              "on which the repetitions agree are identified (G 3.2.2). Latency is the time from the first sign of a "
              "change to the first full-rate sample on the final level; overhead is the time lost compared with "
              "reaching the new level at once.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "active_cores", "latency_us", "overhead_us", "halts", "from_ghz", "to_ghz", "phases"},
    .drafted = {.keys = {"from", "to", "active_cores"}, .values = {"halts", "latency_us", "wait_us", "overhead_us"}},
    .plan = plan,
    .measure = measure,
    .print = transitions_print,
    .findings = transitions_findings,
    .plot = plot,
};
