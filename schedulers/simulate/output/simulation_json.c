/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-simulation/1 (doc/simulation.md, "Output"). */
#include <jansson.h>
#include <math.h>

#include "schedulers/simulate/output/simulation_parts.h"
#include "util/json_lines.h"

/* Whole numbers as such: a mean of several runs need not be one. */
static json_t *count_or_null(double x)
{
    return isfinite(x) && x == floor(x) && fabs(x) < 9e15 ? json_integer((json_int_t)x) : json_lines_real(x);
}

static void put_origin_of_simulation(json_t *root, const struct sim_report_head *h, bool *failed)
{
    json_lines_put(root, "format", json_string("characterize-simulation/1"), failed);
    json_lines_put_text(root, "version", h->version, failed);
    json_lines_put_text(root, "workload", h->workload, failed);
    json_lines_put_text(root, "kind", h->kind, failed);
    json_lines_put_text(root, "params", h->params, failed);
    json_lines_put_text(root, "cpu", h->cpu, failed);
    json_lines_put_text(root, "source", h->source, failed);
    json_lines_put(root, "modelled", json_boolean(h->modelled), failed);
    json_lines_put(root, "smt", json_boolean(h->smt), failed);
    json_lines_put_whole(root, "cores", h->cores, failed);
    json_lines_put_whole(root, "cpus", h->cpus, failed);
    json_lines_put_real(root, "recorded_ghz", h->recorded_ghz, failed);
    for (size_t i = 0; i < SIM_SCHEDULING_COSTS; i++) {
        char key[20];
        double ps = (double)h->scheduling_ps[i];
        snprintf(key, sizeof key, "%s_us", sim_scheduling_cost_names[i]);
        json_lines_put_real(root, key, ps < 0 ? NAN : ps / SIM_PS_PER_US, failed);
    }
    json_lines_put(root, "active_cores", h->active_cores ? json_integer(h->active_cores) : json_null(), failed);
    json_lines_put_whole(root, "seed", h->seed, failed);
    json_lines_put_whole(root, "runs", h->runs, failed);
}

static void put_figures(json_t *o, const struct sim_report_result *r, size_t task, bool *failed)
{
    char name[40];
    for (enum sim_figure f = 0; f < SIM_FIGURES; f++) {
        const struct sim_figure_kind *k = &sim_figure_kinds[f];
        if (task != SIM_TOTAL && !(k->is & SIM_OF_TASKS))
            continue;
        struct estimate e = sim_figure_of(r, f, task);
        json_lines_put(o, k->name, k->is & SIM_COUNT ? count_or_null(e.value) : json_lines_real(e.value), failed);
        if (!(k->is & SIM_HAS_LIMITS) || task != SIM_TOTAL)
            continue;
        snprintf(name, sizeof name, "%s_lo", k->name);
        json_lines_put_real(o, name, e.lo, failed);
        snprintf(name, sizeof name, "%s_hi", k->name);
        json_lines_put_real(o, name, e.hi, failed);
    }
}

static void put_level_times(json_t *o, const struct sim_report *r, const struct sim_report_result *result, size_t task,
                            bool *failed)
{
    json_t *list = json_lines_array(o, "level_us", failed);
    for (unsigned level = 0; level < r->head.levels; level++)
        json_lines_push(list, json_lines_real(sim_figure_level_us(result, level, task)), failed);
}

static void put_result(json_t *list, const struct sim_report *r, const struct sim_report_result *result, bool *failed)
{
    json_t *o = json_object();
    json_lines_put_text(o, "policy", result->runs->policy, failed);
    json_lines_put_text(o, "scheduler", result->runs->scheduler, failed);
    put_figures(o, result, SIM_TOTAL, failed);
    put_level_times(o, r, result, SIM_TOTAL, failed);
    json_t *tasks = json_lines_array(o, "tasks", failed);
    for (size_t i = 0; i < r->head.n_tasks; i++) {
        json_t *task = json_object();
        json_lines_put_text(task, "task", r->head.tasks[i], failed);
        put_figures(task, result, i, failed);
        put_level_times(task, r, result, i, failed);
        json_lines_push(tasks, task, failed);
    }
    json_lines_push(list, o, failed);
}

static void put_bound(json_t *list, const struct sim_bound *b, bool *failed)
{
    json_t *o = json_object();
    json_lines_put_text(o, "what", b->what, failed);
    json_lines_put_real(o, "value", b->value, failed);
    json_lines_put_real(o, "lo", b->lo, failed);
    json_lines_put_real(o, "hi", b->hi, failed);
    json_lines_put_text(o, "unit", b->unit, failed);
    json_lines_put_text(o, "why", b->why, failed);
    json_lines_push(list, o, failed);
}

static void put_refused(json_t *list, const struct sim_report_refused *r, bool *failed)
{
    json_t *o = json_object();
    json_lines_put_text(o, "policy", r->policy, failed);
    json_lines_put_text(o, "scheduler", r->scheduler, failed);
    json_lines_put_text(o, "why", r->why, failed);
    json_lines_push(list, o, failed);
}

static void put_curve_point(json_t *list, const char *mark, const struct sim_curve_point *p, bool *failed)
{
    if (!isfinite(p->timeout_us))
        return;
    json_t *o = json_object();
    json_lines_put_real(o, "timeout_us", p->timeout_us, failed);
    json_lines_put_text(o, "is", mark, failed);
    json_lines_put_real(o, "overhead", p->overhead, failed);
    json_lines_put_real(o, "remote_overhead", p->remote, failed);
    json_lines_push(list, o, failed);
}

static void put_curve(json_t *root, const struct sim_curve *c, bool *failed)
{
    json_t *list = json_lines_array(root, "curve", failed);
    for (size_t i = 0; i < c->n; i++)
        put_curve_point(list, NULL, &c->point[i], failed);
    if (c->n == 0)
        return;
    put_curve_point(list, "break-even", &c->breakeven, failed);
    put_curve_point(list, "stock", &c->stock, failed);
}

static void put_what_if(json_t *list, const struct sim_what_if *w, const struct sim_what_if_row *row, bool *failed)
{
    json_t *o = json_object();
    json_lines_put_text(o, "parameter", row->parameter, failed);
    json_lines_put_real(o, "factor", row->factor, failed);
    json_lines_put_real(o, "overhead", row->overhead, failed);
    json_lines_put_real(o, "remote_overhead", row->remote, failed);
    json_lines_put_real(o, "change", row->overhead - w->now.overhead, failed);
    json_lines_put_real(o, "remote_change", row->remote - w->now.remote, failed);
    json_lines_push(list, o, failed);
}

char *sim_report_json(const struct sim_report *r)
{
    bool failed = r->failed;
    json_t *root = json_object();
    put_origin_of_simulation(root, &r->head, &failed);
    json_t *warnings = json_lines_array(root, "warnings", &failed);
    for (size_t i = 0; i < r->n_warnings; i++)
        json_lines_push(warnings, json_lines_text(r->warnings[i]), &failed);
    json_t *bounds = json_lines_array(root, "bounds", &failed);
    for (size_t i = 0; i < r->n_bounds; i++)
        put_bound(bounds, &r->bounds[i], &failed);
    json_t *refused = json_lines_array(root, "refused", &failed);
    for (size_t i = 0; i < r->n_refused; i++)
        put_refused(refused, &r->refused[i], &failed);
    json_t *results = json_lines_array(root, "results", &failed);
    for (size_t i = 0; i < r->n_results; i++)
        put_result(results, r, &r->results[i], &failed);
    put_curve(root, &r->curve, &failed);
    json_t *what_if = json_lines_array(root, "what_if", &failed);
    for (size_t i = 0; i < r->what_if.n; i++)
        put_what_if(what_if, &r->what_if, &r->what_if.row[i], &failed);
    return json_lines_dump(root, failed);
}
