/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of the report, from its head to its foot. */
#include "output/report/report.h"

#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "util/error.h"
#include "util/template.h"

/* What all sections are made of. */
struct page {
    const struct report_words *words;
    const struct report_head *head;
    const struct report_part *parts;
    size_t n;
};

static void page_file(FILE *out, const char *name)
{
    fputs("<li>", out);
    html_link(out, name);
    fputs("</li>\n", out);
}

static void page_contents(FILE *out, const struct page *p)
{
    for (size_t i = 0; i < p->n; i++)
        html_print(out, "<li><a href=\"#table-%zu\">%s</a></li>\n", i + 1, p->parts[i].table->name);
    for (size_t i = 0; i < p->head->n_pages; i++)
        page_file(out, p->head->pages[i]);
}

/* ---- the machine ---- */

/* A name as in a file, "tsc_hz", for a person. */
static void fact_named(FILE *out, const struct table_pair *p)
{
    char name[80];
    snprintf(name, sizeof name, "%s", p->key);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = ' ';
    html_fact(out, name, p->value);
}

/* Metadata that the head has fields for, or that differ from table to table. */
static bool told_elsewhere(const struct page *p, const struct table_pair *pair)
{
    static const char *const known[] = {"cpu",     "machine", "source",  "modelled", "date",  "date_last",
                                        "version", "seed",    "command", "format",   "table", "notes"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(pair->key, known[i]) == 0)
            return true;
    for (size_t i = 1; i < p->n; i++) {
        const char *value = table_meta(p->parts[i].table, pair->key);
        if (!value || strcmp(value, pair->value) != 0)
            return true;
    }
    return false;
}

static void page_facts(FILE *out, const struct page *p)
{
    const struct report_head *h = p->head;
    html_fact(out, "processor", h->cpu);
    html_fact(out, "measured by", h->machine);
    html_fact(out, "source", h->source);
    for (size_t i = 0; p->n > 0 && i < p->parts[0].table->n_meta; i++)
        if (!told_elsewhere(p, &p->parts[0].table->meta[i]))
            fact_named(out, &p->parts[0].table->meta[i]);
    html_fact(out, "date", h->date);
    html_fact(out, "seed", h->seed);
    html_fact(out, "command", h->command);
}

/* ---- findings ---- */

/* Line k of a text, empty ones not counted: its beginning and length, or NULL. */
static const char *line_of(const char *text, size_t k, size_t *length)
{
    while (text && *text) {
        *length = strcspn(text, "\n");
        if (*length > 0 && k-- == 0)
            return text;
        text += *length + (text[*length] == '\n');
    }
    return NULL;
}

static void page_findings(FILE *out, const struct page *p)
{
    size_t shown = 0;
    bool any = true;
    for (size_t k = 0; any && shown < REPORT_FINDINGS_MAX; k++) {
        any = false;
        for (size_t i = 0; i < p->n && shown < REPORT_FINDINGS_MAX; i++) {
            size_t length;
            const char *line = line_of(p->parts[i].findings, k, &length);
            if (!line)
                continue;
            any = true;
            shown++;
            fputs("<li>", out);
            html_text_part(out, line, length);
            html_print(out, " (<a href=\"#table-%zu\">%s</a>)</li>\n", i + 1, p->parts[i].table->name);
        }
    }
}

/* ---- the end ---- */

static void page_sources(FILE *out, const struct page *p)
{
    const char *letter;
    json_t *title;
    json_object_foreach(p->words->sources, letter, title)
    {
        bool cited = false;
        for (size_t i = 0; i < p->n && !cited; i++)
            cited = report_words_cites(report_section_method(&p->parts[i]), *letter);
        if (cited)
            html_fact(out, letter, json_string_value(title));
    }
}

static void page_glossary(FILE *out, const struct page *p)
{
    const char *word;
    json_t *meaning;
    json_object_foreach(p->words->glossary, word, meaning)
    {
        html_fact(out, word, json_string_value(meaning));
    }
}

/* The widest switch, or why it is not shown. */
static void page_course(struct template_values *v, const struct report_head *h)
{
    bool possible = h->course_svg && svg_inline_possible(h->course_svg);
    html_text(template_value(v, "COURSE_TITLE"), h->course_title);
    template_value(v, "COURSE");
    if (possible)
        svg_inline(v->out, h->course_svg, "course-", h->course_title ? h->course_title : "The widest switch");
    html_each_line(template_value(v, "COURSE_NOTES"), "<li>", h->course_notes, "</li>\n");
    template_value(v, "NO_COURSE");
    if (!possible)
        html_text(v->out, h->course_svg                     ? "gnuplot's output cannot be embedded in this page"
                          : h->course_why && *h->course_why ? h->course_why
                                                            : "no switch to wider or heavier code was measured");
}

static void page_files(FILE *out, const struct page *p)
{
    for (size_t i = 0; i < p->head->n_files; i++)
        page_file(out, p->head->files[i]);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < REPORT_FILES_MAX && p->parts[i].files[k]; k++)
            page_file(out, p->parts[i].files[k]);
}

static void page_foot(FILE *out, const struct report_head *h)
{
    const char *const texts[][2] = {{"characterize ", h->version}, {"measured ", h->date}, {"seed ", h->seed}};
    bool any = false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i][1] && *texts[i][1]) {
            html_print(out, "%s%s%s", any ? " \xC2\xB7 " : "", texts[i][0], texts[i][1]);
            any = true;
        }
    fputs(h->modelled ? " \xC2\xB7 modelled, not measured" : "", out);
}

/* All values but those that other pages have as well. */
static int page_put(struct template_values *v, const struct page *p, char *why, size_t why_size)
{
    const struct report_head *h = p->head;
    FILE *out = v->out;
    int status = 0;
    template_flag(v, "INCOMPLETE", h->incomplete);
    html_text(template_value(v, "CPU"), h->cpu && *h->cpu ? h->cpu : "Unknown processor");
    template_value(v, "DATE");
    if (h->date)
        html_print(out, ", %s", h->date);
    template_value(v, "MACHINE");
    if (h->machine)
        html_print(out, " (%s)", h->machine);
    page_contents(template_value(v, "CONTENTS"), p);
    page_facts(template_value(v, "FACTS"), p);
    template_value(v, "NOTES");
    for (size_t i = 0; i < h->n_notes; i++)
        html_print(out, "<li>%s</li>\n", h->notes[i]);
    html_each_line(template_value(v, "VERDICT"), "<li>", h->verdict, "</li>\n");
    page_findings(template_value(v, "FINDINGS"), p);
    template_value(v, "NOTE_COUNT");
    if (h->n_notes)
        fprintf(out, "%zu note%s", h->n_notes, h->n_notes == 1 ? "" : "s");
    page_course(v, h);
    template_value(v, "TABLES");
    for (size_t i = 0; i < p->n && status == 0; i++)
        status = report_section(out, p->words, &p->parts[i], i + 1, why, why_size);
    report_missing(template_value(v, "MISSING"), p->words, p->parts, p->n);
    template_value(v, "METHODS");
    for (size_t i = 0; i < p->n; i++)
        html_fact(out, report_section_title(&p->parts[i]), report_section_method(&p->parts[i]));
    page_sources(template_value(v, "SOURCES"), p);
    page_glossary(template_value(v, "GLOSSARY"), p);
    page_files(template_value(v, "FILES"), p);
    page_foot(template_value(v, "FOOT"), h);
    return status;
}

int report_html(FILE *out, const struct report_words *w, const struct report_head *head,
                const struct report_part *parts, size_t n, char *why, size_t why_size)
{
    const struct page p = {w, head, parts, n};
    struct template_values v;
    *why = '\0';
    int status = report_page_values(&v, w, head->modelled) ? page_put(&v, &p, why, why_size)
                                                           : error_line(why, why_size, "out of memory");
    if (status == 0)
        status = template_fill(&w->page, &v, out, why, why_size);
    template_values_free(&v);
    return status == 0 && ferror(out) ? -1 : status;
}
