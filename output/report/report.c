/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns finished tables into the contents of the report: its head, which switch comes first, a part of each table. */
#include "output/report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "output/plot/charts.h"
#include "output/plot/plot.h"
#include "output/verdict/verdict.h"
#include "tables/table/chart.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

enum { PARTS_MAX = 32, NOTES_MAX = 24, PAGES_MAX = 4, WHY_MAX = 400 };

struct report_contents {
    struct report_head head;
    size_t n;
    struct report_part parts[PARTS_MAX];
    struct { /* texts that a part refers to */
        char *findings, *svg;
        char why[WHY_MAX], file[REPORT_FILES_MAX][80];
    } texts[PARTS_MAX];
    const char *notes[NOTES_MAX], *pages[PAGES_MAX];
    char verdict[2000], command[2000], note_text[NOTES_MAX][700];
    char *course_svg, course_title[CHART_NAME_MAX], course_why[WHY_MAX], course_notes[3000];
};

char *report_findings(const struct table_kind *k, const struct table *t)
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

/* ---- the switch that is shown first ---- */

/* Criteria, the most important first: whether anything happens, how wide and heavy the second kernel is, how narrow and
 * light the first one, and the active cores. */
enum { RANKS = 6 };

static bool rank_of(const json_t *phases, unsigned cores, long rank[RANKS])
{
    struct payload from, to;
    const char *names[] = {json_string_value(json_object_get(phases, "from")),
                           json_string_value(json_object_get(phases, "to"))};
    if (!names[0] || !names[1] || kernel_parse(names[0], &from, NULL, 0) != 0 ||
        kernel_parse(names[1], &to, NULL, 0) != 0 || from.dirty || to.density > 1)
        return false;
    rank[0] = json_array_size(json_object_get(phases, "transitions")) > 0;
    rank[1] = (long)to.kernel->width;
    rank[2] = (long)to.kernel->weight;
    rank[3] = -(long)from.kernel->width;
    rank[4] = -(long)from.kernel->weight;
    rank[5] = (long)cores;
    return rank[1] > -rank[3] || (rank[1] == -rank[3] && rank[2] > -rank[4]);
}

static bool higher(const long a[RANKS], const long b[RANKS])
{
    for (int i = 0; i < RANKS; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return false;
}

/* A cell of a switch is called FROM_TO_CORES (tables/switches). */
static unsigned course_cores(const char *cell)
{
    const char *last = strrchr(cell, '_');
    return last ? (unsigned)strtoul(last + 1, NULL, 10) : 0;
}

bool report_course_choose(const struct table *tables, size_t n, struct report_course *out)
{
    long best[RANKS] = {-1};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tables[i].n_details; k++) {
            const struct table_pair *detail = &tables[i].details[k];
            json_t *phases = json_loads(detail->value, 0, NULL);
            const char *format = json_string_value(json_object_get(phases, "format"));
            long rank[RANKS];
            unsigned cores = course_cores(detail->key);
            if (format && strcmp(format, "characterize-phases/1") == 0 && rank_of(phases, cores, rank) &&
                higher(rank, best)) {
                memcpy(best, rank, sizeof best);
                *out = (struct report_course){detail->value, cores, i};
            }
            json_decref(phases);
        }
    return out->phases != NULL;
}

void report_course_notes(const struct table *tables, const struct report_course *course, char *out, size_t size)
{
    const char *no_levels = estimates_no_levels(&tables[course->table]);
    json_t *phases = json_loads(course->phases, 0, NULL);
    const json_t *warning;
    size_t i;
    out[0] = '\0';
    if (no_levels)
        text_list_add(out, size, "\n",
                      "No frequency change is reported: %s. Those shown may be of moments, not of code.", no_levels);
    json_array_foreach(json_object_get(phases, "warnings"), i, warning)
    {
        if (json_is_string(warning))
            text_list_add(out, size, "\n", "%s.", json_string_value(warning));
    }
    json_decref(phases);
}

static void draw_course(struct report_contents *c, const struct table *tables, size_t n)
{
    struct report_course course;
    struct chart chart = {0};
    char *why = c->course_why;
    if (!report_course_choose(tables, n, &course))
        snprintf(why, WHY_MAX, "no switch to wider or heavier code was measured");
    else if (course_chart(course.phases, course.cores, &chart, why, WHY_MAX) == 0)
        c->course_svg = plot_svg(&chart, why, WHY_MAX);
    if (course.phases)
        report_course_notes(tables, &course, c->course_notes, sizeof c->course_notes);
    snprintf(c->course_title, sizeof c->course_title, "%s", chart.title);
    chart_free(&chart);
}

/* ---- the contents ---- */

static void add_note(struct report_contents *c, const char *note, size_t length)
{
    for (size_t i = 0; i < c->head.n_notes; i++)
        if (strlen(c->notes[i]) == length && strncmp(c->notes[i], note, length) == 0)
            return;
    if (c->head.n_notes < NOTES_MAX && length > 0) {
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

struct report_contents *report_contents_new(const struct table *tables, size_t n, const char *const *failures,
                                            const char *command)
{
    static const char *const files[] = {"run.json"};
    struct report_contents *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    snprintf(c->command, sizeof c->command, "%s", command ? command : "");
    draw_course(c, tables, n);
    verdict_lines(tables, n, c->verdict, sizeof c->verdict);
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
                                   .course_svg = c->course_svg,
                                   .course_title = c->course_title,
                                   .course_why = c->course_why,
                                   .course_notes = c->course_notes,
                                   .verdict = c->verdict,
                                   .incomplete = failures[0] != NULL};
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
    if (c->head.n_pages < PAGES_MAX)
        c->pages[c->head.n_pages++] = name;
}

const struct report_part *report_contents_add(struct report_contents *c, const struct table_kind *k,
                                              const struct table *t)
{
    static const char *const files[REPORT_FILES_MAX][2] = {
        {"tables", "csv"}, {"tables", "json"}, {"tables", "txt"}, {"plots", "svg"}};
    if (c->n == PARTS_MAX)
        return NULL;
    char *why = c->texts[c->n].why;
    struct report_part *part = &c->parts[c->n];
    struct chart chart;
    *part = (struct report_part){.table = t, .title = k->title};
    part->findings = c->texts[c->n].findings = report_findings(k, t);
    if (table_chart(t, k->title, &chart, why, WHY_MAX) == 0)
        part->svg = c->texts[c->n].svg = plot_svg(&chart, why, WHY_MAX);
    chart_free(&chart);
    part->svg_why = part->svg ? NULL : tables_drawn(k) ? why : "";
    for (size_t i = 0; i < REPORT_FILES_MAX - !part->svg; i++) { /* the last one is the plot */
        char *file = c->texts[c->n].file[i];
        snprintf(file, sizeof c->texts[c->n].file[i], "%s/%.40s.%s", files[i][0], k->name, files[i][1]);
        part->files[i] = file;
    }
    c->n++;
    return part;
}

int report_contents_html(FILE *out, const struct html_words *w, const struct report_contents *c, char *why,
                         size_t why_size)
{
    return report_html(out, w, &c->head, c->parts, c->n, why, why_size);
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
