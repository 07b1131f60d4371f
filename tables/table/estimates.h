/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what the rows of tables support: a value has limits, two values agree within theirs, there are levels at
 * all. Findings and exports report nothing that does not pass these. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/phases/phases.h"
#include "tables/table/table.h"

/* A field with its limits, from the columns NAME, NAME_lo and NAME_hi; absent ones are NaN. */
struct estimate estimates_of_table(const struct table *t, size_t row, const char *column);

/* Puts a value with its limits into the last row, or any (table_put_limits). */
void estimates_put(struct table *t, const char *column, struct estimate e);
void estimates_set(struct table *t, size_t row, const char *column, struct estimate e);

/* A finite value with both of its limits. */
bool estimates_known(const struct estimate *e);
/* True if `a` lies above `b` by the limits of both. */
bool estimates_above(const struct estimate *a, const struct estimate *b);
/* True if they differ by no more than both half widths together (in quadrature) and `slack`. False where one of them
 * is not known. */
bool estimates_agree(const struct estimate *a, const struct estimate *b, double slack);
/*
 * Two frequencies are the same if they differ by at most this, relative, or by less than their 95 % limits. The
 * smallest step there is, 100 MHz (the ratios' unit, Intel SDM vol. 3B, 15.3.2.4) of 5.5 GHz, is four times as large.
 */
#define FREQUENCY_SAME 0.0045
/* The step of the clock's multiplier (Intel SDM vol. 3B, 15.3.2.4). */
#define CLOCK_STEP_GHZ 0.1
/* The largest deviation between values of a column that is no difference, however narrow their limits happen to be, in
 * its unit: FREQUENCY_SAME for frequencies, otherwise 0.2 % of `value`, at least 0.05 us; 0.01 for shares; 0 for
 * counts. */
double estimates_least_difference(const struct table_column *c, double value);
/* Returns by how much half the width of 95 % limits is to be widened for limits beyond which `tail` is left on either
 * side: the ratio of the quantiles of Student's t of so many degrees of freedom; 0: not known, of the normal
 * distribution. */
double estimates_widening(double tail, double freedom);
/* True if two frequencies (GHz) are the same. Half widths of their limits may be NaN: not known. */
bool estimates_frequency_same(double a, double a_half, double b, double b_half);
bool estimates_frequencies_agree(const struct estimate *a, const struct estimate *b);
/* "42.7 [42.5, 42.9]"; without limits the value alone, "-" without a value; no -0.0. Returns `out`. */
enum { ESTIMATE_TEXT_MAX = 80 };
const char *estimates_text(const struct estimate *e, int decimals, char out[ESTIMATE_TEXT_MAX]);
/* The same of a field of a table. */
const char *estimates_field_text(const struct table *t, size_t row, const char *column, int decimals,
                                 char out[ESTIMATE_TEXT_MAX]);
/* "1 active core", "16 active cores"; the same of the active cores of a row. Returns `out`. */
const char *estimates_cores_text(double active_cores, char out[ESTIMATE_TEXT_MAX]);
const char *estimates_cores_of(const struct table *t, size_t row, char out[ESTIMATE_TEXT_MAX]);

enum { SUPPORT_WHY_MAX = 320 };
/* True if the table frequency says that the frequency of a CPU moves by itself; `why` then has its words. */
bool estimates_floats(const struct table *frequency, int cpu, char why[SUPPORT_WHY_MAX]);
/* True if its levels are those of ratios, while the frequency floats. */
bool estimates_relative(const struct table *frequency, int cpu);
/*
 * True if the table frequency has found at least two levels that the frequency distinguishes, on a CPU (-1, or one that
 * it does not have: its first). Where the frequency floats it has not, whatever counters say. `frequency` NULL: not
 * measured. Else false, and why.
 */
bool estimates_levels(const struct table *frequency, int cpu, char why[SUPPORT_WHY_MAX]);
/* The setting with the percentage by which two frequencies differ that are measured at different moments, in 95 % of
 * cases, where the frequency floats. */
#define FREQUENCY_MOVES "frequency_moves_percent"
/* Notes the result in another table of the same measurement, as the setting `frequency_levels`: "told", or "none: WHY",
 * and FREQUENCY_MOVES. */
void estimates_note_levels(struct table *t, const struct table *frequency);
/* Returns why a table's levels, waits and costs are not to be reported, as it was noted; NULL: nothing was noted, or
 * there are levels. The other is true if the reason is that the frequency floats: then not even "nothing found" is
 * reported. */
const char *estimates_no_levels(const struct table *t);
bool estimates_noted_floating(const struct table *t);

/* ---- waits: rows `wait` of the table relaxation ---- */

enum estimates_wait_support {
    WAIT_REPORTED,
    WAIT_NO_LIMITS,    /* of the wait, or of the frequencies around it */
    WAIT_NOT_SLOWER,   /* the frequency before the rise is not below that of plain code by the limits of both */
    WAIT_CONTRADICTED, /* another row of the same pair and number of active cores shows another wait */
};
/*
 * Searches the table itself for support of the wait of a row, or for contradictions. Missing columns are ignored. Waits
 * of a pair agree if they differ by no more than their limits and the scatter of single waits (sd_us, at least 2 % and
 * 2 us); twice a wait is the wait, too (mode 2). Rows of toggling count if their pauses are longer than the wait, if
 * the frequency rises in most of their pauses, or if they have the longest pause, which was chosen to be longer than
 * the wait found before. *against: the row that contradicts.
 */
enum estimates_wait_support estimates_wait_support(const struct table *t, size_t row, size_t *against);
