/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "tables/table/chart_table.h"
#include "tables/variability/variability.h"

/* The outermost of what is drawn; what is 0 has no place on a logarithmic axis and is drawn at its beginning. */
static void widen(double percent, double *lo, double *hi)
{
    if (percent > 0 && isfinite(percent)) {
        *lo = fmin(*lo, percent);
        *hi = fmax(*hi, percent);
    }
}

static void find_axis(const struct table *t, struct chart *c)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        widen(100 * table_number(t, row, "spread"), &lo, &hi);
        widen(100 * table_number(t, row, "p99"), &lo, &hi);
    }
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++)
        widen(100 * variability_published[i].spread, &lo, &hi);
    c->one_axis = true;
    c->x_lo = pow(10, floor(log10(lo)));
    c->x_hi = pow(10, ceil(log10(hi) + 0.7)); /* room for the numbers behind the bars */
}

static void add_percent(struct chart *c, struct chart_panel *p, const char *category, double fraction,
                        struct chart_bar look, bool told)
{
    char text[VARIABILITY_TEXT];
    struct estimate e = {fmax(100 * fraction, c->x_lo), NAN, NAN};
    if (isfinite(fraction))
        chart_add_row(c, p, category, &e, look, told ? variability_percent(fraction, text) : "");
}

/* What the source has for a refinement. Its last row, dynamic ticks, is a boot option and none that this table has. */
static void draw_published(struct chart *c, struct chart_panel *p, unsigned r)
{
    for (size_t i = 0; i < VARIABILITY_PUBLISHED; i++)
        if (variability_published[i].refinement == r)
            add_percent(c, p, refinement_names[r], variability_published[i].spread,
                        (struct chart_bar){.colour = CHART_MUTED, .hatched = true, .lane = 1, .lanes = 2}, true);
}

static void draw_workload(const struct table *t, struct chart *c, const char *workload, bool published)
{
    int lanes = published ? 2 : 1;
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, workload, "% of the fastest trial", "");
    if (!p)
        return;
    p->log_x = true;
    for (unsigned r = 0; r < REFINEMENTS; r++) {
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (published)
            draw_published(c, p, r);
        if (row == t->n_rows)
            continue;
        add_percent(c, p, refinement_names[r], table_number(t, row, "spread"), (struct chart_bar){.lanes = lanes},
                    true);
        add_percent(c, p, refinement_names[r], table_number(t, row, "p99"),
                    (struct chart_bar){.colour = CHART_INK, .dot = true, .lanes = lanes}, false);
    }
    if (published) {
        chart_add_legend(c, p, "spread of all trials", 0);
        chart_add_legend(c, p, "distance from the mode of 99 in 100", CHART_INK);
        chart_add_legend(c, p, "hatched: published, " VARIABILITY_PUBLISHED_AS, CHART_MUTED);
    }
}

void variability_plot(const struct table *t, struct chart *c)
{
    find_axis(t, c);
    for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++)
        if (table_find(t, "workload", variability_workloads[w]) < t->n_rows)
            draw_workload(t, c, variability_workloads[w], w == 0);
}
