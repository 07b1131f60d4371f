/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation as one page, with its style and its pictures inside. */
#include <stdarg.h>
#include <stdlib.h>

#include "output/report/report_page.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "util/error.h"
#include "util/template.h"

enum { PICTURES = 3 };

static const struct {
    struct report_figure figure;
    int (*chart)(const struct sim_report *r, struct chart *c, char *why, size_t why_size);
} pictures[PICTURES] = {
    {{"BARS", "NO_BARS", "bars-", "Overhead by policy: bars; their figures are in the table below"}, sim_report_chart},
    {{"TIME_LINE", "NO_TIME_LINE", "levels-", "Levels of the cores over time, by policy"}, sim_chart_time_line},
    {{"CURVE", "NO_CURVE", "curve-", "Overhead by the wait of policy timeout: a curve"}, sim_chart_curve},
};

/* Lines of text; each as an item of a list, or as they are. */
static void simulation_page_lines(FILE *out, const struct sim_report *r, bool items,
                                  void (*conclude)(const struct sim_report *r, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines)
        conclude(r, lines);
    if (lines && fclose(lines) == 0 && items)
        html_each_line(out, "<li>", text, "</li>\n");
    else if (lines)
        html_lines(out, text);
    free(text);
}

__attribute__((format(printf, 3, 4))) static void simulation_page_fact(FILE *out, const char *name, const char *format,
                                                                       ...)
{
    char value[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    html_fact(out, name, value);
}

static void simulation_page_facts(FILE *out, const struct sim_report_head *h)
{
    html_fact(out, "workload", h->workload);
    html_fact(out, "kind", h->kind);
    simulation_page_fact(out, "CPUs", "%u, on %u core%s%s", h->cpus, h->cores, h->cores == 1 ? "" : "s",
                         h->smt ? " with hyper-threading" : "");
    simulation_page_fact(out, "recorded at", "%g GHz", h->recorded_ghz);
    simulation_page_fact(out, "active cores", h->active_cores ? "always %u" : "counted", h->active_cores);
    html_fact(out, "processor", h->cpu);
    html_fact(out, "parameters", h->params);
    html_fact(out, "source", h->source);
    simulation_page_fact(out, "seed", "%llu", (unsigned long long)h->seed);
    simulation_page_fact(out, "runs", "%u", h->runs);
}

/* ---- tables ---- */

static void simulation_page_results(struct report_page *p, const struct sim_report *r)
{
    struct table t;
    bool schedulers = sim_figure_schedulers(r);
    template_value(&p->values, "RESULTS");
    sim_table_results(r, &t);
    report_page_table(p, &t,
                      schedulers ? "Overhead, when the last work ends, and time at each level"
                                 : "Overhead, and time at each level",
                      "caption-results");
    template_value(&p->values, "SCHEDULERS");
    const char *caption = sim_table_schedulers(r, &t);
    report_page_table(p, &t, caption, "caption-schedulers");
    template_value(&p->values, "WHAT_IF");
    sim_table_what_if(r, &t);
    report_page_table(p, &t, "Policy stock on other processors", "caption-what-if");
    simulation_page_lines(template_value(&p->values, "WHAT_IF_FINDING"), r, false, sim_conclude_what_if);
}

static void simulation_page_tasks(struct report_page *p, const struct sim_report *r)
{
    template_value(&p->values, "TASKS");
    for (size_t i = 0; i < r->n_results; i++) {
        const char *scheduler = sim_figure_scheduler(r, i);
        char caption[200], id[40];
        struct table t;
        if (!scheduler)
            continue;
        snprintf(caption, sizeof caption, "Time and loss under %s, and overhead by policy%s%s",
                 r->results[i].runs->policy, sim_figure_schedulers(r) ? "; scheduler " : "",
                 sim_figure_schedulers(r) ? scheduler : "");
        snprintf(id, sizeof id, "caption-tasks-%zu", i);
        sim_table_tasks(r, scheduler, SIZE_MAX, &t);
        report_page_table(p, &t, caption, id);
    }
}

/* ---- the page ---- */

static void simulation_page_words(struct template_values *v, const struct sim_report *r)
{
    const char *version = r->head.version ? r->head.version : "";
    fputs(version, template_value(v, "VERSION"));
    html_text(template_value(v, "WORKLOAD"), r->head.workload);
    html_text(template_value(v, "CPU"), r->head.cpu);
    simulation_page_lines(template_value(v, "FINDINGS"), r, true, sim_conclude);
    simulation_page_facts(template_value(v, "FACTS"), &r->head);
    template_value(v, "NOTES");
    for (size_t i = 0; i < r->n_warnings; i++)
        html_print(v->out, "<li>%s</li>\n", r->warnings[i]);
    simulation_page_lines(template_value(v, "BOUNDS"), r, true, sim_conclude_bounds);
    simulation_page_lines(template_value(v, "REFUSED"), r, true, sim_conclude_refused);
    html_print(template_value(v, "FOOT"), "characterize %s \xC2\xB7 simulated", version);
    fputs(r->head.modelled ? " \xC2\xB7 modelled, not measured" : "", v->out);
}

int sim_report_html(const struct sim_report *r, FILE *out, char *why, size_t why_size)
{
    struct report_page page;
    if (r->failed)
        return error_line(why, why_size, "out of memory");
    bool begun = report_page_begin(&page, "simulation", r->head.modelled, why, why_size);
    if (begun) {
        simulation_page_words(&page.values, r);
        simulation_page_results(&page, r);
        simulation_page_tasks(&page, r);
    }
    for (size_t i = 0; i < PICTURES && begun; i++) {
        struct chart c;
        char reason[400];
        int described = pictures[i].chart(r, &c, reason, sizeof reason);
        report_page_figure(&page, &pictures[i].figure, &c, described, reason);
    }
    return report_page_end(&page, begun, out, why, why_size);
}
