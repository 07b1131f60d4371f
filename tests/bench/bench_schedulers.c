/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the schedulers of the simulator do at each switch: accounting, queue, choice. Nanoseconds of this processor, and
 * in ratio to plain `fair` in the same run: what compensation and restrictions cost on top. Medians of repetitions in
 * which the schedulers take turns. 8 CPUs of 4 cores, and a task beside each that runs; half of them use 512-bit
 * registers, and the counters say that everyone meets them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "schedulers/simulate/scheduling/dispatch.h"

enum { CPUS = 8, CORES = 4, TASKS = 16, REPETITIONS = 15, SWITCHES = 200000 };
#define AIM_NS 1000.0 /* below this: a slice is 6 ms */

static const char export_text[] =
    "{\"format\": \"characterize-export/1\", \"cpu\": \"Gold 6130\", \"modelled\": true, \"levels\": 3,"
    "\"classes\": [{\"class\": 0, \"width\": 64, \"heavy\": false, \"level\": 0},"
    "{\"class\": 1, \"width\": 512, \"heavy\": true, \"level\": 2}], \"triggers\": [], \"costs\": [], \"throttles\": "
    "[],"
    "\"level_relaxations\": [], \"level_costs\": [], \"missing\": [], \"frequencies\": ["
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

/* Each task has a row that does not end. */
static size_t read_work(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    bool *read = self;
    if (max == 0 || read[stream])
        return 0;
    read[stream] = true;
    *out = (struct sim_row){.ps = SIM_ROW_PS_MAX, .task = stream, .class = stream % 2 ? SIM_512HEAVY : SIM_NONE};
    return 1;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One CPU after the other leaves its task and takes another. Nanoseconds for each that was taken. */
static double time_switches(struct dispatch *d, struct engine *e)
{
    unsigned taken = 0;
    double begin = cpu_seconds();
    for (unsigned i = 0; i < SWITCHES; i++) {
        unsigned cpu = i % CPUS;
        struct dispatch_cpu *c = &d->cpu[cpu];
        uint32_t left = c->task;
        e->now += DISPATCH_SLICE_PS / CPUS;
        e->counts[cpu] = (struct engine_counts){
            .cycles = {0.7e14, 0, 0.3e14}, .stalled = 0.1e14, .unhalted_ps = (int64_t)(1e14 / 25000)};
        if (left != SIM_IDLE) {
            dispatch_leave(d, cpu);
            dispatch_ready(d, left);
        }
        c->again = c->forced = false;
        if (d->rules->invoked != NULL)
            d->rules->invoked(d, cpu);
        uint32_t task = dispatch_choose(d, cpu);
        if (task == SIM_IDLE)
            continue;
        ready_remove(&d->ready, task, d->task[task].vruntime);
        dispatch_take(d, cpu, task);
        if (d->rules->row != NULL)
            d->rules->row(d, cpu);
        taken++;
    }
    return (cpu_seconds() - begin) * 1e9 / taken;
}

static double measure_scheduler(struct sim_params *p, struct sim_workload *w, enum sim_scheduler scheduler)
{
    static bool read[TASKS];
    const struct sim_options o = {.policy = SIM_STOCK, .scheduler = scheduler};
    struct dispatch d = {.rules = NULL};
    struct engine e = {.params = NULL};
    struct engine_policy policy = policy_of(o.policy);
    struct engine_feed feed = {.next = scheduling_next, .wake = scheduling_wake, .self = &d};
    double ns = NAN;
    memset(read, 0, sizeof read);
    w->works = (struct sim_source){.read = read_work, .self = read};
    if (scheduling_init(&d, p, w, &o) && engine_init(&e, p, w, &o, &policy, &feed) == MACHINE_OK &&
        scheduling_begin(&d, &e)) {
        for (uint32_t task = 0; task < TASKS; task++) {
            d.task[task].wide = task % 2;
            d.task[task].fresh = false;
            dispatch_ready(&d, task);
        }
        ns = time_switches(&d, &e);
    }
    engine_free(&e);
    scheduling_free(&d);
    return ns;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    unsigned cpu[CPUS], core[CPUS];
    struct sim_task tasks[TASKS];
    struct sim_workload w = {.recorded = 28000,
                             .active_cores = 16,
                             .n_cpus = CPUS,
                             .cpu = cpu,
                             .core = core,
                             .n_cores = CORES,
                             .smt = true,
                             .n_tasks = TASKS,
                             .tasks = tasks};
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
