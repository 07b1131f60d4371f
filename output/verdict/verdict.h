/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict: whether wide code pays on the processor measured, what it costs, and what that means for compilers and
 * libraries. Pure: finished tables in, conclusions out. doc/verdict.md defines the figures and how one follows from the
 * other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "output/verdict/verdict_cost.h"
#include "kernels/kernels.h"
#include "output/verdict/programs.h"
#include "probes/beside.h"
#include "tables/table/estimates.h"
#include "tables/table/table.h"

enum {
    VERDICT_CLASSES_MAX = 16,
    VERDICT_UNITS_MAX = 4,
    VERDICT_WHY_MAX = 400,
    VERDICT_SIDES = 2
}; /* by enum kernel_weight */

/* Tables of one measurement; NULL: not measured. */
struct verdict_tables {
    const struct table *frequency; /* with each width, at one and all active cores */
    /* of the widest kernels of either weight: the requested bursts, far apart, and at exactly the requested share */
    const struct table *burst[VERDICT_SIDES], *burst_at[VERDICT_SIDES];
    const struct table *wake; /* first use after idle times */
    /* of scalar code, while the other cores, or all SMT siblings, run the widest kernel; NULL: not measured */
    const struct beside_result *corunners, *siblings;
};

struct verdict_question {
    struct verdict_load load;
    double speedup; /* --speedup: of the widest code over the narrowest, at one frequency; NaN: as measured */
    uint64_t seed;
    double seconds; /* that it may take; 0: tables that were there already are read */
};

/* Code of one width and weight, against scalar code at the same number of active cores. */
struct verdict_class {
    char name[24]; /* "512heavy", "512heavy@mem", "amx" */
    const char *kernel;
    unsigned bits; /* 8192: tiles */
    enum kernel_weight weight;
    bool loads; /* an operand of each instruction comes from memory: not compared with other widths */
    struct estimate ghz, slowdown;         /* fraction of the scalar frequency, at all active cores measured */
    struct estimate one_ghz, one_slowdown; /* at one active core; NaN: that is not measured, or all of them */
};

/* The time that the same work takes at each width, in code of one weight. */
struct verdict_side {
    double cores; /* active ones while bursts were measured: all figures of the side are for so many */
    size_t n;     /* widths that the processor can run, ascending */
    struct verdict_width width[VERDICT_WIDTHS_MAX];
    const char *kernel[VERDICT_WIDTHS_MAX];
    struct estimate once_us[VERDICT_WIDTHS_MAX]; /* cost of a burst beyond its work, compared with the narrowest's */
    struct verdict_cost cost;                    /* by the model; not requested with fewer than two widths */
    /* measured: by how much each width takes longer than the widest for the same work, relative; NaN: it was not */
    struct estimate longer[VERDICT_WIDTHS_MAX];
    bool direct; /* the answer is by `longer` */
    enum verdict_prefer prefer;
    unsigned bits;    /* VERDICT_WIDTH: the width */
    unsigned as_good; /* and those that take the same time within 1 %, each by its bits (they are powers of 2), or-ed */
    char why[VERDICT_WHY_MAX];
};

struct verdict_unit {
    const char *unit;                  /* "512" */
    struct estimate first_us, idle_us; /* the slowest first use, and from which idle time on; NaN: no stage but one */
    struct estimate full_rate_us;
};

struct verdict {
    struct verdict_tables tables;
    struct verdict_question question;
    double cores; /* active ones, for which slowdowns are */
    double moves; /* relative: by how much frequencies of different moments differ (frequency_moved) */
    struct estimate plain_ghz, one_plain_ghz;
    bool floats; /* the frequency moves by itself */
    char why_floats[SUPPORT_WHY_MAX];
    size_t n_classes;
    struct verdict_class classes[VERDICT_CLASSES_MAX];
    struct verdict_side side[VERDICT_SIDES];
    enum kernel_weight weight; /* the side whose answer is the verdict's */
    size_t n_units;
    struct verdict_unit units[VERDICT_UNITS_MAX];
    struct estimate corunners, siblings; /* slowdown of scalar code by them */
    struct programs_answer programs;
};

/*
 * Concludes. The tables must outlive *out; so must `programs`, which may be NULL. Returns 0, or -1: out of memory.
 */
int verdict_conclude(const struct verdict_tables *tables, const struct verdict_question *question,
                     const struct programs *programs, struct verdict *out);

/* Takes a table of a directory for what a verdict needs of it, by its name. */
void verdict_take_table(struct verdict_tables *tables, const struct table *t);

/* The share and the burst where none are requested. */
#define VERDICT_USUAL_LOAD                                                                                             \
    {                                                                                                                  \
        0.1, 100                                                                                                       \
    }

/* As many active cores as there are frequencies of; NaN: there are none, or no table. */
double verdict_cores(const struct table *frequency);

/* How many of the widest kernel's instructions are the requested burst, and how often it comes, us; 0: the table of
 * frequencies does not say. For the bursts that are then measured (verdict_tables.burst, burst_at). `cores`: active
 * ones; 0: as many as the table has. */
double verdict_burst_count(const struct table *frequency, const char *kernel, double cores,
                           const struct verdict_load *load, double *every_us);

/* The first lines of the verdict on n tables of one measurement, for the usual load, one for each weight of code; ""
 * where there is no answer, not even that it is undecided. */
void verdict_lines(const struct table *tables, size_t n, char *out, size_t size);

/* One screen. */
void verdict_print(FILE *out, bool colour, const struct verdict *v);
/* characterize-verdict/1 (doc/formats.md), malloc'ed; NULL: out of memory. */
char *verdict_to_json(const struct verdict *v);

/* ---- what its parts share ---- */

/* The upper limit of what cannot be below 0: no lower than noise alone would have it, were it nothing. */
double verdict_most(const struct estimate *e);
/* Bursts so far apart that the frequency returns in between, us: more than twice the 2 ms that Intel's manual gives for
 * a license to lapse. */
#define VERDICT_APART_US 5000.0
