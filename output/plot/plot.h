/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a picture from its description (charts.h), by gnuplot. */
#pragma once

#include <stddef.h>

#include "tables/table/chart.h"

/* The format of a picture. */
enum plot_form { PLOT_SVG, PLOT_PNG };

/* How to get gnuplot; a clause without a full stop. */
extern const char plot_remedy[];

/* The format that a file name requests by its ending (.svg, .png, in either case). Returns 0, or -1: another ending. */
int plot_form_of(const char *path, enum plot_form *form);

/* Returns non-zero if gnuplot is installed. */
int plot_possible(void);

/* Checks that there is anything to draw. Returns 0, or -1 with one line in `why`: `nothing`, or that memory ran out. */
int plot_worth(const struct chart *c, const char *nothing, char *why, size_t why_size);

/* Draws to a file, which is there completely or not at all. Returns 0, or with one line in `why` -1: it cannot be
 * drawn, or -2: it cannot be written. */
int plot_write(const struct chart *c, const char *path, char *why, size_t why_size);

/* The picture as SVG text on a white background, from malloc; NULL with one line in `why`, also where gnuplot is not
 * installed (it then says how to get it). */
char *plot_svg(const struct chart *c, char *why, size_t why_size);
