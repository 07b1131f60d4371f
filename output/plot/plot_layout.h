/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where things stand in a plot: the layout that plot_script.c prints, and the labels of the phases. */
#ifndef CHARACTERIZE_PLOT_LAYOUT_H
#define CHARACTERIZE_PLOT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "output/plot/plot_series.h"
#include "trace/trace.h"

/* The layout in pixels. Everything is placed by hand so that the panels share one time axis. */
enum {
    WIDTH = 1000,
    LEFT = 78,
    RIGHT = 78,
    HEAD = 62,      /* two lines of title */
    NAMES = 20,     /* the kernels' names */
    LABEL_ROW = 15, /* one row of phase labels */
    LABEL_ROWS = 6,
    FIRST_PANEL = 210,
    OTHER_PANEL = 140,
    PANEL_GAP = 14,
    FOOT = 74, /* tics, axis name, legend */
    PANELS_MAX = 4,
    TITLE_CHARACTERS = 108,
    SUBTITLE_CHARACTERS = 150
};

/* Width of a character of a phase label, pixels. */
#define LABEL_CHARACTER 5.8

struct panel {
    const char *title;
    enum trace_channel first, last; /* more than one: medians only, in colours */
    double low, high;               /* of the value axis */
    int top, height;                /* pixels from the top */
    size_t faint_runs;              /* repetitions drawn faintly */
};

struct layout {
    const struct trace *t;
    const struct phases *p;
    struct series_grid grid;
    struct panel panels[PANELS_MAX];
    size_t n_panels;
    int label_rows, height;
    double begin, end; /* of the time axis, in `unit` */
    double unit_us;    /* microseconds of one unit of the axis */
    const char *unit;
};

/*
 * Phase labels. One that fits over its phase stands there, in row 0. The others are flags: a pole on the middle of the
 * phase, the text to the right of its top. Placed from right to left, each in the lowest row where its text meets
 * neither a text nor a pole, so that earlier phases fly higher; what finds no row goes without (the legend has it).
 */
struct placed_label {
    bool placed, flag;
    int row;
    double start, pole; /* pixels */
    char text[40];
};

/* A time as a pixel column. */
double plot_layout_column(const struct layout *l, double time);

/* Where phase i ends: at the next one's start, or where its duration or the recording does. Microseconds. */
double plot_layout_phase_end(const struct layout *l, size_t i);

/* Places the labels, one for each phase, and sets l->label_rows. From malloc; NULL when out of memory. */
struct placed_label *plot_layout_labels(struct layout *l);

/* The characters, not bytes, of a text in UTF-8. */
size_t plot_layout_characters(const char *s);

#endif
