/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table on a screen: its head, its rows, and missing entries with the reasons, equal ones together. */
#include <math.h>
#include <string.h>

#include "util/plain_text.h"
#include "util/screen_text.h"
#include "util/text_list.h"
#include "tables/table/pivot.h"
#include "tables/table/tables.h"

enum { FIELD_MAX = 160 };

static const char bold[] = "\033[1m", red[] = "\033[31m", plain[] = "\033[0m";

void table_print_head(FILE *out, bool colour, const struct table *t, const char *title)
{
    const char *cpu = table_meta(t, "cpu"), *source = table_meta(t, "source");
    fputs(colour ? bold : "", out);
    screen_text_words(out, title ? title : t->name, 0, 2, screen_text_width(out));
    fprintf(out, "%s\n", colour ? plain : "");
    if (cpu)
        fprintf(out, "%s\n", cpu);
    if (table_modelled(t)) {
        fputs(colour ? red : "", out);
        screen_text_words(out, source && *source ? source : "modelled, not measured", 0, 2, screen_text_width(out));
        fprintf(out, "%s\n", colour ? plain : "");
    }
}

void table_missing_name(const struct table *t, size_t entry, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct table_value *v = &t->missing[entry].values[c];
        char field[FIELD_MAX];
        if (v->text)
            plain_text(v->text, field, sizeof field);
        else if (isfinite(v->number))
            pivot_number_text(&t->columns[c], v->number, field);
        else
            continue;
        text_list_add(out, size, ", ", "%s%s%s", v->text ? "" : t->columns[c].name, v->text ? "" : " ", field);
    }
}

static bool said_before(const struct table *t, size_t entry)
{
    for (size_t i = 0; i < entry; i++)
        if (strcmp(t->missing[i].why, t->missing[entry].why) == 0)
            return true;
    return false;
}

static void print_missing(FILE *out, bool colour, const struct table *t)
{
    enum { NAMED = 4 };
    char text[1200], name[200];
    if (t->n_missing == 0)
        return;
    fprintf(out, "%sNot measured%s\n", colour ? bold : "", colour ? plain : "");
    for (size_t i = 0; i < t->n_missing; i++) {
        if (said_before(t, i))
            continue;
        size_t n = 0;
        text[0] = '\0';
        for (size_t k = i; k < t->n_missing; k++) {
            if (strcmp(t->missing[k].why, t->missing[i].why) != 0)
                continue;
            table_missing_name(t, k, name, sizeof name);
            if (n++ < NAMED)
                text_list_add(text, sizeof text, "; ", "%s", name);
        }
        if (n > NAMED)
            snprintf(text + strlen(text), sizeof text - strlen(text), "; and %zu more", n - NAMED);
        char why[FIELD_MAX * 6];
        plain_text(t->missing[i].why, why, sizeof why);
        text_list_add(text, sizeof text, ": ", "%s", why);
        pivot_note(out, 2, "  %s", text);
    }
}

void tables_print(FILE *out, bool colour, const struct table_kind *k, const struct table *t)
{
    table_print_head(out, colour, t, k->title);
    for (size_t i = 0; i < k->n_views; i++)
        pivot_list(out, colour, t, &k->views[i]);
    if (t->n_rows && (k->print || !k->n_views))
        (k->print ? k->print : pivot_rows)(out, colour, t);
    print_missing(out, colour, t);
}
