/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "drivers/events/event_code.h"
#include "output/report/report_contents.h"
#include "output/report/report_html.h"

/* ---- the command ---- */

static void add_numbers(FILE *out, const char *option, const unsigned *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            fprintf(out, " %s ", option);
        else
            fprintf(out, ",");
        if (values[i] == 0 && strcmp(option, "--active-cores") == 0)
            fprintf(out, "all");
        else
            fprintf(out, "%u", values[i]);
    }
}

static void report_page_add_number(FILE *out, const char *option, const struct given_number *n)
{
    if (n->given)
        fprintf(out, " %s %.10g", option, n->value);
}

/* The command that measures this again: what it was called with, but for where it wrote to and whether it resumed. */
static void command_line(FILE *out, const struct options *o, const char *machine)
{
    fprintf(out, "characterize --all --machine %s", machine);
    for (size_t i = 0; i < o->n_kernels; i++)
        fprintf(out, "%s%s", i == 0 ? " --kernels " : ",", o->kernels[i].name);
    add_numbers(out, "--active-cores", o->active, o->n_active);
    add_numbers(out, "--cpus", o->cpus, o->n_cpus);
    report_page_add_number(out, "--cpu", &o->cpu);
    report_page_add_number(out, "--runs", &o->runs);
    report_page_add_number(out, "--period", &o->period_us);
    report_page_add_number(out, "--warmup", &o->warmup_us);
    report_page_add_number(out, "--observe", &o->observe_us);
    report_page_add_number(out, "--fixed-frequency", &o->fixed_ghz);
    if (o->corunner_given)
        fprintf(out, " --companion %s", o->corunner_same ? "same" : o->corunner.name);
    fprintf(out, "%s%s", o->siblings ? " --siblings busy" : "", o->brief ? " --brief" : "");
    if (o->turbo_given)
        fprintf(out, " --turbo %s", o->turbo_on ? "on" : "off");
    if (o->n_events > 0)
        fprintf(out, " --event 0x%02x", event_code_select(o->events[0].code));
    if (o->seed_given)
        fprintf(out, " --seed %llu", (unsigned long long)o->seed);
}

/* The same as text, malloc'ed; NULL: out of memory. */
static char *command_text(const struct options *o, const char *machine)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    command_line(out, o, machine != NULL ? machine : "auto");
    return fclose(out) == 0 ? text : NULL;
}

/* ---- the files ---- */

static int write_svg(const char *directory, const char *name, const char *svg)
{
    char *plots = file_in(directory, "plots", "");
    char *file = plots != NULL ? file_in(plots, name, ".svg") : NULL;
    int status = file != NULL ? directories_make(plots, "--output", NULL) : FAILED;
    if (status == DONE)
        status = file_write(file, file_print_text, svg);
    free(plots);
    free(file);
    return status;
}

struct page {
    const struct report_words *words;
    const struct report_contents *contents;
    char why[200];
};

static int print_page(FILE *out, const void *data)
{
    struct page *p = *(struct page *const *)data;
    const struct report_contents *c = p->contents;
    return report_html(out, p->words, &c->head, c->parts, c->n, p->why, sizeof(p->why));
}

static int write_page(const char *directory, const struct report_words *words, const struct report_contents *contents)
{
    struct page page = {.words = words, .contents = contents}, *data = &page;
    char *file = file_in(directory, "report", ".html"), why[400] = "out of memory";
    int status = file != NULL ? file_try_write(file, print_page, &data, why, sizeof(why)) : FAILED;
    if (status != DONE)
        complain("%s%s", page.why[0] != '\0' ? "no report: " : "", page.why[0] != '\0' ? page.why : why);
    free(file);
    return status;
}

int report_page_write(const char *directory, const struct options *o, const struct report_words *words,
                      const struct report_page_tables *t)
{
    if (t->n == 0)
        return refuse(FAILED, "no report: no table was measured");
    char *command = command_text(o, table_meta(&t->tables[0], "machine"));
    struct report_contents *contents = command != NULL ? report_contents_new(t->tables, t->n, t->failures, command)
                                                       : NULL;
    int status = contents != NULL ? DONE : refuse(FAILED, "no report: out of memory");
    for (size_t i = 0; i < t->n && status == DONE; i++) {
        const struct report_part *part = stop_asked() ? NULL
                                                      : report_contents_add(contents, t->kinds[i], &t->tables[i]);
        status = part == NULL ? FAILED : DONE;
        if (part != NULL && part->svg != NULL)
            status = write_svg(directory, t->kinds[i]->name, part->svg);
    }
    if (status == DONE)
        status = write_page(directory, words, contents);
    report_contents_free(contents);
    free(command);
    return status;
}
