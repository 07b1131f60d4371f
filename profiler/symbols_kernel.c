/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/symbols.h"

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
