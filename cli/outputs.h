/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a job writes, whether they can be written, and writing them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "analysis/wake/wake.h"
#include "cli/directories.h"
#include "cli/files.h"
#include "cli/options/options.h"
#include "tables/table/chart.h"
#include "tables/table/tables.h"
#include "trace/trace.h"

/* The directory that --transition and --table write to when nothing else is said. */
#define DEFAULT_OUTPUT_DIRECTORY "characterize-out"

/* Files, in the order in which they are written. */
enum output_form { OUTPUT_CSV, OUTPUT_JSON, OUTPUT_TEXT, OUTPUT_PLOT, OUTPUT_FORMS };

/* The files that are written of an answer. */
struct outputs_kind {
    struct {
        const char *label, *what; /* for messages; after the name of the file. NULL: there is none of this form */
        file_printer *print;      /* NULL: the plot */
    } form[OUTPUT_FORMS];
    /* Describes the plot: 0, or -1 with one line in `why`; chart_free in any case. */
    int (*chart)(const void *data, struct chart *c, char *why, size_t size);
    bool always_drawn; /* a plot that cannot be drawn is a failure even where it was not requested */
};

struct outputs {
    const struct outputs_kind *kind;
    char *path[OUTPUT_FORMS];       /* NULL: not written; "-": standard output */
    bool plot_requested;            /* by --plot, not by default */
    bool plot_possible;             /* gnuplot is there */
    struct directories directories; /* made for this */
};

/*
 * Chooses the files from --csv, --json, --plot and --output, and makes the directories. `stem` names the files in a
 * directory (outputs_stem); `directory` is where they go when neither --output nor a single file is given, NULL =
 * nowhere. Returns DONE, or an exit status after a line.
 */
int outputs_choose(const struct options *o, const struct outputs_kind *kind, const char *stem, const char *directory,
                   struct outputs *out);

/*
 * Checks that everything can be written, so that nothing is measured in vain. `bytes`: the room that each file needs.
 * Returns DONE, or FAILED after a line.
 */
int outputs_check(const struct outputs *out, const uint64_t bytes[OUTPUT_FORMS]);

/* The stream of the screen's table: standard output, unless a file goes there. */
FILE *outputs_screen(const struct outputs *out);

/*
 * Writes the files of `data`, which the kind's printers take, and lists them on `screen`, with `before` in front of the
 * first of these lines. Returns DONE, or FAILED after a line; files written before stay.
 */
int outputs_write(const struct outputs *out, const void *data, FILE *screen, const char *before);

/* Frees; directories that were made and are still empty are removed again. */
void outputs_free(struct outputs *out);

/* A file name without ending from two kernel names or other text: "128fma_512fma@1-8". `to` may be NULL. */
void outputs_stem(const char *from, const char *to, char *stem, size_t size);

/* ---- answers: a trace with its phases, first uses after idle times, a table ---- */

extern const struct outputs_kind answers_trace, answers_wake, answers_table;
extern const struct outputs_kind answers_rows; /* a table without a plot */

/* outputs_check() for a trace of so many samples, and for a table. */
int answers_check_trace(const struct outputs *out, uint64_t samples);
int answers_check_table(const struct outputs *out);

/* Shows the phases and writes the files. `missing`: what was not measured, and why. DONE, or FAILED after a line. */
int answers_tell_trace(const struct outputs *out, const struct trace *t, const struct phases *p, const char *missing);

/* A recording of first uses after idle times; the same for it. */
struct answered_wake {
    const struct wake_point *points;
    size_t n;
    const struct wake_stages *stages;
    const struct wake_source *source;
};
int answers_tell_wake(const struct outputs *out, const struct answered_wake *a);

/* The first `most` findings of a table, one a line, on a terminal as many lines as they take. */
void answers_tell_findings(FILE *out, const struct table_kind *k, const struct table *t, size_t most);
/* The table as its kind prints it on the screen; then the files, and which. DONE, or FAILED after a line. */
int answers_tell_table(const struct outputs *out, const struct table_kind *k, const struct table *t);
/* DIRECTORY/NAME.csv, .json and .txt of it, and the directory. DONE, or an exit status after a line. */
int answers_write_all_forms(const char *directory, const struct table_kind *k, const struct table *t);
