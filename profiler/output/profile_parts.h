/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by text, CSV, pictures and page of profiles (private to profiler/output/). */
#pragma once

#include "profiler/output/profile_output.h"
#include "tables/table/chart.h"
#include "tables/table/table.h"

/* ---- profile_words.c: rows ---- */

/* The rows of a kind, which stand together; *n receives how many. */
const struct profile_row *profile_rows_of(const struct profile_result *r, enum profile_kind kind, size_t *n);
/* The row of everything; NULL: nothing was added up yet. */
const struct profile_row *profile_row_all(const struct profile_result *r);
/* A loss that would read 0.0 % is not reported. */
#define PROFILE_PART_LEAST 0.0005
/* True: it is slowed, by somebody or by nobody known, beyond its limits. */
bool profile_is_victim(const struct profile_row *row);
/* The culprit of a row: a name, or "itself"; NULL: nobody, as a result from elsewhere may have it. */
const char *profile_culprit_name(const struct profile_result *r, const struct profile_row *victim,
                                 const struct profile_culprit *c);
/*
 * Which of n rows are shown: of the first five, and those with 0.1 % of the time or 1 % of what all lose, at most so
 * many. The numbers of those, ascending, from malloc; NULL: out of memory.
 */
size_t *profile_rows_shown(const struct profile_row *rows, size_t n, size_t most, size_t *n_shown);
/* True: some row knows the parts of its overhead that siblings and delays cause. */
bool profile_knows_parts(const struct profile_row *rows, size_t n);

/* ---- profile_files.c ---- */

/* Its line in the metadata; a model has none. */
void profile_put_environment(const struct profile_head *h, struct table *t);

/* ---- profile_words.c: lines of text; each function prints nothing where there is nothing to say ---- */

enum { PROFILE_PERCENT_MAX = 64, PROFILE_NAME_MAX = 3 * 256, PROFILE_NAME_SAID = 50 };
/* A row's name made plain, with at most so many characters (8 or more): what is too much is left out in the middle, for
 * the end tells most, a task's number or the last part of a path. Returns `out`. */
const char *profile_short_name(const char *name, size_t most, char out[PROFILE_NAME_MAX]);
/* A fraction as percentage, with as many digits as its limits leave: "7.3 (6.1 to 8.6)", without limits "7.3", "-"
 * where it is not known. Returns `out`. */
const char *profile_percent(const struct profile_estimate *e, char out[PROFILE_PERCENT_MAX]);
/* The same of a value without limits. */
const char *profile_percent_alone(double fraction, char out[PROFILE_PERCENT_MAX]);
/* The same with the sign where it stands in a sentence: "7.3 % (6.1 to 8.6)". */
const char *profile_percent_said(const struct profile_estimate *e, char out[PROFILE_PERCENT_MAX]);
typedef void profile_sayer(const struct profile_result *r, FILE *out);
/* Duration, rate and tables. */
profile_sayer profile_say_sampling;
/* The outcomes of the turns. */
profile_sayer profile_say_turns;
/* The cost of the profile. */
profile_sayer profile_say_cost;
/* Conclusions from the rows: how much is lost, who loses and who causes most. */
profile_sayer profile_say_findings;
/* The advice, row by row. */
profile_sayer profile_say_advice;
/* The unknowns, and the options that would settle them. */
profile_sayer profile_say_unknown;

/* ---- profile_charts.c: 0, or -1 with one line in `why`; chart_free in any case ---- */

/* Overhead of the rows of a kind, with limits: split by cause, and by the level before the pause. */
int profile_chart_causes(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size);
int profile_chart_levels(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size);
/* The matrix of victims and culprits: victims of a kind by culprits, who are tasks. */
int profile_chart_culprits(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                           size_t why_size);
