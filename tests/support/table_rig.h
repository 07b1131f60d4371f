/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the tables: a table measured on a model. */
#pragma once

#include "drivers/model/model.h"
#include "tables/registry.h"
#include "tables/table/tables.h"

/* Measures a table; the test fails with the reason where that is refused. table_free(). */
void rig_measure_on(const struct table_kind *k, struct machine *m, const struct tables_options *o, struct table *out);
void rig_measure(const struct table_kind *k, const struct model *m, const struct tables_options *o, struct table *out);

/* Returns the table's findings; and everything printed of it, without colors: the table, of which no line may be longer
 * than 100 columns, then the findings. To be freed. */
char *rig_findings(const struct table_kind *k, const struct table *t);
char *rig_printed(const struct table_kind *k, const struct table *t);

/* A model whose mean values describe it: waits are not doubled or begun again, counts of instructions do not
 * scatter. */
void rig_load_plain(const char *name, struct model *m);
