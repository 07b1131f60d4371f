/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the table of frequencies. */
#pragma once

#include "probes/beside.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"

/* The setting that tells what kind of core CPU %d is. */
#define FREQUENCY_CORE "core of CPU %d"

/* How the names of details begin in which a frequency is that was measured again. */
#define FREQUENCY_AGAIN "again "

/* The setting with the kernel that the column `ratio` compares with. */
#define FREQUENCY_RATIO_TO "ratio_to"

/* The setting with the limits of code without AVX; how those begin that have them of other code, or of E cores. */
#define TURBO_LIMITS "turbo_limits_ghz"
#define TURBO_LIMITS_OF TURBO_LIMITS " of "

/* ---- frequency_fit.c: which kinds of code share a license level, which numbers of active cores a frequency ---- */

enum { FREQUENCY_KERNELS_MAX = 64 };

/* A frequency is not steady whose 95 % limits are farther away than this, relative: twice FREQUENCY_SAME. */
#define FREQUENCY_UNSTEADY 0.009

/* One kernel at one number of active cores. */
struct frequency_point {
    size_t kernel; /* below FREQUENCY_KERNELS_MAX */
    unsigned cores;
    double ghz, half_width;   /* of the 95 % limits; NaN: not known */
    double ratio, ratio_half; /* to the first kernel, by brackets; likewise */
    size_t row;               /* the caller's own */
    double share[3];          /* of the cycles counted at license level 0, 1, 2; NaN: not counted */
    /* filled in by frequency_analyse() */
    int level;            /* -1: the data do not tell */
    unsigned first, last; /* the numbers of active cores that share this frequency; 0: no steps */
};

/* The same measured twice, with others in between. */
struct frequency_again {
    double before, after; /* GHz */
    double before_half, after_half;
};

enum frequency_verdict {
    FREQUENCY_STEPS,  /* a few fixed frequencies */
    FREQUENCY_ALIKE,  /* one for everything */
    FREQUENCY_FLOATS, /* it moves by itself, as with power or with what others do: steps would be made up */
    FREQUENCY_NOTHING /* no frequency was measured */
};

struct frequency_group {
    unsigned first, last; /* numbers of active cores that were measured; ordered by order_unsigned() */
};

struct frequency_levels {
    enum frequency_verdict verdict;
    char why[200];   /* FREQUENCY_FLOATS: what shows it */
    bool counted;    /* levels are from the license counters, otherwise from the frequencies */
    size_t n_levels; /* highest level that occurs, plus one */
    size_t n_groups;
    struct frequency_group *groups; /* in each, no kernel's frequency changes; free() */
};

/*
 * Finds levels and groups of n points, which it reorders by kernel, then by cores. Returns 0, or -1: out of memory.
 *
 * Levels: where every point has a share above one half of one level, that one. Otherwise from the ratios, which a
 * clock that floats does not disturb: two kernels are of one level when their ratios are the same at all numbers of
 * active cores at which both were measured, so that a kernel has one level, whatever the number of cores; levels are
 * numbered from 0 in falling order. Where the limits of one kernel leave open whether it has a level of its own, it and
 * the slower ones have none. Since many are compared, two differ whose differences are on average larger than
 * FREQUENCY_SAME and 2.5 times their limits, or one of them larger than FREQUENCY_UNSTEADY and that; they are one where
 * the average stays within 1.5 FREQUENCY_SAME by its limits. What the first kernel's own limits are is the null's.
 *
 * A frequency floats when more than a quarter of the measurements taken again do not give the same, or when more than a
 * quarter are not steady themselves (their rounds differ, FREQUENCY_UNSTEADY). On a processor with fixed steps none of
 * this happens but by disturbance.
 *
 * Groups: neighbouring numbers of active cores at which a kernel's frequency is the same as the mean of those before
 * them in the group; over all kernels the groups end where that of any kernel does.
 */
int frequency_analyse(struct frequency_point *points, size_t n, const struct frequency_again *again, size_t n_again,
                      struct frequency_levels *out);
void frequency_levels_free(struct frequency_levels *l);

/* Values for ranges of active cores, as "1-2: 3.7, 3-4: 3.5, 5: 3.4". */

/* Reads "5-8", or "5" for 5-5, up to 65535. Returns what follows it, or NULL where there is no such thing. */
const char *core_range_read(const char *text, struct frequency_group *out);
/* The value for so many cores, GHz; NAN where the text has none for them, or none within the range of freq_ghz, or is
 * NULL or something else. */
double core_ranges_value(const char *text, unsigned cores);

/* The CPUs of a table, in the order of its rows; returns how many, at most `max`. */
size_t frequency_cpus(const struct table *t, int *cpus, size_t max);
/* A setting that there is for each CPU: "groups", or "groups of CPU 3" where several were measured. */
const char *frequency_setting(const struct table *t, const char *key, int cpu);

/* What `ratio` compares with, for a sentence. */
const char *frequency_ratio_to(const struct table *t);

/* What kind of core a CPU is, "P core"; NULL: not known. */
const char *frequency_core(const struct table *t, int cpu);
/* The limits that the processor states for code without AVX on a CPU: of its kind of core. NULL: none are known. */
const char *frequency_limits(const struct table *t, int cpu);
/* The name of the class of code, or the like, that setting i holds the limits of; NULL: it is another setting, or it is
 * of a kind of core, which frequency_limits() tells. */
const char *frequency_limits_of(const struct table *t, size_t i);

/*
 * By how much two frequencies of a CPU differ that are measured at different moments, relative, in 95 % of cases: by
 * those that were measured again, the noise of both measurements included. Student's t of the root mean square, or the
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
