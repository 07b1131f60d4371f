/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table on a screen: aligned columns, limits beside their values, and what is missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"
#include "tables/table/table.h"

enum { FIELD_MAX = 160, SCREEN_WIDTH = 100 };

static const char bold[] = "\033[1m", red[] = "\033[31m", plain[] = "\033[0m";

static void safe(const char *text, char *out, size_t size)
{
    plain_text(text ? text : "", out, size);
}

void table_print_head(FILE *out, bool colour, const struct table *t, const char *title)
{
    char line[300];
    safe(title ? title : t->name, line, sizeof line);
    fprintf(out, "%s%s%s\n", colour ? bold : "", line, colour ? plain : "");
    if (table_meta(t, "cpu")) {
        safe(table_meta(t, "cpu"), line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    if (table_modelled(t)) {
        safe(table_meta(t, "source"), line, sizeof line);
        fprintf(out, "%s%s%s\n", colour ? red : "", line[0] ? line : "modelled, not measured", colour ? plain : "");
    }
}

/* Whether column c is a limit that is printed beside its value. */
static bool table_text_is_limit(const struct table *t, size_t c)
{
    char base[80];
    const char *name = t->columns[c].name;
    size_t length = strlen(name);
    if (length < 4 || length >= sizeof base || (strcmp(name + length - 3, "_lo") && strcmp(name + length - 3, "_hi")))
        return false;
    memcpy(base, name, length - 3);
    base[length - 3] = '\0';
    return table_has(t, base);
}

static void format_number(const struct table_column *c, double x, char *out, size_t size)
{
    if (!isfinite(x))
        snprintf(out, size, "-");
    else if (table_is_code(c) && x >= 0 && x < 65536)
        snprintf(out, size, "%02XH", (unsigned)x);
    else
        snprintf(out, size, "%.*f", c->type == TABLE_WHOLE ? 0 : c->decimals, x + 0.0);
}

/* A field as it is shown; the limits of a value in brackets behind it. */
static void format_field(const struct table *t, size_t row, size_t c, char *out, size_t size)
{
    const struct table_column *column = &t->columns[c];
    if (column->type == TABLE_TEXT) {
        safe(table_text(t, row, column->name), out, size);
        if (!out[0])
            snprintf(out, size, "-");
        return;
    }
    char value[40], lo[40], hi[40], name[90];
    format_number(column, table_number(t, row, column->name), value, sizeof value);
    snprintf(name, sizeof name, "%s_lo", column->name);
    double low = table_number(t, row, name);
    snprintf(name, sizeof name, "%s_hi", column->name);
    double high = table_number(t, row, name);
    if (!isfinite(low) || !isfinite(high)) {
        snprintf(out, size, "%s", value);
        return;
    }
    format_number(column, low, lo, sizeof lo);
    format_number(column, high, hi, sizeof hi);
    snprintf(out, size, "%s [%s, %s]", value, lo, hi);
}

static bool all_absent(const struct table *t, size_t c)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (t->values[row * t->n_columns + c].text || isfinite(t->values[row * t->n_columns + c].number))
            return false;
    return true;
}

static int width_of(const struct table *t, size_t c)
{
    char field[FIELD_MAX];
    size_t width = strlen(t->columns[c].name);
    for (size_t row = 0; row < t->n_rows; row++) {
        format_field(t, row, c, field, sizeof field);
        width = strlen(field) > width ? strlen(field) : width;
    }
    return (int)width;
}

static void table_text_print_rows(FILE *out, bool colour, const struct table *t)
{
    int width[TABLE_COLUMNS_MAX];
    char field[FIELD_MAX];
    for (size_t c = 0; c < t->n_columns; c++) /* a column that says nothing takes no room */
        width[c] = table_text_is_limit(t, c) || all_absent(t, c) ? 0 : width_of(t, c);
    fputs(colour ? bold : "", out);
    for (size_t c = 0; c < t->n_columns; c++)
        if (width[c])
            fprintf(out, t->columns[c].type == TABLE_TEXT ? "%-*s  " : "%*s  ", width[c], t->columns[c].name);
    fprintf(out, "%s\n", colour ? plain : "");
    for (size_t row = 0; row < t->n_rows; row++) {
        for (size_t c = 0; c < t->n_columns; c++) {
            if (!width[c])
                continue;
            format_field(t, row, c, field, sizeof field);
            fprintf(out, t->columns[c].type == TABLE_TEXT ? "%-*s  " : "%*s  ", width[c], field);
        }
        putc('\n', out);
    }
}

/* The key fields of a missing entry: "512fma, active_cores 16". */
static void name_entry(const struct table *t, size_t entry, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t c = 0; c < t->n_columns && used + 1 < size; c++) {
        const struct table_value *v = &t->missing[entry].values[c];
        char field[FIELD_MAX];
        if (v->text)
            safe(v->text, field, sizeof field);
        else if (isfinite(v->number))
            format_number(&t->columns[c], v->number, field, sizeof field);
        else
            continue;
        int n = snprintf(out + used, size - used, "%s%s%s%s", used ? ", " : "", v->text ? "" : t->columns[c].name,
                         v->text ? "" : " ", field);
        used += n > 0 ? (size_t)n : 0;
    }
}

static bool said_before(const struct table *t, size_t entry)
{
    for (size_t i = 0; i < entry; i++)
        if (strcmp(t->missing[i].why, t->missing[entry].why) == 0)
            return true;
    return false;
}

static void print_words(FILE *out, const char *indent, const char *text)
{
    size_t column = strlen(indent);
    fputs(indent, out);
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > strlen(indent) && column + 1 + length > SCREEN_WIDTH) {
            fprintf(out, "\n%s", indent);
            column = strlen(indent);
        } else if (column > strlen(indent)) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', out);
}

void table_print_missing(FILE *out, bool colour, const struct table *t)
{
    enum { NAMED = 4 };
    char text[1200], name[200];
    if (t->n_missing == 0)
        return;
    fprintf(out, "%sNot measured%s\n", colour ? bold : "", colour ? plain : "");
    for (size_t i = 0; i < t->n_missing; i++) {
        if (said_before(t, i))
            continue;
        size_t n = 0, used = 0;
        text[0] = '\0';
        for (size_t k = i; k < t->n_missing; k++) {
            if (strcmp(t->missing[k].why, t->missing[i].why) != 0)
                continue;
            name_entry(t, k, name, sizeof name);
            if (n++ < NAMED && name[0])
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "; " : "", name);
        }
        if (n > NAMED)
            used += (size_t)snprintf(text + used, sizeof text - used, "; and %zu more", n - NAMED);
        char why[FIELD_MAX * 6];
        safe(t->missing[i].why, why, sizeof why);
        if (used < sizeof text)
            snprintf(text + used, sizeof text - used, "%s%s", used ? ": " : "", why);
        print_words(out, "  ", text);
    }
}

void table_print(FILE *out, bool colour, const struct table *t, const char *title)
{
    table_print_head(out, colour, t, title);
    if (t->n_rows)
        table_text_print_rows(out, colour, t);
    table_print_missing(out, colour, t);
}
