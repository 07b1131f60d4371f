/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of results as an HTML table: limits beside their value, long tables opened by the reader. */
#include <math.h>
#include <string.h>

#include "output/report/html.h"
#include "output/report/report_parts.h"
#include "util/plain_text.h"

/* The columns of a value's limits; the value's own column shows them. */
struct shown_column {
    size_t value;
    int lo, hi; /* -1: none */
};

static int find_limit(const struct table *t, size_t column, const char *ending)
{
    char name[120];
    snprintf(name, sizeof name, "%s%s", t->columns[column].name, ending);
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Words that all rows repeat; they are told once below the table. */
static const char *same_words(const struct table *t, size_t column)
{
    const char *first = t->n_rows > 1 ? t->values[column].text : NULL;
    if (t->columns[column].type != TABLE_TEXT || t->columns[column].key || !first || strlen(first) <= 16)
        return NULL;
    for (size_t row = 1; row < t->n_rows; row++) {
        const char *text = t->values[row * t->n_columns + column].text;
        if (!text || strcmp(text, first) != 0)
            return NULL;
    }
    return first;
}

/* A column that no row has a value in is named below the table instead. */
static bool empty_column(const struct table *t, size_t column)
{
    return !t->columns[column].key && !table_has_values(t, t->columns[column].name);
}

static void tell_empty_columns(FILE *out, const struct report_words *w, const struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_columns; i++) {
        char name[120];
        if (table_is_limit(t, i) || !empty_column(t, i))
            continue;
        report_words_column(w, &t->columns[i], name, sizeof name);
        fputs(n++ ? ", " : "<p class=\"note\">No row has a value of: ", out);
        html_text(out, name);
    }
    fputs(n ? "</p>\n" : "", out);
}

static void tell_same_words(FILE *out, const struct report_words *w, const struct table *t)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *words = same_words(t, i);
        char name[120];
        if (!words)
            continue;
        report_words_column(w, &t->columns[i], name, sizeof name);
        html_print(out, "<p class=\"note\">In all rows, %s: %s</p>\n", name, words);
    }
}

static size_t shown_columns(const struct table *t, struct shown_column *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        if (!table_is_limit(t, i) && !same_words(t, i) && !empty_column(t, i))
            out[n++] = (struct shown_column){i, find_limit(t, i, "_lo"), find_limit(t, i, "_hi")};
    return n;
}

enum { LONG_TEXT = 28, PORTRAIT_WIDTH = 16 };

static bool long_texts(const struct table *t, size_t column)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *text = t->values[row * t->n_columns + column].text;
        if (text && strlen(text) > LONG_TEXT)
            return true;
    }
    return false;
}

bool report_table_is_wide(const struct table *t)
{
    struct shown_column columns[TABLE_COLUMNS_MAX];
    size_t n = shown_columns(t, columns), width = 0;
    for (size_t i = 0; i < n; i++)
        width += long_texts(t, columns[i].value) ? 4 : columns[i].lo >= 0 ? 2 : 1; /* in widths of a short column */
    return width > PORTRAIT_WIDTH;
}

static const char *readable_unit(const char *unit)
{
    return strcmp(unit, "us") == 0 ? "\xC2\xB5s" : unit;
}

static void report_table_heading(FILE *out, const struct report_words *w, const struct table *t,
                                 const struct shown_column *s)
{
    const struct table_column *c = &t->columns[s->value];
    char name[120];
    report_words_column(w, c, name, sizeof name);
    html_print(out, "<th scope=\"col\" title=\"%s\"", c->name);
    fputs(c->type == TABLE_TEXT ? "" : " class=\"number\"", out);
    html_print(out, ">%s", name);
    if (c->unit && *c->unit && strcmp(c->unit, "1") != 0)
        html_print(out, " <span class=\"unit\">%s</span>", readable_unit(c->unit));
    fputs("</th>", out);
}

static void report_table_number(FILE *out, const struct table_column *c, double value)
{
    if (table_is_code(c) && value >= 0 && value < 65536)
        fprintf(out, "%02XH", (unsigned)value);
    else if (c->type == TABLE_WHOLE)
        fprintf(out, "%.0f", plain_number(value, 0));
    else if (fabs(value) >= 1e7)
        fprintf(out, "%.3g", value);
    else
        fprintf(out, "%.*f", c->decimals, plain_number(value, c->decimals));
}

/* What the reader sees who points at a value with limits. */
static void report_table_told(FILE *out, const struct table *t, size_t row, const struct shown_column *s, double lo,
                              double hi)
{
    const struct table_column *c = &t->columns[s->value];
    double n = table_number(t, row, "n");
    fputs(" title=\"95 % limits:", out);
    if (isfinite(lo)) {
        fputs(" from ", out);
        report_table_number(out, c, lo);
    }
    if (isfinite(hi)) {
        fputs(" to ", out);
        report_table_number(out, c, hi);
    }
    if (c->unit && *c->unit && strcmp(c->unit, "1") != 0)
        html_print(out, " %s", readable_unit(c->unit));
    if (isfinite(n))
        fprintf(out, "; n = %.0f", n);
    fputs("\"", out);
}

static void report_table_limit(FILE *out, const struct table_column *c, double limit)
{
    if (isfinite(limit))
        report_table_number(out, c, limit);
    else
        fputs("\xE2\x80\x93", out);
}

static void report_table_limits(FILE *out, const struct table_column *c, double lo, double hi)
{
    fputs(" <span class=\"limits\">[", out);
    report_table_limit(out, c, lo);
    fputs(",&nbsp;", out);
    report_table_limit(out, c, hi);
    fputs("]</span>", out);
}

static void report_table_field(FILE *out, const struct table *t, size_t row, const struct shown_column *s,
                               bool heads_row)
{
    const struct table_column *c = &t->columns[s->value];
    const struct table_value *v = &t->values[row * t->n_columns];
    const char *tag = heads_row ? "th scope=\"row\"" : "td";
    bool text = c->type == TABLE_TEXT;
    if (text ? v[s->value].text == NULL : !isfinite(v[s->value].number)) {
        fprintf(out, "<%s class=\"absent\" title=\"not measured\">\xE2\x80\x93</%s>", tag, heads_row ? "th" : "td");
        return;
    }
    if (text) {
        bool wraps = strlen(v[s->value].text) > LONG_TEXT;
        fprintf(out, "<%s%s>", tag, wraps ? " class=\"long\"" : "");
        html_text(out, v[s->value].text);
    } else {
        double lo = s->lo >= 0 ? v[s->lo].number : NAN, hi = s->hi >= 0 ? v[s->hi].number : NAN;
        fprintf(out, "<%s class=\"number\"", tag);
        if (isfinite(lo) || isfinite(hi))
            report_table_told(out, t, row, s, lo, hi);
        fputs(">", out);
        report_table_number(out, c, v[s->value].number);
        if (isfinite(lo) || isfinite(hi))
            report_table_limits(out, c, lo, hi);
    }
    fputs(heads_row ? "</th>" : "</td>", out);
}

static void rows(FILE *out, const struct table *t, const struct shown_column *columns, size_t n, size_t from, size_t to)
{
    for (size_t row = from; row < to; row++) {
        fputs("<tr>", out);
        for (size_t i = 0; i < n; i++)
            report_table_field(out, t, row, &columns[i], i == 0 && t->columns[columns[i].value].key);
        fputs("</tr>\n", out);
    }
}

/* The switch stands before what it opens, for a style sheet can only look forward; it is shown below the table. */
static void opener(FILE *out, const struct table *t, size_t in_page)
{
    html_print(out,
               "<details class=\"opener\"><summary><span class=\"closed\">Show all %zu rows</span><span "
               "class=\"open\">Show the first %zu rows only</span> of the table of %s</summary></details>\n",
               in_page, (size_t)REPORT_ROWS_SHOWN, t->name);
}

static void too_long(FILE *out, const struct table *t, const char *csv)
{
    fprintf(out, "<p class=\"note\">The first %d of %zu rows", REPORT_ROWS_MAX, t->n_rows);
    if (csv) {
        fputs("; all are in ", out);
        html_link(out, csv);
    }
    fputs(".</p>\n", out);
}

/* Paper has room for the first rows only: the style sheet leaves the others out (.rows.long). */
static void tell_paper(FILE *out, const struct table *t, const char *csv)
{
    if (t->n_rows <= REPORT_ROWS_PAPER)
        return;
    fprintf(out, "<p class=\"note paper\">On paper: the first %d of %zu rows; all are in ", REPORT_ROWS_PAPER,
            t->n_rows);
    html_print(out, "%s.</p>\n", csv ? csv : "this page");
}

void report_table(FILE *out, const struct report_words *w, const struct table *t, const char *caption, const char *id,
                  const char *csv)
{
    struct shown_column columns[TABLE_COLUMNS_MAX];
    size_t n = shown_columns(t, columns);
    size_t in_page = t->n_rows > REPORT_ROWS_MAX ? REPORT_ROWS_MAX : t->n_rows;
    bool folded = in_page > REPORT_ROWS_SHOWN + REPORT_ROWS_SHOWN / 2;
    size_t first = folded ? REPORT_ROWS_SHOWN : in_page;
    fputs("<div class=\"rows\">\n", out);
    if (folded)
        opener(out, t, in_page);
    html_print(out,
               "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"%s\">\n<table>\n"
               "<caption id=\"%s\">%s</caption>\n<thead><tr>",
               id, id, caption);
    for (size_t i = 0; i < n; i++)
        report_table_heading(out, w, t, &columns[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
    rows(out, t, columns, n, 0, first);
    fputs("</tbody>\n", out);
    if (folded) {
        fputs("<tbody class=\"more\">\n", out);
        rows(out, t, columns, n, first, in_page);
        fputs("</tbody>\n", out);
    }
    fputs("</table>\n</div>\n<p class=\"hint\">Wider than the page: it scrolls sideways.</p>\n</div>\n", out);
    tell_paper(out, t, csv);
    tell_same_words(out, w, t);
    tell_empty_columns(out, w, t);
    if (in_page < t->n_rows)
        too_long(out, t, csv);
}

/* ---- missing entries ---- */

static void other_key(FILE *out, const struct report_words *w, const struct table *t, size_t entry, size_t column,
                      bool first)
{
    const struct table_column *c = &t->columns[column];
    const struct table_value *v = &t->missing[entry].values[column];
    char name[120];
    report_words_column(w, c, name, sizeof name);
    fputs(first ? "" : ", ", out);
    if (strcmp(c->name, "active_cores") == 0) {
        fprintf(out, "%.0f active core%s", v->number, v->number == 1 ? "" : "s");
        return;
    }
    if (strcmp(c->name, "kernel") != 0)
        html_print(out, "%s ", name);
    if (c->type == TABLE_TEXT)
        html_text(out, v->text);
    else
        report_table_number(out, c, v->number);
}

void report_table_missing_name(FILE *out, const struct report_words *w, const struct table *t, size_t entry)
{
    const char *from = table_missing_text(t, entry, "from"), *to = table_missing_text(t, entry, "to");
    bool pair = from && to, first = !pair;
    if (pair)
        html_print(out, "%s \xE2\x86\x92 %s", from, to);
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct table_column *c = &t->columns[i];
        const struct table_value *v = &t->missing[entry].values[i];
        bool of_pair = strcmp(c->name, "from") == 0 || strcmp(c->name, "to") == 0;
        if ((pair && of_pair) || (c->type == TABLE_TEXT ? v->text == NULL : !isfinite(v->number)))
            continue;
        other_key(out, w, t, entry, i, first);
        first = false;
    }
    if (first)
        fputs("the whole table", out);
}
