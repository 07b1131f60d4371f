/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pages of the program have in common: a template with the style and the pictures inside. */
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"

#include "output/report/report_page.h"
#include "util/error.h"

bool report_page_begin(struct report_page *p, const char *name, bool modelled, char *why, size_t why_size)
{
    memset(p, 0, sizeof *p);
    *why = '\0';
    if (html_words_read(&p->words, why, why_size) != 0 ||
        template_read(&p->file, "report", name, ".html.in", why, why_size) != 0)
        return false;
    return html_words_values(&p->words, modelled, &p->values) || error_line(why, why_size, "out of memory") == 0;
}

void report_page_table(struct report_page *p, struct table *t, const char *caption, const char *id)
{
    if (t->failed)
        fputs("<p>Out of memory.</p>\n", p->values.out);
    else if (t->n_rows)
        html_table(p->values.out, &p->words, t, caption, id, NULL);
    table_free(t);
}

void report_page_figure(struct report_page *p, const struct report_figure *f, struct chart *c, int described,
                        const char *reason)
{
    char why[400];
    snprintf(why, sizeof why, "%s", described == 0 ? "" : reason);
    char *svg = described == 0 ? plot_svg(c, why, sizeof why) : NULL;
    chart_free(c);
    template_value(&p->values, f->place);
    if (svg && html_svg(p->values.out, svg, f->prefix, f->title) != 0)
        snprintf(why, sizeof why, "gnuplot's output cannot be embedded in this page");
    html_text(template_value(&p->values, f->no_place), why);
    free(svg);
}

int report_page_end(struct report_page *p, bool begun, FILE *out, char *why, size_t why_size)
{
    int status = begun ? template_fill(&p->file, &p->values, out, why, why_size) : -1;
    template_values_free(&p->values);
    template_file_free(&p->file);
    html_words_free(&p->words);
    return status == 0 && ferror(out) ? -1 : status;
}
