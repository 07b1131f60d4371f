/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What text, CSV, pictures and page of profiles share (private to profiler/output/). */
#pragma once

#include "profiler/output/profile_output.h"
#include "tables/table/chart.h"
#include "tables/table/table.h"

/* ---- profile_words.c: rows ---- */

/* The rows of a kind, which stand together; *n receives how many. */
const struct profile_row *profile_rows_of(const struct profile_result *r, enum profile_kind kind, size_t *n);
/* The row of everything; NULL: nothing was added up yet. */
const struct profile_row *profile_row_all(const struct profile_result *r);
/* What somebody costs somebody is not told where it would read 0.0 %. */
#define PROFILE_PART_LEAST 0.0005
/* Whether somebody slows it, or nobody known, and that stands above its limits. */
bool profile_is_victim(const struct profile_row *row);
/* Who is meant by a culprit of a row: a name, or "itself"; NULL: nobody, as a result from elsewhere may have it. */
const char *profile_culprit_name(const struct profile_result *r, const struct profile_row *victim,
                                 const struct profile_culprit *c);
/*
 * Which of n rows are shown: of the first five, and those with 0.1 % of the time or 1 % of what all lose, at most so
 * many. The numbers of those, ascending, from malloc; NULL: out of memory.
 */
size_t *profile_rows_shown(const struct profile_row *rows, size_t n, size_t most, size_t *n_shown);
/* Whether any row of the kind knows the parts of its overhead: what siblings cost, what delays do. */
bool profile_knows_parts(const struct profile_row *rows, size_t n);

/* ---- profile_csv.c ---- */

/* Its line in the metadata; a model has none. */
void profile_put_environment(const struct profile_head *h, struct table *t);

/* ---- profile_words.c: lines of text; each function prints nothing where there is nothing to tell ---- */

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
/* How long, how often, which tables. */
profile_sayer profile_say_sampling;
/* What became of the turns. */
profile_sayer profile_say_turns;
/* What it cost. */
profile_sayer profile_say_cost;
/* What follows from the rows: how much is lost, who loses and who causes most. */
profile_sayer profile_say_findings;
/* What would help, row by row. */
profile_sayer profile_say_advice;
/* What is not known, and what would tell it. */
profile_sayer profile_say_unknown;

/* ---- profile_charts.c: 0, or -1 with one line in `why`; chart_free in any case ---- */

/* Overhead of the rows of a kind, with limits: split by cause, and by the level before the pause. */
int profile_chart_causes(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size);
int profile_chart_levels(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size);
/* Who slows whom: victims of a kind by culprits, who are tasks. */
int profile_chart_culprits(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                           size_t why_size);
