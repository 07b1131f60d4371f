/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a quiet machine that keep the kernel's work off the CPU: irq, workqueue, tick. */
#include "drivers/settings/settings_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool none(const struct cpu_mask *m)
{
    return CPU_COUNT_S(sizeof *m, m->set) == 0;
}

static bool no_other_cpu(struct quiet_plan *p)
{
    if (none(&p->others))
        snprintf(p->why, sizeof p->why, "no other CPU is online");
    return none(&p->others);
}

/* ---- interrupts ---- */

static int settings_quiet_by_number(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* The numbers of all IRQs, in order; free() them. NULL: there are none (*n is 0), or out of memory. */
static int *list_irqs(struct quiet_plan *p, size_t *n)
{
    int fd = settings_open_folder(p->roots, "/proc/irq");
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    size_t room = 0;
    int *list = NULL;

    *n = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        size_t length = strspn(entry->d_name, "0123456789");
        if (length == 0 || length > 8 || entry->d_name[length] != '\0')
            continue;
        if (*n == room) {
            room = 2 * room + 64;
            int *more = realloc(list, room * sizeof *list);
            if (more == NULL) {
                p->out_of_memory = true;
                break;
            }
            list = more;
        }
        list[(*n)++] = atoi(entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    if (*n > 0)
        qsort(list, *n, sizeof *list, settings_quiet_by_number);
    return list;
}

/* Nobody has asked for it: it cannot come, and its CPU could not be put back as it was. */
static bool irq_unused(const struct quiet_plan *p, int irq)
{
    char path[60], text[8];
    snprintf(path, sizeof path, "kernel/irq/%d/actions", irq);
    return cpu_read_text(p->roots->sys, path, text, sizeof text) == 0;
}

static void irq_away(struct quiet_plan *p, int irq, const struct cpu_mask *from)
{
    char path[CHANGE_PATH_MAX], list[CHANGE_VALUE_MAX];
    struct cpu_mask may, common;

    snprintf(path, sizeof path, "/proc/irq/%d/smp_affinity_list", irq);
    if (settings_read_text(p->roots, path, list, sizeof list) <= 0 || cpu_mask_parse(list, &may) != 0) {
        settings_quiet_add(p, CHANGE_IRQ, path, "0"); /* it tells why not */
        return;
    }
    CPU_AND_S(sizeof common, common.set, may.set, from->set);
    if (none(&common))
        return;
    CPU_AND_S(sizeof may, may.set, may.set, p->others.set);
    cpu_mask_format(none(&may) ? &p->others : &may, list, sizeof list);
    settings_quiet_add(p, CHANGE_IRQ, path, list);
}

void settings_quiet_irqs_away(struct quiet_plan *p, const struct cpu_mask *from)
{
    size_t n;
    int *irqs = list_irqs(p, &n);

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

    if (settings_read_text(p->roots, path, text, sizeof text) <= 0 || settings_mask_parse(text, &may) != 0) {
        settings_quiet_add(p, CHANGE_FILE, path, "1");
        return;
    }
    if (cpu_mask_has(&may, p->cpu)) {
        CPU_AND_S(sizeof may, may.set, may.set, p->others.set);
        settings_mask_format(none(&may) ? &p->others : &may, text, sizeof text);
    }
    settings_quiet_add(p, CHANGE_FILE, path, text);
}

void settings_quiet_irq(struct quiet_plan *p)
{
    struct cpu_mask self;

    if (no_other_cpu(p))
        return;
    cpu_mask_clear(&self);
    cpu_mask_add(&self, p->cpu);
    mask_away(p, "/proc/irq/default_smp_affinity"); /* first: what is set up meanwhile follows it */
    settings_quiet_irqs_away(p, &self);
}

/* ---- workqueues ---- */

void settings_quiet_workqueue(struct quiet_plan *p)
{
    char path[CHANGE_PATH_MAX], real[300];
    struct dirent *entry;

    if (no_other_cpu(p))
        return;
    int fd = settings_open_folder(p->roots, "/sys/devices/virtual/workqueue");
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        snprintf(p->why, sizeof p->why, "the kernel shows no workqueues (/sys/devices/virtual/workqueue)");
        return;
    }
    mask_away(p, "/sys/devices/virtual/workqueue/cpumask");
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' || strlen(entry->d_name) > 60)
            continue;
        snprintf(path, sizeof path, "/sys/devices/virtual/workqueue/%.60s/cpumask", entry->d_name);
        settings_real_path(p->roots, path, real, sizeof real);
        if (access(real, F_OK) == 0)
            mask_away(p, path);
    }
    closedir(folder);
}

/* ---- what the kernel does by itself ---- */

void settings_quiet_tick(struct quiet_plan *p)
{
    static const char *const settings[][2] = {{"/proc/sys/kernel/nmi_watchdog", "0"},
                                              {"/proc/sys/vm/stat_interval", "120"},
                                              {"/proc/sys/kernel/sched_rt_runtime_us", "-1"}};
    char real[300];

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        settings_real_path(p->roots, settings[i][0], real, sizeof real);
        if (access(real, F_OK) == 0)
            settings_quiet_add(p, CHANGE_FILE, settings[i][0], settings[i][1]);
    }
    if (p->all == 0)
        snprintf(p->why, sizeof p->why, "the kernel has none of these settings");
}
