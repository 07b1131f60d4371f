/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of the table trigger: levels by density, counts of instructions, mixtures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/trigger/trigger.h"
#include "tables/table/chart_table.h"
#include "util/order.h"
#include "util/text_list.h"

enum { DENSITIES_MAX = 40 };

/* One in how many instructions; a share of the instructions is as good as its inverse. NaN: the row tells no level. */
static double one_in(const struct table *t, size_t row)
{
    double density = table_number(t, row, "density");
    bool level = isfinite(table_number(t, row, "level")) || table_text(t, row, "asks");
    bool told = table_text(t, row, "kernel") && density > 0 && level && chart_row_is(t, row, "what", "density");
    return told ? density < 1 ? 1 / density : density : NAN;
}

/* The columns: all densities that have a level, dense ones first. */
static void density_names(const struct table *t, struct chart *c, struct chart_panel *p)
{
    double found[DENSITIES_MAX];
    char name[40];
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double density = one_in(t, row);
        size_t i = 0;
        while (i < n && found[i] != density)
            i++;
        if (isfinite(density) && i == n && n < DENSITIES_MAX)
            found[n++] = density;
    }
    qsort(found, n, sizeof *found, order_double);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "1/%.4g", found[i]);
        chart_name(c, &p->columns, name);
    }
}

/* A level, or where no counter tells it what the core did instead. */
static void level_cell(struct chart_cell *cell, double level, const char *asks)
{
    bool throttle = asks && strcmp(asks, "throttle only") == 0, nothing = asks && strcmp(asks, "nothing") == 0,
         undecided = asks && strcmp(asks, "undecided") == 0;
    if (!cell || (!isfinite(level) && !asks))
        return;
    cell->state = isfinite(level) ? CELL_VALUE : CELL_PLAIN;
    cell->value = level;
    if (isfinite(level))
        snprintf(cell->text, sizeof cell->text, "%.3g%s", level, throttle ? " t" : "");
    else
        snprintf(cell->text, sizeof cell->text, "%s",
                 throttle    ? "t"
                 : nothing   ? "\xC2\xB7"
                 : undecided ? "?"
                             : "\xE2\x86\x93");
}

static void trigger_levels(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(
        c, CHART_CELLS, "License level triggered, by density: one such instruction in every N", "", "density");
    char name[40];
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: not measured");
    snprintf(p->note, sizeof p->note, "t: throttled, same frequency%s",
             table_has_values(t, "level") ? "" : "; \xE2\x86\x93: lower frequency; \xC2\xB7: nothing; ?: undecided");
    p->scale_hi = fmax(chart_largest(t, "level"), 2);
    density_names(t, c, p);
    for (size_t row = 0; row < t->n_rows; row++)
        if (isfinite(one_in(t, row)))
            chart_name(c, &p->categories, table_text(t, row, "kernel"));
    chart_make_cells(c, p);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!isfinite(one_in(t, row)))
            continue;
        snprintf(name, sizeof name, "1/%.4g", one_in(t, row));
        struct chart_cell *cell = chart_cell(p, chart_find_name(&p->categories, table_text(t, row, "kernel")),
                                             chart_find_name(&p->columns, name));
        if (cell)
            level_cell(cell, table_number(t, row, "level"), table_text(t, row, "asks"));
    }
}

/* Mixtures of two kernels beside what each of them requests alone. */
static void trigger_mixtures(const struct table *t, struct chart *c)
{
    static const char *const names[] = {"one alone", "other alone", "mixed"};
    static const char *const columns[] = {"level_kernel", "level_with", "level"};
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, "License level triggered by mixtures", "", "");
    char name[200];
    for (size_t i = 0; i < 3; i++)
        chart_name(c, &p->columns, names[i]);
    p->scale_hi = fmax(chart_largest(t, "level"), 2);
    snprintf(p->scale_label, sizeof p->scale_label, "level; hatched: unknown");
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < t->n_rows; row++) {
            const char *kernel = table_text(t, row, "kernel"), *with = table_text(t, row, "with");
            if (!kernel || !with || !chart_row_is(t, row, "what", "mixture"))
                continue;
            snprintf(name, sizeof name, "%s and %s", kernel, with);
            size_t k = chart_name(c, &p->categories, name);
            for (size_t i = 0; pass && i < 3; i++)
                level_cell(chart_cell(p, k, i), table_number(t, row, columns[i]), NULL);
        }
        if (!pass)
            chart_make_cells(c, p);
    }
}

static void trigger_counts(const struct table *t, struct chart *c)
{
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Instructions until a level is triggered", "instructions",
                                            "");
    char name[160];
    p->log_x = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        struct estimate v = estimates_of_table(t, row, "count");
        double density = table_number(t, row, "density"), level = table_number(t, row, "level");
        if (!kernel || !(v.value > 0) || !chart_row_is(t, row, "what", "count"))
            continue;
        snprintf(name, sizeof name, "%s", kernel);
        if (isfinite(density) && density > 1 && !strchr(kernel, '@'))
            snprintf(name, sizeof name, "%s@1/%.0f", kernel, density);
        const char *asks = table_text(t, row, "asks");
        if (asks)
            text_list_add(name, sizeof name, ", ", "%s", asks);
        else if (isfinite(level))
            text_list_add(name, sizeof name, ", ", "level %.0f", level);
        chart_add_row(c, p, name, &v, (struct chart_bar){.dot = true}, NULL);
    }
    chart_tell_omitted(p, p->n_bars, "thresholds");
}

void trigger_plot(const struct table *t, struct chart *c)
{
    trigger_levels(t, c);
    trigger_counts(t, c);
    trigger_mixtures(t, c);
}
