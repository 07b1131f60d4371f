/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contents of a panel in gnuplot's script: series over a common axis, horizontal bars, a matrix of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/chart_script.h"
#include "util/order.h"

static void put_axis(const struct canvas *k, char name, const struct axis *a, bool labelled)
{
    double tics[24];
    size_t n = a->log_scale ? chart_log_tics(a->lo, a->hi, tics, sizeof tics / sizeof tics[0]) : 0;
    fprintf(k->out, "%sset logscale %c\nset %crange [%.10g:%.10g]\nset %ctics nomirror %s", a->log_scale ? "" : "un",
            name, name, a->lo, a->hi, name, n < 2 ? "autofreq" : "(");
    for (size_t i = 0; i < n && n >= 2; i++) {
        fputs(i ? ", '" : "'", k->out);
        if (labelled)
            fprintf(k->out, "%.10g", tics[i]);
        fprintf(k->out, "' %.10g", tics[i]);
    }
    fputs(n < 2 ? "\n" : ")\n", k->out);
}

static void widen(struct axis *a, double value)
{
    if (isfinite(value) && (!a->log_scale || value > 0)) {
        a->lo = fmin(a->lo, value);
        a->hi = fmax(a->hi, value);
    }
}

/* ---- series ---- */

/* Pixels: of an area, and that a tic's number takes; tics; points of a line beyond which none is marked. */
enum { HEIGHT = 250, NUMBER_WIDTH = 28, TICS_MAX = 32, LINE_ONLY = 200 };

static int lines_height(const struct chart_panel *p)
{
    if (p->height)
        return p->height;
    return p->n_series > 1 || !*p->title ? HEIGHT : 3 * HEIGHT / 5;
}

/* Air on either side: a part of the axis, which is at least so long relative to its values. */
static void pad(struct axis *a, double part, double least)
{
    if (!(a->lo <= a->hi)) {
        *a = (struct axis){1, 10, a->log_scale};
    } else if (a->log_scale) {
        double factor = fmax(pow(a->hi / a->lo, part), 1.12);
        a->lo /= factor;
        a->hi *= factor;
    } else {
        double span = fmax(a->hi - a->lo, least * fmax(fabs(a->hi), 1e-6)), middle = (a->lo + a->hi) / 2;
        a->lo = middle - (0.5 + part) * span;
        a->hi = middle + (0.5 + part) * span;
    }
}

static void find_axes(const struct chart *c, const struct chart_panel *p, struct axis *x, struct axis *y)
{
    *x = (struct axis){INFINITY, -INFINITY, p->log_x};
    *y = (struct axis){INFINITY, -INFINITY, y->log_scale};
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            const struct chart_point *q = &p->series[i].points[k];
            widen(x, q->x);
            widen(y, q->y);
            widen(y, q->lo);
            widen(y, q->hi);
        }
    const bool from_zero = p->from_zero && !y->log_scale;
    if (from_zero)
        y->lo = fmin(y->lo, 0);
    double low = y->lo;
    pad(x, 0.03, 0.5);
    pad(y, 0.08, 0.04);
    if (from_zero && low >= 0)
        y->lo = 0;
    if (c->one_axis && !p->own_axis)
        *x = (struct axis){c->x_lo, c->x_hi, p->log_x};
    if (p->y_lo < p->y_hi)
        *y = (struct axis){p->y_lo, p->y_hi, y->log_scale};
}

/* Tics where there are points: numbers of cores, distances. Those too near to the one before have no number. */
static void tics_at_points(const struct canvas *k, const struct chart_panel *p, const struct axis *x, int width)
{
    double values[TICS_MAX], last = -INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t j = 0; j < p->series[i].n; j++) {
            size_t same = 0;
            while (same < n && values[same] != p->series[i].points[j].x)
                same++;
            if (same == TICS_MAX)
                return;
            values[same] = p->series[i].points[j].x;
            n += same == n;
        }
    qsort(values, n, sizeof *values, order_double);
    fputs("set xtics (", k->out);
    for (size_t i = 0; i < n; i++) {
        double column = chart_part(x, values[i]) * width;
        fputs(i ? ", '" : "'", k->out);
        if (column - last >= NUMBER_WIDTH) {
            fprintf(k->out, "%.10g", values[i]);
            last = column;
        }
        fprintf(k->out, "' %.10g", values[i]);
    }
    fputs(")\n", k->out);
}

static bool has_limits(const struct chart_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->points[i].lo) && isfinite(s->points[i].hi))
            return true;
    return false;
}

/* Returns where series i draws x: a few pixels to the side if series are to stand apart. */
static double beside(const struct chart_panel *p, size_t i, double x, const struct axis *a, int width)
{
    double pixels = p->apart && p->n_series > 1 ? fmin(5, 40.0 / (double)p->n_series) : 0;
    double part = ((double)i - ((double)p->n_series - 1) / 2) * pixels / width;
    return a->log_scale ? x * pow(a->hi / a->lo, part) : x + (a->hi - a->lo) * part;
}

static void series_data(const struct canvas *k, const struct chart_panel *p, size_t i, const struct axis *x,
                        const struct axis *y, int width)
{
    const struct chart_series *s = &p->series[i];
    fprintf(k->out, "$s%zu << END\n", i);
    for (size_t j = 0; j < s->n; j++) {
        const struct chart_point *q = &s->points[j];
        bool limits = isfinite(q->lo) && isfinite(q->hi) && (!y->log_scale || q->lo > 0);
        if (!isfinite(q->y)) /* breaks the curve */
            fputs("\n", k->out);
        else if (s->many)
            fprintf(k->out, "%.10g %.6g\n", q->x, q->y);
        else
            fprintf(k->out, "%.10g %.10g %.10g %.10g\n", beside(p, i, q->x, x, width), q->y, limits ? q->lo : q->y,
                    limits ? q->hi : q->y);
    }
    fputs("END\n", k->out);
}

/* The points of a curve of many are not marked. */
static bool is_marked(const struct chart_series *s)
{
    return s->mark >= 0 && (s->n <= LINE_ONLY || !s->line);
}

static void plot_series(const struct canvas *k, const struct chart_series *s, size_t i, size_t *n)
{
    static const int dashes[] = {1, 2, 4};
    const char *colour = chart_colour(s->colour);
    int dash = s->faint ? 3 : dashes[(s->mark < 0 ? 0 : s->mark) / PLOT_N_SERIES % 3];
    if (s->many) {
        chart_plot(k, n, "$s%zu using 1:2 with lines lw 0.6 lc rgb '#b0%s'", i, colour + 1);
        return;
    }
    if (s->band)
        chart_plot(k, n, "$s%zu using 1:3:4 with filledcurves fs solid 1.0 noborder lc rgb '#a0%s'", i, colour + 1);
    if (s->line)
        chart_plot(k, n, "$s%zu using 1:2 with lines lw %s dt %d lc rgb '%s'", i,
                   s->strong  ? "3.5"
                   : s->faint ? "1.2"
                              : "1.8",
                   dash, colour);
    if (!s->band && has_limits(s))
        chart_plot(k, n, "$s%zu using 1:3:(0):($4-$3) with vectors nohead lw 1.4 lc rgb '%s'", i, colour);
    if (is_marked(s))
        chart_plot(k, n, "$s%zu using 1:2 with points pt %d ps %s lw 1.5 lc rgb '%s'", i, chart_mark(s->mark),
                   s->faint    ? "1.2"
                   : s->n > 60 ? "0.35"
                               : "0.75",
                   colour);
}

/* Values that a line across the panel stands for, named at its right edge where the names do not meet. */
static void lines_across(const struct canvas *k, const struct chart_panel *p, const struct axis *y,
                         const struct place *at)
{
    enum { NAME_HEIGHT = 12 };
    const char *muted = plot_colours[PLOT_MUTED].plain;
    double last = INFINITY;
    for (size_t i = 0; i < p->n_lines; i++) {
        double value = p->lines[i].y, pixels = (value - y->lo) / (y->hi - y->lo) * (at->bottom - at->area);
        fprintf(k->out,
                "set arrow from graph 0, first %.6g to graph 1, first %.6g nohead dt 3 lw 1 lc rgb '%s' front\n", value,
                value, muted);
        if (fabs(last - pixels) <= NAME_HEIGHT)
            continue;
        fputs("set label ", k->out);
        chart_text_put(k->out, p->lines[i].name, sizeof p->lines[i].name);
        fprintf(k->out, " at graph 1.006, first %.6g left font ',11' tc rgb '%s'\n", value, muted);
        last = pixels;
    }
}

static void point_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at,
                       const struct axis *x, const struct axis *y)
{
    int width = at->right - at->left;
    for (size_t i = 0; i < p->n_series; i++) {
        const struct chart_series *s = &p->series[i];
        for (size_t j = 0; j < s->n && is_marked(s) && !s->many; j++) {
            const struct chart_point *q = &s->points[j];
            double column = at->left + fmin(fmax(chart_part(x, beside(p, i, q->x, x, width)), 0), 1) * width;
            double row = at->bottom - fmin(fmax(chart_part(y, q->y), 0), 1) * (at->bottom - at->area);
            char limits[CHART_LIMITS_MAX];
            if (isfinite(q->y))
                chart_tip(k, column, row, column, row, "%s, %s %.6g: %.4g%s", s->name, p->x_label, q->x, q->y,
                          chart_limits(q->lo, q->hi, limits));
        }
    }
}

static void draw_lines(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    struct axis x, y = {.log_scale = p->log_y};
    double tics[2];
    size_t n = 0;
    int width = at->right - at->left;
    find_axes(k->chart, p, &x, &y);
    if (y.log_scale && chart_log_tics(y.lo, y.hi, tics, 2) < 2) { /* so near to each other that it had no number */
        y.log_scale = false;
        find_axes(k->chart, p, &x, &y);
    }
    for (size_t i = 0; i < p->n_series; i++)
        series_data(k, p, i, &x, &y, width);
    put_axis(k, 'x', &x, at->axis);
    put_axis(k, 'y', &y, true);
    if (p->whole_x)
        tics_at_points(k, p, &x, width);
    chart_label(k, p->y_label, 40, at->x + 18, (at->area + at->bottom) / 2.0, PLOT_INK, "center rotate by 90");
    lines_across(k, p, &y, at);
    point_tips(k, p, at, &x, &y);
    for (size_t i = 0; i < p->n_series; i++)
        if (p->series[i].n > 0)
            plot_series(k, &p->series[i], i, &n);
    fputs("\n", k->out);
}

/* ---- bars ---- */

/* Pixels of a row, and of a lane where several bars share one. */
enum { ROW = 22, LANE = 15 };

static void names_at_rows(const struct canvas *k, const struct chart_names *names)
{
    fputs("set ytics scale 0 (", k->out);
    for (size_t i = 0; i < names->n; i++) {
        fputs(i ? ", " : "", k->out);
        chart_text_put(k->out, names->name[i], CHART_LABEL_MAX);
        fprintf(k->out, " %zu", i);
    }
    fprintf(k->out, ")\nset yrange [%g:-0.5]\nunset logscale y\nset grid noytics\n", (double)names->n - 0.5);
}

static int lanes_of(const struct chart_bar *b)
{
    return b->lanes > 1 ? b->lanes : 1;
}

static int bars_height(const struct chart_panel *p)
{
    int lanes = 1;
    for (size_t i = 0; i < p->n_bars; i++)
        lanes = lanes_of(&p->bars[i]) > lanes ? lanes_of(&p->bars[i]) : lanes;
    return (int)p->categories.n * (lanes > 1 ? lanes * LANE + 8 : ROW) + 8;
}

static struct axis bars_axis(const struct chart *c, const struct chart_panel *p)
{
    struct axis a = {p->log_x ? INFINITY : 0, -INFINITY, p->log_x};
    if (c->one_axis)
        return (struct axis){c->x_lo, c->x_hi, p->log_x};
    for (size_t i = 0; i < p->n_bars; i++) {
        widen(&a, p->bars[i].to);
        widen(&a, p->bars[i].lo);
        widen(&a, p->bars[i].hi);
    }
    if (p->log_x) {
        a.lo = isfinite(a.lo) ? a.lo / 1.5 : 1;
        a.hi = a.hi > a.lo ? a.hi * 1.5 : 10 * a.lo;
        return a;
    }
    if (!(a.hi > a.lo)) /* bars of no length have an axis, too */
        a.hi = a.lo + 1;
    double span = a.hi - a.lo;
    a.hi += a.hi > 0 ? 0.08 * span : 0;
    a.lo -= a.lo < 0 ? 0.08 * span : 0;
    return a;
}

static double bar_middle(const struct chart_bar *b)
{
    return (double)b->category + ((double)b->lane - (lanes_of(b) - 1) / 2.0) * 0.8 / lanes_of(b);
}

static double bar_half(const struct chart_bar *b)
{
    return 0.36 / lanes_of(b);
}

/* Lists of bars that are drawn alike, a data block each. */
enum bar_list { BARS_FULL, BARS_HATCHED, BARS_DOTS, BARS_LIMITS, BAR_LISTS };

static bool is_listed(const struct chart_panel *p, const struct chart_bar *b, enum bar_list list)
{
    if (list == BARS_LIMITS)
        return isfinite(b->lo) && isfinite(b->hi) && (!p->log_x || b->lo > 0);
    return list == (b->dot ? BARS_DOTS : b->hatched ? BARS_HATCHED : BARS_FULL);
}

/* Value and row; then the limits, or else edges and colour. Returns how many bars are in the list. */
static size_t bars_data(const struct canvas *k, const struct chart_panel *p, enum bar_list list, double low)
{
    static const char *const names[] = {"bars", "hatched", "dots", "limits"};
    size_t n = 0;
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        double y = bar_middle(b);
        if (!is_listed(p, b, list))
            continue;
        if (n++ == 0)
            fprintf(k->out, "$%s << END\n", names[list]);
        fprintf(k->out, "%.10g %.10g ", b->to, y);
        if (list == BARS_LIMITS)
            fprintf(k->out, "%.10g %.10g\n", b->lo, b->hi);
        else
            fprintf(k->out, "%.10g %.10g %.10g %.10g %lu\n", fmax(b->from, low), b->to, y - bar_half(b),
                    y + bar_half(b), strtoul(chart_colour(b->colour) + 1, NULL, 16));
    }
    fputs(n ? "END\n" : "", k->out);
    return n;
}

/* A bar's text stands after it; or in it, at its beginning, where another bar may begin at its end. */
static void bar_texts(const struct canvas *k, const struct chart_panel *p, double pixels_per_unit)
{
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        double end = isfinite(b->hi) ? fmax(b->to, b->hi) : b->to;
        if (!*b->text ||
            (b->inside && (b->to - b->from) * pixels_per_unit < CHART_CHARACTER_WIDTH * (strlen(b->text) + 1.0)))
            continue;
        fputs("set label ", k->out);
        chart_text_put(k->out, b->text, CHART_TEXT_MAX);
        fprintf(k->out, " at first %.10g, first %.10g left offset character %s,0 font ',12' tc rgb '%s' front\n",
                b->inside ? b->from : end, bar_middle(b), b->inside ? "0.5" : "0.8",
                plot_colours[b->inside ? PLOT_PAPER : PLOT_INK].plain);
    }
}

/* The name that the legend has for a bar's colour; "": none. */
static const char *bar_kind(const struct chart_panel *p, const struct chart_bar *b)
{
    for (size_t i = 0; i < p->n_legend; i++)
        if (p->legend[i].colour == b->colour)
            return p->legend[i].name;
    return "";
}

static void bar_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at, const struct axis *x)
{
    double row = (double)(at->bottom - at->area) / (double)p->categories.n, width = at->right - at->left;
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        double half = bar_half(b) * row, y = at->area + (bar_middle(b) + 0.5) * row;
        double to = at->left + fmin(fmax(chart_part(x, b->to), 0), 1) * width;
        double from = b->dot ? to : at->left + fmin(fmax(chart_part(x, fmax(b->from, x->lo)), 0), 1) * width;
        const char *kind = bar_kind(p, b);
        char limits[CHART_LIMITS_MAX], value[40];
        snprintf(value, sizeof value, "%.4g", b->to);
        chart_limits(b->lo, b->hi, limits);
        chart_tip(k, from, y - half, to, y + half, "%s%s%s: %s%s", p->categories.name[b->category], *kind ? ", " : "",
                  kind, *b->text && !*limits ? b->text : value, limits);
    }
}

static void draw_bars(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    const struct axis x = bars_axis(k->chart, p);
    const char *paper = plot_colours[PLOT_PAPER].plain, *ink = plot_colours[PLOT_INK].plain;
    size_t n = 0, listed[BAR_LISTS];
    for (enum bar_list list = 0; list < BAR_LISTS; list++)
        listed[list] = bars_data(k, p, list, p->log_x ? x.lo : -INFINITY);
    put_axis(k, 'x', &x, at->axis);
    names_at_rows(k, &p->categories);
    bar_texts(k, p, (at->right - at->left) / (x.hi - x.lo));
    bar_tips(k, p, at, &x);
    if (listed[BARS_FULL])
        chart_plot(k, &n, "$bars using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid 1.0 noborder");
    if (listed[BARS_HATCHED])
        chart_plot(k, &n, "$hatched using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs pattern 4 noborder");
    if (listed[BARS_DOTS])
        chart_plot(k, &n, "$dots using 1:2 with points pt 7 ps 1.2 lc rgb '%s'", paper);
    if (listed[BARS_LIMITS]) /* with a rim: on a dark page the ink is as light as the bars */
        chart_plot(k, &n,
                   "$limits using 3:2:($4-$3):(0) with vectors nohead lw 3.6 lc rgb '%s', \\\n  "
                   "$limits using 3:2:($4-$3):(0) with vectors nohead lw 1.6 lc rgb '%s'",
                   paper, ink);
    if (listed[BARS_DOTS])
        chart_plot(k, &n, "$dots using 1:2:7 with points pt 7 ps 0.9 lc rgb variable");
    fputs("\n", k->out);
}

/* ---- cells ---- */

/* Pixels of a cell, whose width depends on the room; and of the colours' key. */
enum { SIDE_MIN = 33, SIDE_MAX = 84, CELL_HEIGHT = 30, KEY_WIDTH = 300, KEY_HEIGHT = 10 };

/*
 * One hue from pale to dark, so that order is shown by lightness alone: readable in grey and by colour-blind readers.
 * The stations are ColorBrewer's sequential YlGnBu, 9 classes, without the first, which paper hides (C. Brewer).
 */
static const char palette[] = "0 '#edf8b1', 1 '#c7e9b4', 2 '#7fcdbb', 3 '#41b6c4', 4 '#1d91c0', 5 '#225ea8', "
                              "6 '#253494', 7 '#081d58'";
/* Up to this part of the palette black text has the better contrast (WCAG 2.1: a relative luminance of 0.179). */
static const double BLACK_UNTIL = 0.63;

int chart_cells_side(const struct chart_panel *p, int width)
{
    int side = p->columns.n ? width / (int)p->columns.n : SIDE_MAX;
    return side < SIDE_MIN ? SIDE_MIN : side > SIDE_MAX ? SIDE_MAX : side;
}

/* Names of columns stand upright above the columns only where they fit: each character with a pixel to spare, for a
 * reader's font may be wider than ours. */
static bool names_fit(const struct chart_panel *p)
{
    /* the width that the cells have at least, next to the longest names of rows */
    int side = chart_cells_side(p, CHART_WIDTH - 200 - CHART_CHARACTER_WIDTH * (int)chart_longest(&p->categories));
    return (CHART_CHARACTER_WIDTH + 1) * (int)chart_longest(&p->columns) + 2 <= side;
}

int chart_cells_above(const struct chart_panel *p)
{
    int characters = (int)chart_longest(&p->columns);
    return 22 + (names_fit(p) ? 16 : 14 + (int)(0.72 * CHART_CHARACTER_WIDTH * characters));
}

/* A scale is so long relative to its values, at least: noise that the numbers in cells do not show is no pattern. */
static const double SCALE_LEAST = 0.02;

/* The values that the colours stand for. */
static struct axis scale_of(const struct chart_panel *p)
{
    struct axis s = {INFINITY, -INFINITY, p->log_scale};
    if (p->scale_lo < p->scale_hi)
        return (struct axis){p->scale_lo, p->scale_hi, p->log_scale};
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++)
        if (p->cells[i].state == CELL_VALUE)
            widen(&s, p->cells[i].value);
    if (s.lo <= s.hi && s.hi - s.lo < SCALE_LEAST * fabs(s.hi))
        pad(&s, 0, SCALE_LEAST);
    return s;
}

/* The cells of one state: column, row, value. Returns how many. */
static size_t cell_data(const struct canvas *k, const struct chart_panel *p, enum cell_state state, const char *name)
{
    size_t n = 0;
    fprintf(k->out, "$%s << END\n", name);
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++)
        if (p->cells[i].state == state) {
            fprintf(k->out, "%zu %zu %.10g\n", i % p->columns.n, i / p->columns.n, p->cells[i].value);
            n++;
        }
    fputs("END\n", k->out);
    return n;
}

static void cell_texts(const struct canvas *k, const struct chart_panel *p, const struct axis *s, int side)
{
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++) {
        const struct chart_cell *c = &p->cells[i];
        bool black = !(chart_part(s, c->value) > BLACK_UNTIL);
        const char *colour = c->state == CELL_PLAIN ? plot_colours[PLOT_MUTED].plain : black ? "#000001" : "#fffffe";
        if (c->state == CELL_ABSENT || !*c->text)
            continue;
        fputs("set label ", k->out);
        chart_text_put(k->out, c->text, CHART_TEXT_MAX);
        fprintf(k->out, " at first %zu, first %zu center font ',%d' tc rgb '%s' front\n", i % p->columns.n,
                i / p->columns.n, side < 40 ? 10 : 12, colour);
    }
}

static void cell_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at, int side)
{
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++) {
        const struct chart_cell *c = &p->cells[i];
        size_t row = i / p->columns.n, column = i % p->columns.n;
        double x = at->left + (double)column * side, y = at->area + (double)row * CELL_HEIGHT;
        char value[40];
        snprintf(value, sizeof value, "%.4g", c->value);
        chart_tip(k, x, y, x + side, y + CELL_HEIGHT, "%s \xE2\x86\x92 %s: %s", p->categories.name[row],
                  p->columns.name[column],
                  *c->text                 ? c->text
                  : c->state == CELL_VALUE ? value
                                           : "not measured");
    }
}

static void cell_names(const struct canvas *k, const struct chart_panel *p, const struct place *at, int side)
{
    bool fit = names_fit(p);
    for (size_t i = 0; i < p->columns.n; i++) {
        double x = at->left + (i + 0.5) * side;
        chart_label(k, p->columns.name[i], CHART_LABEL_MAX, fit ? x : x - 2, at->area - 12, PLOT_INK,
                    fit ? "center" : "left rotate by 45");
    }
    for (size_t i = 0; i < p->remarks.n && i < p->categories.n; i++)
        chart_label(k, p->remarks.name[i], CHART_LABEL_MAX, at->right + 10, at->area + (i + 0.5) * CELL_HEIGHT,
                    PLOT_MUTED, "left");
    chart_label(k, p->y_label, 30, at->left - 10, at->area - 12, PLOT_MUTED, "right");
}

/* The palette and its key below the cells, from the smallest value to the largest, with the middle one. */
static void put_palette(const struct canvas *k, const struct chart_panel *p, const struct axis *s,
                        const struct place *at)
{
    char text[CHART_TEXT_MAX];
    const double top = at->bottom + 10;
    fprintf(k->out, "set palette maxcolors 48 defined (%s)\n%sset logscale cb\n", palette, s->log_scale ? "" : "un");
    if (s->lo == s->hi) /* all are 0 */
        fputs("set cbrange [-1:1]\n", k->out);
    if (!(s->lo < s->hi))
        return;
    fprintf(k->out,
            "set cbrange [%.10g:%.10g]\nset colorbox user horizontal origin screen %.6f, screen %.6f "
            "size screen %.6f, screen %.6f noborder\nset cbtics scale 0 offset 0,0.6 font ',11' (",
            s->lo, s->hi, (double)at->left / CHART_WIDTH, 1 - (top + KEY_HEIGHT) / k->height,
            (double)KEY_WIDTH / CHART_WIDTH, (double)KEY_HEIGHT / k->height);
    for (int i = 0; i < 3; i++) {
        double value = s->log_scale ? s->lo * pow(s->hi / s->lo, i / 2.0) : s->lo + i / 2.0 * (s->hi - s->lo);
        chart_number(value, text, sizeof text);
        fprintf(k->out, "%s'%s' %.10g", i ? ", " : "", text, value);
    }
    fputs(")\n", k->out);
    chart_label(k, p->scale_label, 80, at->left + KEY_WIDTH + 16, top + 5, PLOT_MUTED, "left font ',12'");
}

static void draw_cells(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    static const char boxes[] = "using 1:2:($1-0.48):($1+0.48):($2-0.47):($2+0.47)";
    const char *grid = plot_colours[PLOT_GRID].plain;
    const struct axis s = scale_of(p);
    int side = p->columns.n ? (at->right - at->left) / (int)p->columns.n : SIDE_MAX;
    size_t values = cell_data(k, p, CELL_VALUE, "values"), plain = cell_data(k, p, CELL_PLAIN, "plain");
    size_t absent = cell_data(k, p, CELL_ABSENT, "absent"), n = 0;
    names_at_rows(k, &p->categories);
    fprintf(k->out, "unset logscale x\nset xrange [-0.5:%g]\nunset xtics\nunset border\nunset grid\n",
            (double)p->columns.n - 0.5);
    put_palette(k, p, &s, at);
    cell_texts(k, p, &s, side);
    cell_names(k, p, at, side);
    cell_tips(k, p, at, side);
    if (values)
        chart_plot(k, &n, "$values %s:3 with boxxyerror lc palette fs solid 1.0 noborder", boxes);
    if (plain)
        chart_plot(k, &n, "$plain %s with boxxyerror lc rgb '%s' fs empty border lc rgb '%s'", boxes, grid, grid);
    if (absent)
        chart_plot(k, &n, "$absent %s with boxxyerror lc rgb '%s' fs pattern 4 border lc rgb '%s'", boxes,
                   plot_colours[PLOT_HATCH].plain, grid);
    fputs("\n", k->out);
}

/* ---- each kind ---- */

int chart_panel_height(const struct chart_panel *p)
{
    return p->kind == CHART_LINES  ? lines_height(p)
           : p->kind == CHART_BARS ? bars_height(p)
                                   : (int)p->categories.n * CELL_HEIGHT;
}

void chart_panel_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    if (p->kind == CHART_LINES)
        draw_lines(k, p, at);
    else if (p->kind == CHART_BARS)
        draw_bars(k, p, at);
    else
        draw_cells(k, p, at);
}
