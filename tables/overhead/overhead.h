/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the table overhead: one cell, what a switch down costs and what the change back up does; its words and
 * its plot. */
#pragma once

#include "probes/overhead.h"
#include "tables/overhead/overhead_fit.h"
#include "tables/table/tables.h"

enum { OVERHEAD_REASONS_MAX = 12 };

/* Repetitions that were left out. */
struct overhead_dropped {
    const char *why; /* static */
    unsigned n;
};

/* Costs of one direction over the repetitions. */
struct overhead_costs {
    double *us; /* of n repetitions, sorted */
    size_t n;
    size_t first; /* the spread is of us[first] and the next spread.n - 1 */
    struct overhead_spread spread;
    struct overhead_dropped dropped[OVERHEAD_REASONS_MAX];
    size_t n_dropped;
    double observe_us; /* how long it was observed in the end */
};

struct overhead_cell {
    struct overhead_costs down, up;
    struct estimate high_ghz, low_ghz;
    struct estimate step_ghz; /* the first less the second, repetition by repetition */
    double drift_us;          /* median; how much the rate still changed in the second execution */
    bool unsettled;           /* ... was too much however long it was observed: no cost down */
    char moves[120]; /* what shows that the frequency moves by itself, so that there are no costs; "": nothing */
    bool levels_differ;
    bool down_gains, up_gains; /* the mean is below 0 by its limits: no cost */
    bool up_gradual;           /* it rises over many sections: a ramp */
    bool second_faster;        /* the frequency rises in the switch "down" */
};

/* How a cell is measured in both directions, from the options or by default. */
void overhead_setups(const struct tables_context *x, const struct cell *c, struct overhead_setup *down,
                     struct overhead_setup *up);
/* Measures a cell (a: the kernel at the high level, b: the one at the low). MACHINE_OK, or *err and its status; *out
 * is to be freed either way. */
int overhead_cell_measure(const struct tables_context *x, const struct cell *c, struct overhead_cell *out,
                          struct machine_error *err);
void overhead_cell_free(struct overhead_cell *c);

/* What was left out, in all. */
size_t overhead_n_dropped(const struct overhead_costs *c);
/* The distributions and what was left out, as JSON text allocated with malloc; NULL: out of memory. */
char *overhead_cell_json(const struct overhead_cell *c);

/* How the reason begins where costs are missing because the frequency does what it likes. */
#define OVERHEAD_MOVES "the frequency moves by itself"

/* overhead_print.c: a line for each number of active cores, below its pair. Published figures, of the detail
 * "published", stand beside and are marked as such: they are for display alone. */
table_print_rows overhead_print;
/* The most expensive change, and how long a boost must last. */
void overhead_findings(FILE *out, const struct table *t);

/* overhead_plot.c: costs and break-even times, over the active cores where there are several. */
void overhead_plot(const struct table *t, struct chart *c);
