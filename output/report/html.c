/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/html.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/xml_text.h"

void html_text(FILE *out, const char *text)
{
    xml_text(out, text);
}

void html_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (const char *c = format; *c; c++)
        if (strncmp(c, "%s", 2) == 0) {
            html_text(out, va_arg(arguments, const char *));
            c += 1;
        } else if (strncmp(c, "%zu", 3) == 0) {
            fprintf(out, "%zu", va_arg(arguments, size_t));
            c += 2;
        } else {
            putc(*c, out);
        }
    va_end(arguments);
}

void html_text_part(FILE *out, const char *text, size_t length)
{
    char *part = strndup(text, length);
    html_text(out, part);
    free(part);
}

void html_lines(FILE *out, const char *text)
{
    bool first = true;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        if (length) {
            fputs(first ? "" : "<br>", out);
            html_text_part(out, text, length);
            first = false;
        }
        text += length + (text[length] == '\n');
    }
}

void html_each_line(FILE *out, const char *before, const char *text, const char *after)
{
    for (size_t length; text && *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length == 0)
            continue;
        fputs(before, out);
        html_text_part(out, text, length);
        fputs(after, out);
    }
}

void html_fact(FILE *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    html_print(out, "<dt>%s</dt><dd>", name);
    html_lines(out, value);
    fputs("</dd>\n", out);
}

void html_file_name(FILE *out, const char *name)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (name += strspn(name, "/"); *name; name++)
        if (strchr(unreserved, *name))
            putc(*name, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*name);
}

void html_link(FILE *out, const char *name)
{
    fputs("<a href=\"", out);
    html_file_name(out, name);
    html_print(out, "\">%s</a>", name);
}
