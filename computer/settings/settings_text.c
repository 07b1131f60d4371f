/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was changed for a quiet machine, and what was not, in words. */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text_list.h"

const char *const settings_part_names[QUIET_PARTS] = {"governor", "epp",       "turbo", "cstates", "smt",
                                                      "irq",      "workqueue", "tick",  "isolate"};

/* "governor performance (was powersave)": one change, by the last part of its file's name. */
static void add_change(const struct change *c, const char *part, char *out, size_t size)
{
    const char *name = strrchr(c->path, '/');

    name = name != NULL ? name + 1 : part;
    if (c->kind == CHANGE_PARTITION)
        text_list_add(out, size, ", ", "alone in a cpuset");
    else if (c->kind == CHANGE_SHIELD)
        text_list_add(out, size, ", ", "other tasks moved to CPUs %.60s", c->after);
    else if (strcmp(name, "online") == 0)
        text_list_add(out, size, ", ", "CPU %d offline", atoi(strstr(c->path, "/cpu/") + strlen("/cpu/cpu")));
    else
        text_list_add(out, size, ", ", "%s %.30s (was %.30s)", name, c->after, c->before);
}

/* One part: its changes where they are few and have names of their own, else their number. */
static void add_part(const struct changes *c, int part, char *out, size_t size)
{
    const size_t few = 1u << part == QUIET_WORKQUEUE || 1u << part == QUIET_CSTATES ? 0 : 3;
    char list[400] = "";
    size_t n = 0, irqs = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct change *one = &c->list[i];
        if (one->part != part || one->undone || one->kind == CHANGE_CONTROLLER)
            continue;
        if (one->kind == CHANGE_IRQ && 1u << part == QUIET_SMT)
            continue; /* follows from it */
        n++;
        irqs += one->kind == CHANGE_IRQ;
        if (n <= few && one->kind != CHANGE_IRQ)
            add_change(one, settings_part_names[part], list, sizeof list);
    }
    if (n > few || irqs > 0) {
        const char *what = irqs > 0 ? "interrupt" : "setting";
        size_t count = irqs > 0 ? irqs : n;
        snprintf(list, sizeof list, "%zu %s%s%s", count, what, count == 1 ? "" : "s", irqs > 0 ? " moved away" : "");
    }
    if (n > 0)
        text_list_add(out, size, "; ", "%s: %s", settings_part_names[part], list);
}

void settings_text_parts(const struct quiet_told *t, const struct changes *c, int cpu, char *out, size_t size)
{
    char parts[700] = "", before[200] = "", left[200] = "";

    for (int i = 0; i < QUIET_PARTS; i++) {
        size_t used = strlen(parts);
        if ((t->wished & 1u << i) == 0)
            continue;
        add_part(c, i, parts, sizeof parts);
        if ((t->already & 1u << i) != 0)
            text_list_add(before, sizeof before, ", ", "%s", settings_part_names[i]);
        else if (strlen(parts) == used)
            text_list_add(left, sizeof left, ", ", "%s", settings_part_names[i]);
    }
    if (t->wished == 0)
        return;
    if (parts[0] == '\0')
        snprintf(parts, sizeof parts, "nothing changed");
    text_list_add(out, size, "; ", "quiet for CPU %d: %s", cpu, parts);
    if (before[0] != '\0')
        text_list_add(out, size, "; ", "so before: %s", before);
    if (left[0] != '\0')
        text_list_add(out, size, "; ", "as it was: %s", left);
}

void settings_text_left(const struct quiet_told *t, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < QUIET_PARTS; i++) {
        char names[200] = "";
        bool told = t->why[i][0] == '\0';
        for (int k = 0; k < QUIET_PARTS; k++) {
            bool same = strcmp(t->why[i], t->why[k]) == 0;
            told = told || (same && k < i);
            if (same && k >= i)
                text_list_add(names, sizeof names, ", ", "%s", settings_part_names[k]);
        }
        if (!told && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s: %s\n", names, t->why[i]);
    }
}
