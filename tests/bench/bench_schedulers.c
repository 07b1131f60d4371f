/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a switch in a simulation with a scheduler, the engine's part included: nanoseconds of this processor, and
 * in ratio to plain `fair` in the same run, which shows compensation and restrictions. Medians of repetitions in which
 * the schedulers take turns. 8 CPUs of 4 cores, and a task beside each that runs; half of them use 512-bit registers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "schedulers/simulate/simulate.h"

enum { CPUS = 8, CORES = 4, TASKS = 16, REPETITIONS = 5, ROWS = 400 };
#define ROW_PS (50000 * SIM_PS_PER_US) /* several slices */
#define AIM_NS 1000.0                  /* below this: a slice is 6 ms */

static const char export_text[] =
    "{\"format\": \"characterize-export/1\", \"cpu\": \"Gold 6130\", \"modelled\": true, \"levels\": 3,"
    "\"classes\": [{\"class\": 0, \"width\": 64, \"heavy\": false, \"level\": 0},"
    "{\"class\": 1, \"width\": 512, \"heavy\": true, \"level\": 2}], \"triggers\": [], \"costs\": [], \"throttles\": "
    "[],"
    "\"level_relaxations\": [], \"level_costs\": [{\"from\": 0, \"to\": 2, \"active_cores\": 16, "
    "\"down_ns\": 15000, \"up_ns\": 11000}], \"missing\": [], \"frequencies\": ["
    "{\"cpu\": 0, \"active_cores\": 2, \"level\": 0, \"mhz\": 3700},"
    "{\"cpu\": 0, \"active_cores\": 2, \"level\": 1, \"mhz\": 3600},"
    "{\"cpu\": 0, \"active_cores\": 2, \"level\": 2, \"mhz\": 3500},"
    "{\"cpu\": 0, \"active_cores\": 4, \"level\": 0, \"mhz\": 3500},"
    "{\"cpu\": 0, \"active_cores\": 4, \"level\": 1, \"mhz\": 3400},"
    "{\"cpu\": 0, \"active_cores\": 4, \"level\": 2, \"mhz\": 3100},"
    "{\"cpu\": 0, \"active_cores\": 8, \"level\": 0, \"mhz\": 3400},"
    "{\"cpu\": 0, \"active_cores\": 8, \"level\": 1, \"mhz\": 3100},"
    "{\"cpu\": 0, \"active_cores\": 8, \"level\": 2, \"mhz\": 2400},"
    "{\"cpu\": 0, \"active_cores\": 12, \"level\": 0, \"mhz\": 3100},"
    "{\"cpu\": 0, \"active_cores\": 12, \"level\": 1, \"mhz\": 2600},"
    "{\"cpu\": 0, \"active_cores\": 12, \"level\": 2, \"mhz\": 2100},"
    "{\"cpu\": 0, \"active_cores\": 16, \"level\": 0, \"mhz\": 2800},"
    "{\"cpu\": 0, \"active_cores\": 16, \"level\": 1, \"mhz\": 2400},"
    "{\"cpu\": 0, \"active_cores\": 16, \"level\": 2, \"mhz\": 1900}]}";

static struct sim_params *read_params(void)
{
    char path[] = "/tmp/bench-schedulers-XXXXXX";
    struct machine_error err = {.text = "cannot write to /tmp"};
    struct sim_params *p = NULL;
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, export_text, strlen(export_text)) != (ssize_t)strlen(export_text) ||
        sim_params_read(path, &p, &err) != MACHINE_OK)
        fprintf(stderr, "%s\n", err.text);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return p;
}

/* Each task works for some seconds; half of them in turns with 512-bit registers. */
static size_t read_work(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    unsigned *read = self;
    size_t n = 0;
    for (; n < max && read[stream] < ROWS; n++, read[stream]++)
        out[n] = (struct sim_row){
            .ps = ROW_PS, .task = stream, .class = stream % 2 && read[stream] % 2 ? SIM_512HEAVY : SIM_NONE};
    return n;
}

static void rewind_work(void *self)
{
    memset(self, 0, TASKS * sizeof(unsigned));
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A simulation; nanoseconds for each switch, with the engine's work in between. */
static double measure_scheduler(struct sim_params *p, struct sim_workload *w, enum sim_scheduler scheduler)
{
    static unsigned read[TASKS];
    const struct sim_options o = {.policy = SIM_NEVER, .scheduler = scheduler};
    struct sim_result result;
    struct machine_error err;
    w->works = (struct sim_source){.read = read_work, .rewind = rewind_work, .self = read};
    double begin = cpu_seconds();
    if (sim_run(p, w, &o, &result, &err) != MACHINE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return NAN;
    }
    double ns = (cpu_seconds() - begin) * 1e9 / (double)result.switches;
    sim_result_free(&result);
    return ns;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    char name[] = "bench";
    unsigned cpu[CPUS], core[CPUS];
    struct sim_task tasks[TASKS];
    struct sim_workload w = {.name = name,
                             .recorded = 28000,
                             .active_cores = 16,
                             .n_cpus = CPUS,
                             .cpu = cpu,
                             .core = core,
                             .n_cores = CORES,
                             .smt = true,
                             .n_tasks = TASKS,
                             .tasks = tasks,
                             .class_used = {[SIM_NONE] = true, [SIM_512HEAVY] = true},
                             .has_cookie = true,
                             .has_syscall = true};
    double ns[SIM_SCHEDULERS][REPETITIONS], fair = NAN;
    int status = EXIT_SUCCESS;
    struct sim_params *p = read_params();
    if (p == NULL)
        return EXIT_FAILURE;
    for (unsigned i = 0; i < CPUS; i++) {
        cpu[i] = i;
        core[i] = i / (CPUS / CORES);
    }
    for (uint32_t task = 0; task < TASKS; task++)
        tasks[task] = (struct sim_task){.cookie = task % 2};
    for (int i = 0; i < REPETITIONS; i++)
        for (int s = SIM_FAIR; s < SIM_SCHEDULERS; s++)
            ns[s][i] = measure_scheduler(p, &w, (enum sim_scheduler)s);
    printf("%-15s %9s %9s\n", "scheduler", "ns/switch", "to fair");
    for (int s = SIM_FAIR; s < SIM_SCHEDULERS; s++) {
        qsort(ns[s], REPETITIONS, sizeof ns[s][0], ascending);
        double median = ns[s][REPETITIONS / 2];
        fair = s == SIM_FAIR ? median : fair;
        printf("%-15s %9.1f %9.2f\n", sim_scheduler_names[s], median, median / fair);
        if (!(median < AIM_NS))
            status = EXIT_FAILURE;
    }
    sim_params_free(p);
    return status;
}
