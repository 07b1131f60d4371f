/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table/pivot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"

enum { GAP = 2, LAST_LEAST = 30 }; /* between columns; a last column of text is no narrower, unless it needs less */

static const char bold[] = "\033[1m", dim[] = "\033[2m", plain[] = "\033[0m";

struct pivot_column {
    enum pivot_side side;
    char *heading;
    size_t width; /* on the screen */
};

enum line_kind { LINE_ROW, LINE_ASIDE, LINE_GROUP };
struct pivot_line {
    enum line_kind kind;
    size_t n;
    char **field; /* room for one a column */
};

/* ---- filling ---- */

/* Room for one more of a list that has n and no capacity but the next power of two. NULL: out of memory. */
static void *one_more(struct pivot *p, void *list, size_t n, size_t size)
{
    void *bigger = n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size);
    p->failed = p->failed || !bigger;
    return bigger;
}

/* Formatted and made safe, behind what *to holds already. */
__attribute__((format(printf, 3, 0))) static void pivot_say(struct pivot *p, char **to, const char *format,
                                                            va_list arguments)
{
    char *text = NULL, *joined = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    char *safe = text ? plain_text_copy(text) : NULL;
    if (!safe || asprintf(&joined, "%s%s", *to ? *to : "", safe) < 0) {
        p->failed = true;
    } else {
        free(*to);
        *to = joined;
    }
    free(safe);
    free(text);
}

void pivot_init(struct pivot *p, size_t n_names, const char *title, ...)
{
    va_list arguments;
    *p = (struct pivot){.n_names = n_names};
    va_start(arguments, title);
    if (title)
        pivot_say(p, &p->title, title, arguments);
    va_end(arguments);
}

void pivot_column(struct pivot *p, enum pivot_side side, const char *heading, ...)
{
    va_list arguments;
    struct pivot_column *columns = one_more(p, p->columns, p->n_columns, sizeof *columns);
    if (!columns)
        return;
    p->columns = columns;
    columns[p->n_columns] = (struct pivot_column){.side = side};
    va_start(arguments, heading);
    pivot_say(p, &columns[p->n_columns++].heading, heading, arguments);
    va_end(arguments);
}

static void new_line(struct pivot *p, enum line_kind kind)
{
    struct pivot_line *lines = one_more(p, p->lines, p->n_lines, sizeof *lines);
    if (!lines)
        return;
    p->lines = lines;
    lines[p->n_lines] = (struct pivot_line){kind, 0, calloc(p->n_columns + 1, sizeof *lines->field)};
    p->failed = p->failed || !lines[p->n_lines].field;
    p->n_lines++;
}

void pivot_row(struct pivot *p)
{
    new_line(p, LINE_ROW);
}

void pivot_aside(struct pivot *p)
{
    new_line(p, LINE_ASIDE);
}

void pivot_group(struct pivot *p)
{
    new_line(p, LINE_GROUP);
}

/* The next field of the last line (the last one again where it has all); NULL: out of memory. */
static char **next_field(struct pivot *p)
{
    struct pivot_line *line = p->failed || !p->n_lines ? NULL : &p->lines[p->n_lines - 1];
    if (!line)
        return NULL;
    line->n += line->n < p->n_columns;
    return &line->field[line->n - (line->n > 0)];
}

void pivot_text(struct pivot *p, const char *text, ...)
{
    va_list arguments;
    char **field = next_field(p);
    va_start(arguments, text);
    if (field)
        pivot_say(p, field, text, arguments);
    va_end(arguments);
}

void pivot_more(struct pivot *p, const char *text, ...)
{
    va_list arguments;
    struct pivot_line *line = p->failed || !p->n_lines ? NULL : &p->lines[p->n_lines - 1];
    va_start(arguments, text);
    if (line && line->n)
        pivot_say(p, &line->field[line->n - 1], text, arguments);
    va_end(arguments);
}

void pivot_word(struct pivot *p, const char *word)
{
    pivot_text(p, "%s", word && *word ? word : "-");
}

void pivot_value(struct pivot *p, const struct estimate *e, int decimals)
{
    char text[ESTIMATE_TEXT_MAX];
    pivot_text(p, "%s", estimates_text(e, decimals, text));
}

void pivot_number(struct pivot *p, double value, int decimals)
{
    pivot_value(p, &(struct estimate){value, NAN, NAN}, decimals);
}

static void pivot_free(struct pivot *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        for (size_t k = 0; p->lines[i].field && k < p->lines[i].n; k++)
            free(p->lines[i].field[k]);
        free(p->lines[i].field);
    }
    for (size_t c = 0; c < p->n_columns; c++)
        free(p->columns[c].heading);
    free(p->columns);
    free(p->lines);
    free(p->title);
    *p = (struct pivot){0};
}

/* ---- printing ---- */

/* Characters of text on a screen: the bytes of UTF-8 that begin one. */
static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += (text[i] & 0xc0) != 0x80;
    return width;
}

/* Line `number` of a heading that has `lines` of them at most, "" above its first: its start, and its bytes. */
static const char *heading_line(const char *heading, size_t number, size_t lines, size_t *bytes)
{
    size_t own = 1;
    *bytes = 0;
    for (const char *c = heading; *c; c++)
        own += *c == '|';
    if (number + own < lines)
        return "";
    for (size_t skip = number + own - lines; skip > 0; skip--)
        heading = strchr(heading, '|') + 1;
    *bytes = strcspn(heading, "|");
    return heading;
}

/* Sets the widths of all columns; returns the lines of the highest heading, 0 if no column has any. */
static size_t measure_columns(struct pivot *p)
{
    size_t lines = 0, bytes;
    for (size_t c = 0; c < p->n_columns; c++) {
        size_t own = *p->columns[c].heading != '\0';
        for (const char *h = p->columns[c].heading; *h; h++)
            own += *h == '|';
        lines = own > lines ? own : lines;
    }
    for (size_t c = 0; c < p->n_columns; c++) {
        size_t *width = &p->columns[c].width;
        for (size_t i = 0; i < lines; i++) {
            const char *text = heading_line(p->columns[c].heading, i, lines, &bytes);
            size_t own = width_of(text, bytes);
            *width = own > *width ? own : *width;
        }
        for (size_t i = 0; i < p->n_lines; i++) {
            const struct pivot_line *l = &p->lines[i];
            size_t own = l->kind == LINE_GROUP || c >= l->n ? 0 : width_of(l->field[c], strlen(l->field[c]));
            *width = own > *width ? own : *width;
        }
    }
    return lines;
}

/* Words from a column on; further lines begin at `indent`. A word that is longer than a line is not broken. */
static void print_words(FILE *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text) {
        size_t bytes = strcspn(text, " "), width = width_of(text, bytes);
        if (!first && column + 1 + width > PIVOT_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, bytes, out);
        column += width;
        text += bytes + strspn(text + bytes, " ");
        first = false;
    }
}

/* One line of a block: where it has got to, and the blanks that go before what comes next. */
struct place {
    FILE *out;
    size_t column, blanks;
};

static void print_field(struct place *at, const struct pivot_column *c, bool last, const char *text, size_t bytes)
{
    size_t width = width_of(text, bytes), room = c->width > width ? c->width - width : 0;
    at->blanks += c->side == PIVOT_RIGHT ? room : 0;
    if (bytes) {
        fprintf(at->out, "%*s", (int)at->blanks, "");
        at->column += at->blanks;
        at->blanks = 0;
        if (last && c->side == PIVOT_LEFT && !text[bytes])
            print_words(at->out, text, at->column, at->column);
        else
            fwrite(text, 1, bytes, at->out);
        at->column += width;
    }
    at->blanks += (c->side == PIVOT_LEFT ? room : 0) + GAP;
}

/* A line of the names and of the columns begin to end - 1: of the headings (line NULL, which: of `of` lines), or a row. */
static void print_line(FILE *out, const struct pivot *p, size_t begin, size_t end, const struct pivot_line *line,
                       size_t which, size_t of)
{
    struct place at = {out, 0, 0};
    for (size_t c = 0; c < end; c = c + 1 == p->n_names && c + 1 < begin ? begin : c + 1) {
        size_t bytes = 0;
        const char *text = "";
        if (!line) {
            text = heading_line(p->columns[c].heading, which, of, &bytes);
        } else if (c < line->n) {
            text = line->field[c];
            bytes = strlen(text);
        }
        print_field(&at, &p->columns[c], c + 1 == p->n_columns, text, bytes);
    }
    putc('\n', out);
}

static void print_block(FILE *out, bool colour, const struct pivot *p, size_t begin, size_t end, size_t heading)
{
    for (size_t i = 0; i < heading; i++)
        print_line(out, p, begin, end, NULL, i, heading);
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct pivot_line *line = &p->lines[i];
        const char *style = line->kind == LINE_GROUP ? bold : line->kind == LINE_ASIDE ? dim : "";
        fputs(colour ? style : "", out);
        if (line->kind == LINE_GROUP)
            fprintf(out, "%s%s\n", line->n ? line->field[0] : "", colour ? plain : "");
        else
            print_line(out, p, begin, end, line, 0, 0);
        if (colour && line->kind == LINE_ASIDE)
            fputs(plain, out);
    }
}

/* The end of the columns that fit beside the names, from begin on: at least one. */
static size_t pivot_fit(const struct pivot *p, size_t begin)
{
    size_t used = 0, end = begin;
    for (size_t c = 0; c < p->n_names; c++)
        used += p->columns[c].width + GAP;
    for (; end < p->n_columns; end++) {
        const struct pivot_column *c = &p->columns[end];
        bool text = end + 1 == p->n_columns && c->side == PIVOT_LEFT;
        size_t least = text && c->width > LAST_LEAST ? LAST_LEAST : c->width;
        if (end > begin && used + least > PIVOT_WIDTH)
            break;
        used += c->width + GAP;
    }
    return end;
}

static void print_blocks(FILE *out, bool colour, struct pivot *p)
{
    size_t heading = measure_columns(p), begin = p->n_names < p->n_columns ? p->n_names : p->n_columns, end;
    do {
        end = pivot_fit(p, begin);
        print_block(out, colour, p, begin, end, heading);
        if (end < p->n_columns)
            putc('\n', out);
        begin = end;
    } while (end < p->n_columns);
}

bool pivot_print(FILE *out, bool colour, struct pivot *p)
{
    bool any = p->failed || p->n_lines;
    if (any && p->title)
        fprintf(out, "\n%s%s%s\n", colour ? bold : "", p->title, colour ? plain : "");
    if (p->failed)
        fputs("out of memory\n", out);
    else if (any)
        print_blocks(out, colour, p);
    pivot_free(p);
    return any;
}

void pivot_note(FILE *out, size_t indent, const char *text, ...)
{
    va_list arguments;
    struct pivot p = {0};
    char *note = NULL;
    va_start(arguments, text);
    pivot_say(&p, &note, text, arguments);
    va_end(arguments);
    size_t begin = note ? strspn(note, " ") : 0;
    fprintf(out, "%*s", (int)begin, "");
    print_words(out, note ? note + begin : "out of memory", begin, indent);
    putc('\n', out);
    free(note);
}

/* ---- rows as they stand in a table ---- */

static const struct table_column *find_column(const struct table *t, const char *name)
{
    for (size_t c = 0; name && c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, name) == 0)
            return &t->columns[c];
    return NULL;
}

void pivot_number_text(const struct table_column *c, double x, char out[ESTIMATE_TEXT_MAX])
{
    if (table_is_code(c) && x >= 0 && x < 65536)
        snprintf(out, ESTIMATE_TEXT_MAX, "%02XH", (unsigned)x);
    else
        estimates_text(&(struct estimate){x, NAN, NAN}, c->type == TABLE_WHOLE ? 0 : c->decimals, out);
}

void pivot_columns(struct pivot *p, const struct table *t, const struct pivot_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct table_column *c = find_column(t, fields[i].column);
        pivot_column(p, c && c->type != TABLE_TEXT ? PIVOT_RIGHT : PIVOT_LEFT, "%s", fields[i].heading);
    }
}

void pivot_fields(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pivot_field *f = &fields[i];
        const struct table_column *c = find_column(t, f->column);
        struct estimate e = f->column ? estimates_of_table(t, row, f->column) : (struct estimate){NAN, NAN, NAN};
        char text[ESTIMATE_TEXT_MAX];
        if (f->put) {
            f->put(p, t, row);
        } else if (!c || c->type == TABLE_TEXT) {
            pivot_word(p, table_text(t, row, f->column));
        } else if (f->show == PIVOT_PERCENT) {
            pivot_value(p, &(struct estimate){100 * e.value, 100 * e.lo, 100 * e.hi}, c->decimals - 2);
        } else if (f->show == PIVOT_PLAIN && estimates_known(&e)) {
            pivot_value(p, &e, c->decimals);
        } else {
            pivot_number_text(c, e.value, text);
            pivot_word(p, text);
        }
    }
}

bool pivot_list(FILE *out, bool colour, const struct table *t, const struct pivot_list *l)
{
    struct pivot p;
    pivot_init(&p, l->n_names, l->title ? "%s" : NULL, l->title);
    pivot_columns(&p, t, l->fields, l->n_fields);
    for (size_t row = 0; row < t->n_rows; row++)
        if (!l->column || table_says(t, row, l->column, l->says)) {
            pivot_row(&p);
            pivot_fields(&p, t, row, l->fields, l->n_fields);
        }
    return pivot_print(out, colour, &p);
}

void pivot_pair(struct pivot *p, const struct table *t, size_t row)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    pivot_text(p, "%s -> %s", from ? from : "-", to ? to : "-");
}
