/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/report_contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "output/plot/charts.h"
#include "output/report/report_course.h"
#include "output/verdict/verdict.h"

char *report_contents_findings(const struct table_kind *k, const struct table *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = k->findings && t->n_rows > 0 ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    k->findings(out, t);
    if (fclose(out) != 0 || size == 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void add_note(struct report_contents *c, const char *note, size_t length)
{
    for (size_t i = 0; i < c->head.n_notes; i++)
        if (strlen(c->notes[i]) == length && strncmp(c->notes[i], note, length) == 0)
            return;
    if (c->head.n_notes < REPORT_NOTES_MAX && length > 0) {
        char *text = c->note_text[c->head.n_notes];
        snprintf(text, sizeof c->note_text[0], "%.*s", (int)length, note);
        c->notes[c->head.n_notes++] = text;
    }
}

/* Clause by clause, each once: the tables' notes have most of them in common. */
static void add_notes(struct report_contents *c, const char *notes)
{
    while (notes && *notes) {
        const char *end = strstr(notes, "; ");
        add_note(c, notes, end ? (size_t)(end - notes) : strlen(notes));
        notes = end ? end + 2 : NULL;
    }
}

static void draw_course(struct report_contents *c, const struct table *tables, size_t n)
{
    struct report_course course;
    struct chart chart = {0};
    char *why = c->course_why;
    size_t size = sizeof c->course_why;
    if (!report_course_choose(tables, n, &course))
        snprintf(why, size, "no switch to wider or heavier code was measured");
    else if (course_chart(course.phases, course.cores, &chart, why, size) == 0)
        c->course_svg = plot_svg(&chart, why, size);
    if (course.phases)
        report_course_notes(tables, &course, c->course_notes, sizeof c->course_notes);
    snprintf(c->course_title, sizeof c->course_title, "%s", chart.title);
    chart_free(&chart);
    c->head.course_svg = c->course_svg;
    c->head.course_title = c->course_title;
    c->head.course_why = c->course_why;
    c->head.course_notes = c->course_notes;
}

struct report_contents *report_contents_new(const struct table *tables, size_t n, const char *const *failures,
                                            const char *command)
{
    static const char *const files[] = {"run.json"};
    struct report_contents *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    snprintf(c->command, sizeof c->command, "%s", command ? command : "");
    c->head = (struct report_head){.cpu = table_meta(&tables[0], "cpu"),
                                   .machine = table_meta(&tables[0], "machine"),
                                   .source = table_meta(&tables[0], "source"),
                                   .modelled = table_modelled(&tables[0]),
                                   .date = table_meta(&tables[0], "date"),
                                   .version = table_meta(&tables[0], "version"),
                                   .seed = table_setting(&tables[0], "seed"),
                                   .command = c->command,
                                   .notes = c->notes,
                                   .files = files,
                                   .n_files = 1,
                                   .pages = c->pages,
                                   .verdict = c->verdict,
                                   .incomplete = failures[0] != NULL};
    draw_course(c, tables, n);
    verdict_lines(tables, n, c->verdict, sizeof c->verdict);
    for (size_t i = 0; failures[i]; i++)
        add_note(c, failures[i], strlen(failures[i]));
    for (size_t i = 0; i < n; i++) {
        add_notes(c, table_meta(&tables[i], "notes"));
        add_notes(c, table_setting(&tables[i], "settings"));
    }
    return c;
}

void report_contents_page(struct report_contents *c, const char *name)
{
    if (c->head.n_pages < REPORT_PAGES_MAX)
        c->pages[c->head.n_pages++] = name;
}

const struct report_part *report_contents_add(struct report_contents *c, const struct table_kind *k,
                                              const struct table *t)
{
    if (c->n == REPORT_PARTS_MAX)
        return NULL;
    struct report_texts *x = &c->texts[c->n];
    struct report_part *part = &c->parts[c->n++];
    x->findings = report_contents_findings(k, t);
    struct chart chart;
    x->svg = table_chart(t, k->title, &chart, x->why, sizeof x->why) == 0 ? plot_svg(&chart, x->why, sizeof x->why)
                                                                          : NULL;
    chart_free(&chart);
    snprintf(x->csv, sizeof x->csv, "tables/%.40s.csv", k->name);
    snprintf(x->json, sizeof x->json, "tables/%.40s.json", k->name);
    snprintf(x->text, sizeof x->text, "tables/%.40s.txt", k->name);
    snprintf(x->plot, sizeof x->plot, "plots/%.40s.svg", k->name);
    *part = (struct report_part){.table = t,
                                 .title = k->title,
                                 .findings = x->findings,
                                 .svg = x->svg,
                                 .svg_why = x->svg            ? NULL
                                            : tables_drawn(k) ? x->why
                                                              : "",
                                 .files = {x->csv, x->json, x->text, x->svg ? x->plot : NULL}};
    return part;
}

void report_contents_free(struct report_contents *c)
{
    for (size_t i = 0; c && i < c->n; i++) {
        free(c->texts[i].findings);
        free(c->texts[i].svg);
    }
    if (c)
        free(c->course_svg);
    free(c);
}
