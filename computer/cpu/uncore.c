/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of the uncore, from the driver's files. */
#include "computer/cpu/uncore.h"

#include <string.h>

#include "computer/cpu/cpu.h"

#define FOLDER "devices/system/cpu/intel_uncore_frequency/"
enum { DOMAINS_MAX = 64 };

/* Whether a domain clocks cores or caches; before Linux 6.16 nothing tells. */
static bool clocks_cores(const char *sys, unsigned domain)
{
    char agents[80];
    return cpu_read_text(sys, agents, sizeof agents, FOLDER "uncore%02u/agent_types", domain) < 0 ||
           strstr(agents, "core") || strstr(agents, "cache");
}

/* The kHz of the domain of that die, else of the first of its package that clocks cores; 0: there is none. */
static long of_domain(const char *sys, int package, int die)
{
    long khz = 0;
    for (unsigned i = 0; i < DOMAINS_MAX; i++) {
        long its = cpu_read_number(sys, -1, FOLDER "uncore%02u/package_id", i);
        if (its < 0) /* they are numbered without gaps */
            break;
        long now = its == package ? cpu_read_number(sys, 0, FOLDER "uncore%02u/current_freq_khz", i) : 0;
        if (now <= 0 || !clocks_cores(sys, i))
            continue;
        if (cpu_read_number(sys, -1, FOLDER "uncore%02u/domain_id", i) == die)
            return now;
        khz = khz ? khz : now;
    }
    return khz;
}

int cpu_uncore_ghz(const char *sys, int cpu, double *ghz, struct machine_error *err)
{
    const int package = cpu_package_of(sys, cpu), die = cpu_die_of(sys, cpu);
    long khz = of_domain(sys, package, die);
    if (khz <= 0)
        khz = cpu_read_number(sys, 0, FOLDER "package_%02d_die_%02d/current_freq_khz", package, die);
    if (khz <= 0)
        return machine_fail(err, MACHINE_CANNOT, "modprobe intel_uncore_frequency, on an Intel host",
                            "Linux reports no frequency of the uncore of CPU %d", cpu);
    *ghz = (double)khz / 1e6;
    return MACHINE_OK;
}
