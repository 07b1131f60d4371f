/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The computer, brought from one refinement into the next while a table is measured (doc/quiet-machine.md, "How
 * repeatable is this core"): with interference, as found, then with ever more parts of --quiet-machine.
 */
#pragma once

#include <stdbool.h>

#include "cli/options/options.h"
#include "computer/interference/interference.h"
#include "computer/settings/settings.h"
#include "tables/table/tables.h"

struct refining {
    const struct options *options;
    struct settings **settings; /* of the run: turbo and frequency stay */
    struct interferer *busy;    /* for `busy`; NULL: there is none ... */
    const char *busy_text;      /* ... else what it is, in words */
    bool begun;
    unsigned in_force;                     /* parts of --quiet-machine that are, or that could not be ... */
    unsigned had;                          /* ... and those of which there is something here */
    struct machine_error why[QUIET_PARTS]; /* of the others */
};

/* tables_options.refine; `data`: a struct refining. */
int refining_refine(void *data, enum refinement r, char *told, struct machine_error *err);
/* After the table, where nothing was said before it: what of --quiet-machine was left as it is, on standard error. */
void refining_tell_left(const struct refining *f);
/* After the table: all requested settings are in force again, for others. MACHINE_OK, or *err and its status. */
int refining_end(struct refining *f, struct machine_error *err);
