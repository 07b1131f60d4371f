/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures as rows for a person, on the screen and on the page: shares in percent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/output/simulation_parts.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { TASK_NAME_MAX = 48 /* bytes of a task's name; JSON has all */ };

static void simulation_columns(struct table *t, const char *name, const struct sim_report *r,
                               const struct table_column *columns, size_t n)
{
    table_init(t, name, columns, n);
    table_set_meta(t, "modelled", r->head.modelled ? "yes" : "no");
}

static void put_percent(struct table *t, const char *column, double fraction)
{
    table_put_number(t, column, 100 * fraction);
}

static void put_percent_limits(struct table *t, const char *column, struct estimate e)
{
    table_put_limits(t, column, 100 * e.value, 100 * e.lo, 100 * e.hi);
}

/* ---- results ---- */

static const struct table_column simulation_policy = {"policy", "", TABLE_TEXT, true, 0};
static const struct table_column simulation_scheduler = {"scheduler", "", TABLE_TEXT, true, 0};

static void add_names(const struct sim_report_result *result, struct table *t)
{
    table_add_row(t);
    table_put_text(t, "policy", result->runs->policy);
    if (table_has(t, "scheduler"))
        table_put_text(t, "scheduler", result->runs->scheduler);
}

/* Of all results. */
static double latest_end_us(const struct sim_report *r)
{
    double latest = 0;
    for (size_t i = 0; i < r->n_results; i++)
        latest = fmax(latest, sim_figure_of(&r->results[i], SIM_END, SIM_TOTAL).value);
    return latest;
}

static void results_row(const struct sim_report *r, const struct sim_report_result *result, double end_scale,
                        struct table *t)
{
    double time = sim_figure_of(result, SIM_TIME, SIM_TOTAL).value;
    double slowed = sim_figure_of(result, SIM_THROTTLED, SIM_TOTAL).value +
                    sim_figure_of(result, SIM_HALTED, SIM_TOTAL).value;
    add_names(result, t);
    put_percent_limits(t, "overhead", sim_figure_of(result, SIM_OVERHEAD, SIM_TOTAL));
    if (table_has(t, "end")) {
        table_put_number(t, "end", sim_figure_of(result, SIM_END, SIM_TOTAL).value / end_scale);
        put_percent(t, "forced_idle", sim_figure_forced_idle(r, result));
    }
    put_percent_limits(t, "remote_overhead", sim_figure_of(result, SIM_REMOTE, SIM_TOTAL));
    put_percent(t, "remote_delay", sim_figure_of(result, SIM_REMOTE_DELAY, SIM_TOTAL).value);
    put_percent(t, "remote_smt", sim_figure_of(result, SIM_REMOTE_SMT, SIM_TOTAL).value);
    for (unsigned level = 0; level < r->head.levels; level++) {
        char column[20];
        snprintf(column, sizeof column, "level_%u", level);
        put_percent(t, column, sim_figure_level_us(result, level, SIM_TOTAL) / time);
    }
    put_percent(t, "slowed", slowed / time);
    table_put_number(t, "changes_per_s", sim_figure_changes_per_s(result));
}

static size_t append_columns(struct table_column *columns, size_t n, const struct table_column *more, size_t n_more)
{
    memcpy(columns + n, more, n_more * sizeof *more);
    return n + n_more;
}

void sim_table_results(const struct sim_report *r, struct table *t)
{
    static const struct table_column remote[] = {TABLE_LIMITS("remote_overhead", "%", 2),
                                                 {"remote_delay", "%", TABLE_REAL, false, 2},
                                                 {"remote_smt", "%", TABLE_REAL, false, 2}};
    static const struct table_column changes[] = {{"slowed", "%", TABLE_REAL, false, 2},
                                                  {"changes_per_s", "1/s", TABLE_REAL, false, 0}};
    static const struct table_column overhead[] = {TABLE_LIMITS("overhead", "%", 2)};
    double scale;
    const struct table_column idle[] = {{"end", sim_figure_unit(latest_end_us(r), &scale), TABLE_REAL, false, 3},
                                        {"forced_idle", "%", TABLE_REAL, false, 2}};
    struct table_column columns[TABLE_COLUMNS_MAX] = {simulation_policy, simulation_scheduler};
    char names[SIM_LEVELS_MAX][20];
    bool schedulers = sim_figure_schedulers(r);
    size_t n = append_columns(columns, schedulers ? 2 : 1, overhead, sizeof overhead / sizeof *overhead);
    n = append_columns(columns, n, idle, schedulers ? sizeof idle / sizeof *idle : 0);
    n = append_columns(columns, n, remote, sizeof remote / sizeof *remote);
    for (unsigned level = 0; level < r->head.levels; level++) {
        snprintf(names[level], sizeof names[level], "level_%u", level);
        columns[n++] = (struct table_column){names[level], "%", TABLE_REAL, false, 1};
    }
    n = append_columns(columns, n, changes, sizeof changes / sizeof *changes);
    simulation_columns(t, "simulation", r, columns, n);
    for (size_t i = 0; i < r->n_results; i++)
        results_row(r, &r->results[i], scale, t);
}

const char *sim_table_schedulers(const struct sim_report *r, struct table *t)
{
    const struct table_column columns[] = {simulation_policy,
                                           simulation_scheduler,
                                           TABLE_LIMITS("slowdown", "%", 2),
                                           TABLE_LIMITS("cpu_slowdown", "%", 2),
                                           TABLE_LIMITS("unfairness", "%", 2),
                                           {"mean_ghz", "GHz", TABLE_REAL, false, 3},
                                           {"switches", "", TABLE_REAL, false, 0},
                                           {"migrations", "", TABLE_REAL, false, 0},
                                           {"core_changes", "", TABLE_REAL, false, 0}};
    simulation_columns(t, "schedulers", r, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_results && sim_figure_schedulers(r); i++) {
        const struct sim_report_result *result = &r->results[i];
        add_names(result, t);
        for (enum sim_figure f = SIM_SLOWDOWN; f <= SIM_UNFAIRNESS; f++)
            put_percent_limits(t, sim_figure_kinds[f].name, sim_figure_of(result, f, SIM_TOTAL));
        for (enum sim_figure f = SIM_MEAN_GHZ; f <= SIM_CORE_CHANGES; f++)
            table_put_number(t, sim_figure_kinds[f].name, sim_figure_of(result, f, SIM_TOTAL).value);
    }
    return table_has_values(t, "slowdown") ? "Tasks that run no wide code, and what the scheduler did"
                                           : "What the scheduler did";
}

/* ---- tasks ---- */

/* The results under a scheduler, at most one a policy. */
static size_t results_under(const struct sim_report *r, const char *scheduler,
                            const struct sim_report_result *out[SIM_POLICIES])
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_results && n < SIM_POLICIES; i++)
        if (strcmp(r->results[i].runs->scheduler, scheduler) == 0)
            out[n++] = &r->results[i];
    return n;
}

static double task_lost_us(const struct sim_report_result *r, size_t task)
{
    return sim_figure_of(r, SIM_TIME, task).value - sim_figure_of(r, SIM_IDEAL, task).value;
}

/* The numbers of those tasks that worked, that which lost most first, and how many; NULL: out of memory. */
static struct order_key *tasks_by_loss(const struct sim_report *r, const struct sim_report_result *first, size_t *n)
{
    struct order_key *key = calloc(r->head.n_tasks + 1, sizeof *key);
    *n = 0;
    for (size_t i = 0; key && i < r->head.n_tasks; i++)
        if (isfinite(sim_figure_of(first, SIM_OVERHEAD, i).value))
            key[(*n)++] = (struct order_key){-task_lost_us(first, i), i};
    if (key)
        qsort(key, *n, sizeof *key, order_by_key);
    return key;
}

void sim_table_tasks(const struct sim_report *r, const char *scheduler, size_t most, struct table *t)
{
    const struct sim_report_result *results[SIM_POLICIES] = {NULL};
    size_t n = results_under(r, scheduler, results), worked = 0;
    struct order_key *order = n ? tasks_by_loss(r, results[0], &worked) : NULL;
    double longest = 0, time_scale, lost_scale;
    for (size_t i = 0; order && i < worked; i++)
        longest = fmax(longest, sim_figure_of(results[0], SIM_TIME, order[i].index).value);
    double lost = order && worked ? task_lost_us(results[0], order[0].index) : 0;
    struct table_column columns[3 + SIM_POLICIES] = {
        {"task", "", TABLE_TEXT, true, 0},
        {"time", sim_figure_unit(longest, &time_scale), TABLE_REAL, false, 3},
        {"lost", sim_figure_unit(lost, &lost_scale), TABLE_REAL, false, 3}};
    for (size_t i = 0; i < n; i++)
        columns[3 + i] = (struct table_column){results[i]->runs->policy, "%", TABLE_REAL, false, 2};
    simulation_columns(t, "tasks", r, columns, 3 + n);
    t->failed = t->failed || (n && !order);
    for (size_t i = 0; order && i < worked && i < most; i++) {
        char name[TASK_NAME_MAX];
        size_t task = order[i].index;
        plain_text(r->head.tasks[task], name, sizeof name);
        table_add_row(t);
        table_put_text(t, "task", name);
        table_put_number(t, "time", sim_figure_of(results[0], SIM_TIME, task).value / time_scale);
        table_put_number(t, "lost", task_lost_us(results[0], task) / lost_scale);
        for (size_t k = 0; k < n; k++)
            put_percent(t, results[k]->runs->policy, sim_figure_of(results[k], SIM_OVERHEAD, task).value);
    }
    free(order);
}

/* ---- others ---- */

static void what_if_row(const struct sim_what_if_row *row, const struct sim_what_if_row *now, struct table *t)
{
    table_add_row(t);
    table_put_text(t, "parameter", row->parameter ? row->parameter : "as it is");
    table_put_number(t, "factor", row->parameter ? row->factor : NAN);
    put_percent(t, "overhead", row->overhead);
    put_percent(t, "change", row->parameter ? row->overhead - now->overhead : NAN);
    put_percent(t, "remote_overhead", row->remote);
    put_percent(t, "remote_change", row->parameter ? row->remote - now->remote : NAN);
}

void sim_table_what_if(const struct sim_report *r, struct table *t)
{
    static const struct table_column columns[] = {
        {"parameter", "", TABLE_TEXT, true, 0},         {"factor", "", TABLE_REAL, false, 2},
        {"overhead", "%", TABLE_REAL, false, 2},        {"change", "points", TABLE_REAL, false, 2},
        {"remote_overhead", "%", TABLE_REAL, false, 2}, {"remote_change", "points", TABLE_REAL, false, 2}};
    simulation_columns(t, "what_if", r, columns, sizeof columns / sizeof *columns);
    if (r->what_if.n)
        what_if_row(&r->what_if.now, &r->what_if.now, t);
    for (size_t i = 0; i < r->what_if.n; i++)
        what_if_row(&r->what_if.row[i], &r->what_if.now, t);
}
