/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as their kinds describe them, and first uses over idle times, as pictures. */
#include "output/plot/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/plot/plot.h"
#include "tables/table/tables.h"
#include "util/error.h"
#include "util/text_list.h"

static void subtitle(const struct table *t, char *out, size_t size)
{
    static const char *const keys[] = {"cpu", "machine", "date"};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = table_meta(t, keys[i]);
        if (value)
            text_list_add(out, size, ", ", "%s", value);
    }
}

int table_chart(const struct table *t, const char *title, struct chart *c, char *why, size_t why_size)
{
    const struct table_kind *k = t->name ? tables_find(t->name) : NULL;
    bool drawn = k && tables_drawn(k);
    memset(c, 0, sizeof *c);
    c->modelled = table_modelled(t);
    if (!drawn || t->n_rows == 0)
        return error_line(why, why_size, drawn ? "the table has no rows" : "tables of this name have no plot");
    snprintf(c->title, sizeof c->title, "%s", title ? title : t->name);
    subtitle(t, c->subtitle, sizeof c->subtitle);
    tables_draw(k, t, c);
    return plot_worth(c, "the table has no values to draw", why, why_size);
}

/* More points cannot be told apart. */
enum { POINTS_DRAWN = 4000 };

int chart_first_uses(const struct wake_point *points, size_t n, const struct wake_stages *s,
                     const struct wake_source *source, struct chart *c, char *why, size_t size)
{
    memset(c, 0, sizeof *c);
    snprintf(c->title, sizeof c->title, "First use after idle%s%.40s", source->unit != NULL ? ": " : "",
             source->unit != NULL ? source->unit : "");
    snprintf(c->subtitle, sizeof c->subtitle, "%.140s", source->cpu != NULL ? source->cpu : "");
    struct chart_panel *panel = chart_add_panel(c, CHART_LINES, "", "idle before (\xC2\xB5s)", "first use (\xC2\xB5s)");
    struct chart_series *seen = panel != NULL ? chart_series(c, panel, "recorded") : NULL;
    if (seen == NULL)
        return error_line(why, size, "out of memory");
    panel->log_x = panel->log_y = true;
    panel->height = 360;
    seen->line = false;
    seen->colour = CHART_MUTED;
    size_t every = n / POINTS_DRAWN + 1;
    double longest = 0, shortest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        longest = fmax(longest, points[i].idle_us);
        shortest = points[i].idle_us > 0 ? fmin(shortest, points[i].idle_us) : shortest;
        if (i % every == 0 && points[i].idle_us > 0)
            chart_add_point(c, seen, points[i].idle_us, points[i].first_us, NAN, NAN);
    }
    if (longest <= 0)
        return error_line(why, size, "all idle times are 0");
    struct chart_series *stages = chart_series(c, panel, "stages");
    if (stages == NULL)
        return error_line(why, size, "out of memory");
    stages->line = stages->strong = true;
    stages->mark = -1;
    for (size_t i = 0; i < s->n; i++) {
        const struct wake_stage *stage = &s->stage[i];
        if (i > 0)
            chart_add_break(c, stages);
        chart_add_point(c, stages, fmax(stage->idle_from_us.value, shortest), stage->first_us.value, NAN, NAN);
        chart_add_point(c, stages, i + 1 < s->n ? stage->idle_to_us.value : longest, stage->first_us.value, NAN, NAN);
    }
    return c->failed ? error_line(why, size, "out of memory") : 0;
}
