/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a quiet machine that concern the CPU itself: governor, epp, turbo, cstates, smt. */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int settings_quiet_policy(const struct settings_roots *r, int cpu)
{
    struct cpu_mask cpus;
    unsigned *policies;
    size_t n;
    int found = -1;

    (void)settings_numbers(r, SETTINGS_CPUS "cpufreq", "policy", &policies, &n);
    for (size_t i = 0; i < n && found < 0; i++) {
        int policy = (int)policies[i];
        bool listed = cpu_read_list(r->sys, &cpus, "devices/system/cpu/cpufreq/policy%d/related_cpus", policy) &&
                      cpu_mask_has(&cpus, cpu);
        if (listed || policy == cpu) /* without that file each CPU has its own */
            found = policy;
    }
    free(policies);
    return found;
}

static void add_of_policy(struct quiet_plan *p, const char *name, const char *after)
{
    char path[CHANGE_PATH_MAX];
    int policy = settings_quiet_policy(p->roots, p->cpu);

    if (policy < 0) {
        snprintf(p->why, sizeof p->why, "there is no cpufreq here (in a virtual machine, the host decides)");
        return;
    }
    snprintf(path, sizeof path, SETTINGS_CPUS "cpufreq/policy%d/%s", policy, name);
    if (settings_accessible(p->roots, path, F_OK))
        settings_quiet_add(p, CHANGE_FILE, path, after);
    else
        snprintf(p->why, sizeof p->why, "cpufreq has no %s here", name);
}

void settings_quiet_governor(struct quiet_plan *p)
{
    add_of_policy(p, "scaling_governor", "performance");
}

void settings_quiet_epp(struct quiet_plan *p)
{
    add_of_policy(p, "energy_performance_preference", "performance");
}

void settings_quiet_turbo(struct quiet_plan *p)
{
    char text[200] = "";
    struct machine_error err;

    if (settings_plan_turbo(p->roots, false, &p->changes, text, sizeof text, &err) != MACHINE_OK)
        snprintf(p->why, sizeof p->why, "%.299s", err.text);
    else
        p->already = p->changes.n == 0;
    p->all = p->changes.n + p->already;
}

/* States that take longer than this to leave make what comes after waiting slower (V 3.4; cpuidle's `latency`). */
enum { EXIT_LATENCY_US = 2 };

void settings_quiet_cstates(struct quiet_plan *p)
{
    char path[CHANGE_PATH_MAX];
    unsigned *states;
    size_t n;

    snprintf(path, sizeof path, SETTINGS_CPUS "cpu%d/cpuidle", p->cpu);
    (void)settings_numbers(p->roots, path, "state", &states, &n);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, SETTINGS_CPUS "cpu%d/cpuidle/state%u/disable", p->cpu, states[i]);
        if (cpu_read_number(p->roots->sys, -1, "devices/system/cpu/cpu%d/cpuidle/state%u/latency", p->cpu, states[i]) >
            EXIT_LATENCY_US)
            settings_quiet_add(p, CHANGE_FILE, path, "1");
    }
    free(states);
    if (n == 0)
        snprintf(p->why, sizeof p->why, "there are no cpuidle states here (idle=poll, or the host decides)");
    else if (p->all == 0)
        p->already = 1; /* none is that slow */
}

/* ---- siblings ---- */

/* Hotplug takes CPUs out of cpusets of version 1, and does not put them back (Linux, admin-guide/cgroup-v1/cpusets.rst,
 * 1.4); nor does it put back the affinity of a task that was bound to them. */
static bool has_cpusets(const struct settings_roots *r)
{
    DIR *folder = settings_open_list(r, SETTINGS_CPUSET);
    struct dirent *entry;
    bool any = false;

    while (folder != NULL && !any && (entry = readdir(folder)) != NULL)
        any = entry->d_type == DT_DIR && entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return any;
}

static bool cpus_within(const struct cpu_mask *allowed, const struct cpu_mask *cpus)
{
    struct cpu_mask both;
    CPU_AND_S(sizeof both, both.set, allowed->set, cpus->set);
    return CPU_EQUAL_S(sizeof both, both.set, allowed->set) != 0;
}

void settings_quiet_smt(struct quiet_plan *p)
{
    struct cpu_mask siblings, self;
    char path[CHANGE_PATH_MAX];
    int bound;

    (void)cpu_read_list(p->roots->sys, &siblings, "devices/system/cpu/cpu%d/topology/thread_siblings_list", p->cpu);
    cpu_mask_clear(&self);
    cpu_mask_add(&self, p->cpu);
    CPU_XOR_S(sizeof siblings, siblings.set, siblings.set, self.set);
    if (!cpu_mask_has(&siblings, p->cpu) && CPU_COUNT_S(sizeof siblings, siblings.set) == 0) {
        p->already = 1; /* no sibling is online */
        return;
    }
    if (has_cpusets(p->roots)) {
        snprintf(p->why, sizeof p->why, "cpusets (cgroup version 1) would lose the sibling permanently");
        return;
    }
    if ((bound = settings_task_find(p->roots, cpus_within, &siblings)) != 0) {
        snprintf(p->why, sizeof p->why, "process %d is bound to the sibling and would lose its affinity", bound);
        return;
    }
    settings_quiet_irqs_away(p, &siblings); /* one that may go nowhere else would be set free for good */
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        snprintf(path, sizeof path, SETTINGS_CPUS "cpu%d/online", cpu);
        if (cpu_mask_has(&siblings, cpu) && cpu != p->cpu)
            settings_quiet_add(p, CHANGE_FILE, path, "0");
    }
}
