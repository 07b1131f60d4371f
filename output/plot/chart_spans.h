/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stretches of a common x axis: shaded in all panels, named above the first one, explained below the last one. */
#pragma once

#include "output/plot/chart_canvas.h"

/* Pixels below the last panel. */
enum { CHART_SPANS_FOOT = 26 };

/* Width of a character of a span's label, pixels. */
#define CHART_SPANS_CHARACTER 6.2

/*
 * Labels. One that fits over its span stands there, in row 0. The others are flags: a pole on the middle of the span,
 * the text to the right of its top. Placed from right to left, each in the lowest row where its text meets neither a
 * text nor a pole, so that earlier spans fly higher; what finds no row goes without (the legend has its kind).
 */
struct chart_span_label {
    bool placed, flag;
    int row;
    double start, pole; /* pixels */
    char text[CHART_SPAN_TEXT_MAX];
};

/* Places the labels, one for each span, over an area from pixel `left` to `right`, and sets *rows. From malloc; NULL
 * when out of memory. */
struct chart_span_label *chart_spans_labels(const struct chart *c, int left, int right, int *rows);

/* Pixels that the labels in so many rows take above the first panel. */
int chart_spans_head(const struct chart *c, int rows);

/* The labels, above the first panel, which stands at `at`. */
void chart_spans_draw_labels(const struct canvas *k, const struct chart_span_label *labels, int rows,
                             const struct place *at);
/* The kinds with their colours and the chart's note, below the last panel. */
void chart_spans_draw_foot(const struct canvas *k, const struct place *at);
/* What a reader sees who points at a span of a panel: which it is, from when to when. */
void chart_spans_tips(const struct canvas *k, const struct place *at);
/* The data block $spans of a panel. */
void chart_spans_data(const struct canvas *k, const struct place *at);
