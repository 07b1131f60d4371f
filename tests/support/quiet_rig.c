/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/quiet_rig.h"
#include "tests/support/test.h"

#include <sys/stat.h>

const struct quiet_file quiet_files[QUIET_FILES] = {
    {QUIET_GOVERNOR, QUIET_CPUS "cpufreq/policy1/scaling_governor", "powersave", "performance"},
    {QUIET_EPP, QUIET_CPUS "cpufreq/policy1/energy_performance_preference", "balance_power", "performance"},
    {QUIET_TURBO, QUIET_CPUS "intel_pstate/no_turbo", "0", "1"},
    {QUIET_CSTATES, QUIET_CPUS "cpu3/cpuidle/state2/disable", "0", "1"},
    {QUIET_CSTATES, QUIET_CPUS "cpu3/cpuidle/state10/disable", "0", "1"},
    {0, QUIET_CPUS "cpu3/cpuidle/state1/disable", "0", "0"},
    {QUIET_SMT, QUIET_CPUS "cpu1/online", "1", "0"},
    {QUIET_IRQ, "proc/irq/default_smp_affinity", "0000000f", "7"},
    {QUIET_IRQ, "proc/irq/24/smp_affinity_list", "0-3", "0-2"},
    {QUIET_IRQ, "proc/irq/25/smp_affinity_list", "3", "0-2"},
    {QUIET_IRQ, "proc/irq/26/smp_affinity_list", "2,3", "2"},
    {0, "proc/irq/27/smp_affinity_list", "1", "1"},
    {QUIET_WORKQUEUE, QUIET_WORKQUEUES "cpumask", "f", "7"},
    {QUIET_WORKQUEUE, QUIET_WORKQUEUES "writeback/cpumask", "8", "7"},
    {QUIET_TICK, "proc/sys/kernel/nmi_watchdog", "1", "0"},
    {QUIET_TICK, "proc/sys/kernel/sched_rt_runtime_us", "950000", "-1"},
    {QUIET_TICK, "proc/sys/vm/stat_interval", "1", "120"},
};

void quiet_put(const struct quiet_tree *t, const char *path, const char *text)
{
    folder_put_line(t->root, path, text);
}

void quiet_is(const struct quiet_tree *t, const char *path, const char *expected)
{
    if (strcmp(folder_get(t->root, path), expected) != 0)
        fail_msg("%s: %s instead of %s", path, folder_get(t->root, path), expected);
}

static void quiet_put_all(const struct quiet_tree *t)
{
    for (int i = 0; i < QUIET_FILES; i++)
        quiet_put(t, quiet_files[i].path, quiet_files[i].before);
}

void quiet_all_are(const struct quiet_tree *t, unsigned changed)
{
    for (int i = 0; i < QUIET_FILES; i++)
        quiet_is(t, quiet_files[i].path,
                 (changed & quiet_files[i].part) != 0 ? quiet_files[i].after : quiet_files[i].before);
}

int quiet_grow(void **state)
{
    static struct quiet_tree t;
    folder_make(t.root);
    chmod(t.root, 0777);
    snprintf(t.sys, sizeof t.sys, "%s/sys", t.root);
    snprintf(t.proc, sizeof t.proc, "%s/proc", t.root);
    snprintf(t.dev, sizeof t.dev, "%s/dev", t.root);
    snprintf(t.state, sizeof t.state, "%s/state", t.root);
    t.roots = (struct settings_roots){.sys = t.sys, .proc = t.proc, .dev = t.dev, .state = t.state};
    quiet_put_all(&t);
    quiet_put(&t, QUIET_CPUS "online", "0-3");
    quiet_put(&t, QUIET_CPUS "present", "0-3");
    quiet_put(&t, QUIET_CPUS "cpufreq/policy1/related_cpus", "1,3");
    quiet_put(&t, QUIET_CPUS "cpufreq/policy0/related_cpus", "0,2");
    quiet_put(&t, QUIET_CPUS "cpu3/topology/thread_siblings_list", "1,3");
    quiet_put(&t, QUIET_CPUS "cpu3/cpuidle/state1/latency", "2");
    quiet_put(&t, QUIET_CPUS "cpu3/cpuidle/state2/latency", "3");
    quiet_put(&t, QUIET_CPUS "cpu3/cpuidle/state10/latency", "600");
    quiet_put(&t, "proc/sys/kernel/random/boot_id", QUIET_BOOT);
    *state = &t;
    return 0;
}

int quiet_fell(void **state)
{
    struct quiet_tree *t = *state;
    folder_remove(t->root);
    return 0;
}

int quiet_apply(const struct quiet_tree *t, unsigned parts, unsigned must, struct settings **s,
                struct machine_error *err)
{
    const struct settings_wish wish = {.turbo = -1, .quiet = parts, .quiet_must = must, .cpu = 3};
    return settings_apply(&t->roots, &wish, s, err);
}

struct settings *quiet_applied(const struct quiet_tree *t, unsigned parts)
{
    struct settings *s = NULL;
    struct machine_error err;
    if (quiet_apply(t, parts, 0, &s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return s;
}

void quiet_restore(struct settings *s, const char *others)
{
    struct machine_error err;
    if (settings_restore(s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    if (others == NULL ? err.text[0] != '\0' : strstr(err.text, others) == NULL)
        fail_msg("%s", err.text);
}

void quiet_recovers(const struct quiet_tree *t, int status, const char *report)
{
    struct machine_error err = {.status = MACHINE_OK};
    char text[800];
    bool lives;
    assert_int_equal(settings_recover(&t->roots, text, sizeof text, &lives, &err), status);
    if (strstr(status == MACHINE_OK ? text : err.text, report) == NULL || (report[0] == '\0' && text[0] != '\0'))
        fail_msg("%s, %s", text, err.text);
}
