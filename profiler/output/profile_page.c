/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile as one page, with its style and its pictures inside. */
#include <stdlib.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "profiler/output/profile_parts.h"
#include "util/template.h"

enum { PROFILE_PICTURES = 5 };

struct profile_page {
    const struct profile_result *result;
    struct report_words words;
    struct report_figure figure[PROFILE_PICTURES];
};

static const struct {
    struct report_figure figure;
    int (*chart)(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why, size_t why_size);
    enum profile_kind kind;
} profile_pictures[PROFILE_PICTURES] = {
    {{"TASK_CAUSES", "NO_TASK_CAUSES", "causes-",
      "Remote overhead of tasks by cause; the figures are in the table below", NULL, ""},
     profile_chart_causes,
     PROFILE_TASK},
    {{"TASK_LEVELS", "NO_TASK_LEVELS", "levels-", "Remote overhead of tasks by license level", NULL, ""},
     profile_chart_levels,
     PROFILE_TASK},
    {{"CULPRITS", "NO_CULPRITS", "culprits-", "Who slows whom: a matrix; its figures are in the table below", NULL, ""},
     profile_chart_culprits,
     PROFILE_TASK},
    {{"CONTAINER_CAUSES", "NO_CONTAINER_CAUSES", "containers-", "Remote overhead of containers by cause", NULL, ""},
     profile_chart_causes,
     PROFILE_CONTAINER},
    {{"CORE_CAUSES", "NO_CORE_CAUSES", "cores-", "Remote overhead of cores by cause", NULL, ""},
     profile_chart_causes,
     PROFILE_CORE},
};

static const struct profile_result *result_of(const void *page)
{
    return ((const struct profile_page *)page)->result;
}

/* ---- words ---- */

static void put_about(FILE *out, const void *page)
{
    const struct profile_result *r = result_of(page);
    html_text(out, r->head.command ? r->head.command : "Remote overhead");
}

static void put_processor(FILE *out, const void *page)
{
    html_text(out, result_of(page)->info.cpu);
}

static void put_version(FILE *out, const void *page)
{
    html_text(out, result_of(page)->head.version);
}

static void put_said(FILE *out, const void *page, const char *before, const char *after, profile_sayer *say)
{
    char *text = profile_said(result_of(page), say);
    html_each_line(out, before, text, after);
    free(text);
}

static void put_findings(FILE *out, const void *page)
{
    put_said(out, page, "<li>", "</li>\n", profile_say_findings);
}

static void put_advice(FILE *out, const void *page)
{
    put_said(out, page, "<li>", "</li>\n", profile_say_advice);
}

static void put_unknown(FILE *out, const void *page)
{
    put_said(out, page, "<li>", "</li>\n", profile_say_unknown);
}

static void put_facts(FILE *out, const void *page)
{
    const struct profile_result *r = result_of(page);
    char cores[80];
    snprintf(cores, sizeof cores, "%u, with %u CPU%s", r->info.cores, r->info.cpus, r->info.cpus == 1 ? "" : "s");
    html_fact(out, "processor", r->info.cpu);
    html_fact(out, "cores", cores);
    html_fact(out, "machine", r->info.name);
    html_fact(out, "command", r->head.command ? r->head.command : "none: everything that ran");
    put_said(out, page, "<dt>sampling</dt><dd>", "</dd>\n", profile_say_sampling);
    put_said(out, page, "<dt>turns</dt><dd>", "</dd>\n", profile_say_turns);
    put_said(out, page, "<dt>cost</dt><dd>", "</dd>\n", profile_say_cost);
}

static void put_foot(FILE *out, const void *page)
{
    const struct profile_result *r = result_of(page);
    html_print(out, "characterize %s \xC2\xB7 profile", r->head.version ? r->head.version : "");
    fputs(r->info.modelled ? " \xC2\xB7 modelled, not measured" : "", out);
}

/* ---- tables ---- */

/* A table that was made for this, which is freed. */
static void put_table(FILE *out, const void *page, struct table *t, const char *caption, const char *id)
{
    table_set_meta(t, "modelled", result_of(page)->info.modelled ? "yes" : "no");
    if (t->failed)
        fputs("<p>Out of memory.</p>\n", out);
    else if (t->n_rows)
        report_table(out, &((const struct profile_page *)page)->words, t, caption, id, NULL);
    table_free(t);
}

static void put_kind(FILE *out, const void *page, enum profile_kind kind, const char *caption, const char *id)
{
    struct table t;
    profile_table_kind(result_of(page), kind, &t);
    put_table(out, page, &t, caption, id);
}

static void put_tasks(FILE *out, const void *page)
{
    struct table t;
    put_kind(out, page, PROFILE_TASK, "Remote overhead of tasks", "caption-tasks");
    profile_table_commands(result_of(page), &t);
    put_table(out, page, &t, "Command lines", "caption-commands");
}

static void put_containers(FILE *out, const void *page)
{
    put_kind(out, page, PROFILE_CONTAINER, "Remote overhead of containers", "caption-containers");
}

static void put_cores(FILE *out, const void *page)
{
    put_kind(out, page, PROFILE_CORE, "Remote overhead of cores", "caption-cores");
}

static void put_culprit_rows(FILE *out, const void *page)
{
    struct table t;
    profile_table_culprits(result_of(page), &t);
    put_table(out, page, &t, "Who causes how much of each task's overhead", "caption-culprits");
}

/* ---- the page ---- */

static int profile_fill(const struct profile_page *page, const struct template_file *file, FILE *out, char *why,
                        size_t why_size)
{
    static const struct {
        const char *name;
        template_printer *print;
    } places[] = {{"ABOUT", put_about},           {"CPU", put_processor}, {"VERSION", put_version},
                  {"FINDINGS", put_findings},     {"ADVICE", put_advice}, {"UNKNOWN", put_unknown},
                  {"FACTS", put_facts},           {"TASKS", put_tasks},   {"CULPRIT_ROWS", put_culprit_rows},
                  {"CONTAINERS", put_containers}, {"CORES", put_cores},   {"FOOT", put_foot}};
    const struct profile_result *r = page->result;
    struct template_values v = {.n = 0};
    template_put_text(&v, "MODELLED_TITLE", "%s", r->info.modelled ? " (modelled)" : "");
    template_put_text(&v, "STYLE", "%s", page->words.style.text);
    template_put_flag(&v, "MODELLED", r->info.modelled);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        template_put(&v, places[i].name, places[i].print, page);
    for (size_t i = 0; i < PROFILE_PICTURES; i++)
        report_figure_put(&v, &page->figure[i]);
    int status = template_fill(file, &v, out, why, why_size);
    template_values_free(&v);
    return status == 0 && ferror(out) ? -1 : status;
}

int profile_html(const struct profile_result *r, FILE *out, char *why, size_t why_size)
{
    struct profile_page page = {.result = r};
    struct template_file file = {NULL, NULL};
    *why = '\0';
    if (report_words_read(&page.words, why, why_size) != 0)
        return -1;
    int status = template_read(&file, "report", "profile", ".html.in", why, why_size);
    for (size_t i = 0; i < PROFILE_PICTURES && status == 0; i++) {
        struct report_figure *f = &page.figure[i];
        struct chart c;
        *f = profile_pictures[i].figure;
        report_figure_draw(f, &c, profile_pictures[i].chart(r, profile_pictures[i].kind, &c, f->why, sizeof f->why));
    }
    if (status == 0)
        status = profile_fill(&page, &file, out, why, why_size);
    for (size_t i = 0; i < PROFILE_PICTURES; i++)
        free(page.figure[i].svg);
    template_file_free(&file);
    report_words_free(&page.words);
    return status;
}
