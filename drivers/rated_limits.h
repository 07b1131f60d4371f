/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frequency limits for which a processor is rated: of code without AVX in registers (1ADH and others), of each
 * class of code where Intel Speed Select reports them. They are what the vendor allows, not what is reached.
 */
#pragma once

#include "drivers/machine.h"
#include "computer/msr/msr_decode.h"

/*
 * A table of limits: the highest frequency of a class of code by active cores of the package. The first is of code
 * without AVX. Intel names the others by a width, without a word on which instructions belong to which; where it only
 * numbers them, so does this.
 */
enum { RATED_TABLES_MAX = 6, RATED_BASES = 4 };
struct rated_table {
    char name[24];                                 /* "non-AVX", "AVX2", "AVX-512", "AVX-512 heavy", "AMX", "level 5" */
    size_t n;                                      /* 0: not stated */
    struct msr_turbo_row rows[MSR_TURBO_ROWS_MAX]; /* rising numbers of cores */
};
struct rated_limits {
    struct rated_table tables[RATED_TABLES_MAX];
    struct rated_table small;     /* hybrid parts: of the E cores, without AVX */
    double base_ghz[RATED_BASES]; /* without turbo: of code without AVX, AVX2, AVX-512, AMX; NAN: not stated */
    /* turbo by priority (Speed Select, SST-TF): the limits of cores of high priority by how many of them are active,
     * and those to which the others are clipped (0: not stated), by class of code as in tables[] */
    struct rated_table high[RATED_TABLES_MAX];
    double low_ghz[RATED_TABLES_MAX];
    bool by_priority;         /* it is on; else high[] and low_ghz[] are not in force */
    double config_tdp_ghz[3]; /* frequencies of the configurable power levels, nominal, 1 and 2; NAN: not stated */
    char source[120];         /* where tables[] come from */
    char why[600];            /* why tables[0] is not known, or "" */
    char why_classes[600];    /* why those of other classes are not, or "" */
};

/* The classes of code of a processor with five of them, Granite Rapids: "non-AVX", "AVX2", "AVX-512", "AVX-512 heavy",
 * "AMX". */
enum { RATED_CLASSES = 5 };
extern const char *const rated_class_names[RATED_CLASSES];
/* The class of code of each base_ghz: "non-AVX", "AVX2", "AVX-512", "AMX". */
const char *rated_base_name(size_t i);

/*
 * Reads a machine, which must be prepared, on its CPU. What cannot be read is left out, and `why` gives
 * the reason and the remedy.
 */
void rated_read(struct machine *m, struct rated_limits *out);

/* "1-2: 3.7, 3-4: 3.5", GHz; "" for an empty table. */
void rated_text(const struct rated_table *t, char *out, size_t size);
