/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs gnuplot: found in PATH, started without a shell, its script on standard input, its image to an open file. */
#ifndef CHARACTERIZE_GNUPLOT_H
#define CHARACTERIZE_GNUPLOT_H

#include <stddef.h>

/* The line that tells how to get it; without a full stop. */
extern const char gnuplot_remedy[];

/* Looks for gnuplot in PATH. Returns 0 and its path in `path`, or -1. */
int gnuplot_find(char *path, size_t size);

/*
 * Runs the script (`size` bytes) with its standard output on image_fd, without reading the user's start-up files.
 * Returns 0, or -1 with one line in `why`: what gnuplot said, or why it could not be started.
 */
int gnuplot_run(const char *script, size_t size, int image_fd, char *why, size_t why_size);

#endif
