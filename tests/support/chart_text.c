/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/chart_text.h"

#include <math.h>

static void write_names(FILE *out, const char *what, const struct chart_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        fprintf(out, "%s%s", i ? ", " : what, names->name[i]);
    if (names->n)
        fprintf(out, "\n");
}

/* Always "nan" where it is none, whatever its sign. */
static void write_number(FILE *out, const char *before, double x)
{
    fprintf(out, "%s%g", before, isnan(x) ? (double)NAN : x);
}

static void write_limits(FILE *out, double lo, double hi)
{
    if (isnan(lo) && isnan(hi))
        return;
    write_number(out, " [", lo);
    write_number(out, ", ", hi);
    fprintf(out, "]");
}

static void write_series(FILE *out, const struct chart_series *s)
{
    fprintf(out, "    series %s: colour %d, mark %d%s%s%s%s:", s->name, s->colour, s->mark, s->line ? ", line" : "",
            s->faint ? ", faint" : "", s->in_legend ? ", in the legend" : "", s->many ? ", many" : "");
    for (size_t i = 0; i < s->n; i++) {
        write_number(out, " (", s->points[i].x);
        write_number(out, ", ", s->points[i].y);
        write_limits(out, s->points[i].lo, s->points[i].hi);
        fprintf(out, ")");
    }
    fprintf(out, "\n");
}

static void write_bar(FILE *out, const struct chart_panel *p, const struct chart_bar *b)
{
    fprintf(out, "    %s %s:", b->dot ? "dot" : "bar", p->categories.name[b->category]);
    write_number(out, " ", b->from);
    write_number(out, " to ", b->to);
    write_limits(out, b->lo, b->hi);
    fprintf(out, ", colour %d", b->colour);
    if (b->lanes)
        fprintf(out, ", lane %d of %d", b->lane, b->lanes);
    fprintf(out, "%s%s, '%s'\n", b->hatched ? ", hatched" : "", b->inside ? ", inside" : "", b->text);
}

static void write_cells(FILE *out, const struct chart_panel *p)
{
    for (size_t i = 0; p->cells && i < p->categories.n; i++) {
        fprintf(out, "    %s:", p->categories.name[i]);
        for (size_t k = 0; k < p->columns.n; k++) {
            const struct chart_cell *cell = &p->cells[i * p->columns.n + k];
            if (cell->state == CELL_VALUE)
                write_number(out, " ", cell->value);
            fprintf(out, " %s", cell->state == CELL_ABSENT ? "-" : cell->text);
        }
        if (i < p->remarks.n)
            fprintf(out, "  (%s)", p->remarks.name[i]);
        fprintf(out, "\n");
    }
}

static void write_axes(FILE *out, const struct chart_panel *p)
{
    static const char *const kinds[] = {"lines", "bars", "cells"};
    fprintf(out, "  %s: %s", kinds[p->kind], p->title);
    fprintf(out, "; x '%s'%s%s; y '%s'%s%s", p->x_label, p->log_x ? " log" : "", p->whole_x ? " whole" : "", p->y_label,
            p->log_y ? " log" : "", p->from_zero ? " from 0" : "");
    if (p->y_lo != 0 || p->y_hi != 0)
        fprintf(out, " %g to %g", p->y_lo, p->y_hi);
    if (p->kind == CHART_CELLS)
        fprintf(out, "; scale '%s' %g to %g%s", p->scale_label, p->scale_lo, p->scale_hi, p->log_scale ? " log" : "");
    if (p->height)
        fprintf(out, "; height %d", p->height);
    fprintf(out, "%s%s%s\n", p->apart ? "; apart" : "", p->note[0] ? "; note: " : "", p->note);
}

static void write_panel(FILE *out, const struct chart_panel *p)
{
    write_axes(out, p);
    for (size_t i = 0; i < p->n_legend; i++)
        fprintf(out, "    legend: %s, colour %d, mark %d\n", p->legend[i].name, p->legend[i].colour, p->legend[i].mark);
    for (size_t i = 0; i < p->n_lines; i++)
        fprintf(out, "    line at %g: %s\n", p->lines[i].y, p->lines[i].name);
    for (size_t i = 0; i < p->n_series; i++)
        write_series(out, &p->series[i]);
    write_names(out, "    columns: ", &p->columns);
    for (size_t i = 0; i < p->n_bars; i++)
        write_bar(out, p, &p->bars[i]);
    write_cells(out, p);
}

void chart_write_text(FILE *out, const struct chart *c)
{
    fprintf(out, "picture%s%s%s", c->two_columns ? ", two columns" : "", c->one_axis ? ", one axis" : "",
            c->zero_line ? ", line at 0" : "");
    if (c->one_axis)
        fprintf(out, ", %g to %g, '%s', '%s'", c->x_lo, c->x_hi, c->before_zero, c->after_zero);
    fprintf(out, "%s%s\n", c->note[0] ? ": " : "", c->note);
    for (size_t i = 0; i < c->n_spans; i++)
        fprintf(out, "  span %g to %g: %s, %s\n", c->spans[i].from, c->spans[i].to, c->spans[i].kind, c->spans[i].text);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]))
            write_panel(out, &c->panels[i]);
}
