/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An environment of a CPU: what stands in files, then what is counted. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/environment/environment_parts.h"

/* Everything unknown. */
static void clear(int cpu, struct environment *e)
{
    memset(e, 0, sizeof *e);
    e->cpu = cpu;
    e->root = geteuid() == 0;
    for (size_t i = 0; i < ENV_FACTS; i++)
        e->fact[i].error = ENOENT;
    e->irqs_error = e->tasks_error = e->msr_error = ENOENT;
    e->steal = e->busy_here = e->busy_sibling = e->busy_others = e->begun = NAN;
    e->base_khz = NAN;
    e->timer_hz = e->cgroup_quota = e->thermal_now = e->thermal_boot = NAN;
    e->secure_boot = -1;
}

/* Returns whether the kernel knows this CPU, be it offline. */
static bool cpu_known(const struct tree *t, int cpu)
{
    if (cpu < 0 || cpu >= CPU_LIMIT)
        return false;
    if (tree_exists(t, "sys/devices/system/cpu"))
        return tree_exists(t, tree_path("sys/devices/system/cpu/cpu%d", cpu).text);
    return tree_exists(t, "proc/stat"); /* a container may not show /sys */
}

static bool holds_files(const struct tree *t)
{
    return t->inside && !tree_is_live(t);
}

bool environment_is_files(const char *root)
{
    struct tree t;
    if (tree_open(root, &t) != 0)
        return false;
    bool files = holds_files(&t);
    tree_close(&t);
    return files;
}

static int open_for(const char *root, int cpu, struct tree *t, struct machine_error *err)
{
    if (tree_open(root, t) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "name a directory with a machine's sys, proc, dev and run",
                            "%.300s: cannot be opened: %s", root, strerror(errno));
    if (cpu_known(t, cpu))
        return MACHINE_OK;
    bool any = tree_exists(t, "sys/devices/system/cpu") || tree_exists(t, "proc/stat");
    tree_close(t);
    if (!any)
        return machine_fail(err, MACHINE_BAD_INPUT, "name a directory with a machine's sys, proc, dev and run",
                            "%.300s: it has neither sys/devices/system/cpu nor proc/stat", root);
    return machine_fail(err, MACHINE_BAD_INPUT, "",
                        "no CPU %d: neither %.100s/sys/devices/system/cpu nor %.100s/proc lists it", cpu, root, root);
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
    struct tree t;
    clear(cpu, out);
    int status = open_for(root, cpu, &t, err);
    if (status != MACHINE_OK)
        return status;
    out->files = holds_files(&t) && !(seconds > 0);
    environment_facts_read(&t, true, out);
    environment_count(&t, seconds, stop, data, out);
    tree_close(&t);
    return MACHINE_OK;
}

void environment_read_facts(const char *root, int cpu, struct environment *out)
{
    struct tree t;
    clear(cpu, out);
    if (tree_open(root, &t) != 0)
        return;
    environment_facts_read(&t, false, out);
    tree_close(&t);
}
