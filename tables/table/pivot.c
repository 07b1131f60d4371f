/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The printer of tables for a person: lines of fields, aligned, and the views that fill them from rows. */
#include "tables/table/pivot.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/plain_text.h"
#include "util/screen_text.h"

enum { GAP = 2, LAST_LEAST = 30 }; /* between columns; a last column of text is no narrower, unless it needs less */
enum { REMARK_INDENT = 13 };

struct field {
    char *text;
    bool is_value;
    const char *colour; /* an escape sequence; NULL: none */
};
struct pivot_line {
    enum pivot_kind kind;
    size_t n;
    struct field *field;
};

/* ---- filling ---- */

/* Room for one more in a list of n; false: out of memory. */
static bool pivot_room(struct pivot *p, void *list, size_t n, size_t size)
{
    bool room = list_room(list, n, size);
    p->failed = p->failed || !room;
    return room;
}

/* Formatted and made safe, after what *to holds already. */
__attribute__((format(printf, 3, 0))) static void pivot_say(struct pivot *p, char **to, const char *format,
                                                            va_list arguments)
{
    char *text = NULL, *joined = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    char *safe = text ? plain_text_copy(text) : NULL;
    if (safe && asprintf(&joined, "%s%s", *to ? *to : "", safe) >= 0) {
        free(*to);
        *to = joined;
    } else {
        p->failed = true;
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

void pivot_line(struct pivot *p, enum pivot_kind kind)
{
    if (pivot_room(p, &p->lines, p->n_lines, sizeof *p->lines))
        p->lines[p->n_lines++] = (struct pivot_line){.kind = kind};
}

/* The last field of the last line, after adding another one if that is wanted; NULL: out of memory. */
static struct field *last_field(struct pivot *p, bool another)
{
    struct pivot_line *line = p->failed || !p->n_lines ? NULL : &p->lines[p->n_lines - 1];
    if (line && another && pivot_room(p, &line->field, line->n, sizeof *line->field)) {
        line->field[line->n++] = (struct field){NULL, false, NULL};
        p->n_columns = line->n > p->n_columns ? line->n : p->n_columns;
    }
    return line && !p->failed && line->n ? &line->field[line->n - 1] : NULL;
}

void pivot_text(struct pivot *p, const char *text, ...)
{
    va_list arguments;
    struct field *f = last_field(p, true);
    va_start(arguments, text);
    if (f)
        pivot_say(p, &f->text, text, arguments);
    va_end(arguments);
}

void pivot_more(struct pivot *p, const char *text, ...)
{
    va_list arguments;
    struct field *f = last_field(p, false);
    va_start(arguments, text);
    if (f)
        pivot_say(p, &f->text, text, arguments);
    va_end(arguments);
}

void pivot_word(struct pivot *p, const char *word)
{
    pivot_text(p, "%s", word ? word : "-");
}

void pivot_mark(struct pivot *p, const char *mark)
{
    pivot_text(p, "%s", mark);
    struct field *f = last_field(p, false);
    if (f)
        f->is_value = true;
}

void pivot_colour(struct pivot *p, const char *colour)
{
    struct field *f = last_field(p, false);
    if (f)
        f->colour = colour;
}

void pivot_value(struct pivot *p, const struct estimate *e, int decimals)
{
    char text[ESTIMATE_TEXT_MAX];
    pivot_mark(p, estimates_text(e, decimals, text));
}

void pivot_number(struct pivot *p, double value, int decimals)
{
    pivot_value(p, &(struct estimate){value, NAN, NAN}, decimals);
}

void pivot_free(struct pivot *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        for (size_t c = 0; c < p->lines[i].n; c++)
            free(p->lines[i].field[c].text);
        free(p->lines[i].field);
    }
    free(p->lines);
    free(p->title);
    *p = (struct pivot){0};
}

/* ---- printing ---- */

struct screen {
    FILE *out;
    bool colour;
    struct screen_column {
        size_t width;
        bool values;
    } * column;
};

static void measure_columns(const struct pivot *p, struct screen_column *column)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct pivot_line *line = &p->lines[i];
        for (size_t c = 0; c < line->n && line->kind < PIVOT_GROUP; c++) {
            size_t width = screen_text_columns(line->field[c].text, strlen(line->field[c].text));
            column[c].width = width > column[c].width ? width : column[c].width;
            column[c].values = column[c].values || line->field[c].is_value;
        }
    }
}

/* The names of a row, and its columns begin to end - 1. Blanks go before what comes next: none end a line. */
static void print_line(const struct screen *s, const struct pivot *p, const struct pivot_line *line, size_t begin,
                       size_t end)
{
    size_t at = 0, next = 0; /* columns of the screen: what was printed last ends, and the next column begins */
    for (size_t c = p->n_names ? 0 : begin; c < end && c < line->n; c = c + 1 == p->n_names ? begin : c + 1) {
        const char *text = line->field[c].text;
        size_t width = screen_text_columns(text, strlen(text)), room = s->column[c].width - width;
        size_t start = next + (s->column[c].values ? room : 0);
        if (*text) {
            const char *colour = s->colour && line->field[c].colour ? line->field[c].colour : "";
            fprintf(s->out, "%*s%s", (int)(start - at), "", colour);
            if (c + 1 == p->n_columns && !s->column[c].values)
                screen_text_words(s->out, text, (unsigned)start, (unsigned)start, screen_text_width(s->out));
            else
                fputs(text, s->out);
            fputs(*colour ? "\033[0m" : "", s->out);
            at = start + width;
        }
        next += s->column[c].width + GAP;
    }
}

static void print_block(const struct screen *s, const struct pivot *p, size_t begin, size_t end)
{
    static const char *const styles[] = {[PIVOT_HEADING] = "",
                                         [PIVOT_ROW] = "",
                                         [PIVOT_ASIDE] = "\033[2m",
                                         [PIVOT_GROUP] = "\033[1m",
                                         [PIVOT_REMARK] = ""};
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct pivot_line *line = &p->lines[i];
        const char *style = s->colour ? styles[line->kind] : "";
        if (line->kind == PIVOT_REMARK && (end < p->n_columns || !line->n)) /* once, below the last columns */
            continue;
        fputs(style, s->out);
        if (line->kind == PIVOT_REMARK) {
            fprintf(s->out, "%*s", REMARK_INDENT, "");
            screen_text_words(s->out, line->field[0].text, REMARK_INDENT, REMARK_INDENT, screen_text_width(s->out));
        } else if (line->kind == PIVOT_GROUP && line->n)
            screen_text_words(s->out, line->field[0].text, 0, 2, screen_text_width(s->out));
        else
            print_line(s, p, line, begin, end);
        fprintf(s->out, "%s\n", *style ? "\033[0m" : "");
    }
}

/* The end of the columns that fit beside the names, from begin on: at least one. */
static size_t columns_that_fit(const struct screen *s, const struct pivot *p, size_t begin)
{
    size_t used = 0, end = begin, most = screen_text_width(s->out);
    for (size_t c = 0; c < p->n_names; c++)
        used += s->column[c].width + GAP;
    for (; end < p->n_columns; end++) {
        size_t least = s->column[end].width;
        if (end + 1 == p->n_columns && !s->column[end].values && least > LAST_LEAST)
            least = LAST_LEAST;
        if (end > begin && used + least > most)
            break;
        used += least + GAP;
    }
    return end;
}

static void print_blocks(const struct screen *s, const struct pivot *p)
{
    measure_columns(p, s->column);
    for (size_t begin = p->n_names, end; begin < p->n_columns; begin = end) {
        end = columns_that_fit(s, p, begin);
        fputs(begin > p->n_names ? "\n" : "", s->out);
        print_block(s, p, begin, end);
    }
}

bool pivot_print(FILE *out, bool colour, struct pivot *p)
{
    struct screen s = {out, colour, calloc(p->n_columns + 1, sizeof *s.column)};
    bool any = p->failed || !s.column;
    if (p->n_names >= p->n_columns) /* nothing but names: the last is a column like any other */
        p->n_names = p->n_columns ? p->n_columns - 1 : 0;
    for (size_t i = 0; i < p->n_lines; i++)
        any = any || p->lines[i].kind != PIVOT_HEADING;
    if (any && p->title) {
        fprintf(out, "\n%s", colour ? "\033[1m" : "");
        screen_text_words(out, p->title, 0, 2, screen_text_width(out));
        fprintf(out, "%s\n", colour ? "\033[0m" : "");
    }
    if (p->failed || !s.column)
        fputs("out of memory\n", out);
    else if (any)
        print_blocks(&s, p);
    free(s.column);
    pivot_free(p);
    return any;
}

void pivot_note(FILE *out, size_t indent, const char *text, ...)
{
    struct pivot p = {0};
    va_list arguments;
    va_start(arguments, text);
    pivot_say(&p, &p.title, text, arguments);
    va_end(arguments);
    const char *note = p.title ? p.title : "out of memory";
    size_t begin = strspn(note, " ");
    fprintf(out, "%-*s", (int)begin, "");
    screen_text_words(out, note + begin, (unsigned)begin, (unsigned)indent, screen_text_width(out));
    putc('\n', out);
    pivot_free(&p);
}

/* ---- views of the rows of a table ---- */

const char *pivot_number_text(const struct table_column *c, double x, char out[ESTIMATE_TEXT_MAX])
{
    if (!table_is_code(c) || !(x >= 0 && x < 65536))
        return estimates_text(&(struct estimate){x, NAN, NAN}, c->type == TABLE_WHOLE ? 0 : c->decimals, out);
    snprintf(out, ESTIMATE_TEXT_MAX, "%02XH", (unsigned)x);
    return out;
}

/* Prints headings in one line, or in two where one has a line break. */
void pivot_headings(struct pivot *p, const struct pivot_field *fields, size_t n)
{
    bool two = false;
    for (size_t i = 0; i < n; i++)
        two = two || strchr(fields[i].heading, '\n');
    for (int line = !two; line < 2; line++) {
        pivot_line(p, PIVOT_HEADING);
        for (size_t i = 0; i < n; i++) {
            const char *end = strchr(fields[i].heading, '\n');
            if (line)
                pivot_word(p, end ? end + 1 : fields[i].heading);
            else
                pivot_text(p, "%.*s", end ? (int)(end - fields[i].heading) : 0, fields[i].heading);
        }
    }
}

static bool view_has(const struct pivot_list *l, const struct table *t, size_t row)
{
    const char *column = l->column;
    if (column && !(l->says ? table_says(t, row, column, l->says) : table_holds(t, row, column)))
        return false;
    return !l->shows || l->shows(t, row);
}

/* The sum of a column over the rows of a line; NaN where none has a value. */
static double sum_of(const struct pivot_list *l, const struct table *t, size_t row, const char *column)
{
    double sum = NAN;
    for (size_t i = 0; i < t->n_rows; i++) {
        double x = table_number(t, i, column);
        if (isfinite(x) && view_has(l, t, i) && table_same(t, row, i, l->once))
            sum = isnan(sum) ? x : sum + x;
    }
    return sum;
}

static void put_half(struct pivot *p, const struct estimate *e)
{
    const double half = estimate_half(e);
    const int decimals = isfinite(half) && half > 0 ? (int)fmin(fmax(ceil(1 - log10(half)), 0), 4) : 3;
    pivot_number(p, e->value, decimals);
    if (isfinite(e->value) && isfinite(half))
        pivot_more(p, " \xC2\xB1%.*f", decimals, half);
}

static void put_field(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *f,
                      const struct pivot_list *l)
{
    const struct table_column *c = table_column_named(t, f->column ? f->column : "");
    char text[ESTIMATE_TEXT_MAX];
    if (f->put) {
        f->put(p, t, row);
        return;
    }
    if (!c || c->type == TABLE_TEXT) {
        const char *word = table_text(t, row, f->column ? f->column : "");
        pivot_word(p, word && *word ? word : NULL);
        return;
    }
    struct estimate e = estimates_of_table(t, row, f->column);
    int decimals = c->type == TABLE_WHOLE ? 0 : c->decimals;
    if (f->show == PIVOT_SUM && l)
        e.value = sum_of(l, t, row, f->column);
    if (f->show == PIVOT_PERCENT || f->show == PIVOT_HALF_PERCENT) {
        e = estimate_percent(&e);
        decimals -= 2;
    }
    if (table_is_code(c))
        pivot_mark(p, pivot_number_text(c, e.value, text));
    else if (f->show == PIVOT_HALF || f->show == PIVOT_HALF_PERCENT)
        put_half(p, &e);
    else if (f->show == PIVOT_ALONE)
        pivot_number(p, e.value, decimals);
    else
        pivot_value(p, &e, decimals);
}

void pivot_fields(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *fields, size_t n)
{
    pivot_line(p, PIVOT_ROW);
    for (size_t i = 0; i < n; i++)
        put_field(p, t, row, &fields[i], NULL);
}

/* True if two rows are in one view. */
static bool together(const struct pivot_list *l, const struct table *t, size_t a, size_t b)
{
    return view_has(l, t, b) && (!l->each || table_same(t, a, b, l->each));
}

/* Finds, among the rows that are together with `of`, which is the first of them, those that are the first of their
 * value in a column (NULL: `of` alone). Returns how many. */
static size_t first_rows(const struct pivot_list *l, const struct table *t, size_t of, const char *column, size_t *rows)
{
    size_t n = 0;
    for (size_t row = of; row < t->n_rows; row++) {
        size_t i = 0;
        while (i < n && column && !table_same(t, rows[i], row, column))
            i++;
        if (i == n && together(l, t, of, row) && (column || n == 0))
            rows[n++] = row;
    }
    return n;
}

/* Puts the name of a line or a column of a matrix. */
static void put_name(struct pivot *p, const struct table *t, size_t row, const struct pivot_field *f)
{
    char text[ESTIMATE_TEXT_MAX];
    if (f->put)
        f->put(p, t, row);
    else if (isfinite(table_number(t, row, f->column)))
        pivot_mark(p, table_field_text(t, row, f->column, text, sizeof text));
    else
        pivot_word(p, table_text(t, row, f->column));
}

/* The lines of a matrix from the rows of the names in `lines` and of the values across in `columns`. */
static void put_matrix(struct pivot *p, const struct table *t, const struct pivot_list *l, const size_t *lines,
                       size_t n_lines, const size_t *columns, size_t n_columns)
{
    const char *down = l->fields[0].column;
    pivot_headings(p, l->fields, l->n_fields);
    for (size_t k = 0; k < n_columns; k++)
        put_name(p, t, columns[k], &l->across);
    for (size_t i = 0; i < n_lines; i++) {
        pivot_line(p, PIVOT_ROW);
        for (size_t f = 0; f < l->n_fields; f++)
            put_name(p, t, lines[i], &l->fields[f]);
        for (size_t k = 0; k < n_columns; k++) {
            size_t row = lines[0];
            while (row < t->n_rows &&
                   !(together(l, t, lines[0], row) && table_same(t, row, columns[k], l->across.column) &&
                     (!down || table_same(t, row, lines[i], down))))
                row++;
            if (row < t->n_rows)
                put_field(p, t, row, &l->cell, l);
            else
                pivot_mark(p, "-");
        }
    }
}

static void put_list(struct pivot *p, const struct table *t, const struct pivot_list *l, size_t of, size_t *rows)
{
    size_t n = l->once ? first_rows(l, t, of, l->once, rows) : 0;
    pivot_headings(p, l->fields, l->n_fields);
    for (size_t row = of; row < t->n_rows && !l->once && (!l->most || n < l->most); row++)
        if (together(l, t, of, row))
            rows[n++] = row;
    for (size_t i = 0; i < n; i++) {
        pivot_line(p, PIVOT_ROW);
        for (size_t f = 0; f < l->n_fields; f++)
            put_field(p, t, rows[i], &l->fields[f], l);
    }
}

/* Prints the view of the rows that are together with `of`. rows: room for two lists of all rows; NULL: out of
 * memory. */
static bool print_view(FILE *out, bool colour, const struct table *t, const struct pivot_list *l, size_t of,
                       size_t *rows)
{
    struct pivot p;
    char name[ESTIMATE_TEXT_MAX] = "";
    if (l->each)
        table_field_text(t, of, l->each, name, sizeof name);
    const char *title = l->title ? l->title : "";
    pivot_init(&p, l->n_names, l->title || l->each ? "%s%s%s" : NULL, name, *name && *title ? ": " : "", title);
    if (!rows) {
        p.failed = true;
    } else if (l->across.column) {
        size_t *columns = rows + t->n_rows, n_lines = first_rows(l, t, of, l->fields[0].column, rows);
        put_matrix(&p, t, l, rows, n_lines, columns, first_rows(l, t, of, l->across.column, columns));
    } else {
        put_list(&p, t, l, of, rows);
    }
    return pivot_print(out, colour, &p);
}

bool pivot_list(FILE *out, bool colour, const struct table *t, const struct pivot_list *l)
{
    const bool each = l->each && table_has(t, l->each); /* tables of other versions may lack the column */
    bool any = false;
    size_t *rows = calloc(2 * t->n_rows + 1, sizeof *rows);
    for (size_t of = 0; of < t->n_rows; of++) {
        size_t before = 0;
        while (before < of && !(view_has(l, t, before) && (!l->each || table_same(t, before, of, l->each))))
            before++;
        if (before == of && view_has(l, t, of) && (!each || table_holds(t, of, l->each)))
            any |= print_view(out, colour, t, l, of, rows);
    }
    free(rows);
    return any;
}

void pivot_rows(FILE *out, bool colour, const struct table *t)
{
    struct pivot_field fields[TABLE_COLUMNS_MAX];
    size_t n = 0, keys = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct table_column *column = &t->columns[c];
        if (table_is_limit(t, c) || !table_has_values(t, column->name))
            continue;
        keys += keys == n && column->key;
        fields[n++] = (struct pivot_field){column->name, column->name, PIVOT_PLAIN, NULL};
    }
    pivot_list(out, colour, t, &(struct pivot_list){.n_names = keys, .fields = fields, .n_fields = n});
}

void pivot_pair(struct pivot *p, const struct table *t, size_t row)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    pivot_text(p, "%s -> %s", from ? from : "-", to ? to : "-");
}
