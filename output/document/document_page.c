/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of HTML that is made of a document. */
#include <stdlib.h>
#include <string.h>

#include "output/document/document_items.h"
#include "output/document/html.h"
#include "output/plot/plot.h"
#include "util/error.h"
#include "util/plain_text.h"

static void put_chart(FILE *out, const struct document_item *item, const char *prefix)
{
    char why[400] = "";
    char *svg = item->chart ? plot_svg(item->chart, why, sizeof why) : NULL;
    html_figure(out, svg, item->chart ? why : item->aside, prefix, item->text);
    free(svg);
}

/* Item number i. */
static void put_item(FILE *out, const struct html_words *w, const struct document *d, size_t i)
{
    const struct document_item *item = &d->items[i];
    char id[40];
    snprintf(id, sizeof id, item->kind == DOCUMENT_CHART ? "plot-%zu-" : "caption-%zu", i);
    if (item->kind == DOCUMENT_FACT || item->kind == DOCUMENT_WARNING)
        html_fact(out, item->name, item->text);
    else if (item->kind == DOCUMENT_NOTE)
        html_print(out, "<li>%s</li>\n", item->text);
    else if (item->kind == DOCUMENT_TABLE && item->table->n_rows)
        html_table(out, w, item->table, item->text, id, NULL);
    else if (item->kind == DOCUMENT_CHART)
        put_chart(out, item, id);
}

static void put_values(struct template_values *v, const struct html_words *w, const struct document *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i].kind == DOCUMENT_VALUE)
            plain_xml_text(template_value(v, d->items[i].place), d->items[i].text);
    for (size_t begin = 0, end; begin < d->n; begin = end) {
        end = document_section_end(d, begin);
        if (!d->items[begin].place)
            continue;
        template_value(v, d->items[begin].place);
        for (size_t i = begin + 1; i < end; i++)
            put_item(v->out, w, d, i);
    }
}

int document_page(FILE *out, struct document *d, const char *name, char *why, size_t why_size)
{
    struct html_words words = {.all = NULL};
    struct template_file file = {NULL, NULL};
    struct template_values values = {.n = 0};
    *why = '\0';
    document_end_notes(d);
    int status = d->failed ? error_line(why, why_size, "out of memory") : html_words_read(&words, why, why_size);
    if (status == 0)
        status = template_read(&file, "report", name, ".html.in", why, why_size);
    if (status == 0 && !html_words_values(&words, d->modelled, &values))
        status = error_line(why, why_size, "out of memory");
    if (status == 0) {
        put_values(&values, &words, d);
        status = template_fill(&file, &values, out, why, why_size);
    }
    template_values_free(&values);
    template_file_free(&file);
    html_words_free(&words);
    return status == 0 && ferror(out) ? -1 : status;
}
