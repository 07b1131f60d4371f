/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "computer/environment/environment_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "computer/environment/environment_parts.h"
#include "util/clock.h"

/* Everything unknown. */
static void environment_clear(int cpu, struct environment *e)
{
    memset(e, 0, sizeof *e);
    e->cpu = cpu;
    e->root = geteuid() == 0;
    for (size_t i = 0; i < ENV_FACTS; i++)
        e->fact[i].error = ENOENT;
    e->irqs_error = e->tasks_error = e->msr_error = ENOENT;
    e->steal = e->busy_here = e->busy_sibling = e->busy_others = e->begun = NAN;
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
        return machine_fail(err, MACHINE_BAD_INPUT, "name a directory with a machine's sys, proc, dev and run",
                            "%.300s: cannot be opened: %s", root, strerror(errno));
    if (cpu_known(t, cpu))
        return MACHINE_OK;
    environment_tree_close(t);
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

/* ---- what is counted ---- */

/* The first look at each. */
struct environment_looks {
    struct environment_task_look tasks;
    struct environment_times *times;
    struct environment_irq_look irqs;
    double thermal;
};

/* Interrupts are the last to be looked at, and the first again: looking takes time, and wakes others. */
static void look_first(const struct environment_tree *t, struct environment *e, struct environment_looks *out)
{
    environment_tasks_look(t, &out->tasks);
    e->irqbalance = out->tasks.irqbalance;
    e->tasks_error = out->tasks.error;
    e->tasks_hidden = !out->tasks.kernel_seen;
    out->thermal = e->thermal_boot = environment_thermal_look(t, e->cpu);
    out->times = environment_stat_look(t);
    environment_irqs_look(t, e->cpu, &out->irqs);
}

static void look_again(const struct environment_tree *t, const struct environment_looks *before, struct environment *e)
{
    struct environment_irq_look irqs;
    environment_irqs_look(t, e->cpu, &irqs);
    struct environment_times *times = environment_stat_look(t);
    e->seconds = irqs.at - before->irqs.at;
    e->thermal_boot = environment_thermal_look(t, e->cpu);
    e->thermal_now = e->thermal_boot - before->thermal;
    if (e->thermal_now < 0)
        e->thermal_now = NAN; /* counts never fall */
    environment_stat_fill(before->times, times, e);
    environment_irqs_fill(t, &before->irqs, &irqs, e);
    environment_tasks_fill(t, &before->tasks, e);
    free(times);
    free(irqs.irq);
}

static void free_looks(struct environment_looks *l)
{
    free(l->tasks.ran);
    free(l->times);
    free(l->irqs.irq);
}

/* Sleeps, in parts short enough for whoever wants to stop it. */
static void sleep_until(double end, int (*stop)(void *data), void *data)
{
    static const double part = 0.05;
    for (;;) {
        double left = end - clock_seconds(CLOCK_MONOTONIC);
        if ((stop != NULL && stop(data)) || !(left > 0))
            return;
        struct timespec time = {.tv_nsec = (long)(fmin(left, part) * 1e9)};
        nanosleep(&time, NULL);
    }
}

static void count_meanwhile(const struct environment_tree *t, double seconds, int (*stop)(void *data), void *data,
                            struct environment *e)
{
    struct environment_looks before = {0};
    look_first(t, e, &before);
    if (seconds > 0) {
        sleep_until(clock_seconds(CLOCK_MONOTONIC) + seconds, stop, data);
        look_again(t, &before, e);
    } else { /* what was since boot */
        const struct environment_irq_look none = {0};
        environment_irqs_fill(t, &none, &before.irqs, e);
    }
    free_looks(&before);
}

/* ---- all ---- */

int environment_read(const char *root, int cpu, double seconds, int (*stop)(void *data), void *data,
                     struct environment *out, struct machine_error *err)
{
    struct environment_tree t;
    environment_clear(cpu, out);
    int status = environment_open(root, cpu, &t, err);
    if (status != MACHINE_OK)
        return status;
    environment_facts_read(&t, out);
    environment_cpuinfo_read(&t, true, out);
    environment_idle_read(&t, out);
    environment_weaknesses_read(&t, out);
    environment_kernel_read(&t, out);
    environment_cgroup_read(&t, out);
    count_meanwhile(&t, seconds, stop, data, out);
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
