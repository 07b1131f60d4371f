/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part isolate: which of the two ways there is, and whether it would take something from others for good. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "computer/environment/environment.h"

/* The cgroup that this process is in, of version 2 (controllers "") or of the one of version 1. False: it is in none
 * that can be named in a journal. */
static bool own_cgroup(const struct settings_roots *r, const char *controllers, char *out, size_t size)
{
    char text[4000];

    if (cpu_read_text(settings_proc(r), text, sizeof text, "self/cgroup") <= 0)
        return false;
    const char *path = environment_cgroup_of(text, controllers);
    return path != NULL && path[0] == '/' && strlen(path) < size && snprintf(out, size, "%s", path) > 0;
}

static bool is_bound(const struct cpu_mask *allowed, const struct cpu_mask *all)
{
    struct cpu_mask both;
    CPU_AND_S(sizeof both, both.set, allowed->set, all->set);
    return CPU_EQUAL_S(sizeof both, both.set, all->set) == 0;
}

/* Before Linux 6.3 tasks get back the CPUs that are online then, whatever they had chosen (commits 8f9ea86fdf99 and
 * 3fb906e7fabb): whether that would lose something. */
static bool would_forget(struct quiet_plan *p)
{
    char release[80];
    unsigned major = 0, minor = 0;
    struct cpu_mask all, online;
    int bound = 0;

    bool known = settings_read_text(p->roots, "/proc/sys/kernel/osrelease", release, sizeof release) > 0 &&
                 sscanf(release, "%u.%u", &major, &minor) == 2;
    if (!known || major > 6 || (major == 6 && minor >= 3) ||
        !cpu_read_list(p->roots->sys, &all, "devices/system/cpu/present") ||
        !cpu_read_list(p->roots->sys, &online, "devices/system/cpu/online"))
        return false;
    if (CPU_EQUAL_S(sizeof all, all.set, online.set) == 0) {
        snprintf(p->why, sizeof p->why,
                 "a CPU is offline, and this kernel (before 6.3) would remove it from all tasks' affinity");
        return true;
    }
    if ((bound = settings_task_find(p->roots, is_bound, &all)) != 0) {
        snprintf(p->why, sizeof p->why,
                 "process %d has set its affinity, which this kernel (before 6.3) forgets when cpusets change", bound);
    }
    return bound != 0;
}

static void isolate_add(struct quiet_plan *p, enum change_kind kind, const char *path, char *before, char *after)
{
    struct change one = {.kind = kind, .cpu = -1, .before = before, .after = after, .part = -1};

    snprintf(one.path, sizeof one.path, "%s", path);
    p->all++;
    if (!settings_change_allowed(&one))
        snprintf(p->why, sizeof p->why, "this process is in a cgroup with an unusable name");
    else if (settings_changes_add(&p->changes, &one) != 0)
        p->out_of_memory = true;
}

static void plan_partition(struct quiet_plan *p, const char *base)
{
    char path[CHANGE_PATH_MAX], own[CHANGE_PATH_MAX], cpu[16];

    if (p->spread) {
        snprintf(p->why, sizeof p->why, "it leaves this program a single CPU, but others are to be kept busy");
    } else if (!own_cgroup(p->roots, "", own, sizeof own)) {
        snprintf(p->why, sizeof p->why, "the cgroup of this process is unknown");
    } else if (!would_forget(p)) {
        snprintf(path, sizeof path, "%s/cgroup.subtree_control", base);
        settings_quiet_add(p, CHANGE_CONTROLLER, path, "1");
        p->already = 0; /* that it is enabled isolates nobody */
        snprintf(path, sizeof path, "%s/characterize", base);
        snprintf(cpu, sizeof cpu, "%d", p->cpu);
        if (p->kept == 0)
            isolate_add(p, CHANGE_PARTITION, path, own, cpu);
    }
}

static void plan_shield(struct quiet_plan *p)
{
    char own[CHANGE_PATH_MAX], before[] = "-", list[CHANGE_VALUE_MAX];

    cpu_mask_format(&p->others, list, sizeof list);
    if (!own_cgroup(p->roots, "cpuset", own, sizeof own) || strcmp(own, "/") != 0)
        snprintf(p->why, sizeof p->why, "this process already has its own cpuset");
    else
        isolate_add(p, CHANGE_SHIELD, SETTINGS_CPUSET "/characterize-others", before, list);
}

void settings_quiet_isolate(struct quiet_plan *p)
{
    static const char *const bases[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char path[CHANGE_PATH_MAX], text[400], words[402];

    if (cpu_mask_count(&p->others) == 0) {
        snprintf(p->why, sizeof p->why, "no other CPU is online");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/cgroup.controllers", bases[i]);
        (void)settings_read_text(p->roots, path, text, sizeof text);
        snprintf(words, sizeof words, " %s ", text);
        if (strstr(words, " cpuset ") != NULL) {
            plan_partition(p, bases[i]);
            return;
        }
    }
    if (settings_read_text(p->roots, SETTINGS_CPUSET "/cpuset.cpus", text, sizeof text) > 0)
        plan_shield(p);
    else
        snprintf(p->why, sizeof p->why, "there are no cpusets here (/sys/fs/cgroup)");
}
