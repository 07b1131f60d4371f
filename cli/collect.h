/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finished tables for jobs that work on several: read from a directory of --all, or measured. */
#pragma once

#include <stddef.h>

#include "tables/table/table.h"
#include "cli/measuring.h"
#include "cli/options/options.h"

struct collected {
    size_t n;
    struct table table[MEASURING_TABLES_MAX];
    const struct table *list[MEASURING_TABLES_MAX]; /* the same, as pointers */
};

/*
 * With --input the tables of that directory (those of these kinds, as far as they are there; at least one), otherwise
 * measures them. They are of one measurement and have their columns. DONE, or an exit status after a line;
 * *c is then empty.
 */
int collect_tables(const struct options *o, const struct table_kind *const *kinds, size_t n, struct collected *c);
void collect_free(struct collected *c);
