/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory of --all. run.json says which machine and which options it belongs to; each finished cell is a file
 * under cells/, written completely or not at all, so that a run that was cut off at any point continues with the next
 * cell.
 */
#pragma once

#include <stdbool.h>

#include "cli/directories.h"
#include "cli/files.h"
#include "cli/measuring.h"
#include "cli/options/options.h"

struct run_directory {
    const char *path;
    int fd; /* holds the lock; -1: none */
    bool quiet;
    bool failed; /* a cell could not be kept */
    struct directories directories;
};

/*
 * Makes the directory and writes run.json, or with `resume` finds out whether it belongs to this machine and these
 * options (an empty or missing directory is begun). DONE, or an exit status after a line: BAD_USAGE where it
 * contains something else, FAILED where another run is at work in it or it cannot be written.
 */
int run_directory_open(const char *path, bool resume, const struct options *o, const struct measuring *m,
                       struct run_directory *d);
/* Checks that it is still where it was opened. DONE, or FAILED after a line: it was removed or renamed meanwhile. */
int run_directory_check(const struct run_directory *d);
/* Its cells, for tables_measure(). */
struct tables_store run_directory_store(struct run_directory *d);
/* May be called with one that was never opened, with fd -1 and the rest zero. */
void run_directory_close(struct run_directory *d);
