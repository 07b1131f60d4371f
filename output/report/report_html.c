/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of the report, from its head to its foot. */
#include "output/report/report_html.h"

#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "output/report/svg_inline.h"
#include "tables/table/tables.h"

static const char *title_of(const struct report_part *p)
{
    return p->title ? p->title : p->table->name;
}

static const char *method_of(const struct report_part *p)
{
    const struct table_kind *k = p->table->name ? tables_find(p->table->name) : NULL;
    return p->method || !k ? p->method : k->method;
}

/* An element with a text, if there is one. */
static void element(FILE *out, const char *tag, const char *attributes, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(out, "<%s%s%s>", tag, *attributes ? " " : "", attributes);
    html_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void link_to(FILE *out, const char *file)
{
    fputs("<a href=\"", out);
    html_file_name(out, file);
    fputs("\">", out);
    html_text(out, file);
    fputs("</a>", out);
}

static void page_head(FILE *out, const struct report_head *h)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    html_text(out, h->cpu ? h->cpu : "Unknown processor");
    fprintf(out, ": frequency under wide SIMD%s</title>\n<style>\n%s</style>\n</head>\n<body>\n",
            h->modelled ? " (modelled)" : "", report_style);
}

static void page_title(FILE *out, const struct report_head *h)
{
    fputs("<header>\n", out);
    element(out, "h1", "", h->cpu && *h->cpu ? h->cpu : "Unknown processor");
    fprintf(out, "<p class=\"sub\">What wide SIMD does to this processor\xE2\x80\x99s frequency%s",
            h->date ? ", " : "");
    html_text(out, h->date);
    fputs("</p>\n</header>\n", out);
    if (!h->modelled)
        return;
    fputs("<div class=\"inner\"><div class=\"banner\" role=\"note\"><strong>Modelled, not measured</strong>Every "
          "figure on this page that is not marked as published comes from a simulated processor",
          out);
    if (h->machine) {
        fputs(" (", out);
        html_text(out, h->machine);
        putc(')', out);
    }
    fputs(". It shows that the method works; it says nothing about a real one.</div></div>\n", out);
}

static void contents(FILE *out, const struct report_part *parts, size_t n)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#machine\">Machine</a></li>\n"
          "<li><a href=\"#findings\">Findings</a></li>\n",
          out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<li><a href=\"#table-%zu\">", i + 1);
        html_text(out, parts[i].table->name);
        fputs("</a></li>\n", out);
    }
    fputs("<li><a href=\"#missing\">Not measured</a></li>\n<li><a href=\"#method\">Method</a></li>\n"
          "<li><a href=\"#files\">Files</a></li>\n</ul></nav>\n",
          out);
}

/* ---- the machine ---- */

static void fact(FILE *out, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    fputs("<dt>", out);
    html_text(out, key);
    fputs("</dt><dd>", out);
    html_lines(out, value);
    fputs("</dd>\n", out);
}

/* A name as in a file, "tsc_hz", for a person. */
static void fact_named(FILE *out, const struct table_pair *p)
{
    char name[80];
    snprintf(name, sizeof name, "%s", p->key);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = ' ';
    fact(out, name, p->value);
}

/* Metadata that the head has fields for, or that differ from table to table. */
static bool told_elsewhere(const struct report_part *parts, size_t n, const struct table_pair *p)
{
    static const char *const known[] = {"cpu",     "machine", "source",  "modelled", "date",  "date_last",
                                        "version", "seed",    "command", "format",   "table", "notes"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(p->key, known[i]) == 0)
            return true;
    for (size_t i = 1; i < n; i++) {
        const char *value = table_meta(parts[i].table, p->key);
        if (!value || strcmp(value, p->value) != 0)
            return true;
    }
    return false;
}

static void machine(FILE *out, const struct report_head *h, const struct report_part *parts, size_t n)
{
    fputs("<section id=\"machine\">\n<h2>The machine and how it was set</h2>\n<dl class=\"facts\">\n", out);
    fact(out, "processor", h->cpu);
    fact(out, "measured by", h->machine);
    fact(out, "counts from", h->source);
    for (size_t i = 0; n > 0 && i < parts[0].table->n_meta; i++)
        if (!told_elsewhere(parts, n, &parts[0].table->meta[i]))
            fact_named(out, &parts[0].table->meta[i]);
    for (size_t i = 0; i < h->n_facts; i++)
        fact_named(out, &h->facts[i]);
    fact(out, "date", h->date);
    fact(out, "seed", h->seed);
    fact(out, "command", h->command);
    fputs("</dl>\n", out);
    for (size_t i = 0; i < h->n_notes; i++) {
        fputs(i ? "" : "<h3>Notes</h3>\n<ul>\n", out);
        element(out, "li", "", h->notes[i]);
    }
    fputs(h->n_notes ? "</ul>\n</section>\n" : "</section>\n", out);
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

static void report_html_findings(FILE *out, const struct report_part *parts, size_t n)
{
    size_t shown = 0;
    bool any = true;
    fputs("<section id=\"findings\">\n<h2>Findings</h2>\n", out);
    for (size_t k = 0; any && shown < REPORT_FINDINGS_MAX; k++) {
        any = false;
        for (size_t i = 0; i < n && shown < REPORT_FINDINGS_MAX; i++) {
            size_t length;
            const char *line = line_of(parts[i].findings, k, &length);
            if (!line)
                continue;
            any = true;
            fputs(shown++ ? "<li>" : "<ol class=\"findings\">\n<li>", out);
            html_text_part(out, line, length);
            fprintf(out, " (<a href=\"#table-%zu\">", i + 1);
            html_text(out, parts[i].table->name);
            fputs("</a>)</li>\n", out);
        }
    }
    fputs(shown ? "</ol>\n</section>\n" : "<p>No table has a finding to tell.</p>\n</section>\n", out);
}

/* ---- a table ---- */

static void picture(FILE *out, const struct report_part *p, size_t number)
{
    char prefix[40], title[400];
    snprintf(prefix, sizeof prefix, "plot-%zu-", number);
    snprintf(title, sizeof title, "%s: plot; its figures are in the table below", title_of(p));
    if (p->svg) {
        fputs("<figure><div class=\"scroll\">\n", out);
        if (svg_inline(out, p->svg, prefix, title) == 0) {
            fputs("</div></figure>\n", out);
            return;
        }
        fputs("</div><figcaption>The plot is no picture that this page could hold.</figcaption></figure>\n", out);
    } else if (p->svg_why) {
        fputs("<p class=\"note\">No plot: ", out);
        html_text(out, p->svg_why);
        fputs(".</p>\n", out);
    }
}

static void report_html_settings(FILE *out, const struct table *t)
{
    for (size_t i = 0; i < t->n_settings; i++) {
        fputs(i ? "; " : "<p class=\"note\">Settings: ", out);
        html_text(out, t->settings[i].key);
        fputs(" = ", out);
        html_text(out, t->settings[i].value);
    }
    fputs(t->n_settings ? "</p>\n" : "", out);
}

static void files_of(FILE *out, const struct report_part *p)
{
    size_t i = 0;
    for (; i < sizeof p->files / sizeof p->files[0] && p->files[i]; i++) {
        fputs(i ? ", " : "<p class=\"note\">Files: ", out);
        link_to(out, p->files[i]);
    }
    fputs(i ? "</p>\n" : "", out);
}

static const char *csv_of(const struct report_part *p)
{
    for (size_t i = 0; i < sizeof p->files / sizeof p->files[0] && p->files[i]; i++) {
        size_t length = strlen(p->files[i]);
        if (length > 4 && strcmp(p->files[i] + length - 4, ".csv") == 0)
            return p->files[i];
    }
    return NULL;
}

static void table_section(FILE *out, const struct report_part *p, size_t number)
{
    const struct table *t = p->table;
    char id[40], caption[400];
    fprintf(out, "<section class=\"table%s\" id=\"table-%zu\">\n", report_table_is_wide(t) ? " wide" : "", number);
    element(out, "h2", "", title_of(p));
    if (table_modelled(t))
        fputs("<p class=\"note\"><strong>Modelled, not measured.</strong></p>\n", out);
    if (p->findings && *p->findings) {
        fputs("<p class=\"found\">", out);
        html_lines(out, p->findings);
        fputs("</p>\n", out);
    }
    if (t->n_rows > 0) {
        picture(out, p, number);
        snprintf(id, sizeof id, "caption-%zu", number);
        snprintf(caption, sizeof caption, "%s%s", title_of(p), table_modelled(t) ? " (modelled)" : "");
        report_table(out, t, caption, id, csv_of(p));
    } else {
        fputs("<p>Nothing of this table could be measured here.</p>\n", out);
    }
    if (t->n_missing > 0)
        fprintf(
            out,
            "<p class=\"note\">Not measured: %zu entr%s; <a href=\"#missing\">why, and what it would need</a>.</p>\n",
            t->n_missing, t->n_missing == 1 ? "y" : "ies");
    if (method_of(p))
        fputs("<p class=\"note\"><a href=\"#method\">How it was measured</a></p>\n", out);
    report_html_settings(out, t);
    files_of(out, p);
    fputs("</section>\n", out);
}

/* ---- the end ---- */

static void method(FILE *out, const struct report_part *parts, size_t n)
{
    size_t n_sources, cited = 0;
    const struct report_source *s = report_sources(&n_sources);
    fputs("<section id=\"method\">\n<h2>How it was done</h2>\n"
          "<p>A figure is a mean or median of n repetitions; [low, high] beside it are its 95&nbsp;% limits. "
          "Repetitions that an interrupt or a stolen core disturbed are discarded and counted. A dash is a value that "
          "was not measured; nothing is filled in from publications.</p>\n<dl class=\"methods\">\n",
          out);
    for (size_t i = 0; i < n; i++)
        if (method_of(&parts[i]))
            fact(out, title_of(&parts[i]), method_of(&parts[i]));
    fputs("</dl>\n", out);
    for (size_t k = 0; k < n_sources; k++)
        for (size_t i = 0; i < n; i++)
            if (report_cites(method_of(&parts[i]), s[k].letter)) {
                fprintf(out, "%s<dt>%c</dt><dd>", cited++ ? "" : "<h3>Sources</h3>\n<dl class=\"facts sources\">\n",
                        s[k].letter);
                html_text(out, s[k].title);
                fputs("</dd>\n", out);
                break;
            }
    fputs(cited ? "</dl>\n</section>\n" : "</section>\n", out);
}

static void files(FILE *out, const struct report_head *h, const struct report_part *parts, size_t n)
{
    size_t shown = 0;
    fputs("<section id=\"files\">\n<h2>Files beside this page</h2>\n<ul class=\"files\">\n", out);
    for (size_t i = 0; i < h->n_files; i++, shown++) {
        fputs("<li>", out);
        link_to(out, h->files[i]);
        fputs("</li>\n", out);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof parts[i].files / sizeof parts[i].files[0] && parts[i].files[k]; k++, shown++) {
            fputs("<li>", out);
            link_to(out, parts[i].files[k]);
            fputs("</li>\n", out);
        }
    fputs(shown ? "</ul>\n</section>\n" : "<li>none</li>\n</ul>\n</section>\n", out);
}

static void page_foot(FILE *out, const struct report_head *h)
{
    const char *const texts[][2] = {{"characterize ", h->version}, {"measured ", h->date}, {"seed ", h->seed}};
    bool any = false;
    fputs("<footer>", out);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i][1] && *texts[i][1]) {
            fprintf(out, "%s%s", any ? " \xC2\xB7 " : "", texts[i][0]);
            html_text(out, texts[i][1]);
            any = true;
        }
    fputs(h->modelled ? " \xC2\xB7 modelled, not measured</footer>\n" : "</footer>\n", out);
    fputs("</body>\n</html>\n", out);
}

int report_html(FILE *out, const struct report_head *head, const struct report_part *parts, size_t n)
{
    page_head(out, head);
    page_title(out, head);
    contents(out, parts, n);
    fputs("<main>\n", out);
    machine(out, head, parts, n);
    report_html_findings(out, parts, n);
    for (size_t i = 0; i < n; i++)
        table_section(out, &parts[i], i + 1);
    report_missing(out, parts, n, head->incomplete);
    method(out, parts, n);
    files(out, head, parts, n);
    fputs("</main>\n", out);
    page_foot(out, head);
    return ferror(out) ? -1 : 0;
}
