/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int read_words(struct report_words *w, char *why, size_t why_size)
{
    static const char remedy[] = "restore the file as it was installed";
    json_error_t error;
    struct template_file file;
    if (template_read(&file, "report", "words", ".json", why, why_size) != 0)
        return -1;
    w->all = json_loads(file.text, JSON_REJECT_DUPLICATES, &error);
    w->columns = json_object_get(w->all, "columns");
    w->sources = json_object_get(w->all, "sources");
    w->glossary = json_object_get(w->all, "glossary");
    bool usable = json_is_object(w->columns) && json_is_object(w->sources) && json_is_object(w->glossary);
    if (!w->all)
        snprintf(why, why_size, "%.400s:%d:%d: %.100s; %s", file.path, error.line, error.column, error.text, remedy);
    else if (!usable)
        snprintf(why, why_size, "%.400s has no object '%s'; %s", file.path,
                 !json_is_object(w->columns)   ? "columns"
                 : !json_is_object(w->sources) ? "sources"
                                               : "glossary",
                 remedy);
    template_file_free(&file);
    return usable ? 0 : -1;
}

int report_words_read(struct report_words *w, char *why, size_t why_size)
{
    memset(w, 0, sizeof *w);
    if (template_read(&w->page, "report", "page", ".html.in", why, why_size) == 0 &&
        template_read(&w->table, "report", "table", ".html.in", why, why_size) == 0 &&
        template_read(&w->style, "report", "style", ".css", why, why_size) == 0 &&
        template_read(&w->script, "report", "script", ".js", why, why_size) == 0 && read_words(w, why, why_size) == 0)
        return 0;
    report_words_free(w);
    return -1;
}

void report_words_free(struct report_words *w)
{
    template_file_free(&w->page);
    template_file_free(&w->table);
    template_file_free(&w->style);
    template_file_free(&w->script);
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
