/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "output/compare/compare_parts.h"

enum { CURVES_MOST = CHART_COLOURS };

/* Whether a table has a value with limits that differs. */
static bool table_differs(const struct comparison *c, const struct table_kind *k)
{
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct compare_cell *cell = &c->cells[i];
        for (size_t v = 0; cell->kind == k && cell->sort == COMPARE_LIMITS && v < cell->n; v++)
            if (cell->n_groups > 1 || cell->values[v].outlier)
                return true;
    }
    return false;
}

/* A series for each of a few measurements, or one for all. */
static struct chart_series *series_of(struct chart *chart, struct chart_panel *p, const struct comparison *c,
                                      const struct compare_value *v)
{
    bool few = c->n <= CURVES_MOST;
    bool odd = v->outlier || v->group != 1;
    struct chart_series *s = chart_series(chart, p,
                                          few   ? c->list[v->measurement].name
                                          : odd ? "unlike the others"
                                                : "all others");
    if (s) {
        s->in_legend = true;
        s->line = false;
        s->colour = few ? (int)v->measurement : odd ? 0 : CHART_MUTED;
        s->mark = few ? (int)v->measurement : 0;
    }
    return s;
}

static void plot_kind(const struct comparison *c, const struct table_kind *k, struct chart *chart)
{
    struct chart_panel *p = chart_add_panel(chart, CHART_LINES, k->title, "value, in the order of the table",
                                            "from the median, %");
    double x = 0;
    if (!p)
        return;
    p->apart = c->n <= CURVES_MOST;
    for (unsigned i = 0; p->apart && i < c->n; i++) /* in their order, whoever's value is the lowest */
        (void)series_of(chart, p, c, &(struct compare_value){.measurement = i, .group = 1});
    p->height = 220;
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct compare_cell *cell = &c->cells[i];
        if (cell->kind != k || cell->sort != COMPARE_LIMITS || cell->n < 2 || cell->median == 0)
            continue;
        x++;
        for (size_t n = 0; n < cell->n; n++) {
            const struct compare_value *v = &cell->values[n];
            double unit = 100 / fabs(cell->median), off = (v->value - cell->median) * unit;
            struct chart_series *s = series_of(chart, p, c, v);
            bool limits = c->n <= CURVES_MOST;
            if (s)
                chart_add_point(chart, s, x, off, limits ? off - (double)v->below * unit : NAN,
                                limits ? off + (double)v->above * unit : NAN);
        }
    }
}

void compare_plot(const struct comparison *c, struct chart *chart)
{
    size_t n, panels = 0;
    memset(chart, 0, sizeof *chart);
    const struct table_kind *const *kinds = tables_all(&n);
    snprintf(chart->title, sizeof chart->title, COMPARE_TITLE " of %zu measurements", c->n);
    snprintf(chart->subtitle, sizeof chart->subtitle, "%s",
             c->n <= CURVES_MOST ? "each value's deviation from the median, with its 95 % limits"
                                 : "each value's deviation from the median of all");
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || table_differs(c, kinds[i]);
    for (size_t i = 0; i < n && panels < CHART_PANELS_MAX; i++)
        if (!any || table_differs(c, kinds[i])) { /* all of them where nothing differs */
            plot_kind(c, kinds[i], chart);
            panels++;
        }
}
