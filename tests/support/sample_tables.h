/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as they come out of a measurement, for the tests of plots and of the report; none of them was measured. */
#pragma once

#include "tables/table/table.h"

/* Names of the tables there are samples of; *n is set. */
const char *const *sample_table_names(size_t *n);

/*
 * A table of this name with figures like those of a Xeon Gold 6130, limits, metadata and a missing entry or two.
 * n_kernels: how many of the kernels' names are used (2 to 20); cores: active cores up to this number.
 */
void sample_table(struct table *t, const char *name, size_t n_kernels, unsigned cores);

/* The same columns without a row. */
void sample_table_empty(struct table *t, const char *name);

/* Text that breaks what does not escape: markup, quotes, control characters, bytes that are not UTF-8. */
extern const char sample_nasty[];
