/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table umask for a person: shares by kernel and umask, what each umask counts, what is documented. */
#ifndef CHARACTERIZE_TABLES_UMASK_PRINT_H
#define CHARACTERIZE_TABLES_UMASK_PRINT_H

#include "tables/table/table.h"

void umask_print(FILE *out, bool colour, const struct table *t);
/* What each single bit counts, and whether the documented umasks behave as documented. */
void umask_findings(FILE *out, const struct table *t);

#endif
