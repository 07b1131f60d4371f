/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares measured with published figures. Pure: finished tables and the figures of a SKU in, a table of verdicts out.
 *
 * The rule. A figure is a number p, or a range, with the precision u that it was published with (validate_precision):
 * all of p - u .. p + u may be meant. Of the rows that the figure means, with the 95 % limits lo..hi of each:
 *   deviates        no value is within both: neither noise nor how the figure was printed explains it
 *   undecided       some value is, but the limits are wider than 2 u, and a deviation that matters would not be found
 *                   either: 20 % (of shares of 0 as of 1), or of frequencies the next step of the clock, 100 MHz
 *   undecided       also what would deviate, but has no limits in a column that has them
 *   agrees          some value is
 *   not measured    no row, or no value in it; the note has the reason that the table gives
 *   not published   the file says that it was looked for and not found; what was measured is shown, if it was
 * With several rows the worst one is reported (deviates before undecided before agrees, then the farthest), unless the
 * figure is a mean: then the value and its limits are the means over the rows.
 *
 * What would have been found: a true value of p + d is measured as p + d - (hi - lo) / 2 or more in 97 of 100 cases.
 * The lower limit then is p + d - (hi - lo) or more, which is above p + u from d = u + (hi - lo) on. Of a range the
 * same from its middle, of counted columns 1; with several rows in whichever it is, so with the widest limits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/published/sku.h"
#include "tables/table/table.h"

/*
 * The precision of a published figure, in the unit of its column: the figure's own tolerance, if its file has one; 0 of
 * what is counted (level, halts, mode, phase); 0.05 of shares of 0 and 1, which are printed for none and all of the
 * cycles; else what its digits say (sku.h).
 */
double validate_precision(const struct sku_figure *f);

/*
 * Compares n tables with the figures of a SKU and what the processor says of itself, and notes the findings. *out
 * becomes the table `validate`, one row a figure in the order of the file, with the metadata of the first table, those
 * of the SKU (sku; one without a name: none is known) and, where the measured CPU does not call itself what the SKU's
 * brand says, `warning`. Units stand in the column `unit`. `detectable` is the smallest deviation that would have been
 * found, in that unit; detectable_percent, of p or the middle of a range, is absent of 0 and of counts. Returns 0, or
 * -1: out of memory; table_free(out) in any case.
 */
int validate_tables(const struct sku *sku, const struct table *const *tables, size_t n, struct table *out);

/* How many figures have this verdict ("deviates": the exit status is 4 where there is one). */
size_t validate_count(const struct table *verdicts, const char *verdict);

/* For a person: head, what would have been found, a line a figure, what deviates first, the numbers of verdicts; the
 * findings. */
void validate_print(FILE *out, bool colour, const struct table *verdicts);
/* The same without head and findings: the print() of a table_kind; and the findings alone, a line each. */
void validate_print_rows(FILE *out, bool colour, const struct table *verdicts);
void validate_print_findings(FILE *out, const struct table *verdicts);
#define VALIDATE_TITLE "Measured versus published"

/* The deviation of a figure that is to be found, %. */
#define VALIDATE_TO_FIND_PERCENT 20.0

/* characterize-validation/1 (doc/formats.md), malloc'ed; NULL: out of memory. */
char *validate_to_json(const struct table *verdicts);

/*
 * A JUnit test suite, a test case for each figure (malloc'ed; NULL: out of memory): what deviates has failed, what is
 * undecided, not measured or not published is skipped, with the reason. (JUnit's XML has no normative schema; these are
 * the elements of Apache Ant's JUnit task, which Jenkins and GitLab read.)
 */
char *validate_to_junit(const struct table *verdicts);

/* ---- what the processor says of itself: stated.c ---- */

/*
 * The turbo limits of each class of code by active cores (MSR 1ADH and 1AEH; Speed Select, by mailbox or TPMI) that a
 * table of frequencies has: a figure of column freq_ghz for each level and range of active cores of which some number
 * was measured, to half a step of 100 MHz. Level 0 is code without AVX; of the others, level i is the i-th class that
 * the processor lists, whose names do not say which instructions belong to them. A limit is what is allowed, not what
 * is reached: figures that have `limit` set. *out is to be freed (NULL: none). 0, or -1: out of memory.
 */
int validate_stated(const struct table *frequency, struct sku_figure **out, size_t *n);
/*
 * Checks in a table of cores if favored cores (CPPC) are faster than the others of their kind: adds a row to `verdicts`
 * for each kernel and kind. The measured value is the difference of the means, GHz; its limits add those of single
 * cores by squares. It agrees where the favored ones are surely faster, deviates where they surely are not faster by
 * half a step of the clock (100 MHz / 2) or more, and is undecided else. Failures stand in verdicts->failed.
 */
void validate_favored(const struct table *cores, struct table *verdicts);

/* ---- what is remarkable, whether or not anybody has published a figure of it: validate_findings.c ---- */

/* Findings by kind: a name for programs, stable. */
enum finding_kind {
    FINDING_COUNTS_NOTHING,  /* "umask 10H counts nothing here", of a documented one */
    FINDING_UNDOCUMENTED,    /* a umask counts something else than what is documented */
    FINDING_NO_LEVEL,        /* wide or heavy code requests no level */
    FINDING_CORE_DIFFERS,    /* "CPU 7 is 100 MHz faster" */
    FINDING_NO_TRANSITION,   /* none, where levels are listed or measured */
    FINDING_LEVEL_AND_CLOCK, /* counters tell levels apart that the clock does not, or the other way round */
    FINDING_CONTRADICTION,   /* the entry and what it inherits */
    FINDING_KINDS
};

/*
 * Finds them in n tables of one measurement, with the figures of a SKU (without figures: of an unknown one), and
 * notes them in a table of verdicts: its detail "findings", a list of objects with kind, table and text. No detail:
 * there are none. Failures stand in verdicts->failed.
 */
void findings_note(const struct sku *sku, const struct table *const *tables, size_t n, struct table *verdicts);

/* The findings of a table of verdicts: calls `tell` with each; returns how many there are. */
size_t findings_each(const struct table *verdicts, void (*tell)(void *data, const char *kind, const char *text),
                     void *data);
