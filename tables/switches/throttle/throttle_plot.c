/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/throttle/throttle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"

static int ratio_colour(double ratio)
{
    static const double classes[] = {0.2, 0.3, 0.4, 0.6};
    int colour = 0;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        colour += ratio > classes[i];
    return colour;
}

static const char *ratio_class(double ratio)
{
    static const char *const names[] = {"below 0.2 of the full rate", "about 1/4 (0.2 to 0.3)",
                                        "about 1/3 (0.3 to 0.4)", "about 1/2 (0.4 to 0.6)", "above 0.6"};
    return names[ratio_colour(ratio)];
}

/* Phases of a change behind each other. A row that has a distance tells how far throttling reaches instead. */
static void throttle_durations(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, "Throttled phases: duration and share of the full rate");
    double *end = calloc(t->n_rows + 1, sizeof *end);
    char name[200], text[CHART_TEXT_MAX];
    snprintf(p->x_label, sizeof p->x_label, "\xC2\xB5s of throttling");
    for (size_t row = 0; end && row < t->n_rows; row++) {
        struct estimate v = estimates_of_table(t, row, "duration_us");
        double ratio = table_number(t, row, "ipc_ratio");
        if (!(v.value > 0) || isfinite(table_number(t, row, "distance")) || !chart_row_is(t, row, "part", "phase"))
            continue;
        chart_pair(t, row, cores, name, sizeof name);
        if (chart_find_name(&p->categories, name) == p->categories.n && p->categories.n >= CHART_ROWS_MAX) {
            p->omitted++;
            continue;
        }
        size_t k = chart_name(c, &p->categories, name);
        if (isfinite(ratio)) {
            chart_add_legend(c, p, ratio_class(ratio), ratio_colour(ratio));
            snprintf(text, sizeof text, "%.2f", ratio);
        }
        chart_add_bar(c, p,
                      (struct chart_bar){.category = k,
                                         .from = end[k],
                                         .to = end[k] + v.value,
                                         .lo = end[k] + v.lo,
                                         .hi = end[k] + v.hi,
                                         .colour = isfinite(ratio) ? ratio_colour(ratio) : -1,
                                         .inside = true},
                      isfinite(ratio) ? text : "");
        end[k] += v.value;
    }
    c->failed = c->failed || !end;
    chart_tell_omitted(p, p->categories.n, "transitions");
    free(end);
}

/* "512or-chain@1/64, 16 cores" without the density, which is the distance. */
static void cut_density(char *name)
{
    char *at = strstr(name, "@1/");
    if (at) {
        size_t length = 3 + strspn(at + 3, "0123456789");
        memmove(at, at + length, strlen(at + length) + 1);
    }
}

static void throttle_distance(const struct table *t, struct chart *c)
{
    const bool cores = chart_varies(t, "active_cores");
    struct chart_panel *p = chart_add_panel(c, CHART_LINES, "Rate of scalar adds with one wide instruction in every N");
    char name[200];
    snprintf(p->x_label, sizeof p->x_label, "distance N between wide instructions");
    snprintf(p->y_label, sizeof p->y_label, "share of full rate");
    p->log_x = p->whole_x = p->from_zero = p->apart = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate v = estimates_of_table(t, row, "ipc_ratio");
        double distance = table_number(t, row, "distance");
        if (!(distance > 0) || !chart_row_is(t, row, "part", "distance") || p->n_series >= CHART_LINES_MAX)
            continue;
        chart_pair(t, row, cores, name, sizeof name);
        cut_density(name);
        chart_add_point(c, chart_series(c, p, name), distance, v.value, v.lo, v.hi);
    }
}

void throttle_plot(const struct table *t, struct chart *c)
{
    throttle_durations(t, c);
    throttle_distance(t, c);
}
