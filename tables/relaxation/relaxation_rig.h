/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cells of the table relaxation share: recording repetitions, and the rows that they come to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "probes/sequence.h"
#include "tables/relaxation/relaxation_parts.h"
#include "tables/relaxation/relaxation_fit.h"
#include "tables/table/tables.h"

struct relaxation_rig {
    const struct tables_context *context;
    const struct cell *cell;
    struct table *rows;
    unsigned cores; /* active */
    struct sequence sequence;
    struct trace trace;
    size_t n;                 /* repetitions in the trace */
    struct sights_span *span; /* of each */
    size_t invalid;           /* by what the machine itself could tell */
    char invalid_why[120];
    struct relaxation_levels levels;
    struct relaxation_step step; /* by which the core is slower after the wide code than without it */
    double wait_us;              /* by the pilot */
    double noise;                /* by the pilot: of a sample, in steps from slow to fast */
    bool kept;                   /* by the pilot: hardly any wait is left alone, and the others agree nevertheless */
};

/* ---- relaxation_plain.c: whether there is a wait ---- */

struct relaxation_seen {
    bool none; /* the frequency does not change: `why` says by how much less than what */
    char why[160];
    struct estimate wait_us, share, slow_ghz,
        fast_ghz; /* of the wait, of its first mode; wait_us unknown: none is reported */
    size_t n;     /* repetitions */
};
/* What the switch of r->cell shows with r->cores active; nothing where cycles are counted. MACHINE_OK, or *err and its
 * status. */
int relaxation_look(const struct relaxation_rig *r, struct relaxation_seen *out, struct machine_error *err);
/* Its wait as a row. */
void relaxation_put_seen(struct relaxation_rig *r, const struct relaxation_seen *seen);

/* So many repetitions that count; those of before are forgotten. `done`: the part of the cell that is over (0..1).
 * MACHINE_OK, or *err and its status. */
int relaxation_rig_record(struct relaxation_rig *r, const struct segment *segments, size_t n, size_t zero, size_t runs,
                          double done, struct machine_error *err);
/* The rises in all repetitions until to_us; malloc'ed, or NULL. */
struct relaxation_rise *relaxation_rig_rises(const struct relaxation_rig *r, double to_us);
/* The same where the frequency may rise as a ramp, of which these repetitions tell the shape. */
struct relaxation_rise *relaxation_rig_rises_by_ramp(struct relaxation_rig *r, double to_us);
/* How long a repetition is recorded, us: two waits, and the rise. */
double relaxation_rig_observed(const struct relaxation_rig *r);

/* A row with its keys, counts and frequencies, and the wait of a row. */
void relaxation_add_row(const struct relaxation_rig *r, const char *by, size_t n, size_t discarded);
void relaxation_put_wait(const struct relaxation_rig *r, struct estimate e);
__attribute__((format(printf, 3, 4))) void relaxation_add_missing(const struct relaxation_rig *r, const char *by,
                                                                  const char *format, ...);

/* ---- relaxation_rig.c: what starts a wait again, other code in the middle of it or the wide code itself ---- */

/* Repetitions of a toggling cell: so many stretches of plain code. */
enum { RELAXATION_TOGGLES = 7 };

/* Both append their rows for a wait that the pilot has found. MACHINE_OK, or *err and its status. */
int relaxation_measure_rearm(struct relaxation_rig *r, const struct payload *by, size_t runs,
                             struct machine_error *err);
/* duty_us: plain code between two stretches of wide code. */
int relaxation_measure_toggle(struct relaxation_rig *r, double duty_us, size_t runs, struct machine_error *err);
