/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of the tables whose rows are about a change from one kernel to another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/table_plot_parts.h"

/* Lines of one panel at most. */
enum { LINES_MAX = 14, COLUMN_MAX = 4 /* panels of the voltage in one column */ };

/* ---- transitions ---- */

/* What a change without a latency shows, in a few letters; `kind` as the table says it, else told by its values. */
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

/* `left_out` goes behind the title. */
static void transitions_matrix(const struct table *t, struct chart *c, double cores, bool several, const char *left_out)
{
    char title[160];
    snprintf(title, sizeof title, "Time of the transition (\xC2\xB5s)");
    if (several)
        snprintf(title, sizeof title, "Time of the transition (\xC2\xB5s), %.0f active core%s%s", cores,
                 cores == 1 ? "" : "s", left_out);
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, title);
    if (!p)
        return;
    snprintf(p->y_label, sizeof p->y_label, "from \xE2\x86\x93   to \xE2\x86\x92");
    snprintf(p->scale_label, sizeof p->scale_label, "\xC2\xB5s, from the switch or its first sign on");
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

void plot_transitions(const struct table *t, struct chart *c)
{
    enum { MATRICES_MAX = 3 };
    struct chart_names counts = {0};
    char key[80];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &counts, plot_key(t, row, "active_cores", key, sizeof key));
    /* the first, one in the middle and the last: few active cores and all differ most */
    size_t n = counts.n < MATRICES_MAX ? counts.n : MATRICES_MAX;
    char left_out[80] = "";
    if (n < counts.n)
        snprintf(left_out, sizeof left_out, " (%zu of %zu numbers of active cores are drawn)", n, counts.n);
    for (size_t i = 0; i < n; i++) {
        size_t k = n < 2 ? 0 : i * (counts.n - 1) / (n - 1);
        transitions_matrix(t, c, strtod(counts.name[k], NULL), counts.n > 1, i ? "" : left_out);
    }
    chart_free_names(&counts);
}

/* ---- throttle ---- */

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

/* Phases of a change behind each other. A row that has a distance tells how far throttling reaches instead. */
static void throttle_durations(const struct table *t, struct chart *c)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS,
                                            "Throttle phases: how long, and at which share of the full rate");
    double *end = calloc(t->n_rows + 1, sizeof *end);
    char name[200], text[CHART_TEXT_MAX];
    size_t omitted = 0;
    snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s of throttling");
    for (size_t row = 0; end && row < t->n_rows; row++) {
        struct plot_value v = plot_value(t, row, "duration_us");
        double ratio = table_number(t, row, "ipc_ratio");
        if (!(v.value > 0) || isfinite(table_number(t, row, "distance")) || !plot_is(t, row, "part", "phase"))
            continue;
        plot_pair(t, row, cores, name, sizeof name);
        if (chart_find_name(&p->categories, name) == p->categories.n && p->categories.n >= PLOT_ROWS_MAX) {
            omitted++;
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
                                         .lanes = 1,
                                         .colour = isfinite(ratio) ? ratio_colour(ratio) : -1,
                                         .inside = true},
                      isfinite(ratio) ? text : "");
        end[k] += v.value;
    }
    c->failed = c->failed || !end;
    plot_tell_omitted(p, p->categories.n, p->categories.n + omitted, "transitions");
    free(end);
}

/* "512or-chain@1/64, 16 cores" without the density, which is the distance. */
static void cut_density(char *name)
{
    char *at = strstr(name, "@1/");
    if (at) {
        size_t length = 3 + strspn(at + 3, "0123456789");
        memmove(at, at + length, strlen(at + length) + 1);
    }
}

static void throttle_distance(const struct table *t, struct chart *c)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_LINES,
                                            "Rate of scalar additions with one wide instruction in every N");
    char name[200];
    snprintf(p->x_label, sizeof p->x_label, "distance N between wide instructions");
    snprintf(p->y_label, sizeof p->y_label, "share of full rate");
    p->log_x = p->whole_x = p->from_zero = p->apart = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct plot_value v = plot_value(t, row, "ipc_ratio");
        double distance = table_number(t, row, "distance");
        if (!(distance > 0) || !plot_is(t, row, "part", "distance") || p->n_series >= LINES_MAX)
            continue;
        plot_pair(t, row, cores, name, sizeof name);
        cut_density(name);
        chart_add_point(c, chart_series(c, p, name), distance, v.value, v.lo, v.hi);
    }
}

void plot_throttle(const struct table *t, struct chart *c)
{
    throttle_durations(t, c);
    throttle_distance(t, c);
}

/* ---- relaxation ---- */

static const char *mode_name(double mode, int *colour)
{
    *colour = mode == 1 || mode == 2 ? (int)mode : 0;
    return mode == 1 ? "one period" : mode == 2 ? "two periods" : "of neither";
}

static void table_plot_pairs_relaxation_waits(const struct table *t, struct chart *c)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Wait before the frequency rises again");
    struct chart_panel *q = chart_add_panel(c, CHART_BARS, "Share of the repetitions");
    char name[200], text[CHART_TEXT_MAX];
    size_t n = 0;
    snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s");
    snprintf(q->x_label, sizeof q->x_label, "share");
    for (size_t row = 0; row < t->n_rows; row++) {
        struct plot_value wait = plot_value(t, row, "wait_us"), share = plot_value(t, row, "share");
        int colour;
        const char *mode = mode_name(table_number(t, row, "mode"), &colour);
        if (!isfinite(wait.value) || !plot_is(t, row, "what", "wait") || n++ >= PLOT_ROWS_MAX)
            continue;
        plot_pair(t, row, cores, name, sizeof name);
        chart_number(wait.value, text, sizeof text);
        chart_add_legend(c, p, mode, colour);
        chart_add_bar(c, p,
                      (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                         .to = wait.value,
                                         .lo = wait.lo,
                                         .hi = wait.hi,
                                         .colour = colour,
                                         .dot = true,
                                         .lanes = 1},
                      text);
        chart_add_legend(c, q, mode, colour);
        snprintf(text, sizeof text, "%.2f", share.value);
        chart_add_bar(c, q,
                      (struct chart_bar){.category = chart_name(c, &q->categories, name),
                                         .to = share.value,
                                         .lo = share.lo,
                                         .hi = share.hi,
                                         .colour = colour,
                                         .lane = colour == 2,
                                         .lanes = 2},
                      text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "rows");
}

/* Rows of another experiment, each with a share and what was done (`by`). */
static void relaxation_shares(const struct table *t, struct chart *c, const char *what, const char *title, int colour)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title);
    char pair[200], name[400], text[CHART_TEXT_MAX];
    size_t n = 0;
    snprintf(p->x_label, sizeof p->x_label, "share of the repetitions");
    for (size_t row = 0; table_has(t, "what") && row < t->n_rows; row++) {
        struct plot_value share = plot_value(t, row, "share");
        const char *by = table_text(t, row, "by");
        if (!isfinite(share.value) || !plot_is(t, row, "what", what) || n++ >= PLOT_ROWS_MAX)
            continue;
        snprintf(name, sizeof name, "%s: %s", plot_pair(t, row, cores, pair, sizeof pair), by ? by : "?");
        snprintf(text, sizeof text, "%.2f", share.value);
        chart_add_bar(c, p,
                      (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                         .to = share.value,
                                         .lo = share.lo,
                                         .hi = share.hi,
                                         .colour = colour,
                                         .lanes = 1},
                      text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "rows");
}

void plot_relaxation(const struct table *t, struct chart *c)
{
    table_plot_pairs_relaxation_waits(t, c);
    relaxation_shares(t, c, "rearm", "What starts the wait anew: share of the waits that began again", 3);
    relaxation_shares(t, c, "toggle", "Toggling: share of the waits in which the frequency rose", 0);
}

/* ---- overhead ---- */

static void overhead_lines(const struct table *t, struct chart *c, const char *column, const char *title, bool log_y)
{
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, title);
    char name[200];
    size_t omitted = 0;
    snprintf(p->x_label, sizeof p->x_label, "active cores");
    snprintf(p->y_label, sizeof p->y_label, "\xC2\xB5s");
    p->whole_x = p->apart = p->log_x = true;
    p->log_y = log_y;
    p->from_zero = !log_y;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct plot_value v = plot_value(t, row, column);
        plot_pair(t, row, false, name, sizeof name);
        bool known = false;
        for (size_t i = 0; i < p->n_series && !known; i++)
            known = strcmp(p->series[i].name, name) == 0;
        if (!known && p->n_series >= LINES_MAX) {
            omitted += isfinite(v.value);
            continue;
        }
        /* also where it has no value here: a transition has one colour in all panels */
        struct chart_series *s = chart_series(c, p, name);
        chart_add_point(c, s, table_number(t, row, "active_cores"), v.value, v.lo, v.hi);
    }
    if (omitted)
        snprintf(p->note, sizeof p->note, "The first %d transitions; the table has all.", LINES_MAX);
}

static void overhead_bars(const struct table *t, struct chart *c, const char *column, const char *title, bool log_x)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title);
    char name[200], text[CHART_TEXT_MAX];
    size_t n = 0;
    snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s");
    p->log_x = log_x;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct plot_value v = plot_value(t, row, column);
        if (!isfinite(v.value) || n++ >= PLOT_ROWS_MAX)
            continue;
        plot_pair(t, row, cores, name, sizeof name);
        chart_number(v.value, text, sizeof text);
        chart_add_bar(c, p,
                      (struct chart_bar){.category = chart_name(c, &p->categories, name),
                                         .to = v.value,
                                         .lo = v.lo,
                                         .hi = v.hi,
                                         .dot = log_x,
                                         .lanes = 1},
                      text);
    }
    plot_tell_omitted(p, n < PLOT_ROWS_MAX ? n : PLOT_ROWS_MAX, n, "transitions");
}

void plot_overhead(const struct table *t, struct chart *c)
{
    void (*draw)(const struct table *, struct chart *, const char *, const char *,
                 bool) = plot_varies(t, "active_cores") ? overhead_lines : overhead_bars;
    draw(t, c, "down_us", "Cost of going down to the lower frequency", false);
    draw(t, c, "up_us", "Cost of coming back up", false);
    draw(t, c, "breakeven_us", "Break-even: staying at the lower frequency costs as much as both changes", true);
}

/* ---- voltage ---- */

void plot_voltage(const struct table *t, struct chart *c)
{
    const bool cores = plot_varies(t, "active_cores");
    struct chart_names pairs = {0};
    char name[200];
    for (size_t row = 0; row < t->n_rows; row++) {
        double volts = table_number(t, row, "volts");
        if (isfinite(volts))
            chart_name(c, &pairs, plot_pair(t, row, cores, name, sizeof name));
    }
    for (size_t i = 0; i < pairs.n && i < CHART_PANELS_MAX; i++) {
        struct chart_panel *p = chart_add_panel(c, CHART_LINES, pairs.name[i]);
        snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s from the switch");
        snprintf(p->y_label, sizeof p->y_label, "V");
        struct chart_series *s = chart_series(c, p, pairs.name[i]);
        if (!s)
            break;
        s->in_legend = false;
        s->mark = 0;
        for (size_t row = 0; row < t->n_rows; row++)
            if (strcmp(plot_pair(t, row, cores, name, sizeof name), pairs.name[i]) == 0) {
                struct plot_value v = plot_value(t, row, "volts");
                chart_add_point(c, s, table_number(t, row, "time_us"), v.value, v.lo, v.hi);
            }
        if (i + 1 == CHART_PANELS_MAX)
            plot_tell_omitted(p, CHART_PANELS_MAX, pairs.n, "transitions");
    }
    c->two_columns = pairs.n > COLUMN_MAX;
    chart_free_names(&pairs);
}
