/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands there, and is read once: each reader fills its own members, but for those that it cannot read. */
#pragma once

#include "computer/environment/environment.h"
#include "computer/environment/environment_tree.h"

/* All facts, and of these the CPU lists and the masks. */
void environment_facts_read(const struct environment_tree *t, struct environment *e);
/* proc/cpuinfo: flags and microcode of its first CPU; with `all`, how many revisions there are. */
void environment_cpuinfo_read(const struct environment_tree *t, bool all, struct environment *e);
void environment_idle_read(const struct environment_tree *t, struct environment *e);
void environment_weaknesses_read(const struct environment_tree *t, struct environment *e);
/* CONFIG_HZ, Secure Boot, the MSR device, files that containers have. */
void environment_kernel_read(const struct environment_tree *t, struct environment *e);
void environment_cgroup_read(const struct environment_tree *t, struct environment *e);

/* ---- what is counted: each kind is looked at twice, and filled in from what lies between ---- */

/* Since boot: of each CPU, in clock ticks; how many threads began, NaN: not told. */
struct environment_times {
    struct {
        double total, idle, steal;
    } cpu[CPU_LIMIT];
    double begun;
};
/* NULL: not readable. free() it. */
struct environment_times *environment_stat_look(const struct environment_tree *t);
void environment_stat_fill(const struct environment_times *before, const struct environment_times *after,
                           struct environment *e);

/* How often core and package of the CPU were throttled since boot; NaN: not told. */
double environment_thermal_look(const struct environment_tree *t, int cpu);

/* The lines of /proc/interrupts: since_boot is that of the CPU. */
struct environment_irq_look {
    struct environment_irq *irq;
    size_t n;
    int error;
    double at; /* clock_seconds(CLOCK_MONOTONIC) */
};
void environment_irqs_look(const struct environment_tree *t, int cpu, struct environment_irq_look *out);
/* Fills in what was counted (nothing, where there is no look before), what they are allowed and the timer's rate; the
 * list becomes that of *e. */
void environment_irqs_fill(const struct environment_tree *t, const struct environment_irq_look *before,
                           struct environment_irq_look *after, struct environment *e);

/* How long each thread ran. */
struct environment_ran {
    int tid;
    uint64_t ns;
};
struct environment_task_look {
    struct environment_ran *ran; /* by thread */
    size_t n;
    int error;
    bool kernel_seen; /* kthreadd is shown */
    bool irqbalance;
};
void environment_tasks_look(const struct environment_tree *t, struct environment_task_look *out);
/* Looks again, and lists those that ran meanwhile on the CPU or on a sibling. */
void environment_tasks_fill(const struct environment_tree *t, const struct environment_task_look *before,
                            struct environment *e);
