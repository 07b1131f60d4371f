/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three kinds of panels; heights are pixels of the plotting area. */
#pragma once

#include "output/plot/chart_canvas.h"

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
