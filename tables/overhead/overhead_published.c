/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The detail "published" of the table overhead, as its printing wants it. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tables/overhead/overhead_print.h"

/* The entry of a pair and number of cores, made if it is not there. NULL: the list is full. */
static struct overhead_published *entry(struct overhead_published *list, size_t max, size_t *n, const char *from,
                                        const char *to, size_t to_length, unsigned cores)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i].from, from) == 0 && strlen(list[i].to) == to_length &&
            strncmp(list[i].to, to, to_length) == 0 && list[i].active_cores == cores)
            return &list[i];
    if (*n == max || strlen(from) >= sizeof list->from || to_length >= sizeof list->to)
        return NULL;
    struct overhead_published *p = &list[(*n)++];
    *p = (struct overhead_published){.active_cores = cores, .down_us = NAN, .up_us = NAN, .breakeven_us = NAN};
    memcpy(p->from, from, strlen(from) + 1);
    memcpy(p->to, to, to_length);
    p->to[to_length] = '\0';
    return p;
}

static void overhead_published_take(const json_t *figure, struct overhead_published *list, size_t max, size_t *n)
{
    const json_t *keys = json_object_get(figure, "keys");
    const char *from = json_string_value(json_object_get(keys, "from")),
               *to = json_string_value(json_object_get(keys, "to")),
               *column = json_string_value(json_object_get(figure, "column"));
    unsigned cores = (unsigned)json_number_value(json_object_get(keys, "active_cores"));
    double value = json_number_value(json_object_get(figure, "value"));
    while (from && to && column && *to) {
        size_t length = strcspn(to, ",");
        struct overhead_published *p = entry(list, max, n, from, to, length, cores);
        if (!p)
            return;
        *(strcmp(column, "down_us") == 0 ? &p->down_us
          : strcmp(column, "up_us") == 0 ? &p->up_us
                                         : &p->breakeven_us) = value;
        to += length + (to[length] == ',');
    }
}

size_t overhead_published_of(const struct table *t, struct overhead_published *out, size_t max)
{
    const char *text = table_detail(t, "published");
    json_t *list = text ? json_loads(text, 0, NULL) : NULL;
    size_t i, n = 0;
    const json_t *figure;
    json_array_foreach(list, i, figure)
    {
        overhead_published_take(figure, out, max, &n);
    }
    json_decref(list);
    return n;
}
