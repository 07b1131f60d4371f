/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a quiet machine (doc/quiet-machine.md): planned one by one, each from what stands there then. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Siblings go first: what follows is then for the CPUs that remain. The preference before the governor, because
 * intel_pstate and amd_pstate take no preference under the governor performance, thus also on the way back
 * (Linux, admin-guide/pm/intel_pstate.rst, "Energy vs Performance Hints"). isolate is last: what is moved away by it
 * takes time.
 */
const enum quiet_part settings_quiet_order[QUIET_PARTS] = {QUIET_SMT,       QUIET_EPP,     QUIET_GOVERNOR,
                                                           QUIET_TURBO,     QUIET_CSTATES, QUIET_IRQ,
                                                           QUIET_WORKQUEUE, QUIET_TICK,    QUIET_ISOLATE};

static quiet_planner *const settings_quiet_planners[QUIET_PARTS] = {
    settings_quiet_governor, settings_quiet_epp,       settings_quiet_turbo, settings_quiet_cstates, settings_quiet_smt,
    settings_quiet_irq,      settings_quiet_workqueue, settings_quiet_tick,  settings_quiet_isolate};

/* The CPUs that are online, without the measured one and, where these are to go offline, its siblings. */
static void find_others(struct quiet_plan *p, bool without_siblings)
{
    struct cpu_mask online, siblings;

    cpu_mask_clear(&p->others);
    cpu_mask_clear(&siblings);
    if (without_siblings)
        (void)cpu_read_list(p->roots->sys, &siblings, "devices/system/cpu/cpu%d/topology/thread_siblings_list", p->cpu);
    (void)cpu_read_list(p->roots->sys, &online, "devices/system/cpu/online");
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        if (cpu_mask_has(&online, cpu) && cpu != p->cpu && !cpu_mask_has(&siblings, cpu))
            cpu_mask_add(&p->others, cpu);
}

void settings_quiet_plan(const struct settings_roots *r, const struct settings_wish *wish, enum quiet_part part,
                         bool only_shown, struct quiet_plan *out)
{
    int number = __builtin_ctz(part);

    memset(out, 0, sizeof *out);
    out->roots = r;
    out->cpu = wish->cpu;
    out->spread = wish->spread;
    out->only_shown = only_shown;
    find_others(out, (wish->quiet & QUIET_SMT) != 0);
    settings_quiet_planners[number](out);
    for (size_t i = 0; i < out->changes.n; i++)
        out->changes.list[i].part = number;
}

/* ---- only shown ---- */

int settings_show(const struct settings_roots *r, const struct settings_wish *wish, settings_line_taker *take,
                  void *data, struct machine_error *err)
{
    for (size_t i = 0; i < QUIET_PARTS; i++) {
        struct quiet_plan plan;
        char name[300], why[300];
        if ((wish->quiet & settings_quiet_order[i]) == 0)
            continue;
        struct settings_line line = {.part = settings_quiet_order[i], .why = why};
        settings_quiet_plan(r, wish, line.part, true, &plan);
        for (size_t k = 0; k < plan.changes.n; k++) {
            const struct change *one = &plan.changes.list[k];
            int error = settings_quiet_writable(r, one);
            settings_change_name(r, one, name, sizeof name);
            snprintf(why, sizeof why, "%s", error != 0 ? strerror(error) : "");
            line.name = name;
            line.before = one->before;
            line.after = one->after;
            take(data, &line);
        }
        settings_quiet_why(&plan, why, sizeof why);
        if (why[0] == '\0' && plan.changes.n == 0)
            snprintf(why, sizeof why, "%s", "already so");
        line.name = NULL;
        if (why[0] != '\0')
            take(data, &line);
        settings_changes_free(&plan.changes);
        if (plan.out_of_memory)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    return MACHINE_OK;
}
