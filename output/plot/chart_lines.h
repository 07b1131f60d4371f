/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A panel of lines: series over a common axis, with limits. */
#ifndef CHARACTERIZE_CHART_LINES_H
#define CHARACTERIZE_CHART_LINES_H

#include "output/plot/chart_canvas.h"

/* Pixels of its plotting area. */
int chart_lines_height(const struct chart_panel *p);
void chart_lines_draw(const struct canvas *k, const struct chart_panel *p, const struct place *at);

#endif
