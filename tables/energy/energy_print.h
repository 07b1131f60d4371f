/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table energy for a person. */
#ifndef CHARACTERIZE_TABLES_ENERGY_PRINT_H
#define CHARACTERIZE_TABLES_ENERGY_PRINT_H

#include "tables/table/table.h"

void energy_print(FILE *out, bool colour, const struct table *t);
/* Power and energy of the widths of one operation, and where they are not those of the code alone. */
void energy_findings(FILE *out, const struct table *t);

#endif
