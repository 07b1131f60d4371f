/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation as one page, with its style and its pictures inside. */
#include <stdarg.h>
#include <stdlib.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "schedulers/simulate/output/simulation_parts.h"
#include "util/error.h"
#include "util/template.h"

enum { PICTURES = 3 };

static const struct {
    struct report_figure figure;
    int (*chart)(const struct sim_report *r, struct chart *c, char *why, size_t why_size);
} pictures[PICTURES] = {
    {{"BARS", "NO_BARS", "bars-", "Overhead by policy: bars; their figures are in the table below", NULL, ""},
     sim_report_chart},
    {{"TIME_LINE", "NO_TIME_LINE", "levels-", "Levels of the cores over time, by policy", NULL, ""},
     sim_chart_time_line},
    {{"CURVE", "NO_CURVE", "curve-", "Overhead by the wait of policy timeout: a curve", NULL, ""}, sim_chart_curve},
};

struct simulation_page {
    const struct sim_report *report;
    struct report_words words;
    struct report_figure figure[PICTURES];
};

static const struct sim_report *report_of(const void *page)
{
    return ((const struct simulation_page *)page)->report;
}

static void place_workload(FILE *out, const void *page)
{
    html_text(out, report_of(page)->head.workload);
}

static void place_cpu(FILE *out, const void *page)
{
    html_text(out, report_of(page)->head.cpu);
}

/* Lines of text; each as an item of a list, or as they are. */
static void place_lines(FILE *out, const void *page, bool items,
                        void (*conclude)(const struct sim_report *r, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines)
        conclude(report_of(page), lines);
    if (lines && fclose(lines) == 0 && items)
        html_each_line(out, "<li>", text, "</li>\n");
    else if (lines)
        html_lines(out, text);
    free(text);
}

static void place_findings(FILE *out, const void *page)
{
    place_lines(out, page, true, sim_conclude);
}

static void place_what_if_finding(FILE *out, const void *page)
{
    place_lines(out, page, false, sim_conclude_what_if);
}

static void place_bounds(FILE *out, const void *page)
{
    place_lines(out, page, true, sim_conclude_bounds);
}

static void place_refused(FILE *out, const void *page)
{
    place_lines(out, page, true, sim_conclude_refused);
}

__attribute__((format(printf, 3, 4))) static void place_fact_of(FILE *out, const char *name, const char *format, ...)
{
    char value[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    html_fact(out, name, value);
}

static void place_facts(FILE *out, const void *page)
{
    const struct sim_report_head *h = &report_of(page)->head;
    html_fact(out, "workload", h->workload);
    html_fact(out, "kind", h->kind);
    place_fact_of(out, "CPUs", "%u, on %u core%s%s", h->cpus, h->cores, h->cores == 1 ? "" : "s",
                  h->smt ? " with hyper-threading" : "");
    place_fact_of(out, "recorded at", "%g GHz", h->recorded_ghz);
    place_fact_of(out, "active cores", h->active_cores ? "always %u" : "counted", h->active_cores);
    html_fact(out, "processor", h->cpu);
    html_fact(out, "parameters", h->params);
    html_fact(out, "source", h->source);
    place_fact_of(out, "seed", "%llu", (unsigned long long)h->seed);
    place_fact_of(out, "runs", "%u", h->runs);
}

static void place_notes(FILE *out, const void *page)
{
    const struct sim_report *r = report_of(page);
    for (size_t i = 0; i < r->n_warnings; i++)
        html_print(out, "<li>%s</li>\n", r->warnings[i]);
}

/* ---- tables ---- */

/* A table that was made for this, which is freed. */
static void place_table(FILE *out, const void *page, struct table *t, const char *caption, const char *id)
{
    if (t->failed)
        fputs("<p>Out of memory.</p>\n", out);
    else if (t->n_rows)
        report_table(out, &((const struct simulation_page *)page)->words, t, caption, id, NULL);
    table_free(t);
}

static void place_results(FILE *out, const void *page)
{
    struct table t;
    sim_table_results(report_of(page), &t);
    place_table(out, page, &t,
                sim_figure_schedulers(report_of(page)) ? "Overhead, when the last work ends, and time at each level"
                                                       : "Overhead, and time at each level",
                "caption-results");
}

static void place_schedulers(FILE *out, const void *page)
{
    struct table t;
    const char *caption = sim_table_schedulers(report_of(page), &t);
    place_table(out, page, &t, caption, "caption-schedulers");
}

static void place_what_if(FILE *out, const void *page)
{
    struct table t;
    sim_table_what_if(report_of(page), &t);
    place_table(out, page, &t, "Policy stock on other processors", "caption-what-if");
}

static void place_tasks(FILE *out, const void *page)
{
    const struct sim_report *r = report_of(page);
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
        place_table(out, page, &t, caption, id);
    }
}

static void place_foot(FILE *out, const void *page)
{
    const struct sim_report_head *h = &report_of(page)->head;
    html_print(out, "characterize %s \xC2\xB7 simulated", h->version ? h->version : "");
    fputs(h->modelled ? " \xC2\xB7 modelled, not measured" : "", out);
}

/* ---- the page ---- */

static int simulation_fill(const struct simulation_page *page, const struct template_file *file, FILE *out, char *why,
                           size_t why_size)
{
    static const struct {
        const char *name;
        template_printer *print;
    } places[] = {{"WORKLOAD", place_workload},
                  {"CPU", place_cpu},
                  {"FINDINGS", place_findings},
                  {"FACTS", place_facts},
                  {"NOTES", place_notes},
                  {"RESULTS", place_results},
                  {"SCHEDULERS", place_schedulers},
                  {"WHAT_IF", place_what_if},
                  {"TASKS", place_tasks},
                  {"WHAT_IF_FINDING", place_what_if_finding},
                  {"BOUNDS", place_bounds},
                  {"REFUSED", place_refused},
                  {"FOOT", place_foot}};
    const struct sim_report_head *h = &page->report->head;
    struct template_values v = {.n = 0};
    template_put_text(&v, "MODELLED_TITLE", "%s", h->modelled ? " (modelled)" : "");
    template_put_text(&v, "VERSION", "%s", h->version ? h->version : "");
    template_put_text(&v, "STYLE", "%s", page->words.style.text);
    template_put_flag(&v, "MODELLED", h->modelled);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        template_put(&v, places[i].name, places[i].print, page);
    for (size_t i = 0; i < PICTURES; i++)
        report_figure_put(&v, &page->figure[i]);
    int status = template_fill(file, &v, out, why, why_size);
    template_values_free(&v);
    return status == 0 && ferror(out) ? -1 : status;
}

int sim_report_html(const struct sim_report *r, FILE *out, char *why, size_t why_size)
{
    struct simulation_page page = {.report = r};
    struct template_file file = {NULL, NULL};
    *why = '\0';
    if (r->failed)
        return error_line(why, why_size, "out of memory");
    if (report_words_read(&page.words, why, why_size) != 0)
        return -1;
    int status = template_read(&file, "report", "simulation", ".html.in", why, why_size);
    for (size_t i = 0; i < PICTURES && status == 0; i++) {
        struct report_figure *f = &page.figure[i];
        struct chart c;
        *f = pictures[i].figure;
        report_figure_draw(f, &c, pictures[i].chart(r, &c, f->why, sizeof f->why));
    }
    if (status == 0)
        status = simulation_fill(&page, &file, out, why, why_size);
    for (size_t i = 0; i < PICTURES; i++)
        free(page.figure[i].svg);
    template_file_free(&file);
    report_words_free(&page.words);
    return status;
}
