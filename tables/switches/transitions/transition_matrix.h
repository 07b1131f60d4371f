/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_TABLES_TRANSITION_MATRIX_H
#define CHARACTERIZE_TABLES_TRANSITION_MATRIX_H

#include "tables/table/table.h"

/*
 * The transitions table at one number of active cores for a person: a matrix of latencies, from x to, at most 100
 * columns wide. Kernels that behave alike towards all others (kind, halts, frequencies within 1 %, latencies within
 * 5 % or 1.5 us) and show nothing among themselves share a line; what does not fit goes into further matrices. Then the
 * phases of what was found, and what would have been found where nothing was.
 */
void transition_matrix_print(FILE *out, bool colour, const struct table *t, unsigned cores);

#endif
