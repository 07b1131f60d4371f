/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The computer, brought from one refinement into the next while a table is measured (doc/quiet-machine.md, "How
 * repeatable is this core"): with interference, as found, then with ever more parts of --quiet-machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/options/options.h"
#include "drivers/interference/interference.h"
#include "drivers/settings/settings.h"
#include "tables/table/tables.h"

struct refining {
    unsigned wished;           /* parts of --quiet-machine; 0: it was not given */
    struct settings_wish base; /* what is in force all the time: turbo, frequency */
    struct settings **settings;
    struct interferer *busy; /* for `busy`; NULL: there is none ... */
    const char *busy_text;   /* ... else what it is, in words */
    bool begun;              /* only what `base` asks for and what the refinement needs is in force */
    size_t mark;             /* of the settings: those of `base` */
    unsigned in_force;       /* parts that are, or that could not be */
    unsigned had;            /* parts of which something could be changed */
};

/* The parts that --quiet-machine asks for; 0 where it was not given. */
unsigned refining_wished(const struct options *o);
/* tables_options.refine; `data`: a struct refining. */
int refining_refine(void *data, enum refinement r, char *told, struct machine_error *err);
/* After the table: everything that was asked for is in force again, for others. MACHINE_OK, or *err and its status. */
int refining_end(struct refining *f, struct machine_error *err);
