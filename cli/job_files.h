/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a profile or a simulation is written to. */
#pragma once

#include "cli/directories.h"
#include "cli/files.h"
#include "cli/options/options.h"

/* In the order in which they are written. */
enum job_form { FORM_JSON, FORM_CSV, FORM_PAGE, FORM_FOLDED, FORM_PLOT, JOB_FORMS };

struct job_files {
    char *path[JOB_FORMS]; /* NULL: not written */
    struct directories directories;
};

/* Chooses from --json, --csv, --folded, --plot and --output, and checks that they can be written. DONE, or an exit
 * status after a line. */
int job_files_choose(const struct options *o, struct job_files *f);
/* The stream of the table for a person: standard output, unless a file goes there. */
FILE *job_files_screen(const struct job_files *f);
/* Writes each that has a printer (NULL: it has none), and lists them. DONE, or FAILED after a line. */
int job_files_write(const struct job_files *f, file_printer *const print[JOB_FORMS], const void *data, bool quiet);
/* Directories that were made and are still empty are removed again. */
void job_files_free(struct job_files *f);
