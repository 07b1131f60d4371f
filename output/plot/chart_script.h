/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the description of a picture to gnuplot's script. */
#pragma once

#include <stdio.h>

#include "output/plot/gnuplot.h"
#include "tables/table/chart.h"

/*
 * Writes the script, data included; gnuplot's image goes to its standard output. Panels without values are left out.
 * `tips`: gets a rectangle of SVG over each mark, in pixels of the image, whose title tells its value; NULL: nobody
 * wants them. Returns 0, or -1: no panel has a value, or out of memory.
 */
int chart_script(const struct chart *c, enum plot_form form, FILE *out, FILE *tips);
