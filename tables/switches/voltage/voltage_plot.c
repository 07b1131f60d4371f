/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/voltage/volt_points.h"

#include <math.h>
#include <string.h>

#include "tables/table/chart_table.h"

enum { VOLTAGE_PANELS_IN_COLUMN = 4 };

void voltage_plot(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_names pairs = {0};
    char name[200];
    for (size_t row = 0; row < t->n_rows; row++) {
        double volts = table_number(t, row, "volts");
        if (isfinite(volts))
            chart_name(c, &pairs, chart_pair(t, row, cores, name, sizeof name));
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
            if (strcmp(chart_pair(t, row, cores, name, sizeof name), pairs.name[i]) == 0) {
                struct estimate v = estimates_of_table(t, row, "volts");
                chart_add_point(c, s, table_number(t, row, "time_us"), v.value, v.lo, v.hi);
            }
        if (i + 1 == CHART_PANELS_MAX) {
            p->omitted = pairs.n - CHART_PANELS_MAX;
            chart_tell_omitted(p, CHART_PANELS_MAX, "transitions");
        }
    }
    c->two_columns = pairs.n > VOLTAGE_PANELS_IN_COLUMN;
    chart_free_names(&pairs);
}
