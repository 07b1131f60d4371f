/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all kinds of panels write into gnuplot's script: labels, boxes, axes, colours, in pixels of the picture. */
#pragma once

#include <stdio.h>

#include "output/plot/plot_colours.h"
#include "tables/table/chart.h"

/* Pixels. Everything is placed by hand, so that panels share their left edge and nothing meets. */
enum {
    CHART_WIDTH = 900,
    CHART_CHARACTER_WIDTH = 7, /* of a character at the usual size, a little more than its mean */
    CHART_LABEL_MAX = 40       /* characters of a category's name */
};

struct canvas {
    FILE *out;
    FILE *tips; /* chart_tip(); NULL: none are wanted */
    const struct chart *chart;
    int height;
};

/* Where a panel stands: pixels from the left and the top. */
struct place {
    int x, width; /* of the column */
    int top;      /* of all */
    int left, right;
    int area, bottom; /* top and bottom of the plotting area */
    int end;          /* of all */
    bool axis;        /* its x axis has numbers and a name */
};

/* A label of at most `most` characters in one of the plots' colours; `style` is gnuplot's ("right font ',10'"). */
void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y,
                 enum plot_colour_name colour, const char *style);
/* One more part of gnuplot's command `plot`, as printf has it; *n: how many there are already. */
void chart_plot(const struct canvas *k, size_t *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A text that a reader sees who points at this box, made a few pixels large at least; printf's. */
void chart_tip(const struct canvas *k, double left, double top, double right, double bottom, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Where a value stands between two pixels, as far as it is between lo and hi. */
double chart_pixel(double value, double lo, double hi, bool log_scale, double at_lo, double at_hi);
/* A filled box without border. */
void chart_box(const struct canvas *k, double left, double top, double right, double bottom, unsigned colour);
/* The colour of a series, or CHART_MUTED and the like, as "#rrggbb", and as a number. */
const char *chart_colour(int number);
unsigned chart_colour_value(int number);
/* gnuplot's point type of a mark. */
int chart_mark(int number);
/* Ranges, log scale and tics of an axis 'x' or 'y' from lo to hi. */
void chart_axis(const struct canvas *k, char axis, double lo, double hi, bool log_scale, bool labelled);
/* The name of the axis below a panel. */
void chart_x_label(const struct canvas *k, const char *text);
/* The characters, not bytes, of a text in UTF-8. */
size_t chart_characters(const char *text);
/* The longest name, in characters. */
size_t chart_longest(const struct chart_names *names);

/* 1, 2 and 5 times powers of ten from lo to hi (lo > 0), at most `max` of them; returns how many. */
size_t chart_log_tics(double lo, double hi, double *out, size_t max);
/* The colour of a value between lo and hi as 0xRRGGBB, light for small ones, and whether text on it is to be black. */
unsigned chart_heat(double value, double lo, double hi, bool log_scale, bool *black_text);

/* ---- the three kinds of panels; heights are pixels of the plotting area ---- */

/* chart_lines.c: series over a common axis, with limits. */
int chart_lines_height(const struct chart_panel *p);
void chart_lines_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at);

/* chart_rows.c, whose rows are categories: horizontal bars, and a matrix of coloured cells. */
int chart_bars_height(const struct chart_panel *p);
void chart_bars_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at);
/* Cells: the height of the columns' names above the area, the side of a cell in an area of this width. */
int chart_cells_above(const struct chart_panel *p);
int chart_cells_side(const struct chart_panel *p, int width);
int chart_cells_height(const struct chart_panel *p);
void chart_cells_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at);
