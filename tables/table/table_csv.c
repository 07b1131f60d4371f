/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as CSV: comment lines with the metadata and the settings, the line of column names, the rows (RFC 4180). */
#include <math.h>
#include <string.h>

#include "util/plain_text.h"
#include "tables/table/table.h"

static void table_csv_write_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
    }
    putc('"', out);
}

/* One line, whatever the value holds. */
static void write_comment(FILE *out, const char *key, const char *value)
{
    fprintf(out, "# %s: ", key);
    for (const char *c = value; *c; c++)
        putc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
    putc('\n', out);
}

static void write_value(FILE *out, const struct table_column *c, const struct table_value *v)
{
    if (c->type == TABLE_TEXT && v->text)
        table_csv_write_text(out, v->text);
    else if (c->type == TABLE_WHOLE && isfinite(v->number))
        fprintf(out, "%.0f", v->number + 0.0);
    else if (c->type == TABLE_REAL && isfinite(v->number))
        fprintf(out, "%.9g", v->number + 0.0);
}

int table_write_csv(FILE *out, const struct table *t)
{
    write_comment(out, "format", "characterize-table/1");
    write_comment(out, "table", t->name);
    for (size_t i = 0; i < t->n_meta; i++)
        write_comment(out, t->meta[i].key, t->meta[i].value);
    for (size_t i = 0; i < t->n_settings; i++)
        write_comment(out, t->settings[i].key, t->settings[i].value);
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
