/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs gnuplot: found in PATH, started without a shell, its script on standard input, its image to an open file. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* What it draws. */
enum plot_form { PLOT_SVG, PLOT_PNG };

/* The line that tells how to get it; without a full stop. */
extern const char gnuplot_remedy[];

/*
 * Writes text of unknown origin, at most `most` characters of it, as a string of a gnuplot script, quotes included:
 * between single quotes nothing is interpreted but the quote itself, and no command is substituted (gnuplot 5.4 manual,
 * "Quotes", "Substitution"). Quotes and backquotes in it become typographic ones.
 */
void gnuplot_text(FILE *out, const char *text, size_t most);

/*
 * Runs the script (`size` bytes) with its standard output on image_fd, without reading the user's start-up files.
 * Returns 0, or -1 with one line in `why`: what gnuplot said, or why it could not be started.
 */
int gnuplot_run(const char *script, size_t size, int image_fd, char *why, size_t why_size);
