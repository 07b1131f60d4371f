/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters once they are there: what of them belongs to a CPU, and freeing them. */
#include "output/export/schedule.h"

#include <stdlib.h>
#include <string.h>

size_t schedule_points_of(const struct schedule *s, int cpu, size_t *first)
{
    size_t n = 0;
    *first = 0;
    while (*first < s->n_points && s->points[*first].cpu != cpu)
        (*first)++;
    while (*first + n < s->n_points && s->points[*first + n].cpu == cpu)
        n++;
    return n;
}

size_t schedule_turbos_of(const struct schedule *s, int cpu, size_t *first)
{
    size_t n = 0;
    *first = 0;
    while (*first < s->n_turbos && s->turbos[*first].cpu != cpu)
        (*first)++;
    while (*first + n < s->n_turbos && s->turbos[*first + n].cpu == cpu)
        n++;
    return n;
}

int schedule_cpu(const struct schedule *s, size_t i)
{
    int cpu = -1;
    size_t at = 0, seen = 0;
    for (; at < s->n_points; at++) {
        if (s->points[at].cpu == cpu)
            continue;
        cpu = s->points[at].cpu;
        if (seen++ == i)
            return cpu;
    }
    return -1;
}

void schedule_free(struct schedule *s)
{
    char *texts[] = {s->cpu, s->machine, s->source, s->version, s->date_first, s->date_last};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < s->n_settings; i++) {
        free(s->settings[i].table);
        free(s->settings[i].key);
        free(s->settings[i].value);
    }
    for (size_t i = 0; i < s->n_missing; i++) {
        free(s->missing[i].table);
        free(s->missing[i].why);
    }
    void *arrays[] = {s->settings,    s->classes,     s->triggers,          s->points,    s->turbos, s->costs,
                      s->level_costs, s->relaxations, s->level_relaxations, s->throttles, s->missing};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    memset(s, 0, sizeof *s);
}
