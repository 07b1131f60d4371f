/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/chart_canvas.h"

#include <math.h>
#include <stdlib.h>

#include "output/plot/chart_spans.h"
#include "output/plot/gnuplot.h"
#include "util/order.h"

enum { HEIGHT = 250, TICS_MAX = 20, NUMBER_WIDTH = 28, LINE_ONLY = 200 /* points of a line that are not marked */ };

int chart_lines_height(const struct chart_panel *p)
{
    if (p->height)
        return p->height;
    return p->n_series > 1 || !*p->title ? HEIGHT : 3 * HEIGHT / 5;
}

struct range {
    double lo, hi;
};

static void chart_lines_widen(struct range *r, double v, bool log_scale)
{
    if (isfinite(v) && (!log_scale || v > 0)) {
        r->lo = fmin(r->lo, v);
        r->hi = fmax(r->hi, v);
    }
}

static struct range padded(struct range r, bool log_scale, double part, double least)
{
    if (!(r.lo <= r.hi))
        return (struct range){1, 10};
    if (log_scale) {
        double factor = fmax(pow(r.hi / r.lo, part), 1.12);
        return (struct range){r.lo / factor, r.hi * factor};
    }
    double span = fmax(r.hi - r.lo, least * fmax(fabs(r.hi), 1e-6));
    double middle = (r.lo + r.hi) / 2;
    return (struct range){middle - (0.5 + part) * span, middle + (0.5 + part) * span};
}

static void ranges(const struct chart *c, const struct chart_panel *p, struct range *x, struct range *y)
{
    *x = *y = (struct range){INFINITY, -INFINITY};
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            const struct chart_point *q = &p->series[i].points[k];
            chart_lines_widen(x, q->x, p->log_x);
            chart_lines_widen(y, q->y, p->log_y);
            chart_lines_widen(y, q->lo, p->log_y);
            chart_lines_widen(y, q->hi, p->log_y);
        }
    if (p->from_zero && !p->log_y)
        y->lo = fmin(y->lo, 0);
    double low = y->lo;
    *x = padded(*x, p->log_x, 0.03, 0.5);
    *y = padded(*y, p->log_y, 0.08, 0.04);
    if (p->from_zero && !p->log_y && low >= 0)
        y->lo = 0;
    if (c->one_axis)
        *x = (struct range){c->x_lo, c->x_hi};
    if (p->y_lo < p->y_hi)
        *y = (struct range){p->y_lo, p->y_hi};
}

/* The distinct x of all series, ascending, at most `max` (else 0); returns how many. */
static size_t distinct(const struct chart_panel *p, double *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            size_t j = 0;
            while (j < n && out[j] != p->series[i].points[k].x)
                j++;
            if (j < n)
                continue;
            if (n == max)
                return 0;
            out[n++] = p->series[i].points[k].x;
        }
    qsort(out, n, sizeof *out, order_double);
    return n;
}

/* Tics where there are points: numbers of cores, distances. Those too near to the one before have no number. */
static void tics_at_points(const struct canvas *k, const struct chart_panel *p, const struct range *x, int width)
{
    double values[TICS_MAX + 12], last = -INFINITY;
    size_t n = distinct(p, values, sizeof values / sizeof values[0]);
    if (n == 0 || !p->whole_x)
        return;
    fputs("set xtics (", k->out);
    for (size_t i = 0; i < n; i++) {
        double part = p->log_x ? log(values[i] / x->lo) / log(x->hi / x->lo) : (values[i] - x->lo) / (x->hi - x->lo);
        double column = part * width;
        bool named = column - last >= NUMBER_WIDTH;
        fprintf(k->out, "%s'", i ? ", " : "");
        if (named) {
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

/* Where series i draws x: a few pixels to the side if series are to stand apart. */
static double beside(const struct chart_panel *p, size_t i, double x, const struct range *r, int width)
{
    double pixels = p->apart && p->n_series > 1 ? fmin(5, 40.0 / (double)p->n_series) : 0;
    double part = ((double)i - ((double)p->n_series - 1) / 2) * pixels / width;
    return p->log_x ? x * pow(r->hi / r->lo, part) : x + (r->hi - r->lo) * part;
}

static void print_data(const struct canvas *k, const struct chart_panel *p, const struct range *x, int width)
{
    for (size_t i = 0; i < p->n_series; i++) {
        const struct chart_series *s = &p->series[i];
        fprintf(k->out, "$s%zu << END\n", i);
        for (size_t j = 0; j < s->n; j++) {
            const struct chart_point *q = &s->points[j];
            if (!isfinite(q->y)) {
                fputs("\n", k->out); /* breaks the curve */
                continue;
            }
            if (s->many) {
                fprintf(k->out, "%.10g %.6g\n", q->x, q->y);
                continue;
            }
            bool limits = isfinite(q->lo) && isfinite(q->hi) && (!p->log_y || q->lo > 0);
            fprintf(k->out, "%.10g %.10g %.10g %.10g\n", beside(p, i, q->x, x, width), q->y, limits ? q->lo : q->y,
                    limits ? q->hi : q->y);
        }
        fputs("END\n", k->out);
    }
}

static void chart_lines_print_curve(const struct canvas *k, const struct chart_series *s, size_t i, size_t *n)
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
    if (s->mark >= 0 && (s->n <= LINE_ONLY || !s->line))
        chart_plot(k, n, "$s%zu using 1:2 with points pt %d ps %s lw 1.5 lc rgb '%s'", i, chart_mark(s->mark),
                   s->faint    ? "1.2"
                   : s->n > 60 ? "0.35"
                               : "0.75",
                   colour);
}

/* Values that are told by a line across the panel, named at its right edge where the names do not meet. */
static void chart_lines_across(const struct canvas *k, const struct chart_panel *p, const struct range *y,
                               const struct place *at)
{
    enum { NAME_HEIGHT = 12 };
    double last = INFINITY;
    for (size_t i = 0; i < p->n_lines; i++) {
        double value = p->lines[i].y, pixels = (value - y->lo) / (y->hi - y->lo) * (at->bottom - at->area);
        fprintf(k->out,
                "set arrow from graph 0, first %.6g to graph 1, first %.6g nohead dt 3 lw 1 lc rgb '%s' front\n", value,
                value, plot_colours[PLOT_MUTED].plain);
        if (fabs(last - pixels) <= NAME_HEIGHT)
            continue;
        fputs("set label ", k->out);
        gnuplot_text(k->out, p->lines[i].name, sizeof p->lines[i].name);
        fprintf(k->out, " at graph 1.006, first %.6g left font ',11' tc rgb '%s'\n", value,
                plot_colours[PLOT_MUTED].plain);
        last = pixels;
    }
}

/* What panels over one axis have in common: tics without numbers but for the last one, where 0 is, the spans. */
static void chart_lines_common(const struct canvas *k, const struct place *at, const struct range *y, size_t *n)
{
    fprintf(k->out, "set format x '%s'\n", at->axis ? "% h" : "");
    if (!at->axis)
        fputs("unset xlabel\n", k->out);
    if (k->chart->zero_line)
        fprintf(k->out, "set arrow from first 0, graph 0 to first 0, graph 1 nohead lw 1.2 dt 2 lc rgb '%s' front\n",
                plot_colours[PLOT_INK].plain);
    if (!k->chart->n_spans)
        return;
    chart_spans_tips(k, at);
    chart_spans_data(k, at);
    chart_plot(k, n, "$spans using 1:(%.8g):1:2:(%.8g):(%.8g):3 with boxxyerror lc rgb variable fs solid 1.0 noborder",
               y->lo, y->lo, y->hi);
}

/* Of each mark; the points of a curve that are not marked tell nothing. */
static void point_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at,
                       const struct range *x, const struct range *y)
{
    for (size_t i = 0; i < p->n_series; i++) {
        const struct chart_series *s = &p->series[i];
        for (size_t j = 0; j < s->n && s->mark >= 0 && !s->many && (s->n <= LINE_ONLY || !s->line); j++) {
            const struct chart_point *q = &s->points[j];
            if (!isfinite(q->y))
                continue;
            double column = chart_pixel(beside(p, i, q->x, x, at->right - at->left), x->lo, x->hi, p->log_x, at->left,
                                        at->right);
            double row = chart_pixel(q->y, y->lo, y->hi, p->log_y, at->bottom, at->area);
            char limits[60] = "";
            if (isfinite(q->lo) && isfinite(q->hi))
                snprintf(limits, sizeof limits, " [%.4g, %.4g]", q->lo, q->hi);
            chart_tip(k, column, row, column, row, "%s, %s %.6g: %.4g%s", s->name, p->x_label, q->x, q->y, limits);
        }
    }
}

/* Values so near to each other that a logarithmic axis would have no number are drawn on a linear one. */
static struct chart_panel readable(const struct chart *c, const struct chart_panel *p)
{
    struct chart_panel own = *p;
    struct range x, y;
    double tics[2];
    ranges(c, p, &x, &y);
    own.log_y = p->log_y && chart_log_tics(y.lo, y.hi, tics, 2) == 2;
    return own;
}

void chart_lines_draw(const struct canvas *k, const struct chart_panel *panel, const struct place *at)
{
    struct range x, y;
    size_t n = 0;
    const struct chart_panel own = readable(k->chart, panel), *p = &own;
    ranges(k->chart, p, &x, &y);
    print_data(k, p, &x, at->right - at->left);
    chart_axis(k, 'x', x.lo, x.hi, p->log_x, at->axis);
    chart_axis(k, 'y', y.lo, y.hi, p->log_y, true);
    tics_at_points(k, p, &x, at->right - at->left);
    chart_x_label(k, p->x_label);
    chart_label(k, p->y_label, 40, at->x + 18, (at->area + at->bottom) / 2.0, PLOT_INK, "center rotate by 90");
    chart_lines_across(k, p, &y, at);
    if (k->chart->one_axis)
        chart_lines_common(k, at, &y, &n);
    point_tips(k, p, at, &x, &y);
    for (size_t i = 0; i < p->n_series; i++)
        if (p->series[i].n > 0)
            chart_lines_print_curve(k, &p->series[i], i, &n);
    fputs("\n", k->out);
}
