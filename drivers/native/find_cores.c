/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs a machine takes for threads of one core: as sysfs says, or, in virtual machines, as measured. */
#include "drivers/native/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/native/core_pairs_measure.h"

void native_view(const struct native *s, struct cpu_view *out)
{
    cpu_view_read(s->sys, out);
    out->core = s->cores_measured ? s->core : NULL;
}

void native_count_cores(struct native *s)
{
    struct cpu_view view;
    struct cpu_corunners all;
    const struct machine_setup everything = {.cpu = -1};
    struct machine_error ignored;
    int cpu;

    native_view(s, &view);
    if (cpu_choose(&view, -1, &cpu, &ignored) != MACHINE_OK ||
        active_cores_pick(s->sys, &view, cpu, &everything, &all, &ignored) != MACHINE_OK)
        return;
    free(all.cpus);
    s->cores = all.cores;
    s->usable_cores = all.available;
}

void native_take_cores(struct native *s, const struct core_pairs *p)
{
    char text[240];

    if (!core_pairs_cores(p, s->sys, s->core))
        return;
    s->cores_measured = true;
    native_count_cores(s);
    (void)core_pairs_text(p, CORE_PAIR_KINDS, text, sizeof text);
    text_list_add(s->machine_notes, sizeof s->machine_notes, "; ",
                  "%s: cores are counted and co-runners are placed by that", text);
    snprintf(s->notes, sizeof s->notes, "%s", s->machine_notes);
}

void native_find_cores(struct machine *m)
{
    struct native *s = m->state;
    struct cpu_view view;
    struct core_pairs pairs;
    struct machine_error ignored;

    if (!s->id.hypervisor || strcmp(s->sys, "/sys") != 0)
        return;
    cpu_view_read(s->sys, &view);
    if (core_pairs_begin(s->sys, &view, CORE_PAIRS_ROUNDS_MOST, tsc_now(), &pairs) != 0)
        return;
    if (core_pairs_measure(&pairs, NULL, s->tsc.hz, CORE_PAIRS_SECONDS_MOST, &ignored) == MACHINE_OK)
        native_take_cores(s, &pairs);
    core_pairs_free(&pairs);
}
