/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture before it is drawn: panels one below the other, each with lines, horizontal bars, or a matrix of coloured
 * cells. A table's directory describes its own (the hook `plot` of struct table_kind); output/plot draws it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CHART_PANELS_MAX = 16, CHART_TEXT_MAX = 16, CHART_NAME_MAX = 160, CHART_COLOURS = 7 /* of series */ };
enum { CHART_SPAN_TEXT_MAX = 40 };

/* Colours that are none of the series'. */
enum { CHART_MUTED = -1, CHART_INK = -2, CHART_PALE = -3 };

/* Shape of a panel. */
enum chart_kind { CHART_LINES, CHART_BARS, CHART_CELLS };

struct chart_point {
    double x, y, lo, hi; /* limits of y; NaN: none */
};

struct chart_series {
    char name[CHART_NAME_MAX];
    int colour; /* below CHART_COLOURS, or one of CHART_MUTED, ... */
    int mark;   /* number of the point's shape, -1: no points */
    bool line, faint, in_legend;
    bool band;   /* its limits are a band below it, instead of a stroke through each point */
    bool strong; /* thick: nothing that is drawn over it hides it */
    bool many;   /* of many curves that lie over each other: thin and translucent, no limits */
    size_t n;
    struct chart_point *points;
};

/* A value marked by a line across a panel. */
struct chart_line {
    double y;
    char name[24]; /* at its right edge */
};

/* A stretch of the x axis that panels share. */
struct chart_span {
    double from, to;
    unsigned colour;                /* 0xRRGGBB, light: curves are drawn over it */
    char kind[CHART_SPAN_TEXT_MAX]; /* spans of a kind have one colour and one entry of the legend */
    char text[CHART_SPAN_TEXT_MAX]; /* above it, if there is room; else its kind */
    char tip[120];                  /* more about it, for a reader who points at it */
};

/* A horizontal bar (or point) of a category. */
struct chart_bar {
    size_t category;
    int lane, lanes; /* several bars of one category beside each other; lanes 0: 1 */
    double from, to, lo, hi;
    int colour;
    bool dot; /* a point at `to` instead of a bar */
    bool hatched;
    bool inside; /* the text stands in the bar, for another one may begin where it ends */
    char text[CHART_TEXT_MAX];
};

enum cell_state { CELL_ABSENT, CELL_VALUE, CELL_PLAIN };

struct chart_cell {
    enum cell_state state;
    double value; /* decides the colour of CELL_VALUE */
    char text[CHART_TEXT_MAX];
};

struct chart_names {
    size_t n;
    char **name;
};

struct chart_legend {
    char name[CHART_NAME_MAX];
    int colour, mark; /* mark -1: a box */
};

struct chart_panel {
    enum chart_kind kind;
    char title[CHART_NAME_MAX];
    char x_label[80], y_label[80];
    char note[300];                        /* a line below the panel */
    bool log_x, log_y, from_zero, whole_x; /* whole_x: tics where there are points */
    bool own_axis;                         /* the chart's one axis is not its */
    bool apart;        /* series stand a few pixels beside each other, so that equal ones are seen */
    double y_lo, y_hi; /* of the y axis; found from the values where both are 0 */
    int height;        /* pixels; 0: by its contents */
    size_t n_lines;
    struct chart_line *lines;
    size_t n_series;
    struct chart_series *series;
    struct chart_names categories; /* rows of bars and cells, from the top */
    struct chart_names remarks;    /* at the right of the rows of cells; none, or one for each category */
    struct chart_names columns;    /* of cells */
    size_t n_bars;
    struct chart_bar *bars;
    size_t omitted;           /* bars, lines or others for which there is no place: chart_tell_omitted() */
    struct chart_cell *cells; /* categories x columns */
    size_t n_cells;
    double scale_lo, scale_hi; /* of the cells' colours; found from the values where both are 0 */
    bool log_scale;
    char scale_label[60];
    size_t n_legend;
    struct chart_legend *legend;
};

struct chart {
    char title[CHART_NAME_MAX];
    char subtitle[300];
    bool modelled;
    bool two_columns; /* panels stand in two columns, row by row */
    /* All panels are lines, or bars, over the same x axis, which has its numbers and name below the last one. */
    bool one_axis, zero_line;
    double x_lo, x_hi;
    char before_zero[80], after_zero[80]; /* what runs on either side of x = 0; "": nothing */
    size_t n_spans;
    struct chart_span *spans; /* in order of x */
    char note[160];           /* a line below all panels */
    size_t n_panels;
    struct chart_panel panels[CHART_PANELS_MAX];
    bool failed; /* out of memory */
};

void chart_free(struct chart *c);

/* A new panel with names of its axes, "" where they need none; NULL when there are CHART_PANELS_MAX. */
struct chart_panel *chart_add_panel(struct chart *c, enum chart_kind kind, const char *title, const char *x_label,
                                    const char *y_label);

/* The series of this name, made if it is new (colour and mark by its number); NULL: out of memory. Pointers to series
 * hold until the next one is made. */
struct chart_series *chart_series(struct chart *c, struct chart_panel *p, const char *name);
void chart_add_point(struct chart *c, struct chart_series *s, double x, double y, double lo, double hi);
/* The next point begins a new curve of the series. */
void chart_add_break(struct chart *c, struct chart_series *s);
void chart_add_line(struct chart *c, struct chart_panel *p, double y, const char *name);
void chart_add_span(struct chart *c, const struct chart_span *span);

/* Lists of names: one more; freed. */
void chart_add_name(struct chart *c, struct chart_names *names, const char *name);
void chart_free_names(struct chart_names *names);
/* The number of a name in a list, made if it is new. */
size_t chart_name(struct chart *c, struct chart_names *names, const char *name);
/* The same without making it; names->n: it is not there. */
size_t chart_find_name(const struct chart_names *names, const char *name);

/* Bars are put with everything but `text` given; value_text is written into it, cut off where it does not fit. */
void chart_add_bar(struct chart *c, struct chart_panel *p, struct chart_bar bar, const char *value_text);

/* Allocates the cells for the categories and columns there are, all absent. */
void chart_make_cells(struct chart *c, struct chart_panel *p);
struct chart_cell *chart_cell(struct chart_panel *p, size_t category, size_t column);

/* An entry of the legend; series have their own. */
void chart_add_legend(struct chart *c, struct chart_panel *p, const char *name, int colour);

/* True if there is a value to draw. */
bool chart_panel_empty(const struct chart_panel *p);

/* A number in at most four characters or so: 9.1, 27, 670, 1.3k. */
void chart_number(double value, char *out, size_t size);
