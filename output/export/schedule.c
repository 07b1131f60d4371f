/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/schedule.h"

#include <stdlib.h>
#include <string.h>

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
