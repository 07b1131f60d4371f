/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heat maps of the loss: a panel for each kernel, a row for each time between bursts, a column for each length. */
#include <math.h>
#include <string.h>

#include "tables/burst/burst.h"
#include "tables/table/chart_table.h"

static void add_line_names(const struct table *t, const char *kernel, struct chart *c, struct chart_panel *p)
{
    char name[ESTIMATE_TEXT_MAX];
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_says(t, row, "kernel", kernel)) {
            chart_name(c, &p->categories, burst_time_text(table_number(t, row, "every_us"), name));
            chart_name(c, &p->columns, burst_count_text(table_number(t, row, "count"), name));
        }
}

static void fill_losses(const struct table *t, const char *kernel, struct chart_panel *p)
{
    char name[ESTIMATE_TEXT_MAX];
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate loss = estimates_of_table(t, row, "loss");
        if (!table_says(t, row, "kernel", kernel) || !estimates_known(&loss))
            continue;
        size_t i = chart_find_name(&p->categories, burst_time_text(table_number(t, row, "every_us"), name));
        size_t k = chart_find_name(&p->columns, burst_count_text(table_number(t, row, "count"), name));
        struct chart_cell *cell = chart_cell(p, i, k);
        /* what is not above 0 beyond its limits has no colour of a loss */
        cell->state = loss.lo > 0 ? CELL_VALUE : CELL_PLAIN;
        cell->value = 100 * loss.value;
        if (loss.lo > 0)
            snprintf(cell->text, sizeof cell->text, "%.2g", 100 * loss.value);
        else {
            snprintf(cell->text, sizeof cell->text, "< %.2g", fmax(100 * loss.hi, 0.01));
            snprintf(p->note, sizeof p->note, "<: no loss is told from 0; it is below this 95 %% limit.");
        }
    }
}

void burst_plot(const struct table *t, struct chart *c)
{
    struct chart_names kernels = {0};
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_text(t, row, "kernel"))
            chart_name(c, &kernels, table_text(t, row, "kernel"));
    double most = fmax(100 * chart_largest(t, "loss"), 1);
    for (size_t i = 0; i < kernels.n && !c->failed; i++) {
        char title[CHART_NAME_MAX];
        snprintf(title, sizeof title, "%.60s, by the number of instructions of a burst", kernels.name[i]);
        struct chart_panel *p = chart_add_panel(c, CHART_CELLS, title, "", "a burst every");
        if (!p)
            break;
        add_line_names(t, kernels.name[i], c, p);
        snprintf(p->scale_label, sizeof p->scale_label, "loss of other code, %%; hatched: not measured");
        p->scale_hi = most;
        chart_make_cells(c, p);
        if (!c->failed)
            fill_losses(t, kernels.name[i], p);
    }
    chart_free_names(&kernels);
}
