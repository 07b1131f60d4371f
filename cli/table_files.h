/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a table: CSV, JSON, text and plot. */
#ifndef CHARACTERIZE_CLI_TABLE_FILES_H
#define CHARACTERIZE_CLI_TABLE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "tables/table/table.h"
#include "cli/files.h"
#include "cli/options/options.h"
#include "cli/outputs.h"
#include "tables/table/tables.h"

struct table_files {
    char *csv, *json, *text, *plot; /* NULL: not written; "-": standard output */
    bool plot_asked;                /* by --plot, not by default */
    struct directories directories;
};

/*
 * From --csv, --json, --plot and --output; without any of them into `directory` (NULL: nowhere). Looks whether they can
 * be written, so that nothing is measured in vain. DONE, or an exit status after a line.
 */
int table_files_choose(const struct options *o, const char *name, const char *directory, struct table_files *f);
/* Where the table for a person goes: standard output, unless a file goes there. */
FILE *table_files_screen(const struct table_files *f);
/* The table as its kind prints it. k may be NULL. */
void table_show(FILE *out, bool colour, const struct table_kind *k, const struct table *t);
/* Writes them and tells on `screen` which. k may be NULL (no plot, the plain text). DONE, or an exit status. */
int table_files_write(const struct table_files *f, const struct table_kind *k, const struct table *t, FILE *screen);
void table_files_free(struct table_files *f);

/* One file of each form: DIRECTORY/NAME.csv ... DONE, or an exit status after a line. */
int table_write_form(const char *path, const struct table_kind *k, const struct table *t, const char *ending);

#endif
