/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of the report, from its head to its foot. */
#include "output/report/report.h"

#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "util/template.h"

struct page {
    const struct report_words *words;
    const struct report_head *head;
    const struct report_part *parts;
    size_t n;
    char *why; /* what went wrong with a section; "": nothing */
    size_t why_size;
};

static void page_cpu(FILE *out, const void *page)
{
    const char *cpu = ((const struct page *)page)->head->cpu;
    html_text(out, cpu && *cpu ? cpu : "Unknown processor");
}

static void page_date(FILE *out, const void *page)
{
    const char *date = ((const struct page *)page)->head->date;
    if (date)
        html_print(out, ", %s", date);
}

static void page_machine(FILE *out, const void *page)
{
    const char *machine = ((const struct page *)page)->head->machine;
    if (machine)
        html_print(out, " (%s)", machine);
}

static void page_file(FILE *out, const char *name)
{
    fputs("<li>", out);
    html_link(out, name);
    fputs("</li>\n", out);
}

static void page_contents(FILE *out, const void *page)
{
    const struct page *p = page;
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

static void page_facts(FILE *out, const void *page)
{
    const struct page *p = page;
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

static void page_notes(FILE *out, const void *page)
{
    const struct report_head *h = ((const struct page *)page)->head;
    for (size_t i = 0; i < h->n_notes; i++)
        html_print(out, "<li>%s</li>\n", h->notes[i]);
}

/* ---- findings and tables ---- */

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

static void page_findings(FILE *out, const void *page)
{
    const struct page *p = page;
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

static void page_tables(FILE *out, const void *page)
{
    const struct page *p = page;
    for (size_t i = 0; i < p->n && !*p->why; i++)
        report_section(out, p->words, &p->parts[i], i + 1, p->why, p->why_size);
}

static void page_missing(FILE *out, const void *page)
{
    const struct page *p = page;
    report_missing(out, p->words, p->parts, p->n);
}

/* ---- the end ---- */

static void page_methods(FILE *out, const void *page)
{
    const struct page *p = page;
    for (size_t i = 0; i < p->n; i++)
        html_fact(out, report_section_title(&p->parts[i]), report_section_method(&p->parts[i]));
}

static void page_sources(FILE *out, const void *page)
{
    const struct page *p = page;
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

static void page_files(FILE *out, const void *page)
{
    const struct page *p = page;
    for (size_t i = 0; i < p->head->n_files; i++)
        page_file(out, p->head->files[i]);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < REPORT_FILES_MAX && p->parts[i].files[k]; k++)
            page_file(out, p->parts[i].files[k]);
}

static void page_foot(FILE *out, const void *page)
{
    const struct report_head *h = ((const struct page *)page)->head;
    const char *const texts[][2] = {{"characterize ", h->version}, {"measured ", h->date}, {"seed ", h->seed}};
    bool any = false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i][1] && *texts[i][1]) {
            html_print(out, "%s%s%s", any ? " \xC2\xB7 " : "", texts[i][0], texts[i][1]);
            any = true;
        }
    fputs(h->modelled ? " \xC2\xB7 modelled, not measured" : "", out);
}

int report_html(FILE *out, const struct report_words *w, const struct report_head *head,
                const struct report_part *parts, size_t n, char *why, size_t why_size)
{
    static const struct {
        const char *name;
        template_printer *print;
    } places[] = {{"CPU", page_cpu},           {"DATE", page_date},       {"MACHINE", page_machine},
                  {"CONTENTS", page_contents}, {"FACTS", page_facts},     {"NOTES", page_notes},
                  {"FINDINGS", page_findings}, {"TABLES", page_tables},   {"MISSING", page_missing},
                  {"METHODS", page_methods},   {"SOURCES", page_sources}, {"FILES", page_files},
                  {"FOOT", page_foot}};
    const struct page p = {w, head, parts, n, why, why_size};
    struct template_values v = {.n = 0};
    *why = '\0';
    template_put_text(&v, "MODELLED_TITLE", "%s", head->modelled ? " (modelled)" : "");
    template_put_text(&v, "STYLE", "%s", w->style.text);
    template_put_flag(&v, "MODELLED", head->modelled);
    template_put_flag(&v, "INCOMPLETE", head->incomplete);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        template_put(&v, places[i].name, places[i].print, &p);
    int status = *why ? -1 : template_fill(&w->page, &v, out, why, why_size);
    template_values_free(&v);
    return status == 0 && ferror(out) ? -1 : status;
}
