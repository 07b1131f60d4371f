/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/html.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"

static void escaped(FILE *out, const char *plain)
{
    for (const char *c = plain; *c; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            putc(*c, out);
            break;
        }
    }
}

void html_text(FILE *out, const char *text)
{
    char *plain = text ? plain_text_copy(text) : NULL;
    if (plain)
        escaped(out, plain);
    free(plain);
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
    fputs("\">", out);
    html_text(out, name);
    fputs("</a>", out);
}
