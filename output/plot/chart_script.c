/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gnuplot script of a picture: its head, each panel's place, title and legend. */
#include "output/plot/chart_script.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: around the picture, of the title, of a line of text and of the legend, between panels, below an axis, below
 * the colours' key, at the left at most, for the names of lines at the right. */
enum {
    MARGIN = 14,
    TITLE = 30,
    LINE = 19,
    LEGEND_LINE = 20,
    LEGEND_GAP = 44,      /* the mark, and what is free before the next one ... */
    LEGEND_CHARACTER = 8, /* ... also where a name has wide characters alone */
    GAP = 24,
    NARROW_GAP = 12,
    AXIS = 52,
    KEY = 44,
    LEFT_MAX = 330,
    LINE_NAMES = 78
};
/* Pixels of spans' labels: what happens on either side of 0, a row, rows at most, below them, between them; and below
 * the last panel. */
enum { SIDE_NAMES = 20, LABEL_ROW = 15, LABEL_ROWS = 6, HEAD_GAP = 4, EDGE = 4, SPANS_FOOT = 26, NOTE_ROW = 16 };

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

/* The height of the legend's lines; drawn from `top` where `k` is given. */
static int legend(const struct canvas *k, const struct chart_panel *p, const struct place *at, int top)
{
    struct chart_legend *entries = calloc(p->n_series + p->n_legend + 1, sizeof *entries);
    size_t n = entries ? legend_entries(p, entries) : 0, most = 110;
    int lines = n ? 1 : 0, x = at->x + MARGIN, end = at->x + at->width - MARGIN;
    for (size_t i = 0; i < n; i++) {
        size_t characters = chart_characters(entries[i].name);
        int width = LEGEND_GAP + LEGEND_CHARACTER * (int)(characters > most ? most : characters);
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

/* ---- spans: shaded in all panels, named above the first one, explained below the last one ---- */

static double column_of(const struct chart *c, double x, int left, int right)
{
    const struct axis axis = {c->x_lo, c->x_hi, false};
    return left + chart_part(&axis, x) * (right - left);
}

/* row_begin: the leftmost pixel that is taken in each row. */
static bool place_label(struct chart_span_label *label, const char *text, double from, double to,
                        double row_begin[LABEL_ROWS])
{
    double width = (double)chart_characters(text) * CHART_SPANS_CHARACTER, middle = (from + to) / 2;
    double start = fmin(middle + 3, CHART_WIDTH - EDGE - width);
    int row = 0;
    if (width <= to - from && middle + width / 2 + EDGE < row_begin[0]) {
        *label = (struct chart_span_label){.placed = true, .start = middle - width / 2};
        row_begin[0] = label->start;
    } else {
        while (row < LABEL_ROWS && start + width + EDGE >= row_begin[row] && middle + 2 < row_begin[row])
            row++;
        /* a higher text's pole would cross what stands here */
        if (row == LABEL_ROWS || start + width + EDGE >= row_begin[row])
            return false;
        *label = (struct chart_span_label){.placed = true, .flag = true, .row = row, .start = start, .pole = middle};
        for (int below = 0; below <= row; below++)
            row_begin[below] = fmin(start - 2, middle);
    }
    snprintf(label->text, sizeof label->text, "%s", text);
    return true;
}

struct chart_span_label *chart_spans_labels(const struct chart *c, int left, int right, int *rows)
{
    struct chart_span_label *labels = calloc(c->n_spans + 1, sizeof *labels);
    double row_begin[LABEL_ROWS];
    for (int row = 0; row < LABEL_ROWS; row++)
        row_begin[row] = INFINITY;
    *rows = 1;
    for (size_t i = c->n_spans; labels && i-- > 0;) {
        const struct chart_span *s = &c->spans[i];
        double from = column_of(c, s->from, left, right), to = column_of(c, s->to, left, right);
        if (to < left || from > right)
            continue;
        from = fmax(from, left);
        to = fmin(to, right);
        if (place_label(&labels[i], s->text, from, to, row_begin) ||
            place_label(&labels[i], s->kind, from, to, row_begin))
            *rows = labels[i].row + 1 > *rows ? labels[i].row + 1 : *rows;
    }
    return labels;
}

static bool zero_is_shown(const struct chart *c)
{
    return c->zero_line && c->x_lo <= 0 && c->x_hi >= 0;
}

/* Pixels that the labels in so many rows take above the first panel. */
static int spans_head(const struct chart *c, int rows)
{
    return rows ? (*c->before_zero && zero_is_shown(c) ? SIDE_NAMES : 0) + rows * LABEL_ROW + HEAD_GAP : 0;
}

static void draw_span_labels(const struct canvas *k, const struct chart_span_label *labels, int rows,
                             const struct place *at)
{
    const struct chart *c = k->chart;
    int bottom = at->area - HEAD_GAP; /* of the lowest row */
    for (size_t i = 0; i < c->n_spans; i++) {
        double y = bottom - (labels[i].row + 0.5) * LABEL_ROW, x = labels[i].pole / CHART_WIDTH;
        if (!labels[i].placed)
            continue;
        chart_label(k, labels[i].text, sizeof labels[i].text, labels[i].start, y, PLOT_INK, "left font ',11'");
        if (labels[i].flag)
            fprintf(k->out,
                    "set arrow from screen %.6f, screen %.6f to screen %.6f, screen %.6f nohead lw 0.7 lc rgb '%s' "
                    "back\n",
                    x, 1 - (y - 6) / k->height, x, 1 - (double)at->area / k->height, plot_colours[PLOT_HATCH].plain);
    }
    if (!zero_is_shown(c))
        return;
    double y = bottom - rows * LABEL_ROW - SIDE_NAMES / 2.0, zero = column_of(c, 0, at->left, at->right);
    chart_label(k, c->before_zero, sizeof c->before_zero, zero - 5, y, PLOT_INK, "right");
    chart_label(k, c->after_zero, sizeof c->after_zero, zero + 5, y, PLOT_INK, "left");
}

/* The kinds with their colours, below the last panel, and the chart's note, below them. */
static void draw_foot(const struct canvas *k, const struct place *at)
{
    const struct chart *c = k->chart;
    double x = at->left, y = at->end + SPANS_FOOT / 2.0;
    for (size_t i = 0; i < c->n_spans; i++) {
        const struct chart_span *s = &c->spans[i];
        size_t before = 0;
        char style[120];
        while (before < i && strcmp(c->spans[before].kind, s->kind) != 0)
            before++;
        if (before < i)
            continue;
        snprintf(style, sizeof style, "left offset character 1.3,-0.3 point pt 5 ps 1.5 lc rgb '#%06x' font ',11'",
                 s->colour);
        chart_label(k, s->kind, sizeof s->kind, x + 7, y, PLOT_INK, style);
        x += 19 + (double)chart_characters(s->kind) * CHART_SPANS_CHARACTER + 20;
    }
    chart_label(k, c->note, sizeof c->note, at->right, c->n_spans ? y + NOTE_ROW : y, PLOT_MUTED, "right font ',11'");
}

/* Draws the spans of a panel: at least a pixel wide, so that nothing is lost on a long axis; and where 0 is. */
static void draw_spans(const struct canvas *k, const struct place *at)
{
    const struct chart *c = k->chart;
    double pixel = (c->x_hi - c->x_lo) / (at->right - at->left);
    for (size_t i = 0; i < c->n_spans; i++) {
        const struct chart_span *s = &c->spans[i];
        double from = fmax(s->from, c->x_lo), to = fmin(s->to, c->x_hi);
        if (from > c->x_hi || to < c->x_lo)
            continue;
        fprintf(k->out,
                "set object rectangle from first %.10g, graph 0 to first %.10g, graph 1 fc rgb '#%06x' fs solid 1.0 "
                "noborder behind\n",
                from, fmin(fmax(to, from + pixel), c->x_hi), s->colour);
        chart_tip(k, column_of(c, from, at->left, at->right), at->area, column_of(c, to, at->left, at->right),
                  at->bottom, "%s%s%s", s->text, *s->tip ? ": " : "", s->tip);
    }
    if (zero_is_shown(c))
        fprintf(k->out, "set arrow from first 0, graph 0 to first 0, graph 1 nohead lw 1.2 dt 2 lc rgb '%s' front\n",
                plot_colours[PLOT_INK].plain);
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

/* A margin of a panel; of panels over one axis the widest of all. */
static int margin_of(const struct chart *c, const struct chart_panel *p, int (*of)(const struct chart_panel *))
{
    int most = of(p);
    for (size_t i = 0; i < c->n_panels && c->one_axis; i++)
        most = of(&c->panels[i]) > most ? of(&c->panels[i]) : most;
    return most;
}

static struct place place_of(const struct chart *c, const struct chart_panel *p, bool last, int top, int x, int width)
{
    struct place at = {.x = x,
                       .width = width,
                       .top = top,
                       .left = x + margin_of(c, p, left_of),
                       .right = x + width - margin_of(c, p, right_of),
                       .axis = last || !c->one_axis || p->own_axis};
    at.area = top + (*p->title ? LINE + 4 : 0) + legend(NULL, p, &at, 0) + 6;
    if (p->kind == CHART_CELLS) {
        at.area += chart_cells_above(p);
        at.right = at.left + chart_cells_side(p, at.right - at.left) * (int)p->columns.n;
    }
    at.bottom = at.area + chart_panel_height(p);
    at.end = at.bottom + (p->kind == CHART_CELLS ? KEY : at.axis ? AXIS : 0) + (*p->note ? LINE : 0);
    return at;
}

/* The last panel that has a value, and is over the axis that panels share; SIZE_MAX: there is none. */
static size_t last_panel(const struct chart *c, bool sharing)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]) && !(sharing && c->panels[i].own_axis))
            last = i;
    return last;
}

/* Gives each panel its place; returns where the last one ends. `first`: the first that is drawn. */
static int place_panels(const struct chart *c, int top, struct place *at, size_t *first)
{
    int end = top, drawn = 0, columns = c->two_columns ? 2 : 1, width = CHART_WIDTH / columns;
    size_t last = last_panel(c, true);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i])) {
            int column = drawn++ % columns;
            *first = drawn == 1 ? i : *first;
            if (column == 0 && drawn > 1)
                top = end + (c->one_axis && !c->panels[i].own_axis ? NARROW_GAP : GAP);
            at[i] = place_of(c, &c->panels[i], i == last, top, column * width, width);
            end = at[i].end > end ? at[i].end : end;
        }
    return end;
}

/* ---- drawing ---- */

static void draw_head(const struct canvas *k)
{
    const struct chart *c = k->chart;
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

static void begin(const struct canvas *k, enum plot_form form)
{
    /* cairo's points are larger than those of the SVG terminal */
    fprintf(k->out,
            "set encoding utf8\nset terminal %s size %d,%d noenhanced %s font 'sans-serif,13' background '%s'\n"
            "set multiplot\nunset key\nset style fill solid 1.0 noborder\n",
            form == PLOT_SVG ? "svg" : "pngcairo", CHART_WIDTH, k->height,
            form == PLOT_SVG ? "dynamic" : "fontscale 0.75", plot_colours[PLOT_PAPER].plain);
}

static void draw_panel(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    const char *ink = plot_colours[PLOT_INK].plain;
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
            "set bmargin at screen %.6f\nset tics out nomirror scale 0.5 tc rgb '%s'\nset border 3 lc rgb '%s'\n"
            "set grid xtics ytics lc rgb '%s' lw 1 dt 1 back\nunset colorbox\nset format x '%s'\nset xlabel ",
            (double)at->left / CHART_WIDTH, (double)at->right / CHART_WIDTH, 1 - (double)at->area / k->height,
            1 - (double)at->bottom / k->height, ink, plot_colours[PLOT_MUTED].plain, plot_colours[PLOT_GRID].plain,
            at->axis ? "% h" : "");
    chart_text_put(k->out, at->axis && p->kind != CHART_CELLS ? p->x_label : "", 100);
    fprintf(k->out, " offset 0,0.4 textcolor rgb '%s'\n", ink);
    if (k->chart->one_axis && !p->own_axis && p->kind == CHART_LINES)
        draw_spans(k, at);
    chart_panel_draw(k, p, at);
    fputs("unset label\nunset object\nunset arrow\nundefine $*\n", k->out);
}

int chart_script(const struct chart *c, enum plot_form form, FILE *out, FILE *tips)
{
    struct place at[CHART_PANELS_MAX];
    size_t first = 0, last = last_panel(c, false);
    int top = TITLE + (*c->subtitle ? LINE : 0) + (c->modelled ? LINE : 0) + 10, rows = 0;
    const int foot = c->n_spans && *c->note ? SPANS_FOOT + NOTE_ROW : c->n_spans || *c->note ? SPANS_FOOT : 0;
    if (last == SIZE_MAX)
        return -1;
    place_panels(c, top, at, &first); /* how the spans' labels lie depends on how wide it is */
    struct chart_span_label *labels = c->n_spans ? chart_spans_labels(c, at[first].left, at[first].right, &rows) : NULL;
    if (c->n_spans && !labels)
        return -1;
    int end = place_panels(c, top + spans_head(c, rows), at, &first);
    const struct canvas k = {out, tips, c, end + MARGIN + foot};
    begin(&k, form);
    draw_head(&k);
    if (labels)
        draw_span_labels(&k, labels, rows, &at[first]);
    if (foot)
        draw_foot(&k, &at[last]);
    for (size_t i = 0; i < c->n_panels; i++)
        if (!chart_panel_empty(&c->panels[i]))
            draw_panel(&k, &c->panels[i], &at[i]);
    fputs("unset multiplot\n", out);
    free(labels);
    return 0;
}
