/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a quiet machine that keep the kernel's work off the CPU: irq, workqueue, tick. */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/order.h"

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

/* Nobody has asked for it: it cannot come, and its CPU could not be put back as it was. */
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

void settings_quiet_tick(struct quiet_plan *p)
{
    static const char *const settings[][2] = {{"/proc/sys/kernel/nmi_watchdog", "0"},
                                              {"/proc/sys/vm/stat_interval", "120"},
                                              {"/proc/sys/kernel/sched_rt_runtime_us", "-1"}};

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings_accessible(p->roots, settings[i][0], F_OK))
            settings_quiet_add(p, CHANGE_FILE, settings[i][0], settings[i][1]);
    if (p->all == 0)
        snprintf(p->why, sizeof p->why, "the kernel has none of these settings");
}
