/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a job writes, whether they can be written, and writing them. */
#ifndef CHARACTERIZE_CLI_OUTPUTS_H
#define CHARACTERIZE_CLI_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"
#include "cli/files.h"
#include "cli/options/options.h"

/* The directory that --transition writes to when nothing else is said. */
#define DEFAULT_OUTPUT_DIRECTORY "characterize-out"

struct outputs {
    char *csv, *json, *plot;        /* NULL: not written; "-": standard output */
    bool plot_asked;                /* by --plot, not by default */
    bool plot_possible;             /* gnuplot is there */
    struct directories directories; /* made for this */
};

/*
 * Chooses the files from the options. `stem` names the files in a directory (outputs_stem); `directory` is where they
 * go when neither --output nor a single file is given, NULL = nowhere. Returns DONE, or an exit status after a line.
 */
int outputs_choose(const struct options *o, const char *stem, const char *directory, struct outputs *out);

/*
 * Makes the directories and looks whether everything can be written, so that nothing is measured in vain. `samples`:
 * how many the trace will hold, for the room it needs. Returns DONE, or an exit status after a line.
 */
int outputs_check(struct outputs *out, uint64_t samples);

/* Where the screen's table goes: standard output, unless a file goes there. */
FILE *outputs_screen(const struct outputs *out);

/*
 * Writes the files and tells on `screen` which. p may be NULL when the phases are not known: then only the trace.
 * Returns DONE, or an exit status after a line; files written before stay.
 */
int outputs_write(const struct outputs *out, const struct trace *t, const struct phases *p, FILE *screen);

/* Frees; directories that were made and are still empty are removed again. */
void outputs_free(struct outputs *out);

/* A file name without ending from two kernel names or other text: "128fma_512fma@1-8". `to` may be NULL. */
void outputs_stem(const char *from, const char *to, char *stem, size_t size);

#endif
