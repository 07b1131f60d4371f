/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table umask for a person: shares by kernel and umask, what each umask counts, what is documented. */
#pragma once

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* Whether two rows are of one umask of one event. */
bool umask_same(const struct table *t, size_t a, size_t b);

table_print_rows umask_print;
/* What each single bit counts, and whether the documented umasks behave as documented. */
void umask_findings(FILE *out, const struct table *t);
/* Shares of cycles, by unit mask and kernel. */
void umask_plot(const struct table *t, struct chart *c);
