/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report of simulations: how it is filled, and the figures of its results: means over runs, and differences. */
#include "schedulers/simulate/output/simulation.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "util/list.h"

/* Room for one more in a list of n; false: out of memory. */
static bool simulation_room(struct sim_report *r, void *list, size_t n, size_t size)
{
    bool room = list_room(list, n, size);
    r->failed = r->failed || !room;
    return room;
}

void sim_report_begin(struct sim_report *r, const struct sim_params *p, const char *file, const struct sim_workload *w)
{
    r->head = (struct sim_report_head){.workload = strdup(w->name),
                                       .tasks = calloc(w->n_tasks + 1, sizeof *r->head.tasks),
                                       .kind = w->kind,
                                       .params = file,
                                       .cpu = p->cpu,
                                       .source = p->source,
                                       .version = VERSION,
                                       .modelled = p->modelled,
                                       .smt = w->smt,
                                       .levels = p->levels,
                                       .cores = w->n_cores,
                                       .cpus = w->n_cpus,
                                       .active_cores = w->active_cores,
                                       .recorded_ghz = w->recorded / (1000.0 * SIM_UNITS_PER_MHZ)};
    memcpy(r->head.scheduling_ps, p->scheduling_ps, sizeof r->head.scheduling_ps);
    bool failed = !r->head.workload || !r->head.tasks;
    for (size_t i = 0; i < w->n_tasks && !failed; i++) {
        r->head.tasks[i] = strdup(w->tasks[i].name);
        failed = r->head.tasks[i] == NULL;
        r->head.n_tasks += !failed;
    }
    r->failed = r->failed || failed;
}

static struct sim_report_result *result_of(struct sim_report *r, const struct sim_result *run)
{
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_result *first = r->results[i].runs;
        if (strcmp(first->policy, run->policy) == 0 && strcmp(first->scheduler, run->scheduler) == 0)
            return &r->results[i];
    }
    return NULL;
}

void sim_report_add(struct sim_report *r, const struct sim_result *run)
{
    struct sim_report_result fresh = {0, NULL}, *known = result_of(r, run);
    struct sim_report_result *result = known ? known : &fresh;
    struct sim_result owned = *run;
    if (result->n_runs < SIM_RUNS_MAX && simulation_room(r, &result->runs, result->n_runs, sizeof *result->runs) &&
        (known || simulation_room(r, &r->results, r->n_results, sizeof *r->results))) {
        result->runs[result->n_runs++] = owned;
        if (!known)
            r->results[r->n_results++] = fresh;
        return;
    }
    r->failed = true;
    free(fresh.runs);
    sim_result_free(&owned);
}

void sim_report_refuse(struct sim_report *r, const char *policy, const char *scheduler, const char *why)
{
    if (!simulation_room(r, &r->refused, r->n_refused, sizeof *r->refused))
        return;
    struct sim_report_refused *refused = &r->refused[r->n_refused++];
    *refused = (struct sim_report_refused){.policy = policy, .scheduler = scheduler};
    snprintf(refused->why, sizeof refused->why, "%s", why);
}

void sim_report_warn(struct sim_report *r, const char *text, ...)
{
    va_list arguments;
    char *warning = NULL;
    va_start(arguments, text);
    int length = vasprintf(&warning, text, arguments);
    va_end(arguments);
    if (length >= 0 && simulation_room(r, &r->warnings, r->n_warnings, sizeof *r->warnings)) {
        r->warnings[r->n_warnings++] = warning;
        return;
    }
    r->failed = true;
    if (length >= 0)
        free(warning);
}

void sim_report_free(struct sim_report *r)
{
    for (size_t i = 0; i < r->n_results; i++) {
        for (size_t k = 0; k < r->results[i].n_runs; k++)
            sim_result_free(&r->results[i].runs[k]);
        free(r->results[i].runs);
    }
    for (size_t i = 0; i < r->n_warnings; i++)
        free(r->warnings[i]);
    for (size_t i = 0; i < r->head.n_tasks; i++)
        free(r->head.tasks[i]);
    free(r->head.tasks);
    free(r->head.workload);
    free(r->results);
    free(r->refused);
    free(r->warnings);
    sim_time_line_free(&r->time_line);
    memset(r, 0, sizeof *r);
}

/* ---- figures ---- */

static double figure_us(int64_t ps)
{
    return (double)ps / SIM_PS_PER_US;
}

static bool figure_scheduled(const struct sim_result *r)
{
    return strcmp(r->scheduler, sim_scheduler_names[SIM_RECORDED]) != 0;
}

const struct sim_figure_kind sim_figure_kinds[SIM_FIGURES] = {
    [SIM_OVERHEAD] = {"overhead", SIM_HAS_LIMITS | SIM_OF_TASKS},
    [SIM_REMOTE] = {"remote_overhead", SIM_HAS_LIMITS | SIM_OF_TASKS},
    [SIM_REMOTE_DELAY] = {"remote_delay", SIM_HAS_LIMITS},
    [SIM_REMOTE_SMT] = {"remote_smt", SIM_HAS_LIMITS},
    [SIM_TIME] = {"time_us", SIM_OF_TASKS},
    [SIM_IDEAL] = {"ideal_us", SIM_OF_TASKS},
    [SIM_END] = {"end_us", SIM_OF_TASKS},
    [SIM_THROTTLED] = {"throttled_us", SIM_OF_TASKS},
    [SIM_HALTED] = {"halted_us", SIM_OF_TASKS},
    [SIM_TRANSITIONS] = {"transitions", SIM_COUNT},
    [SIM_SLOWDOWN] = {"slowdown", SIM_HAS_LIMITS | SIM_SCHEDULED},
    [SIM_CPU_SLOWDOWN] = {"cpu_slowdown", SIM_HAS_LIMITS | SIM_SCHEDULED},
    [SIM_UNFAIRNESS] = {"unfairness", SIM_HAS_LIMITS | SIM_SCHEDULED},
    [SIM_MEAN_GHZ] = {"mean_ghz", SIM_SCHEDULED},
    [SIM_SWITCHES] = {"switches", SIM_COUNT | SIM_SCHEDULED},
    [SIM_MIGRATIONS] = {"migrations", SIM_COUNT | SIM_SCHEDULED},
    [SIM_CORE_CHANGES] = {"core_changes", SIM_COUNT | SIM_SCHEDULED},
    [SIM_SCHEDULING] = {"scheduling_us", SIM_SCHEDULED},
    [SIM_FORCED_IDLE] = {"forced_idle_us", SIM_SCHEDULED},
};

static const struct sim_times *figure_times(const struct sim_result *run, size_t task)
{
    return task == SIM_TOTAL ? &run->all : task < run->n_tasks ? &run->tasks[task] : NULL;
}

static double figure_value(const struct sim_result *run, enum sim_figure f, size_t task)
{
    const struct sim_times *t = figure_times(run, task);
    if (!t || ((sim_figure_kinds[f].is & SIM_SCHEDULED) && !figure_scheduled(run)))
        return NAN;
    const double values[SIM_FIGURES] = {
        [SIM_OVERHEAD] = sim_times_overhead(t),
        [SIM_REMOTE] = sim_times_remote(t),
        [SIM_REMOTE_DELAY] = sim_times_remote_delay(t),
        [SIM_REMOTE_SMT] = sim_times_remote_smt(t),
        [SIM_TIME] = figure_us(sim_times_cpu(t)),
        [SIM_IDEAL] = t->ideal_ps / SIM_PS_PER_US,
        [SIM_END] = figure_us(t->end_ps),
        [SIM_THROTTLED] = figure_us(t->throttled_ps),
        [SIM_HALTED] = figure_us(t->halted_ps),
        [SIM_TRANSITIONS] = (double)run->transitions,
        [SIM_SLOWDOWN] = run->slowdown,
        [SIM_CPU_SLOWDOWN] = run->cpu_slowdown,
        [SIM_UNFAIRNESS] = run->unfairness,
        [SIM_MEAN_GHZ] = run->mean_ghz,
        [SIM_SWITCHES] = (double)run->switches,
        [SIM_MIGRATIONS] = (double)run->migrations,
        [SIM_CORE_CHANGES] = (double)run->core_changes,
        [SIM_SCHEDULING] = figure_us(t->scheduling_ps),
        [SIM_FORCED_IDLE] = figure_us(run->forced_idle_ps),
    };
    return values[f];
}

/* The mean of the values that are there. */
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

static const struct sim_unit units[] = {{"s", 1e6, "end s", "time s", "lost s"},
                                        {"ms", 1e3, "end ms", "time ms", "lost ms"},
                                        {"us", 1, "end us", "time us", "lost us"}};

const struct sim_unit *sim_unit_for(double most_us)
{
    return &units[most_us >= 1e6 ? 0 : most_us >= 1e3 ? 1 : 2];
}

const struct sim_unit *sim_unit_named(const char *name)
{
    return &units[name[0] == 's' ? 0 : name[0] == 'm' ? 1 : 2];
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
