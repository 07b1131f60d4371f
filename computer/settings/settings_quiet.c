/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a quiet machine (doc/quiet-machine.md): planned one by one, each from what stands there then. */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/environment/environment.h"
#include "util/order.h"

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

/* ---- the CPU itself: governor, epp, turbo, cstates ---- */

/* The cpufreq policy of a CPU; -1: none. */
static int policy_of(const struct settings_roots *r, int cpu)
{
    struct cpu_mask policies, cpus;
    settings_policies(r, &policies);
    for (int policy = 0; policy < CPU_LIMIT; policy++) {
        if (!cpu_mask_has(&policies, policy))
            continue;
        bool listed = cpu_read_list(r->sys, &cpus, "devices/system/cpu/cpufreq/policy%d/related_cpus", policy) &&
                      cpu_mask_has(&cpus, cpu);
        if (listed || policy == cpu) /* without that file each CPU has its own */
            return policy;
    }
    return -1;
}

static void add_of_policy(struct quiet_plan *p, const char *name, const char *after)
{
    char path[CHANGE_PATH_MAX];
    int policy = policy_of(p->roots, p->cpu);
    if (policy < 0) {
        snprintf(p->why, sizeof p->why, "there is no cpufreq here (in a virtual machine, the host decides)");
        return;
    }
    snprintf(path, sizeof path, SETTINGS_CPUS "cpufreq/policy%d/%s", policy, name);
    if (settings_accessible(p->roots, path, F_OK))
        settings_plan_add(p, CHANGE_FILE, path, after);
    else
        snprintf(p->why, sizeof p->why, "cpufreq has no %s here", name);
}

static void plan_governor(struct quiet_plan *p)
{
    add_of_policy(p, "scaling_governor", "performance");
}

static void plan_epp(struct quiet_plan *p)
{
    add_of_policy(p, "energy_performance_preference", "performance");
}

static void plan_turbo(struct quiet_plan *p)
{
    char text[200] = "";
    struct machine_error err;
    if (settings_plan_turbo(p->roots, false, &p->changes, text, sizeof text, &err) != MACHINE_OK)
        snprintf(p->why, sizeof p->why, "%.299s", err.text);
    else
        p->already = p->changes.n == 0;
    p->all = p->changes.n + p->already;
}

/* States that take longer than this (cpuidle's `latency`) to leave make what comes after waiting slower. */
enum { EXIT_LATENCY_US = 2 };

static void plan_cstates(struct quiet_plan *p)
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
            settings_plan_add(p, CHANGE_FILE, path, "1");
    }
    free(states);
    if (n == 0)
        snprintf(p->why, sizeof p->why, "there are no cpuidle states here (idle=poll, or the host decides)");
    else if (p->all == 0)
        p->already = 1; /* none is that slow */
}

static bool none(const struct cpu_mask *m)
{
    return cpu_mask_count(m) == 0;
}

static bool no_other_cpu(struct quiet_plan *p)
{
    if (none(&p->others))
        snprintf(p->why, sizeof p->why, "no other CPU is online");
    return none(&p->others);
}

/* ---- interrupts ---- */

/* Nobody has requested it: it cannot come, and its CPU could not be put back as it was. */
static bool irq_unused(const struct quiet_plan *p, unsigned irq)
{
    char text[8];
    return cpu_read_text(p->roots->sys, text, sizeof text, "kernel/irq/%u/actions", irq) == 0;
}

static void irq_away(struct quiet_plan *p, unsigned irq, const struct cpu_mask *from)
{
    char path[CHANGE_PATH_MAX], list[CHANGE_VALUE_MAX];
    struct cpu_mask may, common;
    snprintf(path, sizeof path, "/proc/irq/%u/smp_affinity_list", irq);
    if (settings_read_text(p->roots, path, list, sizeof list) <= 0 || cpu_mask_parse(list, &may) != 0) {
        settings_plan_add(p, CHANGE_IRQ, path, "0"); /* it says why not */
        return;
    }
    CPU_AND_S(sizeof common, common.set, may.set, from->set);
    if (none(&common))
        return;
    CPU_AND_S(sizeof may, may.set, may.set, p->others.set);
    cpu_mask_format(none(&may) ? &p->others : &may, list, sizeof list);
    settings_plan_add(p, CHANGE_IRQ, path, list);
}

static void irqs_away(struct quiet_plan *p, const struct cpu_mask *from)
{
    unsigned *irqs;
    size_t n;
    if (!settings_numbers(p->roots, "/proc/irq", "", &irqs, &n))
        p->out_of_memory = true;
    if (n > 0)
        qsort(irqs, n, sizeof *irqs, order_unsigned);
    for (size_t i = 0; i < n; i++)
        if (!irq_unused(p, irqs[i]))
            irq_away(p, irqs[i], from);
    free(irqs);
}

/* Masks without the measured CPU, where they hold it. */
static void mask_away(struct quiet_plan *p, const char *path)
{
    char text[CHANGE_VALUE_MAX];
    struct cpu_mask may;
    if (settings_read_text(p->roots, path, text, sizeof text) <= 0 || cpu_mask_parse_hex(text, &may) != 0) {
        settings_plan_add(p, CHANGE_FILE, path, "1");
        return;
    }
    if (cpu_mask_has(&may, p->cpu)) {
        CPU_AND_S(sizeof may, may.set, may.set, p->others.set);
        cpu_mask_format_hex(none(&may) ? &p->others : &may, text, sizeof text);
    }
    settings_plan_add(p, CHANGE_FILE, path, text);
}

static void plan_irq(struct quiet_plan *p)
{
    struct cpu_mask self;
    if (no_other_cpu(p))
        return;
    cpu_mask_clear(&self);
    cpu_mask_add(&self, p->cpu);
    mask_away(p, "/proc/irq/default_smp_affinity"); /* first: what is set up meanwhile follows it */
    irqs_away(p, &self);
}

/* ---- workqueues ---- */

static void plan_workqueue(struct quiet_plan *p)
{
    char path[CHANGE_PATH_MAX];
    struct dirent *entry;
    if (no_other_cpu(p))
        return;
    DIR *folder = settings_open_list(p->roots, "/sys/devices/virtual/workqueue");
    if (folder == NULL) {
        snprintf(p->why, sizeof p->why, "the kernel shows no workqueues (/sys/devices/virtual/workqueue)");
        return;
    }
    mask_away(p, SETTINGS_WORKQUEUES "cpumask");
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' || strlen(entry->d_name) > 60)
            continue;
        snprintf(path, sizeof path, SETTINGS_WORKQUEUES "%.60s/cpumask", entry->d_name);
        if (settings_accessible(p->roots, path, F_OK))
            mask_away(p, path);
    }
    closedir(folder);
}

/* ---- what the kernel does by itself ---- */

static void plan_tick(struct quiet_plan *p)
{
    static const char *const settings[][2] = {{"/proc/sys/kernel/nmi_watchdog", "0"},
                                              {"/proc/sys/vm/stat_interval", "120"},
                                              {"/proc/sys/kernel/sched_rt_runtime_us", "-1"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings_accessible(p->roots, settings[i][0], F_OK))
            settings_plan_add(p, CHANGE_FILE, settings[i][0], settings[i][1]);
    if (p->all == 0)
        snprintf(p->why, sizeof p->why, "the kernel has none of these settings");
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

/* The first process with a thread of which is(allowed, data) is true, threads of the kernel left out; 0: none. */
static int settings_task_find(const struct settings_roots *r,
                              bool (*is)(const struct cpu_mask *allowed, const struct cpu_mask *data),
                              const struct cpu_mask *data)
{
    struct dirent *entry, *one;
    DIR *all = opendir(settings_proc(r)), *tasks;
    int found = 0;
    while (all != NULL && found == 0 && (entry = readdir(all)) != NULL) {
        char path[300];
        struct cpu_mask allowed;
        int process = settings_number(entry->d_name, ""), task, of;
        bool kernel;
        snprintf(path, sizeof path, "%.200s/%d/task", settings_proc(r), process);
        if (process <= 0 || (tasks = opendir(path)) == NULL)
            continue;
        while (found == 0 && (one = readdir(tasks)) != NULL)
            if ((task = settings_number(one->d_name, "")) > 0 &&
                settings_task_allowed(r, task, &allowed, &of, &kernel) && !kernel && is(&allowed, data))
                found = process;
        closedir(tasks);
    }
    if (all != NULL)
        closedir(all);
    return found;
}

static void plan_smt(struct quiet_plan *p)
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
    irqs_away(p, &siblings); /* one that may go nowhere else would be set free for good */
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        snprintf(path, sizeof path, SETTINGS_CPUS "cpu%d/online", cpu);
        if (cpu_mask_has(&siblings, cpu) && cpu != p->cpu)
            settings_plan_add(p, CHANGE_FILE, path, "0");
    }
}

/* ---- isolate: which of the two ways there is, and whether it would take something from others for good ---- */

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
        settings_plan_add(p, CHANGE_CONTROLLER, path, "1");
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

static void plan_isolate(struct quiet_plan *p)
{
    static const char *const bases[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char path[CHANGE_PATH_MAX], text[400];
    if (cpu_mask_count(&p->others) == 0) {
        snprintf(p->why, sizeof p->why, "no other CPU is online");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        int error;
        snprintf(path, sizeof path, "%s/cgroup.controllers", bases[i]);
        if (settings_has_cpuset(p->roots, path, &error)) {
            plan_partition(p, bases[i]);
            return;
        }
    }
    if (settings_read_text(p->roots, SETTINGS_CPUSET "/cpuset.cpus", text, sizeof text) > 0)
        plan_shield(p);
    else
        snprintf(p->why, sizeof p->why, "there are no cpusets here (/sys/fs/cgroup)");
}

/* ---- all parts ---- */

/*
 * The order in which parts are changed, and who plans them. Siblings go first: the rest is then for the CPUs that
 * remain. The preference before the governor, because intel_pstate and amd_pstate take no preference under the governor
 * performance, thus also on the way back (Linux, admin-guide/pm/intel_pstate.rst, "Energy vs Performance Hints").
 * isolate is last: moving things away takes time.
 */
static const struct {
    enum quiet_part part;
    void (*plan)(struct quiet_plan *p);
} order[QUIET_PARTS] = {
    {QUIET_SMT, plan_smt},         {QUIET_EPP, plan_epp}, {QUIET_GOVERNOR, plan_governor},   {QUIET_TURBO, plan_turbo},
    {QUIET_CSTATES, plan_cstates}, {QUIET_IRQ, plan_irq}, {QUIET_WORKQUEUE, plan_workqueue}, {QUIET_TICK, plan_tick},
    {QUIET_ISOLATE, plan_isolate}};

bool settings_quiet_plan(const struct settings_roots *r, const struct settings_wish *wish, size_t i, bool only_shown,
                         struct quiet_plan *out)
{
    if ((wish->quiet & order[i].part) == 0)
        return false;
    *out = (struct quiet_plan){
        .roots = r, .part = order[i].part, .cpu = wish->cpu, .spread = wish->spread, .only_shown = only_shown};
    find_others(out, (wish->quiet & QUIET_SMT) != 0);
    order[i].plan(out);
    for (size_t k = 0; k < out->changes.n; k++)
        out->changes.list[k].part = __builtin_ctz(out->part);
    return true;
}

int settings_show(const struct settings_roots *r, const struct settings_wish *wish, settings_line_taker *take,
                  void *data, struct machine_error *err)
{
    for (size_t i = 0; i < QUIET_PARTS; i++) {
        struct quiet_plan plan;
        char name[300], why[300];
        if (!settings_quiet_plan(r, wish, i, true, &plan))
            continue;
        struct settings_line line = {.part = plan.part, .why = why};
        for (size_t k = 0; k < plan.changes.n; k++) {
            const struct change *one = &plan.changes.list[k];
            int error = settings_writable(r, one);
            settings_change_name(r, one, name, sizeof name);
            snprintf(why, sizeof why, "%s", error != 0 ? strerror(error) : "");
            line.name = name;
            line.before = one->before;
            line.after = one->after;
            take(data, &line);
        }
        settings_why(&plan, why, sizeof why);
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
