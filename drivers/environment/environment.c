/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/environment/environment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/environment/environment_parts.h"

/* Everything unknown. */
static void environment_clear(int cpu, struct environment *e)
{
    memset(e, 0, sizeof *e);
    e->cpu = cpu;
    e->root = geteuid() == 0;
    for (size_t i = 0; i < ENV_FACTS; i++)
        e->fact[i].error = ENOENT;
    e->irqs_error = e->tasks_error = e->msr_error = ENOENT;
    e->steal = e->busy_here = e->busy_sibling = e->busy_others = NAN;
    e->timer_hz = e->cgroup_quota = e->thermal_now = e->thermal_boot = NAN;
    e->secure_boot = -1;
}

/* Whether the kernel knows this CPU, be it offline. */
static bool cpu_known(const struct environment_tree *t, int cpu)
{
    char path[64];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d", cpu);
    if (cpu < 0 || cpu >= CPU_LIMIT)
        return false;
    if (environment_tree_exists(t, "sys/devices/system/cpu"))
        return environment_tree_exists(t, path);
    return environment_tree_exists(t, "proc/stat"); /* a container may not show /sys */
}

static int environment_open(const char *root, int cpu, struct environment_tree *t, struct machine_error *err)
{
    if (environment_tree_open(root, t) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "name a folder that holds sys, proc, dev and run of a machine",
                            "%.300s: cannot be opened: %s", root, strerror(errno));
    if (cpu_known(t, cpu))
        return MACHINE_OK;
    environment_tree_close(t);
    return machine_fail(err, MACHINE_BAD_INPUT, "",
                        "no CPU %d: neither %.100s/sys/devices/system/cpu nor %.100s/proc tells of it", cpu, root,
                        root);
}

void environment_free(struct environment *e)
{
    free(e->states);
    free(e->irqs);
    free(e->tasks);
    free(e->weaknesses);
    memset(e, 0, sizeof *e);
}

int environment_read(const char *root, int cpu, double seconds, int (*stop)(void *data), void *data,
                     struct environment *out, struct machine_error *err)
{
    struct environment_tree t;
    environment_clear(cpu, out);
    int status = environment_open(root, cpu, &t, err);
    if (status != MACHINE_OK)
        return status;
    (void)seconds;
    (void)stop;
    (void)data;
    environment_facts_read(&t, out);
    environment_cpuinfo_read(&t, true, out);
    environment_tree_close(&t);
    return MACHINE_OK;
}

void environment_read_facts(const char *root, int cpu, struct environment *out)
{
    struct environment_tree t;
    environment_clear(cpu, out);
    if (environment_tree_open(root, &t) != 0)
        return;
    environment_facts_read(&t, out);
    environment_cpuinfo_read(&t, false, out);
    environment_tree_close(&t);
}
