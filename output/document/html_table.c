/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of results as an HTML table: limits beside their value, long tables opened by the reader. */
#include <math.h>
#include <string.h>

#include "output/document/html.h"
#include "tables/table/pivot.h"
#include "util/plain_text.h"

/* Words of a column that all rows repeat are shown once below the table, if they are longer than this. */
enum { SHORT_WORD = 16 };
/* Texts longer than this wrap. */
enum { LONG_TEXT = 28 };
/* Widths of short columns that a page in portrait has room for. */
enum { PORTRAIT_WIDTH = 16 };
enum { HEADING_MAX = 120 };

static const char dash[] = "\xE2\x80\x93";

/* A column that is shown, and those of its limits. */
struct shown_column {
    size_t value;
    int lo, hi; /* -1: none */
};

static int find_limit(const struct table *t, size_t column, const char *ending)
{
    char name[HEADING_MAX];
    snprintf(name, sizeof name, "%s%s", t->columns[column].name, ending);
    const struct table_column *limit = table_column_named(t, name);
    return limit ? (int)(limit - t->columns) : -1;
}

static const char *same_words(const struct table *t, size_t column)
{
    const struct table_column *c = &t->columns[column];
    const char *first = t->n_rows > 1 ? t->values[column].text : NULL;
    if (c->type != TABLE_TEXT || c->key || !first || strlen(first) <= SHORT_WORD)
        return NULL;
    for (size_t row = 1; row < t->n_rows; row++)
        if (!table_says(t, row, c->name, first))
            return NULL;
    return first;
}

/* A column that no row has a value in is named below the table instead. */
static bool empty_column(const struct table *t, size_t column)
{
    return !t->columns[column].key && !table_has_values(t, t->columns[column].name);
}

static size_t shown_columns(const struct table *t, struct shown_column *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        if (!table_is_limit(t, i) && !same_words(t, i) && !empty_column(t, i))
            out[n++] = (struct shown_column){i, find_limit(t, i, "_lo"), find_limit(t, i, "_hi")};
    return n;
}

static bool long_texts(const struct table *t, size_t column)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *text = t->values[row * t->n_columns + column].text;
        if (text && strlen(text) > LONG_TEXT)
            return true;
    }
    return false;
}

bool html_table_is_wide(const struct table *t)
{
    struct shown_column columns[TABLE_COLUMNS_MAX];
    size_t n = shown_columns(t, columns), width = 0;
    for (size_t i = 0; i < n; i++)
        width += long_texts(t, columns[i].value) ? 4 : columns[i].lo >= 0 ? 2 : 1;
    return width > PORTRAIT_WIDTH;
}

/* ---- fields ---- */

/* "µs"; NULL: there is none to be shown. */
static const char *readable_unit(const struct table_column *c)
{
    bool none = !c->unit || !*c->unit || strcmp(c->unit, "1") == 0;
    return none ? NULL : strcmp(c->unit, "us") == 0 ? "\xC2\xB5s" : c->unit;
}

static void heading(FILE *out, const struct html_words *w, const struct table_column *c)
{
    char name[HEADING_MAX];
    html_words_column(w, c, name, sizeof name);
    html_print(out, "<th scope=\"col\" title=\"%s\"", c->name);
    fputs(c->type == TABLE_TEXT ? "" : " class=\"number\"", out);
    html_print(out, ">%s", name);
    if (readable_unit(c))
        html_print(out, " <span class=\"unit\">%s</span>", readable_unit(c));
    fputs("</th>", out);
}

static void number(FILE *out, const struct table_column *c, double value)
{
    char text[ESTIMATE_TEXT_MAX];
    if (!isfinite(value))
        fputs(dash, out);
    else if (c->type == TABLE_REAL && fabs(value) >= 1e7)
        fprintf(out, "%.3g", value);
    else
        fputs(pivot_number_text(c, value, text), out);
}

/* The tooltip of a value with limits. */
static void limits_title(FILE *out, const struct table_column *c, double lo, double hi, double n)
{
    fputs(" title=\"95 % limits:", out);
    if (isfinite(lo)) {
        fputs(" from ", out);
        number(out, c, lo);
    }
    if (isfinite(hi)) {
        fputs(" to ", out);
        number(out, c, hi);
    }
    if (readable_unit(c))
        html_print(out, " %s", readable_unit(c));
    if (isfinite(n))
        fprintf(out, "; n = %.0f", n);
    fputs("\"", out);
}

static void field(FILE *out, const struct table *t, size_t row, const struct shown_column *s, bool heads_row)
{
    const struct table_column *c = &t->columns[s->value];
    const struct table_value *v = &t->values[row * t->n_columns], *own = &v[s->value];
    const char *tag = heads_row ? "th scope=\"row\"" : "td";
    double lo = s->lo >= 0 ? v[s->lo].number : NAN, hi = s->hi >= 0 ? v[s->hi].number : NAN;
    bool limits = isfinite(lo) || isfinite(hi);
    if (c->type == TABLE_TEXT ? !own->text : !isfinite(own->number)) {
        fprintf(out, "<%s class=\"absent\" title=\"not measured\">%s", tag, dash);
    } else if (c->type == TABLE_TEXT) {
        fprintf(out, "<%s%s>", tag, strlen(own->text) > LONG_TEXT ? " class=\"long\"" : "");
        plain_xml_text(out, own->text);
    } else {
        fprintf(out, "<%s class=\"number\"", tag);
        if (limits)
            limits_title(out, c, lo, hi, table_number(t, row, "n"));
        fputs(">", out);
        number(out, c, own->number);
        if (limits) {
            fputs(" <span class=\"limits\">[", out);
            number(out, c, lo);
            fputs(",&nbsp;", out);
            number(out, c, hi);
            fputs("]</span>", out);
        }
    }
    fputs(heads_row ? "</th>" : "</td>", out);
}

static void rows(FILE *out, const struct table *t, const struct shown_column *columns, size_t n, size_t from, size_t to)
{
    for (size_t row = from; row < to; row++) {
        fputs("<tr>", out);
        for (size_t i = 0; i < n; i++)
            field(out, t, row, &columns[i], i == 0 && t->columns[columns[i].value].key);
        fputs("</tr>\n", out);
    }
}

/* ---- below the rows ---- */

/* Paper has room for the first rows only: the style sheet leaves the others out (.rows.long). */
static void notes(FILE *out, const struct html_words *w, const struct table *t, const char *csv)
{
    char name[HEADING_MAX];
    size_t n = 0;
    if (t->n_rows > HTML_ROWS_PAPER)
        html_print(out, "<p class=\"note paper\">On paper: the first %zu of %zu rows; all are in %s.</p>\n",
                   (size_t)HTML_ROWS_PAPER, t->n_rows, csv ? csv : "this page");
    for (size_t i = 0; i < t->n_columns; i++) {
        html_words_column(w, &t->columns[i], name, sizeof name);
        if (same_words(t, i))
            html_print(out, "<p class=\"note\">In all rows, %s: %s</p>\n", name, same_words(t, i));
    }
    for (size_t i = 0; i < t->n_columns; i++) {
        html_words_column(w, &t->columns[i], name, sizeof name);
        if (!table_is_limit(t, i) && empty_column(t, i))
            html_print(out, n++ ? ", %s" : "<p class=\"note\">No row has a value of: %s", name);
    }
    fputs(n ? "</p>\n" : "", out);
    if (t->n_rows > HTML_ROWS_MAX) {
        fprintf(out, "<p class=\"note\">The first %d of %zu rows%s", HTML_ROWS_MAX, t->n_rows,
                csv ? "; all are in " : "");
        if (csv)
            html_link(out, csv);
        fputs(".</p>\n", out);
    }
}

void html_table(FILE *out, const struct html_words *w, const struct table *t, const char *caption, const char *id,
                const char *csv)
{
    struct shown_column columns[TABLE_COLUMNS_MAX];
    size_t n = shown_columns(t, columns), in_page = t->n_rows > HTML_ROWS_MAX ? HTML_ROWS_MAX : t->n_rows;
    bool folded = in_page > HTML_ROWS_SHOWN + HTML_ROWS_SHOWN / 2;
    size_t first = folded ? HTML_ROWS_SHOWN : in_page;
    fputs("<div class=\"rows\">\n", out);
    if (folded) /* stands before what it opens, for a style sheet can only look forward; it is shown below the table */
        html_print(out,
                   "<details class=\"opener\"><summary><span class=\"closed\">Show all %zu rows</span><span "
                   "class=\"open\">Show the first %zu rows only</span> of the table of %s</summary></details>\n",
                   in_page, first, t->name);
    html_print(out,
               "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"%s\">\n<table>\n"
               "<caption id=\"%s\">%s</caption>\n<thead><tr>",
               id, id, caption);
    for (size_t i = 0; i < n; i++)
        heading(out, w, &t->columns[columns[i].value]);
    fputs("</tr></thead>\n<tbody>\n", out);
    rows(out, t, columns, n, 0, first);
    fputs("</tbody>\n", out);
    if (folded) {
        fputs("<tbody class=\"more\">\n", out);
        rows(out, t, columns, n, first, in_page);
        fputs("</tbody>\n", out);
    }
    fputs("</table>\n</div>\n<p class=\"hint\">Wider than the page: it scrolls sideways.</p>\n</div>\n", out);
    notes(out, w, t, csv);
}

/* ---- missing entries ---- */

void html_missing_name(FILE *out, const struct html_words *w, const struct table *t, size_t entry)
{
    const char *from = table_missing_text(t, entry, "from"), *to = table_missing_text(t, entry, "to");
    const char *between = from && to ? ", " : "";
    if (from && to)
        html_print(out, "%s \xE2\x86\x92 %s", from, to);
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct table_column *c = &t->columns[i];
        const struct table_value *v = &t->missing[entry].values[i];
        bool of_pair = from && to && (strcmp(c->name, "from") == 0 || strcmp(c->name, "to") == 0);
        char name[HEADING_MAX];
        if (of_pair || (c->type == TABLE_TEXT ? v->text == NULL : !isfinite(v->number)))
            continue;
        fputs(between, out);
        between = ", ";
        html_words_column(w, c, name, sizeof name);
        if (strcmp(c->name, "active_cores") == 0) {
            fprintf(out, "%.0f active core%s", v->number, v->number == 1 ? "" : "s");
            continue;
        }
        if (strcmp(c->name, "kernel") != 0)
            html_print(out, "%s ", name);
        if (v->text)
            plain_xml_text(out, v->text);
        else
            number(out, c, v->number);
    }
    fputs(*between ? "" : "the entire table", out);
}
