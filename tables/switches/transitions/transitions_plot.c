/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/transitions/transitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"

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

void transitions_plot(const struct table *t, struct chart *c)
{
    enum { MATRICES_MAX = 3 };
    struct chart_names counts = {0};
    char key[80];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &counts, chart_key(t, row, "active_cores", key, sizeof key));
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
