/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as CSV: comment lines with the metadata and the settings, the line of column names, the rows (RFC 4180). */
#include <math.h>

#include "tables/table/table.h"
#include "trace/trace.h"

static void write_value(FILE *out, const struct table_column *c, const struct table_value *v)
{
    if (c->type == TABLE_TEXT && v->text)
        trace_write_csv_text(out, v->text);
    else if (c->type == TABLE_WHOLE && isfinite(v->number))
        fprintf(out, "%.0f", v->number + 0.0);
    else if (c->type == TABLE_REAL && isfinite(v->number))
        fprintf(out, "%.9g", v->number + 0.0);
}

int table_write_csv(FILE *out, const struct table *t)
{
    fprintf(out, "# format: characterize-table/1\n# table: %s\n", t->name);
    for (size_t i = 0; i < t->n_meta; i++)
        fprintf(out, "# %s: %s\n", t->meta[i].key, t->meta[i].value);
    for (size_t i = 0; i < t->n_settings; i++)
        fprintf(out, "# %s: %s\n", t->settings[i].key, t->settings[i].value);
    for (size_t i = 0; i < t->n_columns; i++)
        fprintf(out, "%s%s", i ? "," : "", t->columns[i].name);
    putc('\n', out);
    for (size_t row = 0; row < t->n_rows; row++) {
        for (size_t i = 0; i < t->n_columns; i++) {
            if (i)
                putc(',', out);
            write_value(out, &t->columns[i], &t->values[row * t->n_columns + i]);
        }
        putc('\n', out);
    }
    return ferror(out) ? -1 : 0;
}
