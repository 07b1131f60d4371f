/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-states of the CPU (kernel: admin-guide/pm/cpuidle, "Representation of Idle States"); its vulnerabilities. */
#include <stdio.h>

#include "computer/environment/environment_parts.h"
#include "util/list.h"
#include "util/plain_text.h"

enum { STATES_MAX = 64 };

static void read_idle_state(const struct environment_tree *folder, unsigned number, struct environment_state *out)
{
    char path[64];
    snprintf(path, sizeof path, "state%u/name", number);
    environment_tree_line(folder, path, out->name, sizeof out->name);
    out->exit_us = environment_tree_number(folder, -1, "state%u/latency", number);
    if (out->exit_us < 0)
        out->exit_us = -1;
    out->disabled = environment_tree_number(folder, 0, "state%u/disable", number) != 0;
    out->number = number;
}

void environment_idle_read(const struct environment_tree *t, struct environment *e)
{
    struct environment_tree folder;
    char path[64];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cpuidle", e->cpu);
    if (environment_tree_below(t, path, &folder) != 0)
        return;
    for (unsigned i = 0; i < STATES_MAX; i++) {
        snprintf(path, sizeof path, "state%u", i);
        if (!environment_tree_exists(&folder, path) || !list_room(&e->states, e->n_states, sizeof *e->states))
            break;
        read_idle_state(&folder, i, &e->states[e->n_states++]);
    }
    environment_tree_close(&folder);
}

void environment_weaknesses_read(const struct environment_tree *t, struct environment *e)
{
    static const char path[] = "sys/devices/system/cpu/vulnerabilities";
    struct environment_tree folder;
    struct environment_names names;
    if (environment_tree_below(t, path, &folder) != 0)
        return;
    environment_tree_names(t, path, "", &names);
    for (size_t i = 0; i < names.n && e->n_weaknesses < ENVIRONMENT_LIST_MAX; i++) {
        if (!list_room(&e->weaknesses, e->n_weaknesses, sizeof *e->weaknesses))
            break;
        struct environment_weakness *w = &e->weaknesses[e->n_weaknesses];
        plain_text(names.name[i], w->name, sizeof w->name);
        e->n_weaknesses += environment_tree_line(&folder, names.name[i], w->text, sizeof w->text) == 0;
    }
    environment_names_free(&names);
    environment_tree_close(&folder);
}
