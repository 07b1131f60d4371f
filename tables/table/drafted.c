/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rows of a table say something of the processor, and what selects them. */
#include <string.h>

#include "tables/table/tables.h"
#include "util/text_list.h"

bool tables_drafted_row(const struct tables_drafted *d, const char *text)
{
    return !d->only || (text && text_list_has(d->is, text));
}

bool tables_drafted_key(const struct tables_drafted *d, const char *key, const char *text)
{
    return !d->found || !text || strcmp(key, d->found) != 0 || strcmp(text, d->found_in) != 0;
}
