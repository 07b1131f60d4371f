/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "tables/table/tables.h"
#include "util/template.h"

const char *report_section_title(const struct report_part *p)
{
    return p->title ? p->title : p->table->name;
}

const char *report_section_method(const struct report_part *p)
{
    const struct table_kind *k = p->table->name ? tables_find(p->table->name) : NULL;
    return k ? k->method : NULL;
}

struct section {
    const struct report_words *words;
    const struct report_part *part;
    size_t number;
};

static void section_findings(FILE *out, const void *section)
{
    const struct section *s = section;
    html_lines(out, s->part->findings);
}

static void section_picture(FILE *out, const void *section)
{
    const struct section *s = section;
    char prefix[40], title[400];
    snprintf(prefix, sizeof prefix, "plot-%zu-", s->number);
    snprintf(title, sizeof title, "%s: plot; its figures are in the table below", report_section_title(s->part));
    if (s->part->table->n_rows > 0 && s->part->svg)
        svg_inline(out, s->part->svg, prefix, title);
}

static void section_no_picture(FILE *out, const void *section)
{
    const struct section *s = section;
    if (s->part->table->n_rows > 0 && !s->part->svg)
        html_text(out, s->part->svg_why);
    else if (s->part->table->n_rows > 0 && !svg_inline_possible(s->part->svg))
        fputs("gnuplot's output cannot be embedded in this page", out);
}

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

static void section_rows(FILE *out, const void *section)
{
    const struct section *s = section;
    const struct table *t = s->part->table;
    char id[40], caption[400];
    snprintf(id, sizeof id, "caption-%zu", s->number);
    snprintf(caption, sizeof caption, "%s%s", report_section_title(s->part), table_modelled(t) ? " (modelled)" : "");
    if (t->n_rows > 0)
        report_table(out, s->words, t, caption, id, csv_of(s->part));
}

static void section_settings(FILE *out, const void *section)
{
    const struct table *t = ((const struct section *)section)->part->table;
    for (size_t i = 0; i < t->n_settings; i++)
        html_print(out, "%s%s = %s", i ? "; " : "", t->settings[i].key, t->settings[i].value);
}

static void section_files(FILE *out, const void *section)
{
    const struct report_part *p = ((const struct section *)section)->part;
    for (size_t i = 0; i < REPORT_FILES_MAX && p->files[i]; i++) {
        fputs(i ? ", " : "", out);
        html_link(out, p->files[i]);
    }
}

static void section_title(FILE *out, const void *section)
{
    html_text(out, report_section_title(((const struct section *)section)->part));
}

int report_section(FILE *out, const struct report_words *w, const struct report_part *p, size_t number, char *why,
                   size_t why_size)
{
    const struct section s = {w, p, number};
    const struct table *t = p->table;
    struct template_values v = {.n = 0};
    char missing[40] = "";
    if (t->n_missing)
        snprintf(missing, sizeof missing, "%zu entr%s", t->n_missing, t->n_missing == 1 ? "y" : "ies");
    template_put_text(&v, "WIDE", "%s", report_table_is_wide(t) ? " wide" : "");
    template_put_text(&v, "NUMBER", "%zu", number);
    template_put(&v, "TITLE", section_title, &s);
    template_put_flag(&v, "MODELLED", table_modelled(t));
    template_put(&v, "FINDINGS", section_findings, &s);
    template_put(&v, "PICTURE", section_picture, &s);
    template_put(&v, "NO_PICTURE", section_no_picture, &s);
    template_put(&v, "ROWS", section_rows, &s);
    template_put_text(&v, "MISSING", "%s", missing);
    template_put_flag(&v, "METHOD", report_section_method(p) != NULL);
    template_put(&v, "SETTINGS", section_settings, &s);
    template_put(&v, "FILES", section_files, &s);
    int status = template_fill(&w->table, &v, out, why, why_size);
    template_values_free(&v);
    return status;
}
