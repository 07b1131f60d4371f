/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the table of frequencies. */
#pragma once

#include "probes/beside.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"

/* The setting with the kind of core that CPU %d is. */
#define FREQUENCY_CORE "core of CPU %d"
/* The setting with the CPUs whose cores are like a measured one, for each: "31: 0-31,64-95; 63: 32-63"; siblings are
 * among them. */
#define FREQUENCY_CPUS "cpus_alike"

/* How the names of details begin in which a frequency is that was measured again. */
#define FREQUENCY_AGAIN "again "

/* The setting with the kernel that the column `ratio` compares with. */
#define FREQUENCY_RATIO_TO "ratio_to"

/* The setting with the limits of code without AVX; how those begin that have them of other code, or of E cores. */
#define TURBO_LIMITS "turbo_limits_ghz"
#define TURBO_LIMITS_OF TURBO_LIMITS " of "
/* The settings of turbo by priority: "on", "off"; the limits of cores of high priority by how many of them are active,
 * of each class of code; to which frequency others are clipped, "non-AVX 2.0, AVX2 2.0". */
#define BY_PRIORITY "turbo_by_priority"
#define HIGH_PRIORITY_OF "high_priority_ghz of "
#define LOW_PRIORITY "low_priority_ghz"

/* ---- frequency_fit.c: which kinds of code share a license level, which numbers of active cores a frequency ---- */

enum { FREQUENCY_KERNELS_MAX = 64 };

struct frequency_group {
    unsigned first, last; /* numbers of active cores that were measured; ordered by order_unsigned() */
};

/* Values for ranges of active cores, as "1-2: 3.7, 3-4: 3.5, 5: 3.4". */

/* Reads "5-8", or "5" for 5-5, up to 65535. Returns what follows it, or NULL where there is no such thing. */
const char *frequency_range_read(const char *text, struct frequency_group *out);
/* The value for so many cores, GHz; NAN where the text has none for them, or none within the range of freq_ghz, or is
 * NULL or something else. */
double frequency_ranges_value(const char *text, unsigned cores);

/* The CPUs of a table, in the order of its rows; returns how many, at most `max`. */
size_t frequency_cpus(const struct table *t, int *cpus, size_t max);
/* A setting that there is for each CPU: "groups", or "groups of CPU 3" where several were measured. */
const char *frequency_setting(const struct table *t, const char *key, int cpu);

/* The kernel that `ratio` compares with, for a sentence. */
const char *frequency_ratio_to(const struct table *t);

/* The kind of core that a CPU is, "P core"; NULL: not known. */
const char *frequency_core(const struct table *t, int cpu);
/* The limits that the processor states for code without AVX on a CPU: of its kind of core. NULL: none are known. */
const char *frequency_limits(const struct table *t, int cpu);
/* The name of the class of code, or the like, that setting i holds the limits of; NULL: it is another setting, or it is
 * of a kind of core, which frequency_limits() returns. */
const char *frequency_limits_of(const struct table *t, size_t i);

/*
 * Returns by how much two frequencies of a CPU that are measured at different moments differ in 95 % of cases,
 * relative: from repeated measurements, including the noise of both. Student's t of the root mean square, or the
 * largest where that is more: few large differences are no normal distribution. 0: none were; NaN: out of memory.
 */
double frequency_moved(const struct table *t, int cpu);

/* Levels, groups and the processor's own limits. */
int frequency_conclude(struct table *t);

/* ---- frequency_sheet.c ---- */

void frequency_print(FILE *out, bool colour, const struct table *t);
void frequency_findings(FILE *out, const struct table *t);
/* Joins levels and adds rated limits in the panels of the CPUs. */
void frequency_plot(const struct table *t, struct chart *c);

/* ---- frequency.c ---- */

/*
 * The frequency of scalar code (64add) on the measured core while the others (options->siblings: and the siblings) run
 * `neighbor`, against that while they run scalar code, with as many active cores as the options say (0: all), for
 * options->seconds. MACHINE_OK, or fills *err and returns its status.
 */
int frequency_beside(struct machine *m, const struct tables_options *o, const struct payload *neighbor,
                     struct beside_result *out, struct machine_error *err);
