/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where files of published figures are, and reading them. */
#ifndef CHARACTERIZE_TABLES_SKU_FILE_H
#define CHARACTERIZE_TABLES_SKU_FILE_H

#include "tables/published/sku.h"
#include "util/error.h"

/*
 * Reads the figures of a shipped SKU (data/skus/NAME.sku) or a file of one's own (a name with a slash or a dot).
 * Columns and kernels that do not exist are refused with the nearest that do.
 * data_dir: where skus/ is, NULL = the shipped data. MACHINE_OK, and sku_free(out) later; or *err and its status.
 */
int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err);

/* The names of the shipped ones, in alphabetical order: 0, and free with sku_list_free; or -1: out of memory. */
int sku_list(const char *data_dir, char ***names, size_t *n);
void sku_list_free(char **names, size_t n);

#endif
