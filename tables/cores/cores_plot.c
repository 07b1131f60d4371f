/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The map of cores: a row for each kernel, a column for each CPU, coloured by the frequency. */
#include <math.h>

#include "tables/cores/cores.h"
#include "tables/table/chart_table.h"

enum { COLUMNS_MAX = 64 }; /* of a panel */

static void fill_cells(const struct table *t, struct chart_panel *p, struct chart_names *kernels, const char *column)
{
    char key[40];
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        double ghz = table_number(t, row, column);
        size_t c = chart_find_name(&p->columns, chart_key(t, row, "cpu", key, sizeof key));
        if (!kernel || c >= p->columns.n || !isfinite(ghz))
            continue;
        struct chart_cell *cell = chart_cell(p, chart_find_name(kernels, kernel), c);
        cell->state = CELL_VALUE;
        cell->value = ghz;
        if (p->columns.n <= 16)
            snprintf(cell->text, sizeof cell->text, "%.2f", ghz);
    }
}

static void cores_map(const struct table *t, struct chart *c, const char *column, const char *title)
{
    struct chart_names cpus = {0};
    char key[40];
    for (size_t row = 0; row < t->n_rows; row++)
        chart_name(c, &cpus, chart_key(t, row, "cpu", key, sizeof key));
    for (size_t first = 0; first < cpus.n; first += COLUMNS_MAX) {
        struct chart_panel *p = chart_add_panel(c, CHART_CELLS, title, "", "CPU");
        if (!p)
            break;
        for (size_t i = first; i < cpus.n && i < first + COLUMNS_MAX; i++)
            chart_add_name(c, &p->columns, cpus.name[i]);
        for (size_t row = 0; row < t->n_rows; row++)
            if (table_text(t, row, "kernel"))
                chart_name(c, &p->categories, table_text(t, row, "kernel"));
        snprintf(p->scale_label, sizeof p->scale_label, "GHz");
        chart_make_cells(c, p);
        if (!c->failed)
            fill_cells(t, p, &p->categories, column);
    }
    chart_free_names(&cpus);
}

void cores_plot(const struct table *t, struct chart *c)
{
    cores_map(t, c, "freq_ghz", "one core active");
    if (isfinite(chart_largest(t, "freq_all_ghz")))
        cores_map(t, c, "freq_all_ghz", "all cores active");
}
