/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building a picture: its panels, series, names, bars and cells. */
#include "tables/table/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

void chart_free_names(struct chart_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    memset(names, 0, sizeof *names);
}

void chart_free(struct chart *c)
{
    for (size_t i = 0; i < c->n_panels; i++) {
        struct chart_panel *p = &c->panels[i];
        for (size_t k = 0; k < p->n_series; k++)
            free(p->series[k].points);
        free(p->series);
        free(p->lines);
        free(p->bars);
        free(p->cells);
        free(p->legend);
        chart_free_names(&p->categories);
        chart_free_names(&p->remarks);
        chart_free_names(&p->columns);
    }
    free(c->spans);
    memset(c, 0, sizeof *c);
}

/* Room for one more element in *list; false: out of memory. */
static bool chart_room(struct chart *c, void *list, size_t n, size_t size)
{
    bool room = list_room(list, n, size);
    c->failed = c->failed || !room;
    return room;
}

struct chart_panel *chart_add_panel(struct chart *c, enum chart_kind kind, const char *title, const char *x_label,
                                    const char *y_label)
{
    if (c->n_panels == CHART_PANELS_MAX)
        return NULL;
    struct chart_panel *p = &c->panels[c->n_panels++];
    memset(p, 0, sizeof *p);
    p->kind = kind;
    snprintf(p->title, sizeof p->title, "%s", title);
    snprintf(p->x_label, sizeof p->x_label, "%s", x_label);
    snprintf(p->y_label, sizeof p->y_label, "%s", y_label);
    return p;
}

struct chart_series *chart_series(struct chart *c, struct chart_panel *p, const char *name)
{
    for (size_t i = 0; i < p->n_series; i++)
        if (strcmp(p->series[i].name, name) == 0)
            return &p->series[i];
    if (!chart_room(c, &p->series, p->n_series, sizeof *p->series))
        return NULL;
    int number = (int)p->n_series;
    struct chart_series *s = &p->series[p->n_series++];
    *s = (struct chart_series){.colour = number % CHART_COLOURS, .mark = number, .line = true, .in_legend = true};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

static void put_point(struct chart *c, struct chart_series *s, struct chart_point point)
{
    if (!chart_room(c, &s->points, s->n, sizeof *s->points))
        return;
    s->points[s->n++] = point;
}

void chart_add_point(struct chart *c, struct chart_series *s, double x, double y, double lo, double hi)
{
    if (s && isfinite(x) && isfinite(y))
        put_point(c, s, (struct chart_point){x, y, lo, hi});
}

void chart_add_break(struct chart *c, struct chart_series *s)
{
    if (s)
        put_point(c, s, (struct chart_point){NAN, NAN, NAN, NAN});
}

void chart_add_line(struct chart *c, struct chart_panel *p, double y, const char *name)
{
    if (!chart_room(c, &p->lines, p->n_lines, sizeof *p->lines))
        return;
    p->lines[p->n_lines].y = y;
    snprintf(p->lines[p->n_lines++].name, sizeof p->lines->name, "%s", name);
}

void chart_add_span(struct chart *c, const struct chart_span *span)
{
    if (!chart_room(c, &c->spans, c->n_spans, sizeof *c->spans))
        return;
    c->spans[c->n_spans++] = *span;
}

size_t chart_find_name(const struct chart_names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return i;
    return names->n;
}

void chart_add_name(struct chart *c, struct chart_names *names, const char *name)
{
    if (!chart_room(c, &names->name, names->n, sizeof *names->name))
        return;
    names->name[names->n] = strdup(name);
    if (names->name[names->n])
        names->n++;
    else
        c->failed = true;
}

size_t chart_name(struct chart *c, struct chart_names *names, const char *name)
{
    size_t found = chart_find_name(names, name);
    if (found == names->n)
        chart_add_name(c, names, name);
    return found;
}

void chart_add_bar(struct chart *c, struct chart_panel *p, struct chart_bar bar, const char *value_text)
{
    if (!isfinite(bar.to) || !chart_room(c, &p->bars, p->n_bars, sizeof *p->bars))
        return;
    if (bar.lanes == 0)
        bar.lanes = 1;
    snprintf(bar.text, sizeof bar.text, "%s", value_text);
    p->bars[p->n_bars++] = bar;
}

void chart_make_cells(struct chart *c, struct chart_panel *p)
{
    free(p->cells);
    p->n_cells = p->categories.n * p->columns.n;
    p->cells = calloc(p->n_cells + 1, sizeof *p->cells);
    if (!p->cells) {
        p->n_cells = 0;
        c->failed = true;
    }
}

struct chart_cell *chart_cell(struct chart_panel *p, size_t category, size_t column)
{
    /* where a name came too late for want of memory there may be fewer cells than names */
    size_t at = category * p->columns.n + column;
    return column < p->columns.n && at < p->n_cells ? &p->cells[at] : NULL;
}

void chart_add_legend(struct chart *c, struct chart_panel *p, const char *name, int colour)
{
    for (size_t i = 0; i < p->n_legend; i++)
        if (strcmp(p->legend[i].name, name) == 0)
            return;
    if (!chart_room(c, &p->legend, p->n_legend, sizeof *p->legend))
        return;
    p->legend[p->n_legend] = (struct chart_legend){.colour = colour, .mark = -1};
    snprintf(p->legend[p->n_legend++].name, sizeof p->legend->name, "%s", name);
}

bool chart_panel_empty(const struct chart_panel *p)
{
    for (size_t i = 0; i < p->n_series; i++)
        if (p->series[i].n > 0 && !p->series[i].faint)
            return false;
    for (size_t i = 0; i < p->n_cells; i++)
        if (p->cells[i].state != CELL_ABSENT)
            return false;
    return p->n_bars == 0;
}

void chart_number(double value, char *out, size_t size)
{
    double v = fabs(value);
    if (v < 1000 && v == floor(v))
        snprintf(out, size, "%.0f", value + 0.0);
    else if (v >= 99.5e3)
        snprintf(out, size, "%.0fk", value / 1e3);
    else if (v >= 9995)
        snprintf(out, size, "%.1fk", value / 1e3);
    else if (v >= 99.5)
        snprintf(out, size, "%.0f", value + 0.0);
    else if (v >= 9.95)
        snprintf(out, size, "%.1f", value);
    else if (v >= 0.01)
        snprintf(out, size, "%.2f", value);
    else
        snprintf(out, size, "%.0e", value);
}
