/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table cores. */
#pragma once

#include "tables/table/table.h"

/* The next row of a kernel from `row` on; t->n_rows: there is none. */
size_t cores_row_of(const struct table *t, const char *kernel, size_t row);
/* The kernel of the first row that none before it has, from `row` on; NULL: there is none. *row: that row. */
const char *cores_next_kernel(const struct table *t, size_t *row);
