/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the table variability: how alike the durations of one piece of code are, refinement by refinement of
 * the environment. Its definition: doc/quiet-machine.md. */
#pragma once

#include "analysis/stats/repeatability.h"
#include "tables/table/tables.h"

enum { VARIABILITY_WORKLOADS = 8 };
extern const char *const variability_workloads[VARIABILITY_WORKLOADS];

/* The columns that a result has, in the last row. */
void variability_put(struct table *t, const struct repeatability *r);

/*
 * What a cell keeps beside its row, as the detail WORKLOAD/REFINEMENT: what was in force, the rounds of a trial, the
 * bytes of the buffer, and what there is without the trials before the mode. A new reference; NULL: out of memory.
 */
struct variability_kept {
    const char *in_force; /* "": nothing was changed */
    double rounds, bytes;
    struct repeatability warm;
};
struct json_t *variability_to_json(const struct variability_kept *k);
/* Whether it is one; *in_force (may be NULL, else TABLES_TOLD_MAX) and *warm are what it tells. */
bool variability_from_json(const char *json, char *in_force, struct repeatability *warm);
/* The name of that detail; returns `out`. The detail itself; NULL: there is none. */
enum { VARIABILITY_KEY = 60 };
const char *variability_key(const char *workload, unsigned refinement, char out[VARIABILITY_KEY]);
const char *variability_detail(const struct table *t, const char *workload, unsigned refinement);

/* Adds the rows `warm`. */
int variability_conclude(struct table *t);

/* What the source's table 3.1 says: of 1e9 cycles on a Cortex-A72, the workload register. Not a measurement. */
struct variability_published {
    const char *version;        /* as it is called there */
    enum refinement refinement; /* REFINEMENTS: none that this table has */
    double spread;              /* fraction */
};
enum { VARIABILITY_PUBLISHED = 5 };
extern const struct variability_published variability_published[VARIABILITY_PUBLISHED];
#define VARIABILITY_PUBLISHED_AS "Kozak 2020, table 3.1: 1e9 cycles on a Cortex-A72"

/* A fraction as percentage in few characters: "0 %", "0.000026 %", "3.4 %", "8100 %"; "-": not known. Returns `out`. */
enum { VARIABILITY_TEXT = 24 };
const char *variability_percent(double fraction, char out[VARIABILITY_TEXT]);
/* The row of a workload at a refinement; t->n_rows: there is none. */
size_t variability_row(const struct table *t, const char *workload, enum refinement r);

void variability_findings(FILE *out, const struct table *t);
