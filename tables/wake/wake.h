/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages in which a unit falls asleep, from the rows of the table wake. */
#pragma once

#include "analysis/wake/wake.h"
#include "tables/table/tables.h"

/* The detail of a unit: its points, as lists idle_us, first_us and full_rate_us. */
#define WAKE_POINTS "points %s"

/* The stages of a unit in the column first_us or full_rate_us, from its points. 0, -1 where there are none, or 1:
 * out of memory. */
int wake_stages_of(const struct table *t, const char *unit, const char *column, struct wake_stages *out);
/* Fills the column `stage`: the number of the stage, from 1, in which the idle time of a row lies: of first_us, or
 * where that has one alone, of full_rate_us. Pure. */
int wake_conclude(struct table *t);
void wake_findings(FILE *out, const struct table *t);
