/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/tables.h"
#include "util/list.h"

/* Only what every file system and every shell takes; a slash of a density becomes a dash. */
static void make_harmless(char *id)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+-";
    for (char *c = id; *c; c++)
        if (!strchr(harmless, *c))
            *c = '-';
    if (id[0] == '.' || id[0] == '-')
        id[0] = '_';
}

struct cell *cells_add(struct cells *c, const struct payload *a, const struct payload *b, unsigned active_cores,
                       const char *id, ...)
{
    static const struct payload none = {.kernel = NULL};
    char name[TABLES_CELL_ID_MAX];
    va_list arguments;
    va_start(arguments, id);
    vsnprintf(name, sizeof name, id, arguments);
    va_end(arguments);
    make_harmless(name);
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cell[i].id, name) == 0)
            return NULL;
    if (!list_room(&c->cell, c->n, sizeof *c->cell))
        return NULL;
    struct cell *new = &c->cell[c->n++];
    *new = (struct cell){
        .a = a ? *a : none, .b = b ? *b : none, .active_cores = active_cores, .cpu = -1, .seconds = 0.1};
    memcpy(new->id, name, sizeof name);
    return new;
}

void cells_free(struct cells *c)
{
    free(c->cell);
    memset(c, 0, sizeof *c);
}

void tables_put_cell(struct table *t, const struct cell *c)
{
    if (c->a.kernel && table_has(t, "kernel"))
        table_put_text(t, "kernel", c->a.name);
    if (c->a.kernel && table_has(t, "from"))
        table_put_text(t, "from", c->a.name);
    if (c->b.kernel && table_has(t, "to"))
        table_put_text(t, "to", c->b.name);
    if (c->active_cores && table_has(t, "active_cores"))
        table_put_number(t, "active_cores", c->active_cores);
    if (c->cpu >= 0 && table_has(t, "cpu"))
        table_put_number(t, "cpu", c->cpu);
}

void tables_cell_missing(struct table *t, const struct cell *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table_add_missing_v(t, format, args);
    va_end(args);
    tables_put_cell(t, c);
}
