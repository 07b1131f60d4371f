/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published figures of the processor that is measured, to stand beside the measured ones on the screen. */
#pragma once

#include "tables/published/sku.h"
#include "tables/table/table.h"
#include "util/error.h"

/*
 * The shipped figures (data/skus/) of the processor whose brand string `cpu` is: MACHINE_OK and sku_free(out) later;
 * MACHINE_CANNOT: there are none; or another status after filling *err: there are none among the files that can be
 * read, and one cannot. data_dir: NULL = the shipped data.
 */
int tables_find_sku(const char *cpu, const char *data_dir, struct sku *out, struct machine_error *err);

/* Puts those of table `t` into its detail "published", if there are any. What cannot be read is left out, as
 * the figures are for display alone, and the setting "published_figures" says why. */
void tables_note_published(struct table *t, const char *data_dir);
