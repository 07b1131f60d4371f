/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture made by gnuplot put into a page: several may stand in one, and all follow its colours.
 */
#ifndef CHARACTERIZE_SVG_INLINE_H
#define CHARACTERIZE_SVG_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/chart.h"

/*
 * Colours of the plots of tables that stand for something that a page may colour otherwise (light, dark). On its own,
 * a picture has the plain colour; in a page it has the style sheet's variable. Series: for readers who do not tell
 * red from green (after M. Okabe and K. Ito, Color Universal Design, 2008; darkened where white is behind them).
 */
struct plot_colour {
    const char *plain;    /* "#0072b2" */
    const char *variable; /* "--series-0" */
};
enum plot_colour_name { PLOT_INK, PLOT_MUTED, PLOT_GRID, PLOT_PAPER, PLOT_HATCH, PLOT_WARNING, PLOT_SERIES };
enum { PLOT_N_SERIES = CHART_COLOURS, PLOT_N_COLOURS = PLOT_SERIES + PLOT_N_SERIES };
extern const struct plot_colour svg_plot_colours[PLOT_N_COLOURS];

/*
 * Writes the picture as an <svg> element for an HTML page: without prologue, name spaces, size and gnuplot's titles;
 * its ids and references prefixed with `prefix`, colours as variables, `title` (escaped here) as its accessible name.
 * Returns 0, or -1 with nothing written: it is no picture by gnuplot, or holds what could run or fetch something.
 */
int svg_inline(FILE *out, const char *svg, const char *prefix, const char *title);
/* Whether it would. */
bool svg_inline_possible(const char *svg);

#endif
