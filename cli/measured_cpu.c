/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU that a measurement would take. */
#include "cli/measured_cpu.h"

#include "computer/cpu/cpu.h"
#include "drivers/active_cores.h"
#include "drivers/machine.h"

int measured_cpu(const struct options *o, const char *sys, int *cpu, struct machine_error *err)
{
    struct cpu_view view;
    int first = o->n_cpus > 0 ? (int)o->cpus[0] : -1;
    const struct machine_setup setup = {
        .cpu = o->cpu.given ? (int)o->cpu.value : -1, .cpus = o->n_cpus > 0 ? &first : NULL, .n_cpus = o->n_cpus > 0};
    cpu_view_read(sys, &view);
    if (o->sysroot != NULL)
        view.allowed = view.online; /* what this process may use says nothing of that machine */
    return cpu_choose_measured(&view, &setup, cpu, err);
}
