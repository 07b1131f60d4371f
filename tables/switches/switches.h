/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tables about switches from one kernel to another: transitions, throttle and voltage. A cell is one
 * ordered pair of kernels at one number of active cores. */
#pragma once

#include "analysis/phases/phases.h"
#include "tables/switches/transition_summary.h"
#include "probes/guarded.h"
#include "tables/table/tables.h"

/* A table's requirements of the machine; the options go before the defaults. */
struct switches_wish {
    unsigned runs;          /* repetitions */
    bool fall_only;         /* only what follows the switch at once: no wait for a higher frequency is awaited */
    bool volts;             /* the core voltage, too */
    unsigned volt_readings; /* 0: the probe's own default */
};

/* Measures a cell (guarded_switch; times given by options are kept). MACHINE_OK: `out` is to be freed with
 * guarded_free. */
int switches_see(const struct tables_context *x, const char *table, const struct cell *c, const struct switches_wish *w,
                 struct switches_seen *out, struct machine_error *err);
/* A quick look of a table of other things: so many repetitions of from -> to at the cell's number of active cores, of
 * `observe_us` after the switch; `fall`: no wait for a higher frequency is awaited. As switches_see() else. */
int switches_look(const struct tables_context *x, const char *table, const struct cell *c, const struct payload *from,
                  const struct payload *to, unsigned runs, double observe_us, bool fall, struct switches_seen *out,
                  struct machine_error *err);
/* Its phases into the details. MACHINE_OK, or *err and its status. */
int switches_put_phases(struct table *rows, const char *key, const struct switches_seen *s, struct machine_error *err);

/* Makes rows of the results; MACHINE_OK, or *err and its status. */
typedef int switches_put(struct table *rows, const struct cell *c, const struct switches_seen *s,
                         struct machine_error *err);
/* The measure() of a table: what a cell shows as rows by `put`, and its phases in the details, under its id. */
int switches_measure_rows(const struct tables_context *x, const char *table, const struct cell *c,
                          const struct switches_wish *w, switches_put *put, struct table *rows,
                          struct machine_error *err);

/* Adds the cell a -> b at so many active cores, and its expected duration. 0, or -1: out of memory. */
int switches_add(const struct tables_context *x, struct cells *out, const struct payload *a, const struct payload *b,
                 unsigned cores, const struct switches_wish *w);

/* All ordered pairs of different kernels, at each of these numbers of active cores. */
int switches_add_all(const struct tables_context *x, struct cells *out, const struct payload *kernels, size_t n,
                     const unsigned *cores, size_t n_cores, const struct switches_wish *w);

/* The settings that all three have. */
void switches_note(const struct tables_context *x, const struct switches_wish *w, struct table *t);

/* The key columns of the last row, and its counts: repetitions requested and discarded where the table has those. */
void switches_put_keys(struct table *rows, const struct cell *c, const struct switches_seen *s);

/* The number of active cores of a row, 0 if absent. */
unsigned switches_cores(const struct table *t, size_t row);

/* The different numbers of active cores of the rows, ascending. Returns how many, at most `max`. */
size_t switches_core_counts(const struct table *t, unsigned *out, size_t max);
