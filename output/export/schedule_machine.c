/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of which processor the parameters are, and which of its CPUs are alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "output/export/schedule_parts.h"
#include "tables/frequency/frequency.h"

/* "06_55H, stepping 4", or "19_01H-1", at the end of the processor's name; a signature that is doubtful is none. */
void schedule_put_signature(struct schedule *s)
{
    const char *name = s->cpu ? s->cpu : "";
    const size_t length = strlen(name);
    s->family = s->model = s->stepping = -1;
    for (const char *at = name; *at && strcmp(name + length - 1, CPU_DOUBTFUL) != 0; at++) {
        unsigned family, model, stepping;
        int end = 0;
        if ((sscanf(at, "%2x_%2xH-%u%n", &family, &model, &stepping, &end) == 3 && end > 0 && at[end] == '\0') ||
            sscanf(at, "(%2x_%2xH, stepping %u)%n", &family, &model, &stepping, &end) == 3) {
            s->family = (int)family;
            s->model = (int)model;
            s->stepping = (int)stepping;
            return;
        }
    }
}

static int by_cpu(const void *a, const void *b)
{
    const struct schedule_cpu *x = a, *y = b;
    return schedule_order((long[]){x->cpu}, (long[]){y->cpu}, 1);
}

/* One for each CPU that is like a measured one, from "31: 0-31,64-95; 63: 32-63". */
static bool put_alike(struct schedule *s, const char *text)
{
    struct cpu_mask seen, cpus;
    char list[1000];
    int like, end;
    cpu_mask_clear(&seen);
    for (; sscanf(text, " %d: %999[0-9,-]%n", &like, list, &end) == 2; text += end + (text[end] == ';')) {
        size_t i = 0;
        while (i < s->n_points && s->points[i].cpu != like)
            i++;
        for (int cpu = 0; i < s->n_points && cpu_mask_parse(list, &cpus) == 0 && cpu < CPU_LIMIT; cpu++) {
            const struct schedule_cpu one = {cpu, like};
            if (!cpu_mask_has(&cpus, cpu) || cpu_mask_has(&seen, cpu))
                continue;
            cpu_mask_add(&seen, cpu);
            if (!schedule_add((void **)&s->cpus, &s->n_cpus, sizeof one, &one))
                return false;
        }
    }
    schedule_sort(s->cpus, s->n_cpus, sizeof *s->cpus, by_cpu);
    return true;
}

/* Tables that do not say which CPUs are alike: the measured ones alone. */
bool schedule_put_cpus(struct schedule *s, const struct table *frequency)
{
    const char *text = table_setting(frequency, FREQUENCY_CPUS);
    if (text)
        return put_alike(s, text);
    for (size_t i = 0; i < s->n_points; i++) {
        const struct schedule_cpu one = {s->points[i].cpu, s->points[i].cpu};
        if ((i == 0 || s->points[i - 1].cpu != one.cpu) &&
            !schedule_add((void **)&s->cpus, &s->n_cpus, sizeof one, &one))
            return false;
    }
    return true;
}
