/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the relaxation table (private to tables/). */
#pragma once

#include "tables/table/estimates.h"
#include "probes/sequence.h"
#include "tables/table/tables.h"

/* tables/relaxation/relaxation_cells.c: what a cell's number[0] says it is. */
enum { RELAXATION_WAIT, RELAXATION_REARM, RELAXATION_TOGGLE };
extern const char *const relaxation_what[]; /* as in the table */
int relaxation_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                       struct machine_error *err);
/* For a rearm cell: the kernel that runs in the waiting time is number[1] of these, or past them `from` itself. */
extern const char *const relaxation_rearming[];
extern const size_t relaxation_n_rearming;

/* Windows, in us: how long the code runs that slows the core (a transition takes less than 100 us, for
 * which it was watched: G 3.2.2), ... */
#define RELAXATION_FROM_US 500.0
#define RELAXATION_BURST_US 20.0   /* ... the code that may start the wait again, ... */
#define RELAXATION_AGAIN_US 150.0  /* ... the code that slows the core, when it toggles, ... */
#define RELAXATION_PILOT_US 5000.0 /* ... what is searched for a wait: twice the 2 ms of the Intel manual, and room */
#define RELAXATION_PERIOD_US 2.0

/* The frequency after the code that slows the core, and that of the plain code after it when it runs alone; by their
 * 95 % limits over repetitions in turns, or over blocks of neighbouring ones where these are wider. GHz. */
struct relaxation_step {
    struct estimate slow_ghz, plain_ghz;
};
/* tables/relaxation/relaxation_plain.c: measures both for a cell whose wait is about wait_us. MACHINE_OK, or *err, its
 * status. */
int relaxation_compare(struct sequence *q, const struct tables_context *x, const struct cell *c, double wait_us,
                       struct relaxation_step *out, struct machine_error *err);
/* Whether the first is lower, by the limits of both and by more than equal frequencies differ; else `why` says so. */
bool relaxation_is_slower(const struct relaxation_step *s, char *why, size_t size);

/* How many repetitions of a kind of cell. */
size_t relaxation_runs(const struct tables_options *o, unsigned kind);
/* Between which readings how much time passes, us. */
static inline double relaxation_period(const struct tables_options *o)
{
    return o->period_us > 0 ? o->period_us : RELAXATION_PERIOD_US;
}

/* tables/relaxation/relaxation_text.c */
void relaxation_print(FILE *out, bool colour, const struct table *t);
void relaxation_findings(FILE *out, const struct table *t);

/* tables/relaxation/relaxation_text.c */
void relaxation_plot(const struct table *t, struct chart *c);
