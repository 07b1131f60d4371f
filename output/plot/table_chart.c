/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/charts.h"

#include <stdio.h>
#include <string.h>

#include "output/plot/plot.h"
#include "tables/table/tables.h"
#include "util/error.h"
#include "util/text_list.h"

static void subtitle(const struct table *t, char *out, size_t size)
{
    static const char *const keys[] = {"cpu", "machine", "date"};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = table_meta(t, keys[i]);
        if (value)
            text_list_add(out, size, ", ", "%s", value);
    }
}

int table_chart(const struct table *t, const char *title, struct chart *c, char *why, size_t why_size)
{
    const struct table_kind *k = t->name ? tables_find(t->name) : NULL;
    bool drawn = k && tables_drawn(k);
    memset(c, 0, sizeof *c);
    c->modelled = table_modelled(t);
    if (!drawn || t->n_rows == 0)
        return error_line(why, why_size, drawn ? "the table has no rows" : "tables of this name have no plot");
    snprintf(c->title, sizeof c->title, "%s", title ? title : t->name);
    subtitle(t, c->subtitle, sizeof c->subtitle);
    tables_draw(k, t, c);
    return plot_worth(c, "the table has no values to draw", why, why_size);
}
