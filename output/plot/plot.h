/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The picture of a trace and its phases, by gnuplot: panels of frequency, IPC, voltage and license shares (those that
 * were measured) over one time axis, all repetitions faint, their median strong, the phases shaded and named.
 */
#ifndef CHARACTERIZE_PLOT_H
#define CHARACTERIZE_PLOT_H

#include <stdio.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

enum plot_form { PLOT_SVG, PLOT_PNG };

/* The form that a file name asks for by its ending (.svg, .png, in either case). Returns 0, or -1: another ending. */
int plot_form_of(const char *path, enum plot_form *form);

/* Whether gnuplot is there. */
int plot_possible(void);

/*
 * Writes the gnuplot script, data included; the image goes to gnuplot's standard output. Needs a trace with samples
 * and at least one measured channel. Returns 0, or -1 with one line in `why`.
 */
int plot_script(const struct trace *t, const struct phases *p, enum plot_form form, FILE *out, char *why,
                size_t why_size);

/* Draws to a file, which is there whole or not at all. Returns 0, or -1 with one line in `why`. */
int plot_write(const struct trace *t, const struct phases *p, const char *path, char *why, size_t why_size);

#endif
