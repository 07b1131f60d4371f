/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building a document, and the text that is made of it. */
#include "output/document/document_items.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/plain_text.h"
#include "util/screen_text.h"

/* Columns of a text that names of facts take at least. */
enum { NAMES_LEAST = 13 };

/* ---- building ---- */

static char *copied(struct document *d, const char *text)
{
    char *own = text ? plain_text_copy(text) : NULL;
    d->failed = d->failed || (text && !own);
    return own;
}

/* A copy of so many bytes; NULL: out of memory. */
static void *moved(struct document *d, const void *from, size_t size)
{
    void *own = malloc(size);
    if (own)
        memcpy(own, from, size);
    d->failed = d->failed || !own;
    return own;
}

static void free_item(struct document_item *item)
{
    if (item->table)
        table_free(item->table);
    if (item->pivot)
        pivot_free(item->pivot);
    if (item->chart)
        chart_free(item->chart);
    free(item->table);
    free(item->pivot);
    free(item->chart);
    free(item->fields);
    free(item->name);
    free(item->text);
    free(item->aside);
}

/* Turns each line written to the stream of notes into a note. */
void document_end_notes(struct document *d)
{
    FILE *notes = d->notes;
    d->notes = NULL;
    if (!notes)
        return;
    if (fclose(notes) != 0)
        d->failed = true;
    for (char *rest = d->notes_text, *line; (line = strsep(&rest, "\n"));)
        document_note(d, "%s", line);
    free(d->notes_text);
}

static void add_item(struct document *d, struct document_item item)
{
    document_end_notes(d);
    if (list_room(&d->items, d->n, sizeof *d->items)) {
        d->items[d->n++] = item;
    } else {
        d->failed = true;
        free_item(&item);
    }
}

void document_text(struct document *d, enum document_kind kind, const char *name, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        d->failed = true;
    else if (*text)
        add_item(d, (struct document_item){.kind = kind, .name = copied(d, name), .text = copied(d, text)});
    free(text);
}

void document_begin(struct document *d, const char *title, const char *cpu, const char *modelled)
{
    *d = (struct document){.modelled = modelled != NULL};
    add_item(d, (struct document_item){.kind = DOCUMENT_HEAD,
                                       .text = copied(d, title),
                                       .name = copied(d, cpu),
                                       .aside = copied(d, modelled),
                                       .most = SIZE_MAX});
}

void document_begin_table(struct document *d, const char *title, const struct table *t)
{
    const char *source = table_meta(t, "source");
    document_begin(d, title, table_meta(t, "cpu"),
                   !table_modelled(t)  ? NULL
                   : source && *source ? source
                                       : "modelled, not measured");
}

void document_section(struct document *d, enum document_where where, const char *place, const char *heading)
{
    add_item(
        d, (struct document_item){
               .kind = DOCUMENT_SECTION, .where = where, .place = place, .text = copied(d, heading), .most = SIZE_MAX});
}

FILE *document_notes(struct document *d)
{
    document_end_notes(d);
    d->notes = open_memstream(&d->notes_text, &d->notes_size);
    d->failed = d->failed || !d->notes;
    return d->notes;
}

void document_notes_most(struct document *d, size_t most)
{
    size_t i = d->n;
    while (i > 1 && d->items[i - 1].kind != DOCUMENT_SECTION)
        i--;
    if (i > 0)
        d->items[i - 1].most = most;
}

void document_table(struct document *d, struct table *t, const char *caption, const struct pivot_list *list)
{
    struct document_item item = {.kind = DOCUMENT_TABLE, .text = copied(d, caption)};
    d->failed = d->failed || t->failed;
    if (list) {
        item.list = *list;
        item.list.fields = item.fields = moved(d, list->fields, list->n_fields * sizeof *list->fields);
        item.list.title = item.aside = copied(d, list->title);
    }
    item.table = moved(d, t, sizeof *t);
    if (!item.table)
        table_free(t);
    add_item(d, item);
}

void document_pivot(struct document *d, struct pivot *p)
{
    struct pivot *own = moved(d, p, sizeof *p);
    if (!own)
        pivot_free(p);
    add_item(d, (struct document_item){.kind = DOCUMENT_PIVOT, .pivot = own});
}

void document_chart(struct document *d, struct chart *c, const char *title, int described, const char *why)
{
    struct document_item item = {.kind = DOCUMENT_CHART, .text = copied(d, title)};
    if (described == 0)
        item.chart = moved(d, c, sizeof *c);
    else
        item.aside = copied(d, why);
    if (!item.chart)
        chart_free(c);
    add_item(d, item);
}

void document_value(struct document *d, const char *place, const char *text, ...)
{
    va_list arguments;
    char *own = NULL;
    va_start(arguments, text);
    d->failed = vasprintf(&own, text, arguments) < 0 || d->failed;
    va_end(arguments);
    add_item(d, (struct document_item){.kind = DOCUMENT_VALUE, .place = place, .text = own});
}

void document_free(struct document *d)
{
    document_end_notes(d);
    for (size_t i = 0; i < d->n; i++)
        free_item(&d->items[i]);
    free(d->items);
    *d = (struct document){0};
}

size_t document_section_end(const struct document *d, size_t begin)
{
    size_t end = begin + 1;
    while (end < d->n && d->items[end].kind != DOCUMENT_SECTION)
        end++;
    return end;
}

/* ---- the text ---- */

struct page {
    FILE *out;
    bool colour;
    unsigned width;
};

static const char *style(const struct page *p, const char *sequence)
{
    return p->colour ? sequence : "";
}

/* A line, after blanks; further lines begin in column `indent`. */
static void print_line(const struct page *p, unsigned column, unsigned indent, const char *text)
{
    screen_text_words(p->out, text, column, indent, p->width);
    putc('\n', p->out);
}

/* The same at the beginning of a line, all of it in a style. */
static void print_styled(const struct page *p, const char *sequence, const char *text)
{
    fputs(style(p, sequence), p->out);
    screen_text_words(p->out, text, 0, 2, p->width);
    fprintf(p->out, "%s\n", style(p, "\033[0m"));
}

static void print_head(const struct page *p, const struct document_item *head)
{
    if (head->text)
        print_styled(p, "\033[1m", head->text);
    if (head->name)
        print_line(p, 0, 2, head->name);
    if (head->aside)
        print_styled(p, "\033[31m", head->aside);
}

static bool is_fact(const struct document_item *item)
{
    return item->kind == DOCUMENT_FACT || item->kind == DOCUMENT_WARNING;
}

/* The columns that names of the facts take among which item i stands, a blank included. */
static unsigned names_width(const struct document *d, size_t i)
{
    unsigned width = NAMES_LEAST;
    while (i > 0 && is_fact(&d->items[i - 1]))
        i--;
    for (; i < d->n && is_fact(&d->items[i]); i++) {
        unsigned own = screen_text_columns(d->items[i].name, strlen(d->items[i].name)) + 1;
        width = own > width ? own : width;
    }
    return width;
}

/* Texts go on below their names where there is hardly room for them below each other. */
static void print_fact(const struct page *p, const struct document *d, size_t i)
{
    enum { ROOM_LEAST = 30, NARROW_INDENT = 4 };
    const struct document_item *fact = &d->items[i];
    unsigned begin = names_width(d, i);
    bool warning = fact->kind == DOCUMENT_WARNING;
    fprintf(p->out, "%s%-*s%s", style(p, warning ? "\033[33m" : "\033[1m"), (int)begin, fact->name,
            warning ? "" : style(p, "\033[0m"));
    screen_text_words(p->out, fact->text, begin, p->width < begin + ROOM_LEAST ? NARROW_INDENT : begin, p->width);
    fprintf(p->out, "%s\n", warning ? style(p, "\033[0m") : "");
}

static void print_note(const struct page *p, unsigned indent, const char *text)
{
    unsigned begin = indent + (unsigned)strspn(text, " ");
    fprintf(p->out, "%*s", (int)begin, "");
    print_line(p, begin, begin + 2, text);
}

static bool is_printed(const struct document_item *item)
{
    return item->kind == DOCUMENT_PIVOT || item->kind == DOCUMENT_NOTE || is_fact(item) ||
           (item->kind == DOCUMENT_TABLE && item->fields && item->table->n_rows);
}

static void print_section(const struct page *p, const struct document *d, size_t begin, size_t end)
{
    const struct document_item *section = &d->items[begin];
    const char *heading = section->kind == DOCUMENT_SECTION ? section->text : NULL;
    const bool headed = heading && *heading;
    size_t notes = 0, printed = 0;
    for (size_t i = begin + 1; i < end; i++) {
        struct document_item *item = &d->items[i];
        if (!is_printed(item))
            continue;
        if (printed++ == 0 && heading) {
            putc('\n', p->out);
            if (headed)
                print_styled(p, "\033[1m", heading);
        }
        if (item->kind == DOCUMENT_TABLE)
            pivot_list(p->out, p->colour, item->table, &item->list);
        else if (item->kind == DOCUMENT_PIVOT)
            pivot_print(p->out, p->colour, item->pivot);
        else if (is_fact(item))
            print_fact(p, d, i);
        else if (notes++ < section->most)
            print_note(p, headed ? 2 : 0, item->text);
    }
    if (notes > section->most)
        fprintf(p->out, "  ... and %zu more\n", notes - section->most);
}

void document_print(FILE *out, bool colour, struct document *d)
{
    const struct page p = {out, colour, d->records ? screen_text_record_width(out) : screen_text_width(out)};
    document_end_notes(d);
    if (d->failed) {
        fputs("out of memory\n", out);
        return;
    }
    print_head(&p, &d->items[0]);
    for (size_t begin = 0, end; begin < d->n; begin = end) {
        end = document_section_end(d, begin);
        if (d->items[begin].where == DOCUMENT_EVERYWHERE)
            print_section(&p, d, begin, end);
    }
}
