/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table/chart_table.h"

#include <math.h>

#include "util/text_list.h"

const char *chart_key(const struct table *t, size_t row, const char *column, char *out, size_t size)
{
    const char *text = table_text(t, row, column);
    double number = table_number(t, row, column);
    out[0] = '\0';
    if (text)
        snprintf(out, size, "%s", text);
    else if (isfinite(number))
        snprintf(out, size, "%.10g", number);
    return out;
}

bool chart_varies(const struct table *t, const char *column)
{
    for (size_t row = 1; row < t->n_rows; row++)
        if (!table_same(t, 0, row, column))
            return true;
    return false;
}

double chart_largest(const struct table *t, const char *column)
{
    double largest = NAN;
    for (size_t row = 0; row < t->n_rows; row++)
        largest = fmax(largest, table_number(t, row, column));
    return largest;
}

bool chart_row_is(const struct table *t, size_t row, const char *column, const char *value)
{
    return !table_has(t, column) || table_says(t, row, column, value);
}

const char *chart_pair(const struct table *t, size_t row, bool cores, char *out, size_t size)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    double active = table_number(t, row, "active_cores");
    snprintf(out, size, "%s \xE2\x86\x92 %s", from ? from : "?", to ? to : "?");
    if (cores && isfinite(active))
        text_list_add(out, size, ", ", "%.0f core%s", active, active == 1 ? "" : "s");
    return out;
}

void chart_add_row(struct chart *c, struct chart_panel *p, const char *category, const struct estimate *v,
                   struct chart_bar look, const char *text)
{
    char number[CHART_TEXT_MAX];
    if (p->n_bars >= CHART_ROWS_MAX) {
        p->omitted++;
        return;
    }
    look.category = chart_name(c, &p->categories, category);
    look.to = v->value;
    look.lo = v->lo;
    look.hi = v->hi;
    if (!text)
        chart_number(v->value, number, sizeof number);
    chart_add_bar(c, p, look, text ? text : number);
}

void chart_tell_omitted(struct chart_panel *p, size_t shown, const char *what)
{
    if (p->omitted)
        text_list_add(p->note, sizeof p->note, " ", "The first %zu of %zu %s; the table has them all.", shown,
                      shown + p->omitted, what);
}
