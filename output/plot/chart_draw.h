/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a picture to gnuplot's script: where things stand. */
#ifndef CHARACTERIZE_CHART_DRAW_H
#define CHARACTERIZE_CHART_DRAW_H

#include <stdio.h>

#include "tables/table/chart.h"
#include "output/report/svg_inline.h"

/* Writes the script; panels without values are left out. Returns 0, or -1: no panel has a value. */
int chart_script(const struct chart *c, FILE *out);

/* Pixels. Everything is placed by hand, so that panels share their left edge and nothing meets. */
enum {
    CHART_WIDTH = 900,
    CHART_CHARACTER_WIDTH = 7, /* of a character at the usual size, a little more than its mean */
    CHART_LABEL_MAX = 40       /* characters of a category's name */
};

struct canvas {
    FILE *out;
    int height;
};

/* Where a panel stands: pixels from the left and the top. */
struct place {
    int x, width; /* of the column */
    int top;      /* of all */
    int left, right;
    int area, bottom; /* top and bottom of the plotting area */
    int end;          /* of all */
};

/* A label of at most `most` characters; `style` is gnuplot's ("right font ',10'"). */
void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y, const char *style);
/* A filled box without border. */
void chart_box(const struct canvas *k, double left, double top, double right, double bottom, unsigned colour);
/* The colour of a series (-1: muted) as "#rrggbb", and as a number. */
const char *chart_colour(int number);
unsigned chart_colour_value(int number);
/* gnuplot's point type of a mark. */
int chart_mark(int number);
/* Ranges, log scale and tics of an axis 'x' or 'y' from lo to hi. */
void chart_axis(const struct canvas *k, char axis, double lo, double hi, bool log_scale);
/* The name of the axis below a panel. */
void chart_x_label(const struct canvas *k, const char *text);
/* The longest name, in characters. */
size_t chart_longest(const struct chart_names *names);

/* chart_lines.c */
int chart_lines_height(const struct chart_panel *p);
void chart_draw_lines(const struct canvas *k, const struct chart_panel *p, const struct place *at);
/* chart_rows.c */
int chart_bars_height(const struct chart_panel *p);
void chart_draw_bars(const struct canvas *k, const struct chart_panel *p, const struct place *at);
/* Cells: the height of the columns' names above the area and of the colours' key below it, too. */
int chart_cells_above(const struct chart_panel *p);
int chart_cells_side(const struct chart_panel *p, int width);
int chart_cells_height(const struct chart_panel *p);
void chart_draw_cells(const struct canvas *k, const struct chart_panel *p, const struct place *at);

/* chart_scale.c */
/* 1, 2 and 5 times powers of ten from lo to hi (lo > 0), at most `max` of them; returns how many. */
size_t chart_log_tics(double lo, double hi, double *out, size_t max);
/* The colour of a value between lo and hi as 0xRRGGBB, light for small ones, and whether text on it is to be black. */
unsigned chart_heat(double value, double lo, double hi, bool log_scale, bool *black_text);

#endif
