/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation on a screen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/output/simulation_parts.h"
#include "tables/table/pivot.h"

enum { TASKS_SHOWN = 8, BOUNDS_SHOWN = 12 };

static const char *text_bold(bool colour)
{
    return colour ? "\033[1m" : "";
}

static const char *text_plain(bool colour)
{
    return colour ? "\033[0m" : "";
}

static void text_head(FILE *out, bool colour, const struct sim_report_head *h)
{
    fputs(text_bold(colour), out);
    pivot_note(out, 2, "Simulation of %s (%s)", h->workload, h->kind);
    fputs(text_plain(colour), out);
    pivot_note(out, 2, "%s, as %s says", h->cpu, h->params);
    if (h->modelled) {
        static const char said[] = "modelled, not measured";
        const char *source = h->source ? h->source : "";
        source += strncmp(source, said, sizeof said - 1) == 0 ? sizeof said - 1 : 0;
        fputs(colour ? "\033[31m" : "", out);
        pivot_note(out, 2, "MODELLED, not measured%s%s", *source && *source != ':' ? ": " : "", source);
        fputs(text_plain(colour), out);
    }
    char active[40] = "counted", runs[60] = "";
    if (h->active_cores)
        snprintf(active, sizeof active, "always %u", h->active_cores);
    if (h->runs > 1)
        snprintf(runs, sizeof runs, ", %u runs, means with 95 %% limits", h->runs);
    pivot_note(out, 2, "%u core%s, %u CPU%s%s, active cores %s, recorded at %g GHz, seed %llu%s", h->cores,
               h->cores == 1 ? "" : "s", h->cpus, h->cpus == 1 ? "" : "s", h->smt ? ", hyper-threading" : "", active,
               h->recorded_ghz, (unsigned long long)h->seed, runs);
}

/* The rows of results, with those of n fields that have values. */
static void text_result_rows(FILE *out, bool colour, const struct sim_report *r, const struct table *t,
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
    pivot_list(out, colour, t,
               &(struct pivot_list){.title = title, .n_names = n_names, .fields = shown, .n_fields = n_shown});
}

/* A column's name and unit. */
static void text_heading_of(const struct table *t, const char *column, char *out, size_t size)
{
    const struct table_column *c = table_column_named(t, column);
    *out = '\0';
    if (c)
        snprintf(out, size, "%s %s", column, c->unit);
}

static void text_results(FILE *out, bool colour, const struct sim_report *r)
{
    char end[20];
    const struct pivot_field overhead[] = {
        {"all work", "overhead", PIVOT_PLAIN, NULL},     {end, "end", PIVOT_PLAIN, NULL},
        {"idle", "forced_idle", PIVOT_PLAIN, NULL},      {"remote: not wide", "remote_overhead", PIVOT_PLAIN, NULL},
        {"by delay", "remote_delay", PIVOT_PLAIN, NULL}, {"by SMT", "remote_smt", PIVOT_PLAIN, NULL}};
    static const struct pivot_field rest[] = {{"slowed", "slowed", PIVOT_PLAIN, NULL},
                                              {"changes/s", "changes_per_s", PIVOT_PLAIN, NULL}};
    enum { REST = sizeof rest / sizeof *rest };
    struct pivot_field time[SIM_LEVELS_MAX + REST];
    char names[SIM_LEVELS_MAX][2][20];
    struct table t;
    sim_table_results(r, &t);
    text_heading_of(&t, "end", end, sizeof end);
    for (unsigned level = 0; level < r->head.levels; level++) {
        snprintf(names[level][0], sizeof names[level][0], "level %u", level);
        snprintf(names[level][1], sizeof names[level][1], "level_%u", level);
        time[level] = (struct pivot_field){names[level][0], names[level][1], PIVOT_PLAIN, NULL};
    }
    memcpy(time + r->head.levels, rest, sizeof rest);
    if (t.failed) {
        fputs("out of memory\n", out);
    } else {
        text_result_rows(out, colour, r, &t,
                         sim_figure_schedulers(r) ? "Overhead and forced idle time, %, and when the last work ends"
                                                  : "Overhead, %",
                         overhead, sizeof overhead / sizeof *overhead);
        text_result_rows(out, colour, r, &t, "CPU time at each level and throttled or halted (slowed), %", time,
                         r->head.levels + REST);
    }
    table_free(&t);
}

static void text_schedulers(FILE *out, bool colour, const struct sim_report *r)
{
    static const struct pivot_field fields[] = {{"slowdown %", "slowdown", PIVOT_PLAIN, NULL},
                                                {"of CPU time %", "cpu_slowdown", PIVOT_PLAIN, NULL},
                                                {"unfairness %", "unfairness", PIVOT_PLAIN, NULL},
                                                {"mean GHz", "mean_ghz", PIVOT_PLAIN, NULL},
                                                {"switches", "switches", PIVOT_PLAIN, NULL},
                                                {"migrations", "migrations", PIVOT_PLAIN, NULL},
                                                {"wide cores changed", "core_changes", PIVOT_PLAIN, NULL}};
    struct table t;
    const char *title = sim_table_schedulers(r, &t);
    if (t.failed)
        fputs("out of memory\n", out);
    else if (t.n_rows)
        text_result_rows(out, colour, r, &t, title, fields, sizeof fields / sizeof *fields);
    table_free(&t);
}

static void text_tasks(FILE *out, bool colour, const struct sim_report *r)
{
    if (r->n_results == 0 || r->head.n_tasks < 2)
        return;
    struct table t;
    char title[200], headings[2][20];
    struct pivot_field fields[3 + SIM_POLICIES];
    const struct sim_result *first = r->results[0].runs;
    sim_table_tasks(r, first->scheduler, TASKS_SHOWN, &t);
    for (size_t i = 0; i < t.n_columns; i++)
        fields[i] = (struct pivot_field){t.columns[i].name, t.columns[i].name, PIVOT_PLAIN, NULL};
    for (size_t i = 0; i < 2 && t.n_columns > 3; i++) {
        text_heading_of(&t, t.columns[1 + i].name, headings[i], sizeof headings[i]);
        fields[1 + i].heading = headings[i];
    }
    if (t.n_columns > 3)
        snprintf(title, sizeof title, "Tasks that lost most under %s%s%s, and their overhead by policy, %%",
                 first->policy, sim_figure_schedulers(r) ? ", scheduler " : "",
                 sim_figure_schedulers(r) ? first->scheduler : "");
    if (t.failed)
        fputs("out of memory\n", out);
    else if (t.n_columns > 3)
        pivot_list(out, colour, &t,
                   &(struct pivot_list){.title = title, .n_names = 1, .fields = fields, .n_fields = t.n_columns});
    table_free(&t);
}

static void text_what_if(FILE *out, bool colour, const struct sim_report *r)
{
    static const struct pivot_field fields[] = {
        {"parameter", "parameter", PIVOT_PLAIN, NULL},      {"times", "factor", PIVOT_PLAIN, NULL},
        {"overhead %", "overhead", PIVOT_PLAIN, NULL},      {"points", "change", PIVOT_PLAIN, NULL},
        {"remote %", "remote_overhead", PIVOT_PLAIN, NULL}, {"points", "remote_change", PIVOT_PLAIN, NULL}};
    struct table t;
    sim_table_what_if(r, &t);
    if (!t.failed)
        pivot_list(out, colour, &t,
                   &(struct pivot_list){.title = "With other processor parameters, policy stock",
                                        .n_names = 2,
                                        .fields = fields,
                                        .n_fields = sizeof fields / sizeof *fields});
    table_free(&t);
}

/* Sentences, a line each. */
static void text_sentences(FILE *out, bool colour, const struct sim_report *r, const char *heading, size_t most,
                           void (*conclude)(const struct sim_report *r, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines)
        conclude(r, lines);
    if (lines && fclose(lines) == 0)
        pivot_notes(out, colour, heading, text, most);
    free(text);
}

void sim_report_print(FILE *out, bool colour, const struct sim_report *r)
{
    text_head(out, colour, &r->head);
    text_results(out, colour, r);
    text_schedulers(out, colour, r);
    text_tasks(out, colour, r);
    text_what_if(out, colour, r);
    text_sentences(out, colour, r, NULL, SIZE_MAX, sim_conclude_what_if);
    text_sentences(out, colour, r, "Not in the export as needed, but bounded", BOUNDS_SHOWN, sim_conclude_bounds);
    text_sentences(out, colour, r, "Not simulated", SIZE_MAX, sim_conclude_refused);
    putc('\n', out);
    for (size_t i = 0; i < r->n_warnings; i++)
        pivot_note(out, 2, "Note: %s", r->warnings[i]);
    text_sentences(out, colour, r, NULL, SIZE_MAX, sim_conclude);
}
