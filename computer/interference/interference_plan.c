/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "computer/interference/interference.h"

#include <stdio.h>
#include <stdlib.h>

#include "computer/cpu/caches.h"

const char *const interference_names[INTERFERENCES] = {"", "make", "memory", "script"};

enum { PROCESSES_MAX = 1024 };
static const size_t mib = (size_t)1 << 20;
static const size_t job_bytes = (size_t)64 << 20;

/* A number of bytes from a file of one; `otherwise` where there is none ("max"). */
static double bytes_in(const char *sys, const char *path, double otherwise)
{
    char text[40], *end;
    if (cpu_read_text(sys, text, sizeof text, "%s", path) <= 0)
        return otherwise;
    double bytes = strtod(text, &end);
    return end != text && bytes >= 0 ? bytes : otherwise;
}

/* What a container may still use, where its cgroup is the root of what it sees. */
static double left_by_cgroup(const char *sys)
{
    double limit = bytes_in(sys, "fs/cgroup/memory.max", 1e18);
    double old_limit = bytes_in(sys, "fs/cgroup/memory/memory.limit_in_bytes", 1e18);
    double left = limit - bytes_in(sys, "fs/cgroup/memory.current", 0);
    double old_left = old_limit - bytes_in(sys, "fs/cgroup/memory/memory.usage_in_bytes", 0);
    double less = left < old_left ? left : old_left;
    return less > 0 ? less : 0;
}

/* Free memory in bytes; 0 where it is not told. */
static double memory_free(const char *sys, const char *proc)
{
    double here = (double)cpu_memory_available(proc), cgroup = left_by_cgroup(sys);
    return here < cgroup ? here : cgroup;
}

/* The largest cache of a CPU, in bytes; 0 where it is not told. */
static double last_cache(const char *sys, int cpu)
{
    double largest = 0;
    for (int i = 0; i < 8; i++) {
        char text[24], *end;
        if (cpu_read_text(sys, text, sizeof text, "devices/system/cpu/cpu%d/cache/index%d/size", cpu, i) <= 0)
            continue;
        double size = strtod(text, &end) * (*end == 'M' ? 1048576 : *end == 'K' ? 1024 : 1);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* The CPUs that others than the measured one may use, and of them the best place for one process: another core. */
static int other_cpus(const struct cpu_view *v, const char *sys, int cpu, struct cpu_mask *others)
{
    int best = -1;
    cpu_mask_clear(others);
    for (int i = 0; i < CPU_LIMIT; i++) {
        if (i == cpu || !cpu_usable(v, i))
            continue;
        cpu_mask_add(others, i);
        if (best < 0 || cpu_core_of(sys, i) != cpu_core_of(sys, cpu))
            best = i;
    }
    return best;
}

int interference_plan_for(enum interference kind, const struct cpu_view *v, const char *sys, const char *proc, int cpu,
                          struct interference_plan *out, struct machine_error *err)
{
    const char *name = interference_names[kind];
    const double may = memory_free(sys, proc) / 4;
    double wanted = (double)mib;
    *out = (struct interference_plan){.kind = kind, .processes = 1};
    if (kind == INTERFERENCE_MAKE) {
        CPU_AND_S(sizeof out->cpus, out->cpus.set, v->online.set, v->allowed.set);
        unsigned n = 2 * cpu_mask_count(&out->cpus);
        out->processes = n < PROCESSES_MAX ? n : PROCESSES_MAX;
        wanted = (double)job_bytes;
    } else {
        int place = other_cpus(v, sys, cpu, &out->cpus);
        if (place < 0)
            return machine_fail(err, MACHINE_CANNOT, "use --interference make, or give this process a second CPU",
                                "--interference %s needs a CPU besides the measured one, CPU %d", name, cpu);
        if (kind == INTERFERENCE_MEMORY) {
            cpu_mask_clear(&out->cpus);
            cpu_mask_add(&out->cpus, place);
            wanted = 4 * last_cache(sys, cpu);
            wanted = wanted > 0 ? wanted : (double)job_bytes;
        }
    }
    double bytes = wanted < may / out->processes ? wanted : may / out->processes;
    if (bytes < (double)mib)
        return machine_fail(
            err, MACHINE_CANNOT, "free some memory",
            "--interference %s needs at least %u MiB, which must be less than a quarter of the free memory (%.0f MiB)",
            name, out->processes, 4 * may / (double)mib);
    out->bytes = (size_t)bytes / mib * mib;
    return MACHINE_OK;
}

void interference_plan_text(const struct interference_plan *p, char *out, size_t size)
{
    char cpus[60];
    cpu_mask_format(&p->cpus, cpus, sizeof cpus);
    if (p->kind == INTERFERENCE_MAKE)
        snprintf(out, size, "make: %u processes", p->processes);
    else if (p->kind == INTERFERENCE_MEMORY)
        snprintf(out, size, "memory: %zu MiB on CPU %s", p->bytes / mib, cpus);
    else
        snprintf(out, size, "script: on CPU %s", cpus);
}
