/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/native/between.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The place of "CPUn" in the line of names; -1: it is not there, as CPUs that are offline. */
static int irq_column_of(char *names, int cpu)
{
    char wanted[24], *rest = NULL;
    int column = 0;

    snprintf(wanted, sizeof wanted, "CPU%d", cpu);
    for (char *name = strtok_r(names, " \t\n", &rest); name != NULL; name = strtok_r(NULL, " \t\n", &rest), column++)
        if (strcmp(name, wanted) == 0)
            return column;
    return -1;
}

/* The number in this column of " LOC:  12  34  Local timer interrupts"; 0 in lines that are not by CPU. */
static double column_number(const char *line, int column)
{
    const char *at = line + strspn(line, " \t"), *colon = strchr(line, ':');

    if (colon == NULL || strncmp(at, "ERR:", 4) == 0 || strncmp(at, "MIS:", 4) == 0)
        return 0;
    for (at = colon + 1;; column--) {
        char *end;
        unsigned long long n = strtoull(at, &end, 10);
        if (end == at)
            return 0;
        if (column == 0)
            return (double)n;
        at = end;
    }
}

double between_interrupts(FILE *in, int cpu)
{
    char *line = NULL;
    size_t size = 0;
    double sum = NAN;

    if (getline(&line, &size, in) > 0) {
        int column = irq_column_of(line, cpu);
        for (sum = column < 0 ? NAN : 0; column >= 0 && getline(&line, &size, in) > 0;)
            sum += column_number(line, column);
    }
    free(line);
    return sum;
}

static FILE *open_proc(const char *proc, const char *name)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", proc, name);
    return fopen(path, "re");
}

/* The eighth number of "cpuN ..." (proc(5)), in units of USER_HZ. */
static double read_steal_ms(const char *proc, int cpu)
{
    char name[24], line[400];
    double ms = NAN;
    FILE *in = open_proc(proc, "stat");

    if (in == NULL)
        return NAN;
    snprintf(name, sizeof name, "cpu%d ", cpu);
    while (fgets(line, sizeof line, in) != NULL) {
        unsigned long long ticks;
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line, "%*s %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) == 1)
            ms = (double)ticks * 1000 / (double)sysconf(_SC_CLK_TCK);
    }
    fclose(in);
    return ms;
}

void between_read(const char *proc, int cpu, struct between *out)
{
    struct rusage usage;
    FILE *in = proc != NULL ? open_proc(proc, "interrupts") : NULL;

    *out = (struct between){NAN, NAN, NAN, NAN};
    if (in != NULL) {
        out->interrupts = between_interrupts(in, cpu);
        fclose(in);
    }
    if (proc != NULL)
        out->steal_ms = read_steal_ms(proc, cpu);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        out->faults = (double)(usage.ru_minflt + usage.ru_majflt);
        out->switches = (double)(usage.ru_nvcsw + usage.ru_nivcsw);
    }
}

static double counter_grown(double before, double now)
{
    return now >= before ? now - before : NAN;
}

void between_since(const struct between *before, struct between *now)
{
    now->interrupts = counter_grown(before->interrupts, now->interrupts);
    now->faults = counter_grown(before->faults, now->faults);
    now->switches = counter_grown(before->switches, now->switches);
    now->steal_ms = counter_grown(before->steal_ms, now->steal_ms);
}
