/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Colours of plots that stand for something that a page may colour otherwise (light, dark). On its own, a picture has
 * the plain colour; in a page it has the style sheet's variable (data/report/style.css). Series: for readers who do not
 * tell red from green (after M. Okabe and K. Ito, Color Universal Design, 2008; darkened where white is after them).
 */
#pragma once

#include "analysis/phases/phases.h"
#include "tables/table/chart.h"

struct plot_colour {
    const char *plain;    /* "#0072b2" */
    const char *variable; /* "--series-0" */
};
enum plot_colour_name { PLOT_INK, PLOT_MUTED, PLOT_GRID, PLOT_PAPER, PLOT_HATCH, PLOT_WARNING, PLOT_SERIES };
enum { PLOT_N_SERIES = CHART_COLOURS, PLOT_PHASE = PLOT_SERIES + PLOT_N_SERIES }; /* + enum phase_kind */
enum { PLOT_N_COLOURS = PLOT_PHASE + PHASE_UNKNOWN + 1 };
extern const struct plot_colour plot_colours[PLOT_N_COLOURS];
