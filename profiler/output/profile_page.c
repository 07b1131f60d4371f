/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile as one page, with its style and its pictures inside. */
#include <stdlib.h>

#include "output/report/report_page.h"
#include "profiler/output/profile_parts.h"
#include "util/template.h"

enum { PROFILE_PICTURES = 5 };

static const struct {
    struct report_figure figure;
    int (*chart)(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why, size_t why_size);
    enum profile_kind kind;
} profile_pictures[PROFILE_PICTURES] = {
    {{"TASK_CAUSES", "NO_TASK_CAUSES", "causes-",
      "Remote overhead of tasks by cause; the figures are in the table below"},
     profile_chart_causes,
     PROFILE_TASK},
    {{"TASK_LEVELS", "NO_TASK_LEVELS", "levels-", "Remote overhead of tasks by license level"},
     profile_chart_levels,
     PROFILE_TASK},
    {{"CULPRITS", "NO_CULPRITS", "culprits-", "Who slows whom: a matrix; its figures are in the table below"},
     profile_chart_culprits,
     PROFILE_TASK},
    {{"CONTAINER_CAUSES", "NO_CONTAINER_CAUSES", "containers-", "Remote overhead of containers by cause"},
     profile_chart_causes,
     PROFILE_CONTAINER},
    {{"CORE_CAUSES", "NO_CORE_CAUSES", "cores-", "Remote overhead of cores by cause"},
     profile_chart_causes,
     PROFILE_CORE},
};

static void put_said(FILE *out, const struct profile_result *r, const char *before, const char *after,
                     profile_sayer *say)
{
    char *text = profile_said(r, say);
    html_each_line(out, before, text, after);
    free(text);
}

static void put_facts(FILE *out, const struct profile_result *r)
{
    char cores[80];
    snprintf(cores, sizeof cores, "%u, with %u CPU%s", r->info.cores, r->info.cpus, r->info.cpus == 1 ? "" : "s");
    html_fact(out, "processor", r->info.cpu);
    html_fact(out, "cores", cores);
    html_fact(out, "machine", r->info.name);
    html_fact(out, "command", r->head.command ? r->head.command : "none: everything that ran");
    put_said(out, r, "<dt>sampling</dt><dd>", "</dd>\n", profile_say_sampling);
    put_said(out, r, "<dt>turns</dt><dd>", "</dd>\n", profile_say_turns);
    put_said(out, r, "<dt>cost</dt><dd>", "</dd>\n", profile_say_cost);
}

static void put_page_words(struct template_values *v, const struct profile_result *r)
{
    html_text(template_value(v, "ABOUT"), r->head.command ? r->head.command : "Remote overhead");
    html_text(template_value(v, "CPU"), r->info.cpu);
    html_text(template_value(v, "VERSION"), r->head.version);
    put_said(template_value(v, "FINDINGS"), r, "<li>", "</li>\n", profile_say_findings);
    put_said(template_value(v, "ADVICE"), r, "<li>", "</li>\n", profile_say_advice);
    put_said(template_value(v, "UNKNOWN"), r, "<li>", "</li>\n", profile_say_unknown);
    put_facts(template_value(v, "FACTS"), r);
    html_print(template_value(v, "FOOT"), "characterize %s \xC2\xB7 profile", r->head.version ? r->head.version : "");
    fputs(r->info.modelled ? " \xC2\xB7 modelled, not measured" : "", v->out);
}

/* ---- tables ---- */

static void put_table(struct report_page *p, const struct profile_result *r, struct table *t, const char *caption,
                      const char *id)
{
    table_set_meta(t, "modelled", r->info.modelled ? "yes" : "no");
    report_page_table(p, t, caption, id);
}

static void put_page_tables(struct report_page *p, const struct profile_result *r)
{
    struct table t;
    template_value(&p->values, "TASKS");
    profile_table_kind(r, PROFILE_TASK, &t);
    put_table(p, r, &t, "Remote overhead of tasks", "caption-tasks");
    profile_table_commands(r, &t);
    put_table(p, r, &t, "Command lines", "caption-commands");
    template_value(&p->values, "CULPRIT_ROWS");
    profile_table_culprits(r, &t);
    put_table(p, r, &t, "Who causes how much of each task's overhead", "caption-culprits");
    template_value(&p->values, "CONTAINERS");
    profile_table_kind(r, PROFILE_CONTAINER, &t);
    put_table(p, r, &t, "Remote overhead of containers", "caption-containers");
    template_value(&p->values, "CORES");
    profile_table_kind(r, PROFILE_CORE, &t);
    put_table(p, r, &t, "Remote overhead of cores", "caption-cores");
}

int profile_html(const struct profile_result *r, FILE *out, char *why, size_t why_size)
{
    struct report_page page;
    bool begun = report_page_begin(&page, "profile", r->info.modelled, why, why_size);
    if (begun) {
        put_page_words(&page.values, r);
        put_page_tables(&page, r);
    }
    for (size_t i = 0; i < PROFILE_PICTURES && begun; i++) {
        struct chart c;
        char reason[400];
        int described = profile_pictures[i].chart(r, profile_pictures[i].kind, &c, reason, sizeof reason);
        report_page_figure(&page, &profile_pictures[i].figure, &c, described, reason);
    }
    return report_page_end(&page, begun, out, why, why_size);
}
