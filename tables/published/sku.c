/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/published/sku.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/tables.h"

enum { LINE_MAX_LENGTH = 500 };

struct parser {
    const char *file;
    unsigned line;
    char section[SKU_NAME_MAX]; /* "" before the first one */
    bool format_seen;
    struct sku *sku;
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static int sku_wrong(struct parser *p, const char *format, ...)
{
    int n = p->line ? snprintf(p->why, p->why_size, "%.160s:%u: ", p->file, p->line)
                    : snprintf(p->why, p->why_size, "%.160s: ", p->file); /* of the file as a whole */
    size_t used = n > 0 && (size_t)n < p->why_size ? (size_t)n : 0;
    va_list args;
    va_start(args, format);
    vsnprintf(p->why + used, p->why_size - used, format, args);
    va_end(args);
    /* what is quoted from the file must not disturb a terminal */
    for (char *c = p->why + used; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return -1;
}

static char *sku_trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

static int sku_copy(struct parser *p, char *to, size_t size, const char *from, const char *what)
{
    if (strlen(from) >= size)
        return sku_wrong(p, "%s is longer than %zu characters", what, size - 1);
    memcpy(to, from, strlen(from) + 1);
    return 0;
}

/* ---- numbers ---- */

/* Digits, perhaps a point and more digits; strtod alone would take the first point of 8..20, too. */
static bool decimal(const char *text, const char **end, double *out)
{
    static const char digits[] = "0123456789";
    char number[40];
    size_t sign = *text == '-', n = sign + strspn(text + sign, digits);
    if (n == sign)
        return false;
    if (text[n] == '.' && isdigit((unsigned char)text[n + 1]))
        n += 1 + strspn(text + n + 1, digits);
    if (n >= sizeof number)
        return false;
    memcpy(number, text, n);
    number[n] = '\0';
    *out = strtod(number, NULL);
    *end = text + n;
    return true;
}

/* Decimal, or hexadecimal as 0x28, or a fraction; *end is behind it. False: none is there. */
static bool one_number(const char *text, const char **end, double *out)
{
    if (text[0] == '0' && text[1] == 'x') {
        char *after;
        *out = (double)strtoul(text, &after, 16);
        *end = after;
        return isxdigit((unsigned char)text[2]);
    }
    if (!decimal(text, end, out))
        return false;
    if (**end != '/')
        return true;
    double below;
    if (!decimal(*end + 1, end, &below) || !(below > 0))
        return false;
    *out /= below;
    return true;
}

/* A number, or two with - between them, in whatever order. */
static bool two_numbers(const char *text, double *lo, double *hi)
{
    const char *end;
    if (!one_number(text, &end, lo))
        return false;
    *hi = *lo;
    if (*end == '-' && !one_number(end + 1, &end, hi))
        return false;
    return *end == '\0';
}

/*
 * How far from the truth a number may be that is printed as text..end: half a unit of its last digit. What was printed
 * as approximate, a whole such unit, zeros at the end of a whole number being no digits, and at most a tenth of it
 * (`about indicates a quantity within 10 %`: United States Pharmacopeia, General Notices 8.20). A fraction is exact,
 * unless it is approximate: a tenth.
 */
static double rounding_of(const char *text, const char *end, double value, bool about)
{
    size_t n = (size_t)(end - text);
    const char *point = memchr(text, '.', n);
    double unit = 1, tenth = 0.1 * fabs(value);
    if (memchr(text, '/', n))
        return about ? tenth : 0;
    if (point)
        unit = pow(10, -(double)(end - point - 1));
    else if (about)
        for (const char *digit = end - 1; digit > text && *digit == '0'; digit--)
            unit *= 10;
    return about ? fmin(unit, tenth) : unit / 2;
}

/* NUMBER or NUMBER..NUMBER, the second not below the first. */
static bool sku_read_range(const char *text, bool about, struct sku_figure *f)
{
    const char *end;
    if (!one_number(text, &end, &f->lo))
        return false;
    f->hi = f->lo;
    f->rounding = rounding_of(text, end, f->lo, about);
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        if (!one_number(text, &end, &f->hi))
            return false;
        f->rounding = fmax(f->rounding, rounding_of(text, end, f->hi, about));
    }
    return *end == '\0' && f->lo <= f->hi;
}

/* ---- lines ---- */

static bool is_name(const char *text)
{
    if (!islower((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

static int add_key(struct parser *p, struct sku_figure *f, char *word)
{
    char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return sku_wrong(p, "`%.60s` is not COLUMN=VALUE, which selects the rows", word);
    if (f->n_keys == SKU_KEYS_MAX)
        return sku_wrong(p, "more than %d columns select the rows", SKU_KEYS_MAX);
    *equals = '\0';
    if (!is_name(word))
        return sku_wrong(p, "`%.60s` is not a column name", word);
    for (size_t i = 0; i < f->n_keys; i++)
        if (strcmp(f->keys[i].column, word) == 0)
            return sku_wrong(p, "the column %.40s is given twice", word);
    struct sku_key *k = &f->keys[f->n_keys];
    char *value = equals + 1;
    bool quoted = *value == '"';
    if (quoted) {
        char *closing = strchr(++value, '"');
        if (!closing || closing == value || closing[1])
            return sku_wrong(p, "%.40s=\"%.60s: a value with blanks needs a closing \"", word, value);
        *closing = '\0';
    }
    if (sku_copy(p, k->column, sizeof k->column, word, "the name of a column") != 0 ||
        sku_copy(p, k->text, sizeof k->text, value, "a value") != 0)
        return -1;
    k->is_number = two_numbers(k->text, &k->lo, &k->hi);
    if (k->is_number && k->lo > k->hi)
        return sku_wrong(p, "`%.60s` ends before it begins", k->text);
    size_t used = strlen(f->where);
    int n = snprintf(f->where + used, sizeof f->where - used, "%s%s=%s%s%s", used ? " " : "", k->column,
                     quoted ? "\"" : "", k->text, quoted ? "\"" : "");
    if (n < 0 || (size_t)n >= sizeof f->where - used)
        return sku_wrong(p, "the selection of rows is longer than %d characters", SKU_TEXT_MAX - 1);
    f->n_keys++;
    return 0;
}

/* Ends the word at the next blank that is not between quotes. Returns what follows. */
static char *end_word(char *word)
{
    bool quoted = false;
    for (; *word && (quoted || !isspace((unsigned char)*word)); word++)
        quoted = quoted != (*word == '"');
    if (*word)
        *word++ = '\0';
    return word;
}

static int read_keys(struct parser *p, struct sku_figure *f, char *text)
{
    for (char *word = sku_trimmed(text); *word; word = sku_trimmed(text)) {
        text = end_word(word);
        if (add_key(p, f, word) != 0)
            return -1;
    }
    return 0;
}

/* ~ NUMBER or ~ NUMBER% */
static int read_tolerance(struct parser *p, struct sku_figure *f, const char *text)
{
    const char *end;
    double size = fmax(fabs(f->lo), fabs(f->hi));
    if (!f->published || !one_number(text, &end, &f->tolerance) || f->tolerance < 0 || (*end && strcmp(end, "%") != 0))
        return sku_wrong(p, "`~ %.60s` is not a tolerance; 0.5 or 10%% would work", text);
    if (*end && size == 0)
        return sku_wrong(p, "`~ %.60s` of 0 is 0; without %% it is in the unit of the column", text);
    if (*end)
        f->tolerance *= size / 100;
    if (size > 0 && f->tolerance >= size)
        return sku_wrong(p, "`~ %.60s`: even 0 would agree; a tolerance must be smaller than its figure", text);
    return 0;
}

/* [about] FIGURE [~ TOLERANCE], or - */
static int sku_read_value(struct parser *p, struct sku_figure *f, char *text)
{
    static const char word[] = "about ";
    char *tilde = strchr(text, '~');
    if (tilde)
        *tilde = '\0';
    text = sku_trimmed(text);
    bool about = strncmp(text, word, sizeof word - 1) == 0;
    if (about)
        text = sku_trimmed(text + sizeof word - 1);
    f->published = about || strcmp(text, "-") != 0;
    f->lo = f->hi = f->rounding = f->tolerance = NAN;
    if (f->published && !sku_read_range(text, about, f))
        return sku_wrong(p, "`%.60s` is neither a number, nor a range like 650..680, nor - (not published)", text);
    if (about && tilde)
        return sku_wrong(p, "both `about` and `~`: use one of them, as a tolerance already says how far off it may be");
    return tilde ? read_tolerance(p, f, sku_trimmed(tilde + 1)) : 0;
}

static bool same_figure(const struct sku_figure *a, const struct sku_figure *b)
{
    return strcmp(a->table, b->table) == 0 && strcmp(a->where, b->where) == 0 && strcmp(a->column, b->column) == 0 &&
           a->mean == b->mean;
}

static int keep_figure(struct parser *p, const struct sku_figure *f)
{
    struct sku *s = p->sku;
    for (size_t i = 0; i < s->n_figures; i++)
        if (same_figure(&s->figures[i], f))
            return sku_wrong(p, "the same figure is in line %u", s->figures[i].line);
    struct sku_figure *bigger = realloc(s->figures, (s->n_figures + 1) * sizeof *bigger);
    if (!bigger)
        return sku_wrong(p, "out of memory");
    s->figures = bigger;
    s->figures[s->n_figures++] = *f;
    return 0;
}

/* KEY=VALUE ... : [mean] COLUMN = [about] FIGURE [~ TOLERANCE] */
static int read_figure(struct parser *p, char *text, const char *source)
{
    struct sku_figure f = {.line = p->line};
    char *colon = strchr(text, ':'), *equals = colon ? strchr(colon, '=') : NULL;
    if (!equals)
        return sku_wrong(p, "not COLUMN=VALUE ... : COLUMN = FIGURE");
    *colon = *equals = '\0';
    char *column = sku_trimmed(colon + 1);
    f.mean = strncmp(column, "mean ", 5) == 0;
    if (f.mean)
        column = sku_trimmed(column + 5);
    if (!is_name(column))
        return sku_wrong(p, "`%.60s` is not a column name", column);
    if (sku_copy(p, f.table, sizeof f.table, p->section, "the section") != 0 ||
        sku_copy(p, f.column, sizeof f.column, column, "the name of a column") != 0 ||
        sku_copy(p, f.source, sizeof f.source, source, "a source") != 0 || read_keys(p, &f, text) != 0 ||
        sku_read_value(p, &f, equals + 1) != 0)
        return -1;
    return keep_figure(p, &f);
}

static int read_head(struct parser *p, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return sku_wrong(p, "not KEY = VALUE");
    *equals = '\0';
    char *key = sku_trimmed(text), *value = sku_trimmed(equals + 1);
    char *to = strcmp(key, "name") == 0 ? p->sku->name : strcmp(key, "brand") == 0 ? p->sku->brand : NULL;
    if (!to)
        return sku_wrong(p, "unknown key `%.60s`; [sku] has name and brand", key);
    if (*to)
        return sku_wrong(p, "%s is given twice", key);
    if (!*value)
        return sku_wrong(p, "%s has no value", key);
    return sku_copy(p, to, SKU_TEXT_MAX, value, key);
}

static int sku_read_section(struct parser *p, char *text)
{
    size_t n = strlen(text);
    bool closed = text[n - 1] == ']';
    if (closed)
        text[n - 1] = '\0';
    if (!closed || (strcmp(text + 1, "sku") != 0 && !tables_find(text + 1)))
        return sku_wrong(p, "`%.60s%s`: sections are [sku] and the names of tables", text, closed ? "]" : "");
    return sku_copy(p, p->section, sizeof p->section, text + 1, "a section");
}

static int sku_read_line(struct parser *p, char *line)
{
    char *text = sku_trimmed(line);
    if (!*text || *text == '#')
        return 0;
    if (!p->format_seen) {
        p->format_seen = strcmp(text, "format = characterize-sku/1") == 0;
        return p->format_seen
                   ? 0
                   : sku_wrong(p, "the first line that is not a comment must be `format = characterize-sku/1`");
    }
    if (*text == '[')
        return sku_read_section(p, text);
    if (!*p->section)
        return sku_wrong(p, "comes before the first [section]");
    char *hash = strchr(text, '#');
    char *source = hash ? sku_trimmed(hash + 1) : NULL;
    if (!source || !*source)
        return sku_wrong(p, "has no source; add `# DOCUMENT, section`");
    *hash = '\0';
    return strcmp(p->section, "sku") == 0 ? read_head(p, text) : read_figure(p, text, source);
}

static int sku_read_lines(struct parser *p, const char *text, size_t length)
{
    char line[LINE_MAX_LENGTH];
    if (memchr(text, '\0', length))
        return sku_wrong(p, "not a text");
    for (const char *at = text, *end = text + length; at < end;) {
        size_t n = strcspn(at, "\n");
        p->line++;
        if (n >= sizeof line)
            return sku_wrong(p, "longer than %d characters", LINE_MAX_LENGTH - 1);
        memcpy(line, at, n);
        line[n] = '\0';
        if (sku_read_line(p, line) != 0)
            return -1;
        at += n + (at + n < end);
    }
    if (!p->format_seen)
        return sku_wrong(p, "empty; the file begins with `format = characterize-sku/1`");
    if (!p->sku->name[0] || !p->sku->brand[0])
        return sku_wrong(p, "[sku] lacks %s", p->sku->name[0] ? "brand" : "name");
    return p->sku->n_figures ? 0 : sku_wrong(p, "no figures");
}

int sku_parse(const char *text, size_t length, const char *file, struct sku *out, char *why, size_t why_size)
{
    struct parser p = {.file = file, .sku = out, .why_size = why_size};
    p.why = why;
    memset(out, 0, sizeof *out);
    int status = sku_read_lines(&p, text, length);
    if (status != 0)
        sku_free(out);
    return status;
}

size_t sku_published(const struct sku *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_figures; i++)
        n += s->figures[i].published;
    return n;
}

void sku_free(struct sku *s)
{
    free(s->figures);
    memset(s, 0, sizeof *s);
}
