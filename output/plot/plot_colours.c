/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The colours of plots. */
#include "output/plot/plot_colours.h"

const struct plot_colour plot_colours[PLOT_N_COLOURS] = {
    [PLOT_INK] = {"#1b1f23", "--ink"},
    [PLOT_MUTED] = {"#57606a", "--muted"},
    [PLOT_GRID] = {"#d8dde3", "--grid"},
    [PLOT_PAPER] = {"#ffffff", "--paper"},
    [PLOT_HATCH] = {"#98a0a9", "--hatch"},
    [PLOT_WARNING] = {"#8f3d00", "--warning"},
    [PLOT_SERIES] = {"#0072b2", "--series-0"},
    [PLOT_SERIES + 1] = {"#c24e00", "--series-1"},
    [PLOT_SERIES + 2] = {"#00805d", "--series-2"},
    [PLOT_SERIES + 3] = {"#a8568a", "--series-3"},
    [PLOT_SERIES + 4] = {"#8a6d00", "--series-4"},
    [PLOT_SERIES + 5] = {"#2b87bd", "--series-5"},
    [PLOT_SERIES + 6] = {"#4b5058", "--series-6"},
    [PLOT_PHASE + PHASE_STEADY] = {"#e7f3e4", "--steady"},
    [PLOT_PHASE + PHASE_THROTTLE] = {"#fce0bd", "--throttle"},
    [PLOT_PHASE + PHASE_HALT] = {"#f6c6c3", "--halt"},
    [PLOT_PHASE + PHASE_SLOW] = {"#d3e3f6", "--slow"},
    [PLOT_PHASE + PHASE_RAMP] = {"#e3d9f2", "--ramp"},
    [PLOT_PHASE + PHASE_UNKNOWN] = {"#dedede", "--unknown"},
};
