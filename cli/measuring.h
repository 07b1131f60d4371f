/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns options into measured tables: the machine, the settings changed for it, progress, interruption. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/options/options.h"
#include "cli/messages.h"
#include "computer/interference/interference.h"
#include "drivers/machine.h"
#include "computer/settings/settings.h"
#include "tables/table/table.h"
#include "tables/table/tables.h"

enum { MEASURING_TABLES_MAX = 32 };

/* A table that refines the computer (tables_options.refine): what is in force. */
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

struct measuring {
    struct machine machine;
    bool open;
    struct settings *changed;
    struct interferer *interferer; /* of --interference, or of the refinement `busy`; NULL: none */
    char disturbed[120];           /* the interference, in words */
    bool disturbs;                 /* whatever is measured: --interference */
    struct refining refining;
    char settings_text[1300];
    char base_text[1300]; /* of it, what refinements leave and do not report themselves: turbo and frequency */
    struct tables_options options;
    bool quiet;
    const char *sysroot; /* NULL: this machine */
    char failure[600];   /* why the last table could not be measured */
    char report[1000];   /* of `auto`; printed with the first cell */
    struct progress progress;
    size_t n_kinds; /* tables that will be measured, with their expected seconds */
    const struct table_kind *kinds[MEASURING_TABLES_MAX];
    double expected[MEASURING_TABLES_MAX];
    size_t current;
    double found;             /* expected seconds of cells that were there already */
    size_t cells_done, cells; /* of the table at hand */
};

/* --interference. All: DONE, or an exit status after a line. */
/* Before anything is changed or pinned. *out is NULL where none is needed, which the others allow; `text`: "", or what
 * it will be, in words. */
int disturbing_ready(const struct options *o, struct interferer **out, char *text, size_t size);
int disturbing_begin(struct interferer *i);
/* FAILED also where it had ended before: then what was measured is not what was requested. */
int disturbing_end(struct interferer *i);

/* Changes the requested settings and opens the machine. DONE, or an exit status after a line. */
int measuring_open(const struct options *o, struct measuring *m);
/*
 * Plans the tables that will be measured, so that the time left is known, and checks that the machine can do what the
 * options request. DONE, or an exit status after a line.
 */
int measuring_plan(struct measuring *m, const struct table_kind *const *kinds, size_t n);
/* Starts the requested --interference, which runs until measuring_close(). DONE, or an exit status after a line. */
int measuring_disturb(struct measuring *m);
/* True if cores here have active SMT siblings; false for models. */
bool measuring_has_siblings(const struct measuring *m);
/* Measures one of them. DONE with *out filled, or an exit status after a line (unless interrupted:
 * stop_requested()). */
int measuring_table(struct measuring *m, const struct table_kind *k, const struct tables_store *store,
                    struct table *out);
/* Plans and measures a single table, and closes, as the three by themselves. */
int measuring_single_table(struct measuring *m, const struct table_kind *k, struct table *out);
/* Ends the interference, puts the settings back and closes. DONE, or FAILED after a line. May be called twice. */
int measuring_close(struct measuring *m);

/* ---- finished tables for jobs that work on several: read from a directory of --all, or measured ---- */

struct collected {
    size_t n;
    struct table table[MEASURING_TABLES_MAX];
    const struct table *list[MEASURING_TABLES_MAX]; /* the same, as pointers */
};

/*
 * With --input the tables of that directory (those of these kinds, as far as they are there; at least one), otherwise
 * measures them. They are of one measurement and have their columns. DONE, or an exit status after a line;
 * *c is then empty.
 */
int collect_tables(const struct options *o, const struct table_kind *const *kinds, size_t n, struct collected *c);
void collect_free(struct collected *c);

/*
 * True if tables in this form ("json", "csv") are in the directory itself, not in its folder tables: someone gave
 * DIR/tables for DIR.
 */
bool measuring_holds_tables(const char *directory, const char *form);
