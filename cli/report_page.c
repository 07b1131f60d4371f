/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report/report_html.h"
#include "output/plot/table_plot.h"
#include "cli/files.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "drivers/events/event_code.h"

enum { WHY_SIZE = 400, NAME_SIZE = 80, NOTES_MAX = 24, NOTE_SIZE = 700, COMMAND_SIZE = 2000 };

/* What a part of the report needs while the page is written. */
struct part_texts {
    char *findings, *svg;
    char why[WHY_SIZE], csv[NAME_SIZE], json[NAME_SIZE], text[NAME_SIZE], plot[NAME_SIZE];
};

struct page {
    struct report_head head;
    size_t n;
    struct report_part parts[MEASURING_TABLES_MAX];
    struct part_texts texts[MEASURING_TABLES_MAX];
    const char *notes[NOTES_MAX];
    char note_text[NOTES_MAX][NOTE_SIZE];
    char command[COMMAND_SIZE];
};

char *report_findings(const struct table_kind *k, const struct table *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = k->findings != NULL && t->n_rows > 0 ? open_memstream(&text, &size) : NULL;
    if (out == NULL)
        return NULL;
    k->findings(out, t);
    if (fclose(out) != 0 || size == 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- the head ---- */

/* Appends to the text of the command; what does not fit is truncated. */
__attribute__((format(printf, 2, 3))) static void report_page_add(struct page *p, const char *format, ...)
{
    size_t used = strlen(p->command);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(p->command + used, COMMAND_SIZE - used, format, arguments);
    va_end(arguments);
}

static void add_numbers(struct page *p, const char *option, const unsigned *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            report_page_add(p, " %s ", option);
        else
            report_page_add(p, ",");
        if (values[i] == 0 && strcmp(option, "--active-cores") == 0)
            report_page_add(p, "all");
        else
            report_page_add(p, "%u", values[i]);
    }
}

static void report_page_add_number(struct page *p, const char *option, const struct given_number *n)
{
    if (n->given)
        report_page_add(p, " %s %.10g", option, n->value);
}

/* The command that measures this again: what it was called with, but for where it wrote to and whether it resumed. */
static void command_line(struct page *p, const struct options *o, const char *machine)
{
    report_page_add(p, "characterize --all --machine %s", machine);
    for (size_t i = 0; i < o->n_kernels; i++)
        report_page_add(p, "%s%s", i == 0 ? " --kernels " : ",", o->kernels[i].name);
    add_numbers(p, "--active-cores", o->active, o->n_active);
    add_numbers(p, "--cpus", o->cpus, o->n_cpus);
    report_page_add_number(p, "--cpu", &o->cpu);
    report_page_add_number(p, "--runs", &o->runs);
    report_page_add_number(p, "--period", &o->period_us);
    report_page_add_number(p, "--warmup", &o->warmup_us);
    report_page_add_number(p, "--observe", &o->observe_us);
    report_page_add_number(p, "--fixed-frequency", &o->fixed_ghz);
    if (o->corunner_given)
        report_page_add(p, " --companion %s", o->corunner_same ? "same" : o->corunner.name);
    report_page_add(p, "%s%s", o->siblings ? " --siblings busy" : "", o->brief ? " --brief" : "");
    if (o->turbo_given)
        report_page_add(p, " --turbo %s", o->turbo_on ? "on" : "off");
    if (o->n_events > 0)
        report_page_add(p, " --event 0x%02x", event_code_select(o->events[0].code));
    if (o->seed_given)
        report_page_add(p, " --seed %llu", (unsigned long long)o->seed);
}

static void add_note(struct page *p, const char *note, size_t length)
{
    for (size_t i = 0; i < p->head.n_notes; i++)
        if (strlen(p->notes[i]) == length && strncmp(p->notes[i], note, length) == 0)
            return;
    if (p->head.n_notes < NOTES_MAX && length > 0) {
        char *text = p->note_text[p->head.n_notes];
        snprintf(text, NOTE_SIZE, "%.*s", (int)length, note);
        p->notes[p->head.n_notes++] = text;
    }
}

/* Clause by clause, each once: the tables' notes have most of them in common. */
static void add_notes(struct page *p, const char *notes)
{
    while (notes != NULL && *notes != '\0') {
        const char *end = strstr(notes, "; ");
        add_note(p, notes, end != NULL ? (size_t)(end - notes) : strlen(notes));
        notes = end != NULL ? end + 2 : NULL;
    }
}

static void fill_head(struct page *p, const struct options *o, const struct report_contents *contents)
{
    static const char *const files[] = {"run.json", NULL};
    const struct table *t = &contents->tables[0];
    const char *machine = table_meta(t, "machine");
    p->head = (struct report_head){.cpu = table_meta(t, "cpu"),
                                   .machine = machine,
                                   .source = table_meta(t, "source"),
                                   .modelled = table_modelled(t),
                                   .date = table_meta(t, "date"),
                                   .version = table_meta(t, "version"),
                                   .seed = table_setting(t, "seed"),
                                   .command = p->command,
                                   .notes = p->notes,
                                   .files = files,
                                   .n_files = 1,
                                   .incomplete = contents->failures[0] != NULL};
    command_line(p, o, machine != NULL ? machine : "auto");
    for (size_t i = 0; contents->failures[i] != NULL; i++)
        add_note(p, contents->failures[i], strlen(contents->failures[i]));
    for (size_t i = 0; i < contents->n; i++) {
        add_notes(p, table_meta(&contents->tables[i], "notes"));
        add_notes(p, table_setting(&contents->tables[i], "settings"));
    }
}

/* ---- the parts ---- */

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

static int fill_part(struct page *p, const char *directory, const struct table_kind *k, const struct table *t)
{
    struct part_texts *x = &p->texts[p->n];
    struct report_part *part = &p->parts[p->n++];
    x->findings = report_findings(k, t);
    x->svg = table_plot_svg(t, k->title, x->why, sizeof(x->why));
    snprintf(x->csv, sizeof(x->csv), "tables/%.40s.csv", k->name);
    snprintf(x->json, sizeof(x->json), "tables/%.40s.json", k->name);
    snprintf(x->text, sizeof(x->text), "tables/%.40s.txt", k->name);
    snprintf(x->plot, sizeof(x->plot), "plots/%.40s.svg", k->name);
    *part = (struct report_part){.table = t,
                                 .title = k->title,
                                 .findings = x->findings,
                                 .svg = x->svg,
                                 .svg_why = x->svg != NULL ? NULL : x->why,
                                 .files = {x->csv, x->json, x->text, x->svg != NULL ? x->plot : NULL}};
    return x->svg != NULL ? write_svg(directory, k->name, x->svg) : DONE;
}

static int print_page(FILE *out, const void *data)
{
    const struct page *p = data;
    return report_html(out, &p->head, p->parts, p->n);
}

int report_page_write(const char *directory, const struct options *o, const struct report_contents *contents)
{
    struct page *p = calloc(1, sizeof(*p));
    char *file = file_in(directory, "report", ".html");
    size_t n = contents->n;
    int status = p != NULL && file != NULL && n > 0 && n <= MEASURING_TABLES_MAX ? DONE : FAILED;
    if (status != DONE)
        complain("no report: %s", n == 0 ? "no table was measured" : "out of memory");
    else
        fill_head(p, o, contents);
    for (size_t i = 0; i < n && status == DONE; i++)
        status = stop_asked() ? FAILED : fill_part(p, directory, contents->kinds[i], &contents->tables[i]);
    if (status == DONE)
        status = file_write(file, print_page, p);
    for (size_t i = 0; p != NULL && i < p->n; i++) {
        free(p->texts[i].findings);
        free(p->texts[i].svg);
    }
    free(p);
    free(file);
    return status;
}
