/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gnuplot script of a picture: its head, and each panel's place, title and legend. */
#include "output/plot/chart_script.h"

#include <stdint.h>
#include <stdlib.h>

#include "output/plot/chart_canvas.h"
#include "output/plot/chart_spans.h"

enum {
    MARGIN = 14,
    TITLE = 30,
    LINE = 19,
    LEGEND_LINE = 20,
    GAP = 24,
    NARROW_GAP = 12,
    AXIS = 52,
    KEY = 44,
    LEFT_MAX = 330,
    LINE_NAMES = 78
};

/* ---- legend ---- */

static size_t legend_entries(const struct chart_panel *p, struct chart_legend *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++)
        if (p->series[i].in_legend && p->series[i].n > 0) {
            struct chart_legend *l = &out[n++];
            *l = (struct chart_legend){.colour = p->series[i].colour, .mark = p->series[i].mark};
            snprintf(l->name, sizeof l->name, "%s", p->series[i].name);
        }
    for (size_t i = 0; i < p->n_legend; i++)
        out[n++] = p->legend[i];
    return n;
}

/* Lines of the legend; drawn from `top` where `k` is given. */
static int legend(const struct canvas *k, const struct chart_panel *p, const struct place *at, int top)
{
    struct chart_legend *entries = calloc(p->n_series + p->n_legend + 1, sizeof *entries);
    size_t n = entries ? legend_entries(p, entries) : 0, most = 110;
    int lines = n ? 1 : 0, x = at->x + MARGIN, end = at->x + at->width - MARGIN;
    for (size_t i = 0; i < n; i++) {
        size_t characters = chart_characters(entries[i].name);
        int width = 40 + CHART_CHARACTER_WIDTH * (int)(characters > most ? most : characters);
        if (x > at->x + MARGIN && x + width > end) {
            lines++;
            x = at->x + MARGIN;
        }
        if (k) {
            char style[200];
            snprintf(style, sizeof style, "left offset character 1.4,-0.3 point pt %d ps %s lw 1.5 lc rgb '%s'",
                     entries[i].mark < 0 ? 5 : chart_mark(entries[i].mark), entries[i].mark < 0 ? "1.5" : "0.9",
                     chart_colour(entries[i].colour));
            chart_label(k, entries[i].name, most, x + 5, top + (lines - 1) * LEGEND_LINE + 8, PLOT_INK, style);
        }
        x += width;
    }
    free(entries);
    return lines * LEGEND_LINE;
}

/* ---- places ---- */

static int left_of(const struct chart_panel *p)
{
    if (p->kind == CHART_LINES)
        return 78;
    int width = MARGIN + 12 + CHART_CHARACTER_WIDTH * (int)chart_longest(&p->categories);
    int least = p->kind == CHART_CELLS ? 128 : 78;
    return width < least ? least : width > LEFT_MAX ? LEFT_MAX : width;
}

static int right_of(const struct chart_panel *p)
{
    if (p->n_lines)
        return LINE_NAMES;
    int width = p->remarks.n ? 20 + CHART_CHARACTER_WIDTH * (int)chart_longest(&p->remarks) : 0;
    int least = p->kind == CHART_CELLS ? 96 : p->kind == CHART_BARS ? 64 : 26;
    return width > least ? width : least;
}

static int area_height(const struct chart_panel *p)
{
    return p->kind == CHART_LINES  ? chart_lines_height(p)
           : p->kind == CHART_BARS ? chart_bars_height(p)
                                   : chart_cells_height(p);
}

/* The margins of a panel; of panels over one axis the same for all. */
static int left_margin_of(const struct chart *c, const struct chart_panel *p)
{
    int most = left_of(p);
    for (size_t i = 0; i < c->n_panels && c->one_axis; i++)
        most = left_of(&c->panels[i]) > most ? left_of(&c->panels[i]) : most;
    return most;
}

static int margin_of(const struct chart *c, const struct chart_panel *p)
{
    int most = right_of(p);
    for (size_t i = 0; i < c->n_panels && c->one_axis; i++)
        most = right_of(&c->panels[i]) > most ? right_of(&c->panels[i]) : most;
    return most;
}

static struct place chart_script_place_of(const struct chart *c, const struct chart_panel *p, bool last, int top, int x,
                                          int width)
{
    struct place at = {.x = x,
                       .width = width,
                       .top = top,
                       .left = x + left_margin_of(c, p),
                       .right = x + width - margin_of(c, p),
                       .axis = last || !c->one_axis};
    at.area = top + (*p->title ? LINE + 4 : 0) + legend(NULL, p, &at, 0) + 6;
    if (p->kind == CHART_CELLS) {
        at.area += chart_cells_above(p);
        at.right = at.left + chart_cells_side(p, at.right - at.left) * (int)p->columns.n;
    }
    at.bottom = at.area + area_height(p);
    at.end = at.bottom + (p->kind == CHART_CELLS ? KEY : at.axis ? AXIS : 0) + (*p->note ? LINE : 0);
    return at;
}

static int head_height(const struct chart *c)
{
    return TITLE + (*c->subtitle ? LINE : 0) + (c->modelled ? LINE : 0) + 10;
}

/* ---- drawing ---- */

static void chart_script_head(const struct canvas *k, const struct chart *c)
{
    int y = MARGIN + 6;
    chart_label(k, c->title, 95, MARGIN, y, PLOT_INK, "left font ',16'");
    y += TITLE - 5;
    if (c->modelled) {
        chart_label(k, "MODELLED, not measured", 60, MARGIN, y, PLOT_WARNING, "left font 'sans-serif Bold,13'");
        y += LINE;
    }
    if (*c->subtitle)
        chart_label(k, c->subtitle, 125, MARGIN, y, PLOT_MUTED, "left");
}

static void chart_script_begin(const struct canvas *k, enum plot_form form)
{
    const char *ink = plot_colours[PLOT_INK].plain, *muted = plot_colours[PLOT_MUTED].plain;
    /* cairo's points are larger than those of the SVG terminal */
    const char *terminal = form == PLOT_SVG ? "svg" : "pngcairo",
               *fit = form == PLOT_SVG ? "dynamic" : "fontscale 0.75";
    fprintf(k->out,
            "set encoding utf8\nset terminal %s size %d,%d noenhanced %s font 'sans-serif,13' background '%s'\n",
            terminal, CHART_WIDTH, k->height, fit, plot_colours[PLOT_PAPER].plain);
    fprintf(k->out,
            "set multiplot\nunset key\nset tics out nomirror scale 0.5 tc rgb '%s'\nset border 3 lc rgb '%s'\n"
            "set grid lc rgb '%s' lw 1 dt 1 back\nset style fill solid 1.0 noborder\n",
            ink, muted, plot_colours[PLOT_GRID].plain);
}

static void draw_panel(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    int y = at->top;
    if (*p->title) {
        chart_label(k, p->title, (size_t)at->width / CHART_CHARACTER_WIDTH, at->x + MARGIN, y + 8, PLOT_INK,
                    "left font 'sans-serif Bold,13'");
        y += LINE + 4;
    }
    legend(k, p, at, y);
    if (*p->note)
        chart_label(k, p->note, 140, at->x + MARGIN, at->end - 8, PLOT_MUTED, "left font ',12'");
    fprintf(k->out,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset tmargin at screen %.6f\n"
            "set bmargin at screen %.6f\n",
            (double)at->left / CHART_WIDTH, (double)at->right / CHART_WIDTH, 1 - (double)at->area / k->height,
            1 - (double)at->bottom / k->height);
    if (p->kind == CHART_LINES)
        chart_lines_draw(k, p, at);
    else if (p->kind == CHART_BARS)
        chart_bars_draw(k, p, at);
    else
        chart_cells_draw(k, p, at);
    fputs("unset label\nunset object\nunset arrow\nundefine $*\n", k->out);
}

/* The last panel that has a value; SIZE_MAX: there is none. */
static size_t last_panel(const struct chart *c)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]))
            last = i;
    return last;
}

/* Gives each panel its place; returns where the last one ends. `first`: the first that is drawn. */
static int place_panels(const struct chart *c, int top, struct place *at, size_t *first)
{
    int end = top, drawn = 0, columns = c->two_columns ? 2 : 1, width = CHART_WIDTH / columns;
    size_t last = last_panel(c);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i])) {
            int column = drawn++ % columns;
            *first = drawn == 1 ? i : *first;
            if (column == 0 && drawn > 1)
                top = end + (c->one_axis ? NARROW_GAP : GAP);
            at[i] = chart_script_place_of(c, &c->panels[i], i == last, top, column * width, width);
            end = at[i].end > end ? at[i].end : end;
        }
    return end;
}

int chart_script(const struct chart *c, enum plot_form form, FILE *out, FILE *tips)
{
    struct place at[CHART_PANELS_MAX];
    size_t first = 0, last = last_panel(c);
    int top = head_height(c), rows = 0;
    if (last == SIZE_MAX)
        return -1;
    place_panels(c, top, at, &first); /* how the spans' labels lie depends on how wide it is */
    struct chart_span_label *labels = c->n_spans ? chart_spans_labels(c, at[first].left, at[first].right, &rows) : NULL;
    if (c->n_spans && !labels)
        return -1;
    int end = place_panels(c, top + chart_spans_head(c, rows), at, &first);
    struct canvas k = {out, tips, c, end + MARGIN + (c->n_spans || *c->note ? CHART_SPANS_FOOT : 0)};
    chart_script_begin(&k, form);
    chart_script_head(&k, c);
    if (labels)
        chart_spans_draw_labels(&k, labels, rows, &at[first]);
    if (c->n_spans || *c->note)
        chart_spans_draw_foot(&k, &at[last]);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]))
            draw_panel(&k, &c->panels[i], &at[i]);
    fputs("unset multiplot\n", out);
    free(labels);
    return 0;
}
