/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation as one document, for the screen and the page: figures as rows, shares in percent, and what follows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/document/document.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "tables/table/pivot.h"
#include "util/order.h"
#include "util/plain_text.h"

enum {
    TASK_NAME_MAX = 48, /* bytes of a task's name; JSON has all of it */
    TASKS_SHOWN = 8,    /* of a text, as many as have room on a screen; so with what was bounded */
    BOUNDS_SHOWN = 12,
    LINE_MAX_BYTES = 4500, /* a line with a path in it */
};

static void begin_table(struct table *t, const char *name, const struct sim_report *r,
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

static const struct table_column policy_column = {"policy", "", TABLE_TEXT, true, 0};
static const struct table_column scheduler_column = {"scheduler", "", TABLE_TEXT, true, 0};

static void add_names(const struct sim_report_result *result, struct table *t)
{
    table_add_row(t);
    table_put_text(t, "policy", result->runs->policy);
    if (table_has(t, "scheduler"))
        table_put_text(t, "scheduler", result->runs->scheduler);
}

/* The latest end of all results. */
static double latest_end_us(const struct sim_report *r)
{
    double latest = 0;
    for (size_t i = 0; i < r->n_results; i++)
        latest = fmax(latest, sim_figure_of(&r->results[i], SIM_END, SIM_TOTAL).value);
    return latest;
}

/* Changes per second of the workload, until its last work has ended. */
static double sim_figure_changes_per_s(const struct sim_report_result *r)
{
    double seconds = sim_figure_of(r, SIM_END, SIM_TOTAL).value / 1e6;
    return seconds > 0 ? sim_figure_of(r, SIM_TRANSITIONS, SIM_TOTAL).value / seconds : NAN;
}

/* Forced idle time over the time of all CPUs until the last work has ended; NaN without a scheduler. */
static double sim_figure_forced_idle(const struct sim_report *r, const struct sim_report_result *result)
{
    double time = r->head.cpus * sim_figure_of(result, SIM_END, SIM_TOTAL).value;
    return time > 0 ? sim_figure_of(result, SIM_FORCED_IDLE, SIM_TOTAL).value / time : NAN;
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

static void make_results(const struct sim_report *r, struct table *t)
{
    static const struct table_column remote[] = {TABLE_LIMITS("remote_overhead", "%", 2),
                                                 {"remote_delay", "%", TABLE_REAL, false, 2},
                                                 {"remote_smt", "%", TABLE_REAL, false, 2}};
    static const struct table_column changes[] = {{"slowed", "%", TABLE_REAL, false, 2},
                                                  {"changes_per_s", "1/s", TABLE_REAL, false, 0}};
    static const struct table_column overhead[] = {TABLE_LIMITS("overhead", "%", 2)};
    const struct sim_unit *unit = sim_unit_for(latest_end_us(r));
    const struct table_column idle[] = {{"end", unit->name, TABLE_REAL, false, 3},
                                        {"forced_idle", "%", TABLE_REAL, false, 2}};
    struct table_column columns[TABLE_COLUMNS_MAX] = {policy_column, scheduler_column};
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
    begin_table(t, "simulation", r, columns, n);
    for (size_t i = 0; i < r->n_results; i++)
        results_row(r, &r->results[i], unit->us, t);
}

/* True: what a scheduler's own work costs is known, at least in part. */
static bool knows_costs(const struct sim_report_head *h)
{
    bool known = false;
    for (size_t i = 0; i < SIM_SCHEDULING_COSTS; i++)
        known = known || h->scheduling_ps[i] >= 0;
    return known;
}

static const char *make_schedulers(const struct sim_report *r, struct table *t)
{
    const struct table_column columns[] = {policy_column,
                                           scheduler_column,
                                           TABLE_LIMITS("slowdown", "%", 2),
                                           TABLE_LIMITS("cpu_slowdown", "%", 2),
                                           TABLE_LIMITS("unfairness", "%", 2),
                                           {"mean_ghz", "GHz", TABLE_REAL, false, 3},
                                           {"switches", "", TABLE_REAL, false, 0},
                                           {"migrations", "", TABLE_REAL, false, 0},
                                           {"core_changes", "", TABLE_REAL, false, 0},
                                           {"scheduling", "%", TABLE_REAL, false, 2}};
    begin_table(t, "schedulers", r, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_results && sim_figure_schedulers(r); i++) {
        const struct sim_report_result *result = &r->results[i];
        add_names(result, t);
        for (enum sim_figure f = SIM_SLOWDOWN; f <= SIM_UNFAIRNESS; f++)
            put_percent_limits(t, sim_figure_kinds[f].name, sim_figure_of(result, f, SIM_TOTAL));
        for (enum sim_figure f = SIM_MEAN_GHZ; f <= SIM_CORE_CHANGES; f++)
            table_put_number(t, sim_figure_kinds[f].name, sim_figure_of(result, f, SIM_TOTAL).value);
        if (knows_costs(&r->head))
            put_percent(t, "scheduling",
                        sim_figure_of(result, SIM_SCHEDULING, SIM_TOTAL).value /
                            sim_figure_of(result, SIM_TIME, SIM_TOTAL).value);
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

static void make_tasks(const struct sim_report *r, const char *scheduler, size_t most, struct table *t)
{
    const struct sim_report_result *results[SIM_POLICIES] = {NULL};
    size_t n = results_under(r, scheduler, results), worked = 0;
    struct order_key *order = n ? tasks_by_loss(r, results[0], &worked) : NULL;
    double longest = 0;
    for (size_t i = 0; order && i < worked; i++)
        longest = fmax(longest, sim_figure_of(results[0], SIM_TIME, order[i].index).value);
    const struct sim_unit *time = sim_unit_for(longest),
                          *lost = sim_unit_for(order && worked ? task_lost_us(results[0], order[0].index) : 0);
    struct table_column columns[3 + SIM_POLICIES] = {{"task", "", TABLE_TEXT, true, 0},
                                                     {"time", time->name, TABLE_REAL, false, 3},
                                                     {"lost", lost->name, TABLE_REAL, false, 3}};
    for (size_t i = 0; i < n; i++)
        columns[3 + i] = (struct table_column){results[i]->runs->policy, "%", TABLE_REAL, false, 2};
    begin_table(t, "tasks", r, columns, 3 + n);
    t->failed = t->failed || (n && !order);
    for (size_t i = 0; order && i < worked && i < most; i++) {
        char name[TASK_NAME_MAX];
        size_t task = order[i].index;
        plain_text(r->head.tasks[task], name, sizeof name);
        table_add_row(t);
        table_put_text(t, "task", name);
        table_put_number(t, "time", sim_figure_of(results[0], SIM_TIME, task).value / time->us);
        table_put_number(t, "lost", task_lost_us(results[0], task) / lost->us);
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

static void make_what_if(const struct sim_report *r, struct table *t)
{
    static const struct table_column columns[] = {
        {"parameter", "", TABLE_TEXT, true, 0},         {"factor", "", TABLE_REAL, false, 2},
        {"overhead", "%", TABLE_REAL, false, 2},        {"change", "points", TABLE_REAL, false, 2},
        {"remote_overhead", "%", TABLE_REAL, false, 2}, {"remote_change", "points", TABLE_REAL, false, 2}};
    begin_table(t, "what_if", r, columns, sizeof columns / sizeof *columns);
    if (r->what_if.n)
        what_if_row(&r->what_if.now, &r->what_if.now, t);
    for (size_t i = 0; i < r->what_if.n; i++)
        what_if_row(&r->what_if.row[i], &r->what_if.now, t);
}

/* ---- the document ---- */

static void describe_head(const struct sim_report_head *h, struct document *d)
{
    static const char said[] = "modelled, not measured";
    char title[LINE_MAX_BYTES], cpu[LINE_MAX_BYTES], modelled[LINE_MAX_BYTES], active[40] = "counted", runs[60] = "";
    const char *source = h->source ? h->source : "";
    source += strncmp(source, said, sizeof said - 1) == 0 ? sizeof said - 1 : 0;
    snprintf(title, sizeof title, "Simulation of %s (%s)", h->workload, h->kind);
    snprintf(cpu, sizeof cpu, "%s, as %s says", h->cpu, h->params);
    snprintf(modelled, sizeof modelled, "MODELLED, not measured%s%s", *source && *source != ':' ? ": " : "", source);
    if (h->active_cores)
        snprintf(active, sizeof active, "always %u", h->active_cores);
    if (h->runs > 1)
        snprintf(runs, sizeof runs, ", %u runs, means with 95 %% limits", h->runs);
    document_begin(d, title, cpu, h->modelled ? modelled : NULL);
    document_note(d, "%u core%s, %u CPU%s%s, active cores %s, recorded at %g GHz, seed %llu%s", h->cores,
                  h->cores == 1 ? "" : "s", h->cpus, h->cpus == 1 ? "" : "s", h->smt ? ", hyper-threading" : "", active,
                  h->recorded_ghz, (unsigned long long)h->seed, runs);
    document_section(d, DOCUMENT_ON_PAGE, "FACTS", NULL);
    document_fact(d, "workload", "%s", h->workload);
    document_fact(d, "kind", "%s", h->kind);
    document_fact(d, "CPUs", "%u, on %u core%s%s", h->cpus, h->cores, h->cores == 1 ? "" : "s",
                  h->smt ? " with hyper-threading" : "");
    document_fact(d, "recorded at", "%g GHz", h->recorded_ghz);
    document_fact(d, "active cores", "%s", active);
    document_fact(d, "processor", "%s", h->cpu);
    document_fact(d, "parameters", "%s", h->params);
    document_fact(d, "source", "%s", h->source ? h->source : "");
    document_fact(d, "seed", "%llu", (unsigned long long)h->seed);
    document_fact(d, "runs", "%u", h->runs);
    const char *version = h->version ? h->version : "";
    document_value(d, "VERSION", "%s", version);
    document_value(d, "WORKLOAD", "%s", h->workload);
    document_value(d, "CPU", "%s", h->cpu);
    document_value(d, "FOOT", "characterize %s \xC2\xB7 simulated%s", version,
                   h->modelled ? " \xC2\xB7 modelled, not measured" : "");
}

/* The rows of results; in a text with those of n fields that have values. */
static void put_results(struct document *d, const struct sim_report *r, struct table *t, const char *caption,
                        const char *title, const struct pivot_field *fields, size_t n)
{
    static const struct pivot_field names[] = {{"policy", "policy", PIVOT_PLAIN, NULL},
                                               {"scheduler", "scheduler", PIVOT_PLAIN, NULL}};
    enum { FIELDS_MAX = 16 };
    struct pivot_field shown[FIELDS_MAX];
    size_t n_names = sim_figure_schedulers(r) ? 2 : 1, n_shown = n_names;
    memcpy(shown, names, n_names * sizeof *names);
    for (size_t i = 0; i < n && n_shown < FIELDS_MAX; i++)
        if (table_has_values(t, fields[i].column))
            shown[n_shown++] = fields[i];
    document_table(d, t, caption,
                   &(struct pivot_list){.title = title, .n_names = n_names, .fields = shown, .n_fields = n_shown});
}

static void describe_overhead(const struct sim_report *r, struct document *d)
{
    const struct pivot_field fields[] = {{"all work", "overhead", PIVOT_PLAIN, NULL},
                                         {sim_unit_for(latest_end_us(r))->end, "end", PIVOT_PLAIN, NULL},
                                         {"idle", "forced_idle", PIVOT_PLAIN, NULL},
                                         {"remote: not wide", "remote_overhead", PIVOT_PLAIN, NULL},
                                         {"by delay", "remote_delay", PIVOT_PLAIN, NULL},
                                         {"by SMT", "remote_smt", PIVOT_PLAIN, NULL}};
    bool schedulers = sim_figure_schedulers(r);
    struct table t;
    make_results(r, &t);
    document_section(d, DOCUMENT_EVERYWHERE, "RESULTS", NULL);
    put_results(d, r, &t,
                schedulers ? "Overhead, when the last work ends, and time at each level"
                           : "Overhead, and time at each level",
                schedulers ? "Overhead and forced idle time, %, and when the last work ends" : "Overhead, %", fields,
                sizeof fields / sizeof *fields);
}

/* On the page these columns are beside the others. */
static void describe_levels(const struct sim_report *r, struct document *d)
{
    static const struct pivot_field fields[] = {
        {"level 0", "level_0", PIVOT_PLAIN, NULL}, {"level 1", "level_1", PIVOT_PLAIN, NULL},
        {"level 2", "level_2", PIVOT_PLAIN, NULL}, {"level 3", "level_3", PIVOT_PLAIN, NULL},
        {"level 4", "level_4", PIVOT_PLAIN, NULL}, {"level 5", "level_5", PIVOT_PLAIN, NULL},
        {"level 6", "level_6", PIVOT_PLAIN, NULL}, {"level 7", "level_7", PIVOT_PLAIN, NULL},
        {"slowed", "slowed", PIVOT_PLAIN, NULL},   {"changes/s", "changes_per_s", PIVOT_PLAIN, NULL}};
    _Static_assert(sizeof fields / sizeof *fields == SIM_LEVELS_MAX + 2, "each level has a column");
    struct table t;
    make_results(r, &t);
    document_section(d, DOCUMENT_EVERYWHERE, NULL, NULL);
    put_results(d, r, &t, NULL, "CPU time at each level and throttled or halted (slowed), %", fields,
                sizeof fields / sizeof *fields);
}

static void describe_schedulers(const struct sim_report *r, struct document *d)
{
    static const struct pivot_field fields[] = {{"slowdown %", "slowdown", PIVOT_PLAIN, NULL},
                                                {"of CPU time %", "cpu_slowdown", PIVOT_PLAIN, NULL},
                                                {"unfairness %", "unfairness", PIVOT_PLAIN, NULL},
                                                {"mean GHz", "mean_ghz", PIVOT_PLAIN, NULL},
                                                {"switches", "switches", PIVOT_PLAIN, NULL},
                                                {"migrations", "migrations", PIVOT_PLAIN, NULL},
                                                {"wide cores changed", "core_changes", PIVOT_PLAIN, NULL},
                                                {"own work %", "scheduling", PIVOT_PLAIN, NULL}};
    struct table t;
    const char *title = make_schedulers(r, &t);
    document_section(d, DOCUMENT_EVERYWHERE, "SCHEDULERS", NULL);
    put_results(d, r, &t, title, title, fields, sizeof fields / sizeof *fields);
}

/* A text has those that lost most under the first scheduler. */
static void describe_lost_tasks(const struct sim_report *r, struct document *d)
{
    struct pivot_field fields[3 + SIM_POLICIES];
    struct table t;
    char title[200];
    if (r->n_results == 0 || r->head.n_tasks < 2)
        return;
    const struct sim_result *first = r->results[0].runs;
    bool schedulers = sim_figure_schedulers(r);
    make_tasks(r, first->scheduler, TASKS_SHOWN, &t);
    for (size_t i = 0; i < t.n_columns; i++)
        fields[i] = (struct pivot_field){t.columns[i].name, t.columns[i].name, PIVOT_PLAIN, NULL};
    if (t.n_columns > 3) {
        fields[1].heading = sim_unit_named(t.columns[1].unit)->time;
        fields[2].heading = sim_unit_named(t.columns[2].unit)->lost;
    }
    snprintf(title, sizeof title, "Tasks that lost most under %s%s%s, and their overhead by policy, %%", first->policy,
             schedulers ? ", scheduler " : "", schedulers ? first->scheduler : "");
    document_section(d, DOCUMENT_EVERYWHERE, NULL, NULL);
    document_table(d, &t, NULL,
                   &(struct pivot_list){.title = title, .n_names = 1, .fields = fields, .n_fields = t.n_columns});
}

/* The page has all of them, by scheduler. */
static void describe_all_tasks(const struct sim_report *r, struct document *d)
{
    document_section(d, DOCUMENT_ON_PAGE, "TASKS", NULL);
    for (size_t i = 0; i < r->n_results; i++) {
        const char *scheduler = sim_figure_scheduler(r, i);
        bool schedulers = sim_figure_schedulers(r);
        char caption[200];
        struct table t;
        if (!scheduler)
            continue;
        snprintf(caption, sizeof caption, "Time and loss under %s, and overhead by policy%s%s",
                 r->results[i].runs->policy, schedulers ? "; scheduler " : "", schedulers ? scheduler : "");
        make_tasks(r, scheduler, SIZE_MAX, &t);
        document_table(d, &t, caption, NULL);
    }
}

static void describe_what_if(const struct sim_report *r, struct document *d)
{
    static const struct pivot_field fields[] = {
        {"parameter", "parameter", PIVOT_PLAIN, NULL},      {"times", "factor", PIVOT_PLAIN, NULL},
        {"overhead %", "overhead", PIVOT_PLAIN, NULL},      {"points", "change", PIVOT_PLAIN, NULL},
        {"remote %", "remote_overhead", PIVOT_PLAIN, NULL}, {"points", "remote_change", PIVOT_PLAIN, NULL}};
    struct table t;
    make_what_if(r, &t);
    document_section(d, DOCUMENT_EVERYWHERE, "WHAT_IF", NULL);
    document_table(d, &t, "Policy stock on other processors",
                   &(struct pivot_list){.title = "With other processor parameters, policy stock",
                                        .n_names = 2,
                                        .fields = fields,
                                        .n_fields = sizeof fields / sizeof *fields});
}

/* A section of sentences. */
static void describe_sentences(const struct sim_report *r, struct document *d, const char *place, const char *heading,
                               size_t most, void (*conclude)(const struct sim_report *r, FILE *out))
{
    document_section(d, DOCUMENT_EVERYWHERE, place, heading);
    document_notes_most(d, most);
    FILE *notes = document_notes(d);
    if (notes)
        conclude(r, notes);
}

static void describe_picture(const struct sim_report *r, struct document *d, const char *place, const char *title,
                             int (*make)(const struct sim_report *r, struct chart *c, char *why, size_t why_size))
{
    struct chart c;
    char why[400];
    int made = make(r, &c, why, sizeof why);
    document_section(d, DOCUMENT_ON_PAGE, place, NULL);
    document_chart(d, &c, title, made, why);
}

static void describe(const struct sim_report *r, struct document *d)
{
    describe_head(&r->head, d);
    d->failed = d->failed || r->failed;
    describe_overhead(r, d);
    describe_levels(r, d);
    describe_schedulers(r, d);
    describe_lost_tasks(r, d);
    describe_all_tasks(r, d);
    describe_what_if(r, d);
    describe_sentences(r, d, "WHAT_IF_FINDING", NULL, SIZE_MAX, sim_conclude_what_if);
    describe_sentences(r, d, "BOUNDS", "Not in the export as needed, but bounded", BOUNDS_SHOWN, sim_conclude_bounds);
    describe_sentences(r, d, "REFUSED", "Not simulated", SIZE_MAX, sim_conclude_refused);
    document_section(d, DOCUMENT_EVERYWHERE, NULL, "");
    for (size_t i = 0; i < r->n_warnings; i++)
        document_note(d, "Note: %s", r->warnings[i]);
    describe_sentences(r, d, "FINDINGS", r->n_warnings ? NULL : "", SIZE_MAX, sim_conclude);
    document_section(d, DOCUMENT_ON_PAGE, "NOTES", NULL);
    for (size_t i = 0; i < r->n_warnings; i++)
        document_note(d, "%s", r->warnings[i]);
    describe_picture(r, d, "BARS", "Overhead by policy: bars; their figures are in the table below", sim_report_chart);
    describe_picture(r, d, "TIME_LINE", "Levels of the cores over time, by policy", sim_chart_time_line);
    describe_picture(r, d, "CURVE", "Overhead by the wait of policy timeout: a curve", sim_chart_curve);
}

void sim_report_print(FILE *out, bool colour, const struct sim_report *r)
{
    struct document d;
    describe(r, &d);
    document_print(out, colour, &d);
    document_free(&d);
}

int sim_report_html(const struct sim_report *r, FILE *out, char *why, size_t why_size)
{
    struct document d;
    describe(r, &d);
    int status = document_page(out, &d, "simulation", why, why_size);
    document_free(&d);
    return status;
}
