/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the table of frequencies. */
#ifndef CHARACTERIZE_TABLE_FREQUENCY_H
#define CHARACTERIZE_TABLE_FREQUENCY_H

#include "tables/frequency/frequency_levels.h"
#include "tables/table/tables.h"

/* How the names of details begin in which a frequency is that was measured again. */
#define FREQUENCY_AGAIN "again "

/* ---- tables/frequency/frequency_conclude.c ---- */

/* The CPUs of a table, in the order of its rows; returns how many, at most `max`. */
size_t frequency_cpus(const struct table *t, int *cpus, size_t max);
/* A setting that there is for each CPU: "groups", or "groups of CPU 3" where several were measured. */
const char *frequency_setting(const struct table *t, const char *key, int cpu);

/* The limits that the processor states for code without AVX on a CPU: of its kind of core. NULL: none are known. */
const char *frequency_limits(const struct table *t, int cpu);

/* Levels, groups and the processor's own limits. */
int frequency_conclude(struct table *t);

/* ---- tables/frequency/frequency_print.c ---- */

void frequency_print(FILE *out, bool colour, const struct table *t);
void frequency_findings(FILE *out, const struct table *t);

/* tables/frequency/frequency_plot.c */
void frequency_plot(const struct table *t, struct chart *c);

#endif
