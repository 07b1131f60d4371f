/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "tables/table/tables.h"
#include "util/error.h"
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

/* The picture, or in its place why there is none. */
static void section_picture(struct template_values *v, const struct report_part *p, size_t number)
{
    char prefix[40], title[400];
    bool rows = p->table->n_rows > 0;
    snprintf(prefix, sizeof prefix, "plot-%zu-", number);
    snprintf(title, sizeof title, "%s: plot; its figures are in the table below", report_section_title(p));
    template_value(v, "PICTURE");
    if (rows && p->svg)
        svg_inline(v->out, p->svg, prefix, title);
    template_value(v, "NO_PICTURE");
    if (rows && !p->svg)
        html_text(v->out, p->svg_why);
    else if (rows && !svg_inline_possible(p->svg))
        fputs("gnuplot's output cannot be embedded in this page", v->out);
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

static void section_rows(FILE *out, const struct report_words *w, const struct report_part *p, size_t number)
{
    const struct table *t = p->table;
    char id[40], caption[400];
    snprintf(id, sizeof id, "caption-%zu", number);
    snprintf(caption, sizeof caption, "%s%s", report_section_title(p), table_modelled(t) ? " (modelled)" : "");
    if (t->n_rows > 0)
        report_table(out, w, t, caption, id, csv_of(p));
}

int report_section(FILE *out, const struct report_words *w, const struct report_part *p, size_t number, char *why,
                   size_t why_size)
{
    const struct table *t = p->table;
    struct template_values v;
    if (!template_begin(&v))
        return error_line(why, why_size, "out of memory");
    fputs(report_table_is_wide(t) ? " wide" : "", template_value(&v, "WIDE"));
    fprintf(template_value(&v, "NUMBER"), "%zu", number);
    html_text(template_value(&v, "TITLE"), report_section_title(p));
    template_flag(&v, "MODELLED", table_modelled(t));
    html_lines(template_value(&v, "FINDINGS"), p->findings);
    section_picture(&v, p, number);
    section_rows(template_value(&v, "ROWS"), w, p, number);
    template_value(&v, "MISSING");
    if (t->n_missing)
        fprintf(v.out, "%zu entr%s", t->n_missing, t->n_missing == 1 ? "y" : "ies");
    template_flag(&v, "METHOD", report_section_method(p) != NULL);
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
