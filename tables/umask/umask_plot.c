/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/umask/umask.h"

#include <math.h>
#include <string.h>

#include "tables/table/chart_table.h"

static void umask_cell(struct chart_panel *p, size_t row, size_t column, double share)
{
    struct chart_cell *cell = chart_cell(p, row, column);
    if (!cell || !isfinite(share))
        return;
    cell->state = CELL_VALUE;
    cell->value = share;
    snprintf(cell->text, sizeof cell->text, fabs(share) < 0.0005 ? "0" : fabs(share) < 0.005 ? "<.01" : "%.2f", share);
}

static void umask_name(const struct table *t, size_t row, char *out, size_t size)
{
    double event = table_number(t, row, "event"), umask = table_number(t, row, "umask");
    bool one_event = !isfinite(event) || !chart_varies(t, "event");
    if (!isfinite(umask) || umask < 0 || umask > 65535)
        snprintf(out, size, "?");
    else if (one_event)
        snprintf(out, size, "%02XH", (unsigned)umask);
    else
        snprintf(out, size, "%02XH.%02XH", (unsigned)event & 0xFFFFu, (unsigned)umask);
}

/* One matrix: all rows, or those of one `when`. */
static void umask_matrix(const struct table *t, struct chart *c, const char *when)
{
    char name[200];
    snprintf(name, sizeof name, "Share of the core\xE2\x80\x99s cycles that the event counted%s%s", *when ? ": " : "",
             when);
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, name);
    if (!p)
        return;
    snprintf(p->y_label, sizeof p->y_label, "unit mask");
    snprintf(p->scale_label, sizeof p->scale_label, "share of cycles; hatched: not measured");
    p->scale_hi = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->n_rows; row++) {
            const char *kernel = table_text(t, row, "kernel");
            char key[80];
            if (!kernel || strcmp(chart_key(t, row, "when", key, sizeof key), when) != 0)
                continue;
            umask_name(t, row, name, sizeof name);
            size_t k = chart_name(c, &p->categories, name), column = chart_name(c, &p->columns, kernel);
            const char *reading = table_text(t, row, "reading"), *disagrees = table_text(t, row, "disagrees");
            snprintf(name, sizeof name, "%s%s", reading ? reading : "",
                     disagrees && *disagrees && strcmp(disagrees, "no") != 0 ? " (not as documented)" : "");
            if (k == p->remarks.n)
                chart_add_name(c, &p->remarks, name);
            if (pass)
                umask_cell(p, k, column, table_number(t, row, "share"));
        }
        if (!pass)
            chart_make_cells(c, p);
    }
}

void umask_plot(const struct table *t, struct chart *c)
{
    struct chart_names whens = {0};
    char key[80];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &whens, chart_key(t, row, "when", key, sizeof key));
    for (size_t i = 0; i < whens.n && i < CHART_PANELS_MAX; i++)
        umask_matrix(t, c, whens.name[i]);
    chart_free_names(&whens);
}
