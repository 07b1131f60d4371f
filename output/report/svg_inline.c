/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report/report_parts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot_colours.h"
#include "output/report/html.h"

/* A colour at s as gnuplot writes it, #RRGGBB or rgb(R, G, B): its value and length. 0: there is none. */
static size_t read_colour(const char *s, unsigned *value)
{
    char digits[7] = "", *end;
    int length = 0;
    unsigned r, g, b;
    if (*s == '#') {
        memcpy(digits, s + 1, strnlen(s + 1, 6));
        *value = (unsigned)strtoul(digits, &end, 16);
        return end == digits + 6 ? 7 : 0;
    }
    /* NOLINTNEXTLINE(cert-err34-c): three short numbers, whatever they are the result is compared with known ones */
    if (strncmp(s, "rgb(", 4) == 0 && sscanf(s, "rgb(%3u,%3u,%3u)%n", &r, &g, &b, &length) == 3 && length > 0) {
        *value = r << 16 | g << 8 | b;
        return (size_t)length;
    }
    return 0;
}

static const char *variable_of(unsigned value)
{
    for (size_t i = 0; i < PLOT_N_COLOURS; i++)
        if (strtoul(plot_colours[i].plain + 1, NULL, 16) == value)
            return plot_colours[i].variable;
    return NULL;
}

/* Where a reference or id begins at s: the length of what comes before the name. */
static size_t before_name(const char *s)
{
    static const char *const beginnings[] = {"id='", "id=\"", "url(#", "xlink:href='#"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        size_t length = strlen(beginnings[i]);
        if (strncmp(s, beginnings[i], length) == 0)
            return length;
    }
    return 0;
}

/* Inside a tag, at s: writes something in place of what stands there and returns its length, or 0. */
static size_t replace(FILE *out, const char *s, const char *prefix)
{
    unsigned value;
    size_t length = read_colour(s, &value), name;
    const char *variable = length ? variable_of(value) : NULL;
    if (variable) {
        fprintf(out, "var(%s)", variable);
        return length;
    }
    if ((name = before_name(s)) != 0) {
        size_t skipped = strncmp(s, "xlink:", 6) == 0 ? 6 : 0; /* HTML needs no name space */
        fprintf(out, "%.*s%s", (int)(name - skipped), s + skipped, prefix);
        return name;
    }
    return 0;
}

/* What gnuplot never writes as a tag: what runs, fetches or leaves the picture. */
static bool harmful(const char *svg)
{
    static const char *const tags[] = {"<script", "<foreignObject", "<image", "<a ", "<style", "<!", "<iframe"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (strstr(svg, tags[i]))
            return true;
    return false;
}

static size_t skipped_element(const char *s)
{
    static const char *const elements[][2] = {{"<title>", "</title>"}, {"<desc>", "</desc>"}};
    for (size_t i = 0; i < 2; i++)
        if (strncmp(s, elements[i][0], strlen(elements[i][0])) == 0) {
            const char *end = strstr(s, elements[i][1]);
            return end ? (size_t)(end - s) + strlen(elements[i][1]) : 0;
        }
    return 0;
}

/* Empty groups, of which gnuplot writes many. */
static size_t empty_group(const char *s)
{
    if (strncmp(s, "<g ", 3) != 0)
        return 0;
    size_t tag = strcspn(s, ">");
    size_t blanks = s[tag] ? strspn(s + tag + 1, " \t\n") : 0;
    const char *end = s[tag] ? s + tag + 1 + blanks : "";
    return strncmp(end, "</g>", 4) == 0 ? (size_t)(end - s) + 4 : 0;
}

static void body(FILE *out, const char *s, const char *prefix)
{
    bool in_tag = false;
    const char *tips = strstr(s, "<g class='tips'"); /* of our own: their titles stay */
    while (*s) {
        size_t skip = in_tag ? replace(out, s, prefix) : tips && s >= tips ? 0 : skipped_element(s);
        if (!skip && !in_tag)
            skip = empty_group(s);
        if (skip) {
            s += skip;
            continue;
        }
        if (*s == '<')
            in_tag = true;
        else if (*s == '>')
            in_tag = false;
        putc(*s++, out);
    }
}

/* Behind its first tag, with its size; NULL: it is no picture by gnuplot, or a harmful one. */
static const char *beginning(const char *svg, int *width, int *height)
{
    const char *start = strstr(svg, "<svg"), *box = start ? strstr(start, "viewBox=\"") : NULL;
    const char *end = start ? strchr(start, '>') : NULL;
    *width = *height = 0;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number leaves them at 0 */
    if (!box || !end || box > end || sscanf(box, "viewBox=\"0 0 %d %d\"", width, height) != 2 || harmful(start))
        return NULL;
    return *width > 0 && *height > 0 ? end + 1 : NULL;
}

bool svg_inline_possible(const char *svg)
{
    int width, height;
    return beginning(svg, &width, &height) != NULL;
}

int svg_inline(FILE *out, const char *svg, const char *prefix, const char *title)
{
    int width, height;
    const char *inner = beginning(svg, &width, &height);
    if (!inner)
        return -1;
    fprintf(out, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", width, height);
    html_print(out, "%s\">", title);
    body(out, inner, prefix);
    return 0;
}
