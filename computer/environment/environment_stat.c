/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/environment_parts.h"

/* ---- proc/stat (proc_stat(5)): clock ticks of each CPU ---- */

enum { STAT_COLUMNS = 8 }; /* user nice system idle iowait irq softirq steal; guest time is in user and nice */

static void take_stat_line(const char *line, struct environment_times *out)
{
    uint64_t column[STAT_COLUMNS] = {0};
    char *end;
    unsigned long cpu = strtoul(line, &end, 10);
    if (end == line || cpu >= CPU_LIMIT)
        return;
    for (size_t i = 0; i < STAT_COLUMNS; i++) {
        column[i] = strtoull(end, &end, 10);
        out->cpu[cpu].total += (double)column[i];
    }
    out->cpu[cpu].idle = (double)column[3] + (double)column[4];
    out->cpu[cpu].steal = (double)column[7];
}

struct environment_times *environment_stat_look(const struct environment_tree *t)
{
    struct environment_times *times = calloc(1, sizeof *times);
    char *text = environment_tree_whole(t, "proc/stat"), *rest = NULL;
    if (times == NULL || text == NULL) {
        free(text);
        free(times);
        return NULL;
    }
    times->begun = NAN;
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "cpu", 3) == 0)
            take_stat_line(line + 3, times);
        else if (strncmp(line, "processes ", 10) == 0)
            times->begun = (double)strtoull(line + 10, NULL, 10);
    free(text);
    return times;
}

/* A part of the time between, which is rounded to ticks and can go backwards where a CPU idles (proc_stat(5)). */
static double part_between(double before, double after, double total)
{
    return total > 0 ? fmin(1, fmax(0, (after - before) / total)) : NAN;
}

static double busy_between(const struct environment_times *before, const struct environment_times *after, int cpu)
{
    double total = after->cpu[cpu].total - before->cpu[cpu].total;
    double idle = part_between(before->cpu[cpu].idle, after->cpu[cpu].idle, total);
    double steal = part_between(before->cpu[cpu].steal, after->cpu[cpu].steal, total);
    return fmax(0, 1 - idle - steal);
}

void environment_stat_fill(const struct environment_times *before, const struct environment_times *after,
                           struct environment *e)
{
    enum { HERE, SIBLING, OTHER, KINDS };
    double sum[KINDS] = {0}, n[KINDS] = {0}; /* of the CPUs of which it is known */
    if (before == NULL || after == NULL)
        return;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        if (!(before->cpu[cpu].total > 0) || !(after->cpu[cpu].total > before->cpu[cpu].total))
            continue;
        int kind = cpu == e->cpu ? HERE : cpu_mask_has(&e->siblings, cpu) ? SIBLING : OTHER;
        sum[kind] += busy_between(before, after, cpu);
        n[kind]++;
    }
    e->busy_here = sum[HERE] / n[HERE]; /* NaN of none */
    e->busy_sibling = sum[SIBLING] / n[SIBLING];
    e->busy_others = sum[OTHER] / n[OTHER];
    e->steal = part_between(before->cpu[e->cpu].steal, after->cpu[e->cpu].steal,
                            after->cpu[e->cpu].total - before->cpu[e->cpu].total);
    e->begun = after->begun - before->begun;
    if (e->begun < 0)
        e->begun = NAN; /* it never falls */
}

/* ---- throttling (kernel: thermal_throttle counts of the core and of the package) ---- */

double environment_thermal_look(const struct environment_tree *t, int cpu)
{
    static const char folder[] = "sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count";
    long core = environment_tree_number(t, -1, folder, cpu, "core");
    long package = environment_tree_number(t, -1, folder, cpu, "package");
    if (core < 0 && package < 0)
        return NAN;
    return (double)(core > 0 ? core : 0) + (double)(package > 0 ? package : 0);
}
