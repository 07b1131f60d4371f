/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filling a report and freeing it. */
#include "schedulers/simulate/output/simulation.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
    bool failed = !r->head.workload || !r->head.tasks;
    for (size_t i = 0; i < w->n_tasks && !failed; i++) {
        r->head.tasks[i] = strdup(w->tasks[i].name);
        failed = r->head.tasks[i] == NULL;
        r->head.n_tasks += !failed;
    }
    r->failed = r->failed || failed;
}

static struct sim_report_result *simulation_result_of(struct sim_report *r, const struct sim_result *run)
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
    struct sim_report_result fresh = {0, NULL}, *known = simulation_result_of(r, run);
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
