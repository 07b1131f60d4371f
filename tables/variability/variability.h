/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the table variability: what it measures, and what it says of that. Private to tables/variability/. */
#pragma once

#include "analysis/stats/repeatability.h"
#include "tables/registry.h"

/* ---- variability_rows.c ---- */

/* Workloads: those repeated at each refinement, the ramp, and those of the sweep of sizes, from 4 KiB up, each twice as
 * large as the one before. */
enum { VARIABILITY_REPEATED = 9, VARIABILITY_SWEEP = VARIABILITY_REPEATED + 1 };
enum { VARIABILITY_WORKLOADS = VARIABILITY_SWEEP + 19 };
#define VARIABILITY_AFTER_IDLE "ramp"
#define VARIABILITY_BESIDE_SIBLING "register-sibling"
/* Before trials that show how the core gets up to speed it idles so long, ms: ten and more half-lives of the load that
 * Linux's schedutil goes by, which is halved every 32 ms (kernel/sched/pelt.c). */
#define VARIABILITY_IDLE_MS 500.0

/* The name of workload w, below VARIABILITY_WORKLOADS. */
const char *variability_workload(size_t w);
/* The row of a workload at a refinement; t->n_rows: there is none. */
size_t variability_row(const struct table *t, const char *workload, enum refinement r);
/* The name of that row's detail; returns `out`. */
enum { VARIABILITY_KEY_SIZE = 60 };
const char *variability_key(const char *workload, unsigned refinement, char out[VARIABILITY_KEY_SIZE]);
/* The detail itself; NULL: there is none. */
const char *variability_detail(const struct table *t, const char *workload, unsigned refinement);
/* True if `json` is such a detail; *in_force (may be NULL, else TABLES_IN_FORCE_MAX) and *warm are then its
 * contents. */
bool variability_kept(const char *json, char *in_force, struct repeatability *warm);

/* ---- variability_output.c: as in table_kind ---- */

enum { VARIABILITY_VIEWS = 7 };
extern const struct pivot_list variability_views[VARIABILITY_VIEWS];
void variability_print(FILE *out, bool colour, const struct table *t);
void variability_findings(FILE *out, const struct table *t);
void variability_plot(const struct table *t, struct chart *c);
