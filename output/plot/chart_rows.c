/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "output/plot/chart_canvas.h"
#include "output/plot/gnuplot.h"

enum { ROW = 22, LANE = 15, SIDE_MIN = 33, SIDE_MAX = 84, CELL_HEIGHT = 30, KEY_STEPS = 48 };

static void names_at_rows(const struct canvas *k, const struct chart_names *names)
{
    fputs("set ytics scale 0 (", k->out);
    for (size_t i = 0; i < names->n; i++) {
        fputs(i ? ", " : "", k->out);
        gnuplot_text(k->out, names->name[i], CHART_LABEL_MAX);
        fprintf(k->out, " %zu", i);
    }
    fprintf(k->out, ")\nset yrange [%g:-0.5]\nunset logscale y\n", (double)names->n - 0.5);
}

/* ---- bars ---- */

static int lanes_of(const struct chart_panel *p)
{
    int lanes = 1;
    for (size_t i = 0; i < p->n_bars; i++)
        lanes = p->bars[i].lanes > lanes ? p->bars[i].lanes : lanes;
    return lanes;
}

int chart_bars_height(const struct chart_panel *p)
{
    int lanes = lanes_of(p);
    return (int)p->categories.n * (lanes > 1 ? lanes * LANE + 8 : ROW) + 8;
}

static void bars_range(const struct chart *c, const struct chart_panel *p, double *lo, double *hi)
{
    *lo = p->log_x ? INFINITY : 0;
    *hi = -INFINITY;
    if (c->one_axis) {
        *lo = c->x_lo;
        *hi = c->x_hi;
        return;
    }
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        const double values[] = {b->to, b->lo, b->hi};
        for (size_t j = 0; j < 3; j++)
            if (isfinite(values[j]) && (!p->log_x || values[j] > 0)) {
                *lo = fmin(*lo, values[j]);
                *hi = fmax(*hi, values[j]);
            }
    }
    if (p->log_x) {
        *lo = isfinite(*lo) ? *lo / 1.5 : 1;
        *hi = *hi > *lo ? *hi * 1.5 : 10 * *lo;
    } else {
        if (!(*hi > *lo)) /* bars of no length have an axis, too */
            *hi = *lo + 1;
        double span = *hi - *lo;
        *hi += *hi > 0 ? 0.08 * span : 0;
        *lo -= *lo < 0 ? 0.08 * span : 0;
    }
}

static double bar_middle(const struct chart_bar *b)
{
    int lanes = b->lanes > 1 ? b->lanes : 1;
    return (double)b->category + ((double)b->lane - (lanes - 1) / 2.0) * 0.8 / lanes;
}

enum bar_look { BAR_FULL, BAR_HATCHED, BAR_DOT };

static enum bar_look look_of(const struct chart_bar *b)
{
    return b->dot ? BAR_DOT : b->hatched ? BAR_HATCHED : BAR_FULL;
}

static bool any_bar(const struct chart_panel *p, enum bar_look look)
{
    for (size_t i = 0; i < p->n_bars; i++)
        if (look_of(&p->bars[i]) == look)
            return true;
    return false;
}

static void boxes_data(const struct canvas *k, const struct chart_panel *p, enum bar_look look, const char *name,
                       double low)
{
    fprintf(k->out, "$%s << END\n", name);
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        double y = bar_middle(b), half = 0.36 / (b->lanes > 1 ? b->lanes : 1);
        if (look_of(b) == look)
            fprintf(k->out, "%.10g %.10g %.10g %.10g %.10g %.10g %u\n", b->to, y, fmax(b->from, low), b->to, y - half,
                    y + half, chart_colour_value(b->colour));
    }
    fputs("END\n", k->out);
}

/* Returns how many bars have limits that can be drawn. */
static size_t bars_data(const struct canvas *k, const struct chart_panel *p, double low)
{
    size_t limits = 0;
    boxes_data(k, p, BAR_FULL, "bars", low);
    if (any_bar(p, BAR_HATCHED))
        boxes_data(k, p, BAR_HATCHED, "hatched", low);
    fputs("$dots << END\n", k->out);
    for (size_t i = 0; i < p->n_bars; i++)
        if (p->bars[i].dot)
            fprintf(k->out, "%.10g %.10g %u\n", p->bars[i].to, bar_middle(&p->bars[i]),
                    chart_colour_value(p->bars[i].colour));
    fputs("END\n$limits << END\n", k->out);
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        if (isfinite(b->lo) && isfinite(b->hi) && (!p->log_x || b->lo > 0)) {
            fprintf(k->out, "%.10g %.10g %.10g %.10g\n", b->to, bar_middle(b), b->lo, b->hi);
            limits++;
        }
    }
    fputs("END\n", k->out);
    return limits;
}

/* A bar's text stands behind it; or in it, at its beginning, where another bar may begin at its end. */
static void bar_texts(const struct canvas *k, const struct chart_panel *p, double pixels_per_unit)
{
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        if (!*b->text)
            continue;
        double end = isfinite(b->hi) ? fmax(b->to, b->hi) : b->to;
        if (b->inside && (b->to - b->from) * pixels_per_unit < CHART_CHARACTER_WIDTH * (strlen(b->text) + 1.0))
            continue;
        fputs("set label ", k->out);
        gnuplot_text(k->out, b->text, CHART_TEXT_MAX);
        fprintf(k->out, " at first %.10g, first %.10g %s font ',12' tc rgb '%s' front\n", b->inside ? b->from : end,
                bar_middle(b), b->inside ? "left offset character 0.5,0" : "left offset character 0.8,0",
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

static void bar_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at, double lo, double hi)
{
    double row = (double)(at->bottom - at->area) / (double)p->categories.n;
    for (size_t i = 0; i < p->n_bars; i++) {
        const struct chart_bar *b = &p->bars[i];
        double half = 0.36 * row / (b->lanes > 1 ? b->lanes : 1), y = at->area + (bar_middle(b) + 0.5) * row;
        double to = chart_pixel(b->to, lo, hi, p->log_x, at->left, at->right);
        double from = b->dot ? to : chart_pixel(fmax(b->from, lo), lo, hi, p->log_x, at->left, at->right);
        const char *kind = bar_kind(p, b);
        char limits[60] = "", value[40];
        snprintf(value, sizeof value, "%.4g", b->to);
        if (isfinite(b->lo) && isfinite(b->hi))
            snprintf(limits, sizeof limits, " [%.4g, %.4g]", b->lo, b->hi);
        chart_tip(k, from, y - half, to, y + half, "%s%s%s: %s%s", p->categories.name[b->category], *kind ? ", " : "",
                  kind, *b->text && !*limits ? b->text : value, limits);
    }
}

void chart_bars_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    double lo, hi;
    size_t n = 0;
    bars_range(k->chart, p, &lo, &hi);
    size_t limits = bars_data(k, p, p->log_x ? lo : -INFINITY);
    chart_axis(k, 'x', lo, hi, p->log_x, at->axis);
    if (k->chart->one_axis)
        fprintf(k->out, "set format x '%s'\n", at->axis ? "% h" : "");
    names_at_rows(k, &p->categories);
    fputs("set grid noytics\n", k->out);
    chart_x_label(k, at->axis ? p->x_label : "");
    bar_texts(k, p, (at->right - at->left) / (hi - lo));
    bar_tips(k, p, at, lo, hi);
    if (any_bar(p, BAR_FULL))
        chart_plot(k, &n, "$bars using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid 1.0 noborder");
    if (any_bar(p, BAR_HATCHED))
        chart_plot(k, &n, "$hatched using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs pattern 4 noborder");
    if (any_bar(p, BAR_DOT))
        chart_plot(k, &n, "$dots using 1:2 with points pt 7 ps 1.2 lc rgb '%s'", plot_colours[PLOT_PAPER].plain);
    /* a rim: on a dark page the ink is as light as the bars */
    for (int rim = 1; limits && rim >= 0; rim--)
        chart_plot(k, &n, "$limits using 3:2:($4-$3):(0) with vectors nohead lw %s lc rgb '%s'", rim ? "3.6" : "1.6",
                   plot_colours[rim ? PLOT_PAPER : PLOT_INK].plain);
    if (any_bar(p, BAR_DOT))
        chart_plot(k, &n, "$dots using 1:2:3 with points pt 7 ps 0.9 lc rgb variable");
    fputs("\nset grid ytics\nset ytics scale 0.5\n", k->out);
}

/* ---- cells ---- */

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

int chart_cells_height(const struct chart_panel *p)
{
    return (int)p->categories.n * CELL_HEIGHT;
}

struct scale {
    double lo, hi;
};

static struct scale scale_of(const struct chart_panel *p)
{
    struct scale s = {INFINITY, -INFINITY};
    if (p->scale_lo < p->scale_hi)
        return (struct scale){p->scale_lo, p->scale_hi};
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++)
        if (p->cells[i].state == CELL_VALUE && (!p->log_scale || p->cells[i].value > 0)) {
            s.lo = fmin(s.lo, p->cells[i].value);
            s.hi = fmax(s.hi, p->cells[i].value);
        }
    return s;
}

/* The boxes of one state: x, y, edges, colour. Returns how many. */
static size_t cell_data(const struct canvas *k, const struct chart_panel *p, enum cell_state state, const char *name)
{
    struct scale s = scale_of(p);
    size_t n = 0;
    fprintf(k->out, "$%s << END\n", name);
    for (size_t row = 0; row < p->categories.n; row++)
        for (size_t column = 0; column < p->columns.n; column++) {
            const struct chart_cell *c = &p->cells[row * p->columns.n + column];
            bool black;
            if (c->state != state)
                continue;
            n++;
            fprintf(k->out, "%zu %zu %.3f %.3f %.3f %.3f %u\n", column, row, (double)column - 0.48,
                    (double)column + 0.48, (double)row - 0.47, (double)row + 0.47,
                    state == CELL_VALUE ? chart_heat(c->value, s.lo, s.hi, p->log_scale, &black) : 0);
        }
    fputs("END\n", k->out);
    return n;
}

static void cell_texts(const struct canvas *k, const struct chart_panel *p, int side)
{
    struct scale s = scale_of(p);
    for (size_t i = 0; i < p->categories.n * p->columns.n; i++) {
        const struct chart_cell *c = &p->cells[i];
        bool black = true;
        if (c->state == CELL_ABSENT || !*c->text)
            continue;
        if (c->state == CELL_VALUE)
            chart_heat(c->value, s.lo, s.hi, p->log_scale, &black);
        const char *colour = c->state == CELL_PLAIN ? plot_colours[PLOT_MUTED].plain : black ? "#000001" : "#fffffe";
        fputs("set label ", k->out);
        gnuplot_text(k->out, c->text, CHART_TEXT_MAX);
        fprintf(k->out, " at first %zu, first %zu center font ',%d' tc rgb '%s' front\n", i % p->columns.n,
                i / p->columns.n, side < 40 ? 10 : 12, colour);
    }
}

static void cell_tips(const struct canvas *k, const struct chart_panel *p, const struct place *at, int side)
{
    for (size_t row = 0; row < p->categories.n; row++)
        for (size_t column = 0; column < p->columns.n; column++) {
            const struct chart_cell *c = &p->cells[row * p->columns.n + column];
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

/* The colours' key below the cells: from the smallest value to the largest, with the middle one. */
static void cell_key(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    struct scale s = scale_of(p);
    double left = at->left, width = 300, top = at->bottom + 10;
    char text[CHART_TEXT_MAX];
    if (!(s.lo < s.hi))
        return;
    for (int i = 0; i < KEY_STEPS; i++) {
        bool black;
        double part = (i + 0.5) / KEY_STEPS;
        double value = p->log_scale ? s.lo * pow(s.hi / s.lo, part) : s.lo + part * (s.hi - s.lo);
        chart_box(k, left + width * i / KEY_STEPS, top, left + width * (i + 1) / KEY_STEPS + 0.5, top + 10,
                  chart_heat(value, s.lo, s.hi, p->log_scale, &black));
    }
    for (int i = 0; i < 3; i++) {
        double value = p->log_scale ? s.lo * pow(s.hi / s.lo, i / 2.0) : s.lo + i / 2.0 * (s.hi - s.lo);
        chart_number(value, text, sizeof text);
        chart_label(k, text, CHART_TEXT_MAX, left + width * i / 2, top + 19, PLOT_INK, "center font ',11'");
    }
    chart_label(k, p->scale_label, 80, left + width + 16, top + 5, PLOT_MUTED, "left font ',12'");
}

void chart_cells_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at)
{
    int side = p->columns.n ? (at->right - at->left) / (int)p->columns.n : SIDE_MAX;
    size_t values = cell_data(k, p, CELL_VALUE, "values"), plain = cell_data(k, p, CELL_PLAIN, "plain");
    size_t absent = cell_data(k, p, CELL_ABSENT, "absent"), n = 0;
    names_at_rows(k, &p->categories);
    fprintf(k->out,
            "unset logscale x\nset xrange [-0.5:%g]\nunset xtics\nunset xlabel\nunset border\n"
            "unset grid\n",
            (double)p->columns.n - 0.5);
    cell_texts(k, p, side);
    cell_names(k, p, at, side);
    cell_tips(k, p, at, side);
    cell_key(k, p, at);
    if (values)
        chart_plot(k, &n, "$values using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid 1.0 noborder");
    if (plain)
        chart_plot(k, &n, "$plain using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' fs empty border lc rgb '%s'",
                   plot_colours[PLOT_GRID].plain, plot_colours[PLOT_GRID].plain);
    if (absent)
        chart_plot(k, &n, "$absent using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' fs pattern 4 border lc rgb '%s'",
                   plot_colours[PLOT_HATCH].plain, plot_colours[PLOT_GRID].plain);
    fprintf(k->out,
            "\nset xtics out nomirror scale 0.5 tc rgb '%s'\nset border 3 lc rgb '%s'\n"
            "set grid lc rgb '%s' lw 1 dt 1 back\nset ytics scale 0.5\n",
            plot_colours[PLOT_INK].plain, plot_colours[PLOT_MUTED].plain, plot_colours[PLOT_GRID].plain);
}
