/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/report_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/template.h"

static int read_words(struct report_words *w, char *why, size_t why_size)
{
    json_error_t error;
    char *text = template_read("report", "words", ".json", why, why_size);
    if (!text)
        return -1;
    w->all = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    free(text);
    w->columns = json_object_get(w->all, "columns");
    w->sources = json_object_get(w->all, "sources");
    if (json_is_object(w->columns) && json_is_object(w->sources))
        return 0;
    if (w->all)
        snprintf(why, why_size, "words.json of the data folder holds no `columns` and `sources`");
    else
        snprintf(why, why_size, "words.json of the data folder, %d:%d: %.100s", error.line, error.column, error.text);
    return -1;
}

int report_words_read(struct report_words *w, char *why, size_t why_size)
{
    memset(w, 0, sizeof *w);
    w->page = template_read("report", "page", ".html.in", why, why_size);
    w->table = w->page ? template_read("report", "table", ".html.in", why, why_size) : NULL;
    w->style = w->table ? template_read("report", "style", ".css", why, why_size) : NULL;
    if (w->style && read_words(w, why, why_size) == 0)
        return 0;
    report_words_free(w);
    return -1;
}

void report_words_free(struct report_words *w)
{
    free(w->page);
    free(w->table);
    free(w->style);
    json_decref(w->all);
    memset(w, 0, sizeof *w);
}

static bool report_words_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

bool report_words_cites(const char *text, char letter)
{
    for (const char *c = text; text && *c; c++) {
        if (*c != letter || (c > text && report_words_is_word(c[-1])) || report_words_is_word(c[1]))
            continue;
        bool section = c[1] == ' ' && isdigit((unsigned char)c[2]);
        if (section || c[1] == ')' || c[1] == ';' || c[1] == ',')
            return true;
    }
    return false;
}

/* The ending of a column's name that repeats its unit: "_ghz" where that is GHz. */
static size_t unit_ending(const struct table_column *c)
{
    size_t length = strlen(c->name), unit = c->unit ? strlen(c->unit) : 0;
    bool repeated = unit > 0 && length > unit + 1 && c->name[length - unit - 1] == '_' &&
                    strcasecmp(c->name + length - unit, c->unit) == 0;
    return repeated ? unit + 1 : 0;
}

void report_words_column(const struct report_words *w, const struct table_column *c, char *out, size_t size)
{
    const char *heading = json_string_value(json_object_get(w->columns, c->name));
    if (heading) {
        snprintf(out, size, "%s", heading);
        return;
    }
    snprintf(out, size, "%.*s", (int)(strlen(c->name) - unit_ending(c)), c->name);
    for (char *p = out; *p; p++)
        if (*p == '_')
            *p = ' ';
}
