/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the interference of --interference while something is measured. */
#include "cli/disturbing.h"

#include <stdio.h>

#include "cli/measured_cpu.h"
#include "cli/messages.h"
#include "drivers/machine.h"

/* For the refinement `busy` of a quiet machine's table, unless the command line has another one. */
static enum interference wanted_kind(const struct options *o)
{
    bool refines = o->sysroot != NULL ? false : o->job == JOB_ALL || (o->job == JOB_TABLE && o->table->refines);
    return o->interference == INTERFERENCE_NONE && o->quiet_given && refines ? INTERFERENCE_MAKE : o->interference;
}

int disturbing_ready(const struct options *o, struct interferer **out, char *text, size_t size)
{
    struct interference_plan plan;
    struct machine_error error;
    struct cpu_view view;
    int cpu;
    *out = NULL;
    text[0] = '\0';
    enum interference kind = wanted_kind(o);
    if (kind == INTERFERENCE_NONE)
        return DONE;
    if (measured_cpu(o, "/sys", &cpu, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    cpu_view_read("/sys", &view);
    if (interference_plan_for(kind, &view, "/sys", "/proc", cpu, &plan, &error) != MACHINE_OK ||
        interference_ready(&plan, out, &error) != MACHINE_OK)
        return o->interference != INTERFERENCE_NONE ? complain_of_machine("", &error) : DONE;
    interference_plan_text(&plan, text, size);
    return DONE;
}

int disturbing_begin(struct interferer *i)
{
    struct machine_error error;
    return i == NULL || interference_begin(i, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

int disturbing_end(struct interferer *i)
{
    struct machine_error error;
    return i == NULL || interference_end(i, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
}
