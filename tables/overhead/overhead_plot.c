/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead/overhead.h"

#include <math.h>
#include <string.h>

#include "tables/table/chart_table.h"

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
        struct estimate v = estimates_of_table(t, row, column);
        chart_pair(t, row, false, name, sizeof name);
        bool known = false;
        for (size_t i = 0; i < p->n_series && !known; i++)
            known = strcmp(p->series[i].name, name) == 0;
        if (!known && p->n_series >= CHART_LINES_MAX) {
            omitted += isfinite(v.value);
            continue;
        }
        /* also where it has no value here: a transition has one colour in all panels */
        struct chart_series *s = chart_series(c, p, name);
        chart_add_point(c, s, table_number(t, row, "active_cores"), v.value, v.lo, v.hi);
    }
    if (omitted)
        snprintf(p->note, sizeof p->note, "The first %d transitions; the table has them all.", CHART_LINES_MAX);
}

static void overhead_bars(const struct table *t, struct chart *c, const char *column, const char *title, bool log_x)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title);
    char name[200];
    snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s");
    p->log_x = log_x;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate v = estimates_of_table(t, row, column);
        if (!isfinite(v.value))
            continue;
        chart_pair(t, row, cores, name, sizeof name);
        chart_add_row(c, p, name, &v, (struct chart_bar){.dot = log_x}, NULL);
    }
    chart_tell_omitted(p, p->n_bars, "transitions");
}

void overhead_plot(const struct table *t, struct chart *c)
{
    void (*draw)(const struct table *, struct chart *, const char *, const char *,
                 bool) = chart_varies(t, "active_cores") ? overhead_lines : overhead_bars;
    draw(t, c, "down_us", "Cost of going down to the lower frequency", false);
    draw(t, c, "up_us", "Cost of coming back up", false);
    draw(t, c, "breakeven_us", "Break-even: time at which staying at the lower frequency costs as much as both changes",
         true);
}
