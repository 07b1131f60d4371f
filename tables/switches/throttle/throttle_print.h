/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The throttle table for a person (private to tables/). */
#ifndef CHARACTERIZE_TABLES_THROTTLE_PRINT_H
#define CHARACTERIZE_TABLES_THROTTLE_PRINT_H

#include "tables/table/table.h"

void throttle_print(FILE *out, bool colour, const struct table *t);
void throttle_findings(FILE *out, const struct table *t);

#endif
