/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a quiet machine that concern the CPU itself: governor, epp, turbo, cstates, smt. */
#include "drivers/settings/settings_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu/"

/* The number in a name like "policy12"; -1: it is another name. */
static int settings_quiet_number(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    const char *digits = name + length;

    if (strncmp(name, prefix, length) != 0 || digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits) ||
        strlen(digits) > 6)
        return -1;
    return atoi(digits);
}

static DIR *open_folder(const struct settings_roots *r, const char *path)
{
    int fd = settings_open_folder(r, path);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    if (folder == NULL && fd >= 0)
        close(fd);
    return folder;
}

int settings_quiet_policy(const struct settings_roots *r, int cpu)
{
    DIR *folder = open_folder(r, CPUS "cpufreq");
    struct dirent *entry;
    struct cpu_mask cpus;
    int found = -1;

    while (folder != NULL && found < 0 && (entry = readdir(folder)) != NULL) {
        int policy = settings_quiet_number(entry->d_name, "policy");
        if (policy >= 0 && cpu_read_list(r->sys, &cpus, "devices/system/cpu/cpufreq/policy%d/related_cpus", policy) &&
            cpu_mask_has(&cpus, cpu))
            found = policy;
        else if (policy == cpu && access(r->sys, F_OK) == 0)
            found = cpu; /* without that file each CPU has its own */
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

static void add_of_policy(struct quiet_plan *p, const char *name, const char *after)
{
    char path[CHANGE_PATH_MAX], real[300];
    int policy = settings_quiet_policy(p->roots, p->cpu);

    if (policy < 0) {
        snprintf(p->why, sizeof p->why, "there is no cpufreq here (in a virtual machine, the host decides)");
        return;
    }
    snprintf(path, sizeof path, CPUS "cpufreq/policy%d/%s", policy, name);
    settings_real_path(p->roots, path, real, sizeof real);
    if (access(real, F_OK) == 0)
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
    struct dirent *entry;
    bool any = false;

    snprintf(path, sizeof path, CPUS "cpu%d/cpuidle", p->cpu);
    DIR *folder = open_folder(p->roots, path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int state = settings_quiet_number(entry->d_name, "state");
        long latency = state < 0 ? -1
                                 : cpu_read_number(p->roots->sys, -1,
                                                   "devices/system/cpu/cpu%d/cpuidle/state%d/latency", p->cpu, state);
        any = any || state >= 0;
        snprintf(path, sizeof path, CPUS "cpu%d/cpuidle/state%d/disable", p->cpu, state);
        if (latency > EXIT_LATENCY_US)
            settings_quiet_add(p, CHANGE_FILE, path, "1");
    }
    if (folder != NULL)
        closedir(folder);
    if (!any)
        snprintf(p->why, sizeof p->why, "there are no cpuidle states here (idle=poll, or the host decides)");
    else if (p->all == 0)
        p->already = 1; /* none is that slow */
}

/* ---- siblings ---- */

/* Hotplug takes CPUs out of cpusets of version 1, and does not put them back (Linux, admin-guide/cgroup-v1/cpusets.rst,
 * 1.4); nor does it put back the affinity of a task that was bound to them. */
static bool has_cpusets(const struct settings_roots *r)
{
    DIR *folder = open_folder(r, "/sys/fs/cgroup/cpuset");
    struct dirent *entry;
    bool any = false;

    while (folder != NULL && !any && (entry = readdir(folder)) != NULL)
        any = entry->d_type == DT_DIR && entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return any;
}

static bool is_within(const struct cpu_mask *allowed, const struct cpu_mask *cpus)
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
    if ((bound = settings_task_find(p->roots, is_within, &siblings)) != 0) {
        snprintf(p->why, sizeof p->why, "process %d is bound to the sibling and would lose its affinity", bound);
        return;
    }
    settings_quiet_irqs_away(p, &siblings); /* one that may go nowhere else would be set free for good */
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        snprintf(path, sizeof path, CPUS "cpu%d/online", cpu);
        if (cpu_mask_has(&siblings, cpu) && cpu != p->cpu)
            settings_quiet_add(p, CHANGE_FILE, path, "0");
    }
}
