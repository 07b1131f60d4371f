/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts, words and pictures of our pages of HTML. */
#include "output/document/html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "output/plot/plot_colours.h"
#include "util/error.h"
#include "util/plain_text.h"

/* ---- texts ---- */

void html_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (const char *c = format; *c; c++)
        if (strncmp(c, "%s", 2) == 0) {
            plain_xml_text(out, va_arg(arguments, const char *));
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
    plain_xml_text(out, part);
    free(part);
}

/* Each line that is not empty between `before` and `after`, with `between` from the second on. */
static void lines(FILE *out, const char *text, const char *before, const char *between, const char *after)
{
    bool first = true;
    for (size_t length; text && *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length == 0)
            continue;
        fprintf(out, "%s%s", first ? "" : between, before);
        html_text_part(out, text, length);
        fputs(after, out);
        first = false;
    }
}

void html_lines(FILE *out, const char *text)
{
    lines(out, text, "", "<br>", "");
}

void html_each_line(FILE *out, const char *before, const char *text, const char *after)
{
    lines(out, text, before, "", after);
}

void html_fact(FILE *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    html_print(out, "<dt>%s</dt><dd>", name);
    html_lines(out, value);
    fputs("</dd>\n", out);
}

void html_link(FILE *out, const char *name)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    fputs("<a href=\"", out);
    for (const char *c = name + strspn(name, "/"); *c; c++)
        fprintf(out, strchr(unreserved, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    html_print(out, "\">%s</a>", name);
}

/* ---- the words and the look ---- */

static int read_words(struct html_words *w, char *why, size_t why_size)
{
    static const char remedy[] = "restore the file as it was installed";
    const struct {
        const char *name;
        json_t **object;
    } objects[] = {{"columns", &w->columns}, {"sources", &w->sources}, {"glossary", &w->glossary}};
    json_error_t error;
    struct template_file file;
    if (template_read(&file, "report", "words", ".json", why, why_size) != 0)
        return -1;
    w->all = json_loads(file.text, JSON_REJECT_DUPLICATES, &error);
    int status = 0;
    if (!w->all)
        status = error_line(why, why_size, "%.400s:%d:%d: %.100s; %s", file.path, error.line, error.column, error.text,
                            remedy);
    for (size_t i = 0; i < sizeof objects / sizeof *objects && status == 0; i++) {
        *objects[i].object = json_object_get(w->all, objects[i].name);
        if (!json_is_object(*objects[i].object))
            status = error_line(why, why_size, "%.400s has no object '%s'; %s", file.path, objects[i].name, remedy);
    }
    template_file_free(&file);
    return status;
}

int html_words_read(struct html_words *w, char *why, size_t why_size)
{
    memset(w, 0, sizeof *w);
    if (template_read(&w->page, "report", "page", ".html.in", why, why_size) == 0 &&
        template_read(&w->table, "report", "table", ".html.in", why, why_size) == 0 &&
        template_read(&w->style, "report", "style", ".css", why, why_size) == 0 &&
        template_read(&w->script, "report", "script", ".js", why, why_size) == 0 && read_words(w, why, why_size) == 0)
        return 0;
    html_words_free(w);
    return -1;
}

void html_words_free(struct html_words *w)
{
    template_file_free(&w->page);
    template_file_free(&w->table);
    template_file_free(&w->style);
    template_file_free(&w->script);
    json_decref(w->all);
    memset(w, 0, sizeof *w);
}

/* The ending of a column's name that repeats its unit: "_ghz" where that is GHz. */
static size_t unit_ending(const struct table_column *c)
{
    size_t length = strlen(c->name), unit = c->unit ? strlen(c->unit) : 0;
    bool repeated = unit > 0 && length > unit + 1 && c->name[length - unit - 1] == '_' &&
                    strcasecmp(c->name + length - unit, c->unit) == 0;
    return repeated ? unit + 1 : 0;
}

void html_words_column(const struct html_words *w, const struct table_column *c, char *out, size_t size)
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

bool html_words_values(const struct html_words *w, bool modelled, struct template_values *v)
{
    if (!template_begin(v))
        return false;
    fputs(modelled ? " (modelled)" : "", template_value(v, "MODELLED_TITLE"));
    fputs(w->style.text, template_value(v, "STYLE"));
    fputs(w->script.text, template_value(v, "SCRIPT"));
    template_flag(v, "MODELLED", modelled);
    return true;
}

/* ---- pictures ---- */

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

/* Inside a tag, at s: writes what replaces a colour that the style sheet knows, or the beginning of a reference or id.
 * Returns the length of what stood there; 0: nothing is replaced. */
static size_t replace(FILE *out, const char *s, const char *prefix)
{
    static const char *const references[][2] = {
        {"id='", "id='"}, {"id=\"", "id=\""}, {"url(#", "url(#"}, {"xlink:href='#", "href='#"}};
    unsigned value;
    size_t length = read_colour(s, &value);
    for (size_t i = 0; length && i < PLOT_N_COLOURS; i++)
        if (strtoul(plot_colours[i].plain + 1, NULL, 16) == value) {
            fprintf(out, "var(%s)", plot_colours[i].variable);
            return length;
        }
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (strncmp(s, references[i][0], strlen(references[i][0])) == 0) {
            fprintf(out, "%s%s", references[i][1], prefix);
            return strlen(references[i][0]);
        }
    return 0;
}

/* The length of what is left out at s: titles and descriptions (`titles`: of ours they stay), and empty groups, of
 * which gnuplot writes many. 0: nothing. */
static size_t left_out(const char *s, bool titles)
{
    static const char *const elements[][2] = {{"<title>", "</title>"}, {"<desc>", "</desc>"}};
    for (size_t i = 0; i < 2 && !titles; i++)
        if (strncmp(s, elements[i][0], strlen(elements[i][0])) == 0) {
            const char *end = strstr(s, elements[i][1]);
            return end ? (size_t)(end - s) + strlen(elements[i][1]) : 0;
        }
    if (strncmp(s, "<g ", 3) != 0)
        return 0;
    const char *end = s + strcspn(s, ">");
    end += *end ? 1 + strspn(end + 1, " \t\n") : 0;
    return strncmp(end, "</g>", 4) == 0 ? (size_t)(end - s) + 4 : 0;
}

/* After its first tag, with its size; NULL: it is no picture by gnuplot, or holds a tag that gnuplot never writes: what
 * runs, fetches or leaves the picture. */
static const char *svg_content(const char *svg, int *width, int *height)
{
    static const char *const harmful[] = {"<script", "<foreignObject", "<image", "<a ", "<style", "<!", "<iframe"};
    const char *start = svg ? strstr(svg, "<svg") : NULL, *box = start ? strstr(start, "viewBox=\"") : NULL;
    const char *end = start ? strchr(start, '>') : NULL;
    *width = *height = 0;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number leaves them at 0 */
    if (!box || !end || box > end || sscanf(box, "viewBox=\"0 0 %d %d\"", width, height) != 2)
        return NULL;
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        if (strstr(start, harmful[i]))
            return NULL;
    return *width > 0 && *height > 0 ? end + 1 : NULL;
}

int html_svg(FILE *out, const char *svg, const char *prefix, const char *title)
{
    int width, height;
    bool in_tag = false;
    const char *s = svg_content(svg, &width, &height);
    if (!s)
        return -1;
    html_print(out, "<svg class=\"plot\" viewBox=\"0 0 %zu %zu\" role=\"img\" aria-label=\"%s\">", (size_t)width,
               (size_t)height, title);
    const char *tips = strstr(s, "<g class='tips'");
    while (*s) {
        size_t skip = in_tag ? replace(out, s, prefix) : left_out(s, tips && s >= tips);
        s += skip;
        if (skip)
            continue;
        in_tag = *s == '<' || (in_tag && *s != '>');
        putc(*s++, out);
    }
    return 0;
}

void html_figure(FILE *out, const char *svg, const char *why, const char *prefix, const char *title)
{
    int width, height;
    if (svg_content(svg, &width, &height)) {
        fputs("<figure><div class=\"scroll\">\n", out);
        html_svg(out, svg, prefix, title);
        fputs("</div><p class=\"hint\">Wider than the page: it scrolls sideways.</p></figure>\n", out);
    } else if (svg || (why && *why)) {
        html_print(out, "<p class=\"note\">No plot: %s.</p>\n",
                   svg ? "gnuplot's output cannot be embedded in this page" : why);
    }
}
