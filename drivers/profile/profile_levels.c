/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The license events of this processor, or why it has none that can be profiled. */
#include "drivers/profile/profile_levels.h"

#include <string.h>

#include "drivers/perf/perf.h"

static const char remedy[] = "--machine model:NAME profiles a modelled system (characterize --list skus)";

int profile_levels_find(const char *sys, const char *data_dir, const struct cpu_leaves *leaves, struct cpu_identity *id,
                        struct events_table *out, struct machine_error *err)
{
    struct cpu_leaves here;
    struct perf_pmu pmu;
    char why[160];

    if (leaves == NULL)
        cpu_read_leaves(&here);
    leaves = leaves != NULL ? leaves : &here;
    cpu_identify(leaves, id);
    if (events_amd(id->vendor))
        return machine_fail(err, MACHINE_CANNOT, remedy,
                            "AMD processors have no license levels: there is nothing to profile on this %s", id->brand);
    if (cpu_contradicts(leaves, why, sizeof why))
        return machine_fail(err, MACHINE_CANNOT, CPU_GUEST_HARDWARE,
                            "it is unknown which license events this CPU has: %s", why);
    perf_find_pmu(sys, cpu_default(sys), &pmu);
    int status = events_find(data_dir, id, pmu.name, out, err);
    if (status == MACHINE_OK && (out->license[EVENTS_LVL1] < 0 || out->license[EVENTS_LVL2] < 0))
        return machine_fail(err, MACHINE_CANNOT, remedy,
                            "no events for license levels have been published for %s: there is nothing to profile",
                            out->title);
    return status;
}
