/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gnuplot script of a picture: its head, and each panel's place, title and legend. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/chart_draw.h"
#include "output/plot/gnuplot.h"
#include "output/plot/plot_layout.h"

enum { MARGIN = 14, TITLE = 30, LINE = 19, LEGEND_LINE = 20, GAP = 24, AXIS = 52, KEY = 44, LEFT_MAX = 330 };

void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y, const char *style)
{
    fputs("set label ", k->out);
    gnuplot_text(k->out, text, most);
    fprintf(k->out, " at screen %.6f, screen %.6f %s\n", x / CHART_WIDTH, 1 - y / k->height, style);
}

void chart_box(const struct canvas *k, double left, double top, double right, double bottom, unsigned colour)
{
    fprintf(k->out,
            "set object rectangle from screen %.6f, screen %.6f to screen %.6f, screen %.6f fc rgb '#%06x' fs solid "
            "1.0 noborder\n",
            left / CHART_WIDTH, 1 - top / k->height, right / CHART_WIDTH, 1 - bottom / k->height, colour);
}

const char *chart_colour(int number)
{
    return svg_plot_colours[number < 0 ? PLOT_MUTED : PLOT_SERIES + number % PLOT_N_SERIES].plain;
}

unsigned chart_colour_value(int number)
{
    return (unsigned)strtoul(chart_colour(number) + 1, NULL, 16);
}

int chart_mark(int number)
{
    static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12};
    return marks[number % (int)(sizeof marks / sizeof marks[0])];
}

size_t chart_longest(const struct chart_names *names)
{
    size_t longest = 0;
    for (size_t i = 0; i < names->n; i++) {
        size_t length = plot_layout_characters(names->name[i]);
        longest = length > longest ? length : longest;
    }
    return longest > CHART_LABEL_MAX ? CHART_LABEL_MAX + 3 : longest;
}

void chart_x_label(const struct canvas *k, const char *text)
{
    fputs("set xlabel ", k->out);
    gnuplot_text(k->out, text, 100);
    fprintf(k->out, " offset 0,0.4 textcolor rgb '%s'\n", svg_plot_colours[PLOT_INK].plain);
}

void chart_axis(const struct canvas *k, char axis, double lo, double hi, bool log_scale)
{
    double tics[24];
    size_t n = log_scale ? chart_log_tics(lo, hi, tics, sizeof tics / sizeof tics[0]) : 0;
    fprintf(k->out, "%sset logscale %c\nset %crange [%.10g:%.10g]\n", log_scale ? "" : "un", axis, axis, lo, hi);
    if (n < 2) {
        fprintf(k->out, "set %ctics autofreq\n", axis);
        return;
    }
    fprintf(k->out, "set %ctics (", axis);
    for (size_t i = 0; i < n; i++)
        fprintf(k->out, "%s'%.10g' %.10g", i ? ", " : "", tics[i], tics[i]);
    fputs(")\n", k->out);
}

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
        size_t characters = plot_layout_characters(entries[i].name);
        int width = 40 + CHART_CHARACTER_WIDTH * (int)(characters > most ? most : characters);
        if (x > at->x + MARGIN && x + width > end) {
            lines++;
            x = at->x + MARGIN;
        }
        if (k) {
            char style[200];
            snprintf(style, sizeof style,
                     "left offset character 1.4,-0.3 tc rgb '%s' point pt %d ps %s lw 1.5 lc rgb '%s'",
                     svg_plot_colours[PLOT_INK].plain, entries[i].mark < 0 ? 5 : chart_mark(entries[i].mark),
                     entries[i].mark < 0 ? "1.5" : "0.9", chart_colour(entries[i].colour));
            chart_label(k, entries[i].name, most, x + 5, top + (lines - 1) * LEGEND_LINE + 8, style);
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
    int width = p->remarks.n ? 20 + CHART_CHARACTER_WIDTH * (int)chart_longest(&p->remarks) : 0;
    int least = p->kind == CHART_CELLS ? 96 : p->kind == CHART_BARS ? 64 : 26;
    return width > least ? width : least;
}

static int area_height(const struct chart_panel *p)
{
    switch (p->kind) {
    case CHART_LINES:
        return chart_lines_height(p);
    case CHART_BARS:
        return chart_bars_height(p);
    default:
        return chart_cells_height(p);
    }
}

static struct place chart_script_place_of(const struct chart_panel *p, int top, int x, int width)
{
    struct place at = {.x = x, .width = width, .top = top, .left = x + left_of(p), .right = x + width - right_of(p)};
    at.area = top + (*p->title ? LINE + 4 : 0) + legend(NULL, p, &at, 0) + 6;
    if (p->kind == CHART_CELLS) {
        at.area += chart_cells_above(p);
        at.right = at.left + chart_cells_side(p, at.right - at.left) * (int)p->columns.n;
    }
    at.bottom = at.area + area_height(p);
    at.end = at.bottom + (p->kind == CHART_CELLS ? KEY : AXIS) + (*p->note ? LINE : 0);
    return at;
}

static int head_height(const struct chart *c)
{
    return TITLE + (*c->subtitle ? LINE : 0) + (c->modelled ? LINE : 0) + 10;
}

/* ---- drawing ---- */

static void chart_script_head(const struct canvas *k, const struct chart *c)
{
    char style[80];
    int y = MARGIN + 6;
    snprintf(style, sizeof style, "left font ',16' tc rgb '%s'", svg_plot_colours[PLOT_INK].plain);
    chart_label(k, c->title, 95, MARGIN, y, style);
    y += TITLE - 5;
    if (c->modelled) {
        snprintf(style, sizeof style, "left font 'sans-serif Bold,13' tc rgb '%s'",
                 svg_plot_colours[PLOT_WARNING].plain);
        chart_label(k, "MODELLED, not measured", 60, MARGIN, y, style);
        y += LINE;
    }
    snprintf(style, sizeof style, "left tc rgb '%s'", svg_plot_colours[PLOT_MUTED].plain);
    if (*c->subtitle)
        chart_label(k, c->subtitle, 125, MARGIN, y, style);
}

static void chart_script_begin(const struct canvas *k)
{
    const char *ink = svg_plot_colours[PLOT_INK].plain, *muted = svg_plot_colours[PLOT_MUTED].plain;
    fprintf(k->out,
            "set encoding utf8\nset terminal svg size %d,%d noenhanced dynamic font 'sans-serif,13' background '%s'\n",
            CHART_WIDTH, k->height, svg_plot_colours[PLOT_PAPER].plain);
    fprintf(k->out,
            "set multiplot\nunset key\nset tics out nomirror scale 0.5 tc rgb '%s'\nset border 3 lc rgb '%s'\n"
            "set grid lc rgb '%s' lw 1 dt 1 back\nset style fill solid 1.0 noborder\n",
            ink, muted, svg_plot_colours[PLOT_GRID].plain);
}

static void draw_panel(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    char style[80];
    int y = at->top;
    if (*p->title) {
        snprintf(style, sizeof style, "left font 'sans-serif Bold,13' tc rgb '%s'", svg_plot_colours[PLOT_INK].plain);
        chart_label(k, p->title, (size_t)at->width / CHART_CHARACTER_WIDTH, at->x + MARGIN, y + 8, style);
        y += LINE + 4;
    }
    legend(k, p, at, y);
    if (*p->note) {
        snprintf(style, sizeof style, "left font ',12' tc rgb '%s'", svg_plot_colours[PLOT_MUTED].plain);
        chart_label(k, p->note, 140, at->x + MARGIN, at->end - 8, style);
    }
    fprintf(k->out,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset tmargin at screen %.6f\n"
            "set bmargin at screen %.6f\n",
            (double)at->left / CHART_WIDTH, (double)at->right / CHART_WIDTH, 1 - (double)at->area / k->height,
            1 - (double)at->bottom / k->height);
    if (p->kind == CHART_LINES)
        chart_draw_lines(k, p, at);
    else if (p->kind == CHART_BARS)
        chart_draw_bars(k, p, at);
    else
        chart_draw_cells(k, p, at);
    fputs("unset label\nunset object\nunset arrow\nundefine $*\n", k->out);
}

int chart_script(const struct chart *c, FILE *out)
{
    struct place at[CHART_PANELS_MAX];
    int top = head_height(c), end = top, drawn = 0, columns = c->two_columns ? 2 : 1, width = CHART_WIDTH / columns;
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i])) {
            int column = drawn++ % columns;
            if (column == 0 && drawn > 1)
                top = end + GAP;
            at[i] = chart_script_place_of(&c->panels[i], top, column * width, width);
            end = at[i].end > end ? at[i].end : end;
        }
    if (!drawn)
        return -1;
    struct canvas k = {out, end + MARGIN};
    chart_script_begin(&k);
    chart_script_head(&k, c);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]))
            draw_panel(&k, &c->panels[i], &at[i]);
    fputs("unset multiplot\n", out);
    return 0;
}
