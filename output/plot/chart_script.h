/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns the description of a picture into gnuplot's script. Everything is placed by hand, in pixels of the picture, so
 * that panels share their left edge and nothing meets. */
#pragma once

#include <stdio.h>

#include "output/plot/plot.h"
#include "output/plot/plot_colours.h"
#include "tables/table/chart.h"

/*
 * Writes the script, data included; gnuplot's image goes to its standard output. Panels without values are left out.
 * `tips`: gets a rectangle of SVG over each mark, in pixels of the image, whose title tells its value; NULL: nobody
 * wants them. Returns 0, or -1: no panel has a value, or out of memory.
 */
int chart_script(const struct chart *c, enum plot_form form, FILE *out, FILE *tips);

enum {
    CHART_WIDTH = 900,         /* of the picture */
    CHART_CHARACTER_WIDTH = 7, /* of a character at the usual size, a little more than its mean */
    CHART_LABEL_MAX = 40       /* characters of a category's name */
};

/* ---- what script and panels share: chart_canvas.c ---- */

struct canvas {
    FILE *out;
    FILE *tips; /* chart_tip(); NULL: none are wanted */
    const struct chart *chart;
    int height;
};

/* The place of a panel: pixels from the left and the top. */
struct place {
    int x, width; /* of the column */
    int top;      /* of all */
    int left, right;
    int area, bottom; /* top and bottom of the plotting area */
    int end;          /* of all */
    bool axis;        /* its x axis has numbers and a name */
};

/* The range of an axis. */
struct axis {
    double lo, hi;
    bool log_scale;
};
/* Which part of the axis lies below a value, also outside of 0 to 1. */
double chart_part(const struct axis *a, double value);
/* 1, 2 and 5 times powers of ten from lo to hi (lo > 0), of long axes powers of ten alone, at most `max`; how many. */
size_t chart_log_tics(double lo, double hi, double *out, size_t max);

/* Text in the script, as gnuplot's string of at most `most` characters: nothing in it is interpreted. */
void chart_text_put(FILE *out, const char *text, size_t most);
/* A label of at most `most` characters in one of the plots' colours; `style` is gnuplot's ("right font ',10'"). */
void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y,
                 enum plot_colour_name colour, const char *style);
/* One more part of gnuplot's command `plot`, as printf has it; *n: how many there are already. */
void chart_plot(const struct canvas *k, size_t *n, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A text that a reader sees who points at this box, made a few pixels large at least; printf's. */
void chart_tip(const struct canvas *k, double left, double top, double right, double bottom, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* " [1.2, 1.4]"; "" without limits. Returns `out`. */
enum { CHART_LIMITS_MAX = 60 };
const char *chart_limits(double lo, double hi, char out[CHART_LIMITS_MAX]);
/* The colour of a series, or CHART_MUTED and the like, "#rrggbb". */
const char *chart_colour(int number);
/* gnuplot's point type of a mark. */
int chart_mark(int number);
/* The characters, not bytes, of a text in UTF-8; and of the longest name. */
size_t chart_characters(const char *text);
size_t chart_longest(const struct chart_names *names);

/* ---- panels: chart_panels.c ---- */

/* The height of a panel's plotting area. */
int chart_panel_height(const struct chart_panel *p);
/* For cells: the height of the columns' names above them, and the side of one in an area of this width. */
int chart_cells_above(const struct chart_panel *p);
int chart_cells_side(const struct chart_panel *p, int width);
/* The contents of the plotting area. */
void chart_panel_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at);

/* ---- labels of spans ---- */

/*
 * One that fits over its span stands there, in row 0. The others are flags: a pole on the middle of the span, the text
 * to the right of its top. Placed from right to left, each in the lowest row where its text meets neither a text nor a
 * pole, so that earlier spans fly higher; what finds no row goes without (the legend has its kind).
 */
struct chart_span_label {
    bool placed, flag;
    int row;
    double start, pole; /* pixels */
    char text[CHART_SPAN_TEXT_MAX];
};
/* Width of a character of such a label, pixels. */
#define CHART_SPANS_CHARACTER 6.2
/* Places the labels, one for each span, over an area from pixel `left` to `right`, and sets *rows. From malloc; NULL
 * when out of memory. */
struct chart_span_label *chart_spans_labels(const struct chart *c, int left, int right, int *rows);
