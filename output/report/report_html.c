/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of the report, from its head to its foot. */
#include "output/report/report.h"

#include <ctype.h>
#include <string.h>

#include "util/error.h"
#include "util/plain_text.h"

/* Shared by all sections. */
struct page {
    const struct html_words *words;
    const struct report_head *head;
    const struct report_part *parts;
    size_t n;
};

static void file_item(FILE *out, const char *name)
{
    fputs("<li>", out);
    html_link(out, name);
    fputs("</li>\n", out);
}

static const char *title_of(const struct report_part *p)
{
    return p->title ? p->title : p->table->name;
}

/* How it was measured; NULL: nobody says. */
static const char *method_of(const struct report_part *p)
{
    const struct table_kind *k = p->table->name ? tables_find(p->table->name) : NULL;
    return k ? k->method : NULL;
}

/* ---- the machine ---- */

/* Metadata that the head has fields for, or that differ from table to table. */
static bool is_elsewhere(const struct page *p, const struct table_pair *pair)
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

static void facts(FILE *out, const struct page *p)
{
    const struct report_head *h = p->head;
    html_fact(out, "processor", h->cpu);
    html_fact(out, "measured by", h->machine);
    html_fact(out, "source", h->source);
    for (size_t i = 0; p->n > 0 && i < p->parts[0].table->n_meta; i++) {
        const struct table_pair *pair = &p->parts[0].table->meta[i];
        char name[80]; /* as in a file, "tsc_hz", for a person */
        snprintf(name, sizeof name, "%s", pair->key);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        if (!is_elsewhere(p, pair))
            html_fact(out, name, pair->value);
    }
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

static void findings(FILE *out, const struct page *p)
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

/* ---- one table: data/report/table.html.in ---- */

/* The file that has all rows. */
static const char *csv_of(const struct report_part *p)
{
    for (size_t i = 0; i < REPORT_FILES_MAX && p->files[i]; i++) {
        size_t length = strlen(p->files[i]);
        if (length > 4 && strcmp(p->files[i] + length - 4, ".csv") == 0)
            return p->files[i];
    }
    return NULL;
}

/* The picture and the rows. */
static void section_values(struct template_values *v, const struct html_words *w, const struct report_part *p,
                           size_t number)
{
    char id[40], prefix[40], caption[400];
    const struct table *t = p->table;
    snprintf(prefix, sizeof prefix, "plot-%zu-", number);
    snprintf(caption, sizeof caption, "%s: plot; its figures are in the table below", title_of(p));
    template_value(v, "PICTURE");
    if (t->n_rows > 0)
        html_figure(v->out, p->svg, p->svg_why, prefix, caption);
    snprintf(id, sizeof id, "caption-%zu", number);
    snprintf(caption, sizeof caption, "%s%s", title_of(p), table_modelled(t) ? " (modelled)" : "");
    template_value(v, "ROWS");
    if (t->n_rows > 0)
        html_table(v->out, w, t, caption, id, csv_of(p));
}

/* The section number `number` of the page. Returns 0, or -1 with one line in `why`. */
static int section(FILE *out, const struct html_words *w, const struct report_part *p, size_t number, char *why,
                   size_t why_size)
{
    const struct table *t = p->table;
    struct template_values v;
    if (!template_begin(&v))
        return error_line(why, why_size, "out of memory");
    fputs(html_table_is_wide(t) ? " wide" : "", template_value(&v, "WIDE"));
    fprintf(template_value(&v, "NUMBER"), "%zu", number);
    plain_xml_text(template_value(&v, "TITLE"), title_of(p));
    template_flag(&v, "MODELLED", table_modelled(t));
    html_lines(template_value(&v, "FINDINGS"), p->findings);
    section_values(&v, w, p, number);
    template_value(&v, "MISSING");
    if (t->n_missing)
        fprintf(v.out, "%zu entr%s", t->n_missing, t->n_missing == 1 ? "y" : "ies");
    template_flag(&v, "METHOD", method_of(p) != NULL);
    template_value(&v, "SETTINGS");
    for (size_t i = 0; i < t->n_settings; i++)
        html_print(v.out, "%s%s = %s", i ? "; " : "", t->settings[i].key, t->settings[i].value);
    template_value(&v, "FILES");
    for (size_t i = 0; i < REPORT_FILES_MAX && p->files[i]; i++) {
        fputs(i ? ", " : "", v.out);
        html_link(v.out, p->files[i]);
    }
    int status = template_fill(&w->table, &v, out, why, why_size);
    template_values_free(&v);
    return status;
}

/* ---- what could not be measured: each reason once, with all that it kept from being measured ---- */

/* Entries of a reason that are named before the reader opens the others. */
enum { NAMED = 8 };

static const char *reason_of(const struct report_part *p, size_t entry)
{
    const char *why = p->table->missing[entry].why;
    return why ? why : "no reason was given";
}

/* How many of the first `n` entries of a part have this reason. */
static size_t count_of(const struct report_part *p, const char *why, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += strcmp(reason_of(p, i), why) == 0;
    return count;
}

/* Returns true if an earlier entry of the parts has the same reason: the list is then printed there. */
static bool seen_before(const struct report_part *parts, size_t part, size_t entry)
{
    const char *why = reason_of(&parts[part], entry);
    for (size_t p = 0; p < part; p++)
        if (count_of(&parts[p], why, parts[p].table->n_missing))
            return true;
    return count_of(&parts[part], why, entry) > 0;
}

static void entries_of_table(FILE *out, const struct page *page, const struct report_part *p, const char *why)
{
    size_t n = count_of(p, why, p->table->n_missing), k = 0;
    bool folded = n > NAMED + 2;
    if (n == 0)
        return;
    html_print(out, "<li>%s: ", p->table->name);
    for (size_t i = 0; i < p->table->n_missing; i++) {
        if (strcmp(reason_of(p, i), why) != 0)
            continue;
        if (folded && k == NAMED)
            fprintf(out,
                    "<details class=\"opener\"><summary><span class=\"closed\">and %zu more</span><span "
                    "class=\"open\">fewer</span></summary></details><div class=\"scroll\"><div class=\"more\">",
                    n - NAMED);
        else if (k > 0)
            fputs("; ", out);
        html_missing_name(out, page->words, p->table, i);
        k++;
    }
    fputs(folded ? "</div></div></li>\n" : "</li>\n", out);
}

static void missing(FILE *out, const struct page *page)
{
    for (size_t p = 0; p < page->n; p++)
        for (size_t i = 0; i < page->parts[p].table->n_missing; i++) {
            const char *why = reason_of(&page->parts[p], i);
            if (seen_before(page->parts, p, i))
                continue;
            html_print(out, "<li>%s\n<ul>\n", why);
            for (size_t q = p; q < page->n; q++)
                entries_of_table(out, page, &page->parts[q], why);
            fputs("</ul></li>\n", out);
        }
}

/* ---- the end ---- */

bool report_cites(const char *text, char letter)
{
    for (const char *c = text; text && *c; c++) {
        bool in_word = c > text && (isalnum((unsigned char)c[-1]) || c[-1] == '_' || c[-1] == '-');
        if (*c == letter && !in_word &&
            ((c[1] == ' ' && isdigit((unsigned char)c[2])) || c[1] == ')' || c[1] == ';' || c[1] == ','))
            return true;
    }
    return false;
}

static void sources(FILE *out, const struct page *p)
{
    const char *letter;
    json_t *title;
    json_object_foreach(p->words->sources, letter, title)
    {
        bool cited = false;
        for (size_t i = 0; i < p->n && !cited; i++)
            cited = report_cites(method_of(&p->parts[i]), *letter);
        if (cited)
            html_fact(out, letter, json_string_value(title));
    }
}

static void glossary(FILE *out, const struct page *p)
{
    const char *word;
    json_t *meaning;
    json_object_foreach(p->words->glossary, word, meaning)
    {
        html_fact(out, word, json_string_value(meaning));
    }
}

static void foot(FILE *out, const struct report_head *h)
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

/* Values up to the tables, except for those that other pages have as well. */
static void put_beginning(struct template_values *v, const struct page *p)
{
    const struct report_head *h = p->head;
    template_flag(v, "INCOMPLETE", h->incomplete);
    plain_xml_text(template_value(v, "CPU"), h->cpu && *h->cpu ? h->cpu : "Unknown processor");
    html_print(template_value(v, "DATE"), h->date ? ", %s" : "", h->date);
    html_print(template_value(v, "MACHINE"), h->machine ? " (%s)" : "", h->machine);
    template_value(v, "CONTENTS");
    for (size_t i = 0; i < p->n; i++)
        html_print(v->out, "<li><a href=\"#table-%zu\">%s</a></li>\n", i + 1, p->parts[i].table->name);
    for (size_t i = 0; i < h->n_pages; i++)
        file_item(v->out, h->pages[i]);
    facts(template_value(v, "FACTS"), p);
    template_value(v, "NOTES");
    for (size_t i = 0; i < h->n_notes; i++)
        html_print(v->out, "<li>%s</li>\n", h->notes[i]);
    html_each_line(template_value(v, "VERDICT"), "<li>", h->verdict, "</li>\n");
    findings(template_value(v, "FINDINGS"), p);
    template_value(v, "NOTE_COUNT");
    if (h->n_notes)
        fprintf(v->out, "%zu note%s", h->n_notes, h->n_notes == 1 ? "" : "s");
    plain_xml_text(template_value(v, "COURSE_TITLE"), h->course_title);
    html_figure(template_value(v, "COURSE"), h->course_svg,
                h->course_why && *h->course_why ? h->course_why : "no switch to wider or heavier code was measured",
                "course-", h->course_title ? h->course_title : "The widest switch");
    html_each_line(template_value(v, "COURSE_NOTES"), "<li>", h->course_notes, "</li>\n");
}

static void put_end(struct template_values *v, const struct page *p)
{
    missing(template_value(v, "MISSING"), p);
    template_value(v, "METHODS");
    for (size_t i = 0; i < p->n; i++)
        html_fact(v->out, title_of(&p->parts[i]), method_of(&p->parts[i]));
    sources(template_value(v, "SOURCES"), p);
    glossary(template_value(v, "GLOSSARY"), p);
    template_value(v, "FILES");
    for (size_t i = 0; i < p->head->n_files; i++)
        file_item(v->out, p->head->files[i]);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < REPORT_FILES_MAX && p->parts[i].files[k]; k++)
            file_item(v->out, p->parts[i].files[k]);
    foot(template_value(v, "FOOT"), p->head);
}

int report_html(FILE *out, const struct html_words *w, const struct report_head *head, const struct report_part *parts,
                size_t n, char *why, size_t why_size)
{
    const struct page p = {w, head, parts, n};
    struct template_values v;
    *why = '\0';
    int status = html_words_values(w, head->modelled, &v) ? 0 : error_line(why, why_size, "out of memory");
    if (status == 0) {
        put_beginning(&v, &p);
        template_value(&v, "TABLES");
        for (size_t i = 0; i < n && status == 0; i++)
            status = section(v.out, w, &parts[i], i + 1, why, why_size);
        put_end(&v, &p);
    }
    if (status == 0)
        status = template_fill(&w->page, &v, out, why, why_size);
    template_values_free(&v);
    return status == 0 && ferror(out) ? -1 : status;
}
