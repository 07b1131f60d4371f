/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

struct symbol {
    uint64_t address, size;
    uint32_t name; /* offset in names */
    uint32_t rank;
};

struct symbols {
    struct symbol *symbol; /* by address */
    size_t n;
    char *names;
    size_t used, room;
};

struct symbols *symbols_new(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
    if (s == NULL)
        return;
    free(s->symbol);
    free(s->names);
    free(s);
}

bool symbols_add(struct symbols *s, uint64_t address, uint64_t size, unsigned rank, const char *name)
{
    size_t length = strlen(name);
    if (s->n >= SYMBOLS_MAX || !list_room(&s->symbol, s->n, sizeof(s->symbol[0])))
        return false;
    if (s->used + length + 1 > s->room) {
        size_t room = 2 * s->room + length + 4096;
        char *names = realloc(s->names, room);
        if (names == NULL)
            return false;
        s->names = names;
        s->room = room;
    }
    s->symbol[s->n++] = (struct symbol){.address = address, .size = size, .name = (uint32_t)s->used, .rank = rank};
    memcpy(s->names + s->used, name, length);
    s->names[s->used + length] = '\0';
    s->used += length + 1;
    return true;
}

size_t symbols_count(const struct symbols *s)
{
    return s->n;
}

/* Of those at one address the last is the one that counts. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->name < y->name) - (x->name > y->name);
}

void symbols_sort(struct symbols *s)
{
    if (s->n > 0)
        qsort(s->symbol, s->n, sizeof(s->symbol[0]), compare_symbols);
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
    size_t begin = 0, end = s->n; /* what is sought is before `end`; all before `begin` is at or below the address */
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (s->symbol[middle].address <= address)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == 0)
        return NULL;
    const struct symbol *at = &s->symbol[begin - 1];
    return at->size == 0 || address - at->address < at->size ? s->names + at->name : NULL;
}

/* Lines "ffffffff81000000 T _stext", of a module with "\t[NAME]" behind it (kernel/kallsyms.c). */
struct symbols *symbols_of_kernel(const char *path)
{
    char line[1024];
    struct symbols *s = symbols_new();
    FILE *in = s != NULL ? fopen(path, "re") : NULL;
    bool fine = s != NULL;
    while (in != NULL && fine && fgets(line, sizeof(line), in) != NULL) {
        char *end, *name;
        uint64_t address = strtoull(line, &end, 16);
        if (address == 0 || end[0] != ' ' || strchr("tTwW", end[1]) == NULL || end[1] == '\0' || end[2] != ' ')
            continue;
        name = end + 3;
        name[strcspn(name, "\t\n")] = '\0';
        fine = symbols_add(s, address, 0, 0, name);
    }
    if (in != NULL)
        (void)fclose(in);
    if (fine)
        symbols_sort(s);
    if (fine || s == NULL)
        return s;
    symbols_free(s);
    return NULL;
}
