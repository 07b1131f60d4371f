/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

enum { POINTS_DRAWN = 4000 };

int wake_chart(const struct wake_point *points, size_t n, const struct wake_stages *s, const struct wake_source *source,
               struct chart *c, char *why, size_t size)
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
