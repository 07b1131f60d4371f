/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages in which a unit falls asleep, from the rows of the table wake. */
#pragma once

#include "analysis/wake/wake.h"
#include "tables/table/tables.h"

/* The stages of a unit in the column first_us or full_rate_us, from its points. 0, -1 where there are none, or 1:
 * out of memory. */
int wake_stages_of(const struct table *t, const char *unit, const char *column, struct wake_stages *out);
