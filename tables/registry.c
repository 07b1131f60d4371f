/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of tables. */
#include <string.h>

#include "tables/registry.h"
#include "tables/table/tables.h"

#define TABLE_KIND_ADDRESS(name) &table_##name,
static const struct table_kind *const kinds[] = {TABLE_KINDS(TABLE_KIND_ADDRESS) NULL};

const struct table_kind *const *tables_all(size_t *n)
{
    *n = sizeof kinds / sizeof kinds[0] - 1;
    return kinds;
}

const struct table_kind *tables_find(const char *name)
{
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const struct table_kind *tables_exported(enum tables_export part)
{
    for (size_t i = 0; kinds[i]; i++)
        if (kinds[i]->exported == part)
            return kinds[i];
    return NULL;
}
