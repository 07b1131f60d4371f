/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of results: means over their runs, and differences between them. */
#include <math.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "schedulers/simulate/output/simulation_parts.h"

static double figure_us(int64_t ps)
{
    return (double)ps / SIM_PS_PER_US;
}

static double figure_time(const struct sim_times *t)
{
    return figure_us(sim_times_cpu(t));
}

static double figure_ideal(const struct sim_times *t)
{
    return t->ideal_ps / SIM_PS_PER_US;
}

static double figure_end(const struct sim_times *t)
{
    return figure_us(t->end_ps);
}

static double figure_throttled(const struct sim_times *t)
{
    return figure_us(t->throttled_ps);
}

static double figure_halted(const struct sim_times *t)
{
    return figure_us(t->halted_ps);
}

static double figure_transitions(const struct sim_result *r)
{
    return (double)r->transitions;
}

static bool figure_scheduled(const struct sim_result *r)
{
    return strcmp(r->scheduler, sim_scheduler_names[SIM_RECORDED]) != 0;
}

#define FIGURE_OF_SCHEDULED(name, value)                                                                               \
    static double figure_##name(const struct sim_result *r)                                                            \
    {                                                                                                                  \
        return figure_scheduled(r) ? (double)(value) : NAN;                                                            \
    }

FIGURE_OF_SCHEDULED(slowdown, r->slowdown)
FIGURE_OF_SCHEDULED(cpu_slowdown, r->cpu_slowdown)
FIGURE_OF_SCHEDULED(unfairness, r->unfairness)
FIGURE_OF_SCHEDULED(mean_ghz, r->mean_ghz)
FIGURE_OF_SCHEDULED(switches, r->switches)
FIGURE_OF_SCHEDULED(migrations, r->migrations)
FIGURE_OF_SCHEDULED(core_changes, r->core_changes)
FIGURE_OF_SCHEDULED(forced_idle, figure_us(r->forced_idle_ps))

const struct sim_figure_kind sim_figure_kinds[SIM_FIGURES] = {
    [SIM_OVERHEAD] = {"overhead", SIM_HAS_LIMITS | SIM_OF_TASKS, sim_times_overhead, NULL},
    [SIM_REMOTE] = {"remote_overhead", SIM_HAS_LIMITS | SIM_OF_TASKS, sim_times_remote, NULL},
    [SIM_REMOTE_DELAY] = {"remote_delay", SIM_HAS_LIMITS, sim_times_remote_delay, NULL},
    [SIM_REMOTE_SMT] = {"remote_smt", SIM_HAS_LIMITS, sim_times_remote_smt, NULL},
    [SIM_TIME] = {"time_us", SIM_OF_TASKS, figure_time, NULL},
    [SIM_IDEAL] = {"ideal_us", SIM_OF_TASKS, figure_ideal, NULL},
    [SIM_END] = {"end_us", SIM_OF_TASKS, figure_end, NULL},
    [SIM_THROTTLED] = {"throttled_us", SIM_OF_TASKS, figure_throttled, NULL},
    [SIM_HALTED] = {"halted_us", SIM_OF_TASKS, figure_halted, NULL},
    [SIM_TRANSITIONS] = {"transitions", SIM_COUNT, NULL, figure_transitions},
    [SIM_SLOWDOWN] = {"slowdown", SIM_HAS_LIMITS, NULL, figure_slowdown},
    [SIM_CPU_SLOWDOWN] = {"cpu_slowdown", SIM_HAS_LIMITS, NULL, figure_cpu_slowdown},
    [SIM_UNFAIRNESS] = {"unfairness", SIM_HAS_LIMITS, NULL, figure_unfairness},
    [SIM_MEAN_GHZ] = {"mean_ghz", 0, NULL, figure_mean_ghz},
    [SIM_SWITCHES] = {"switches", SIM_COUNT, NULL, figure_switches},
    [SIM_MIGRATIONS] = {"migrations", SIM_COUNT, NULL, figure_migrations},
    [SIM_CORE_CHANGES] = {"core_changes", SIM_COUNT, NULL, figure_core_changes},
    [SIM_FORCED_IDLE] = {"forced_idle_us", 0, NULL, figure_forced_idle},
};

static const struct sim_times *figure_times(const struct sim_result *run, size_t task)
{
    return task == SIM_TOTAL ? &run->all : task < run->n_tasks ? &run->tasks[task] : NULL;
}

static double figure_value(const struct sim_result *run, enum sim_figure f, size_t task)
{
    const struct sim_figure_kind *k = &sim_figure_kinds[f];
    const struct sim_times *t = figure_times(run, task);
    return k->run ? k->run(run) : t ? k->times(t) : NAN;
}

/* Of those values that are there. */
static struct estimate figure_mean(const double *x, size_t n)
{
    double there[SIM_RUNS_MAX];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            there[kept++] = x[i];
    return robust_mean(there, kept, 0, INFINITY, NULL);
}

struct estimate sim_figure_of(const struct sim_report_result *r, enum sim_figure f, size_t task)
{
    double x[SIM_RUNS_MAX];
    for (size_t i = 0; i < r->n_runs; i++)
        x[i] = figure_value(&r->runs[i], f, task);
    return figure_mean(x, r->n_runs);
}

double sim_figure_level_us(const struct sim_report_result *r, unsigned level, size_t task)
{
    double x[SIM_RUNS_MAX];
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_times *t = figure_times(&r->runs[i], task);
        x[i] = t ? figure_us(t->level_ps[level]) : NAN;
    }
    return figure_mean(x, r->n_runs).value;
}

double sim_figure_changes_per_s(const struct sim_report_result *r)
{
    double seconds = sim_figure_of(r, SIM_END, SIM_TOTAL).value / 1e6;
    return seconds > 0 ? sim_figure_of(r, SIM_TRANSITIONS, SIM_TOTAL).value / seconds : NAN;
}

double sim_figure_forced_idle(const struct sim_report *r, const struct sim_report_result *result)
{
    double time = r->head.cpus * sim_figure_of(result, SIM_END, SIM_TOTAL).value;
    return time > 0 ? sim_figure_of(result, SIM_FORCED_IDLE, SIM_TOTAL).value / time : NAN;
}

const char *sim_figure_unit(double most_us, double *scale)
{
    *scale = most_us >= 1e6 ? 1e6 : most_us >= 1e3 ? 1e3 : 1;
    return most_us >= 1e6 ? "s" : most_us >= 1e3 ? "ms" : "us";
}

struct estimate sim_figure_difference(const struct sim_report_result *a, const struct sim_report_result *b,
                                      enum sim_figure f)
{
    double x[SIM_RUNS_MAX];
    if (a->n_runs != b->n_runs)
        return (struct estimate){NAN, NAN, NAN};
    for (size_t i = 0; i < a->n_runs; i++)
        x[i] = figure_value(&a->runs[i], f, SIM_TOTAL) - figure_value(&b->runs[i], f, SIM_TOTAL);
    return figure_mean(x, a->n_runs);
}

const struct sim_report_result *sim_figure_result(const struct sim_report *r, const char *policy, const char *scheduler)
{
    for (size_t i = 0; i < r->n_results; i++)
        if (strcmp(r->results[i].runs->policy, policy) == 0 && strcmp(r->results[i].runs->scheduler, scheduler) == 0)
            return &r->results[i];
    return NULL;
}

const char *sim_figure_scheduler(const struct sim_report *r, size_t i)
{
    const char *scheduler = r->results[i].runs->scheduler;
    for (size_t before = 0; before < i; before++)
        if (strcmp(r->results[before].runs->scheduler, scheduler) == 0)
            return NULL;
    return scheduler;
}

bool sim_figure_schedulers(const struct sim_report *r)
{
    for (size_t i = 0; i < r->n_results; i++)
        if (figure_scheduled(r->results[i].runs))
            return true;
    return false;
}
