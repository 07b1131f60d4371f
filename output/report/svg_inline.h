/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture made by gnuplot put into a page: several may stand in one, and all follow its colours.
 */
#ifndef CHARACTERIZE_SVG_INLINE_H
#define CHARACTERIZE_SVG_INLINE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes the picture as an <svg> element for an HTML page: without prologue, name spaces, size and gnuplot's titles;
 * its ids and references prefixed with `prefix`, colours as variables, `title` (escaped here) as its accessible name.
 * Returns 0, or -1 with nothing written: it is no picture by gnuplot, or holds what could run or fetch something.
 */
int svg_inline(FILE *out, const char *svg, const char *prefix, const char *title);
/* Whether it would. */
bool svg_inline_possible(const char *svg);

#endif
