/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs of this computer a setup measures on and keeps busy. */
#pragma once

#include "computer/cpu/cpu.h"
#include "drivers/machine.h"

/* Which CPU a setup means, where the machine is this computer: `cpu` of the setup, or the first of its list, or the one
 * that cpu_choose() picks. Returns as cpu_choose(). */
int active_cores_measured(const struct cpu_view *v, const struct machine_setup *s, int *cpu, struct machine_error *err);
/* The CPU that a setup names so; -1: none. */
int active_cores_wanted(const struct machine_setup *s);

/* Which other CPUs to keep busy. */
struct cpu_corunners {
    int *cpus; /* logical CPUs: of each active core but the measured one, then siblings; free() it */
    size_t n;
    unsigned active;     /* physical cores that are active with them, the measured one included */
    unsigned in_package; /* ... of them in the package of the measured one, itself included */
    unsigned in_die;     /* ... and on its die */
    unsigned parts;      /* dies, or third-level caches, that the active cores are on, in turn; 0: they are listed */
    unsigned available;  /* physical cores that may be used, the measured one included */
    unsigned cores;      /* physical cores online */
};
/*
 * Picks a logical CPU of each of the setup's active_cores - 1 other physical cores (0: of all): where the setup lists
 * CPUs, of those, in its order; else first those of the same kind and package as `cpu`, which is measured; of these the
 * quietest (cpu_quietness()); of these one of each die or third-level cache in turn, in order of their numbers, so that
 * n active cores are spread over the package, as the published limits count them. Hyper-threads of active cores are
 * left idle, unless the setup requests siblings: then all that may be used follow. Returns MACHINE_OK,
 * MACHINE_BAD_INPUT when there are fewer cores (the limit is in err->text) or the list holds a CPU that cannot be
 * used, one twice, or, without siblings, two of one core; or MACHINE_FAILED when out of memory.
 */
int active_cores_pick(const char *root, const struct cpu_view *v, int cpu, const struct machine_setup *s,
                      struct cpu_corunners *out, struct machine_error *err);
