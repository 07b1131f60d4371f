/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines, sections and duplicates of a model file. */
#include "drivers/model/model_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_NAME "characterize-model/1"

int model_fail(struct model_parser *p, unsigned line, const char *key, const char *format, ...)
{
    struct machine_error *e = p->error;
    size_t n = (size_t)snprintf(e->text, sizeof e->text, "%.160s:%u: ", p->file, line);
    size_t quoted = n;
    n += (size_t)snprintf(e->text + n, sizeof e->text - n, "%.64s: ", key);
    va_list args;
    va_start(args, format);
    vsnprintf(e->text + n, sizeof e->text - n, format, args);
    va_end(args);
    /* what is quoted from the file must not disturb a terminal */
    for (char *c = e->text + quoted; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    e->status = MACHINE_BAD_INPUT;
    e->remedy[0] = '\0';
    return -1;
}

size_t model_words(char *text, char *words[], size_t max)
{
    size_t n = 0;
    char *at = text;
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            return n;
        if (n == max)
            return max + 1;
        words[n++] = at;
        while (*at && !isspace((unsigned char)*at))
            at++;
        if (*at)
            *at++ = '\0';
    }
}

static char *model_parse_trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

static const struct model_seen *find_seen(const struct model_parser *p, unsigned section, const char *key)
{
    for (size_t i = 0; i < p->n_seen; i++)
        if (p->seen[i].section == section && strcmp(p->seen[i].key, key) == 0)
            return &p->seen[i];
    return NULL;
}

bool model_was_seen(const struct model_parser *p, const char *key)
{
    return find_seen(p, p->section_number, key) != NULL;
}

static int remember(struct model_parser *p, unsigned section, const char *key)
{
    if (strlen(key) >= MODEL_KEY_SIZE)
        return model_fail(p, p->line, key, "too long; keys and headers have at most %d characters", MODEL_KEY_SIZE - 1);
    const struct model_seen *before = find_seen(p, section, key);
    if (before)
        return model_fail(p, p->line, key, "given twice, first in line %u; remove one", before->line);
    if (p->n_seen == MODEL_SEEN_MAX)
        return model_fail(p, p->line, key, "more than %d entries; a model needs far fewer", MODEL_SEEN_MAX);
    struct model_seen *s = &p->seen[p->n_seen++];
    s->section = section;
    s->line = p->line;
    snprintf(s->key, sizeof s->key, "%s", key);
    return 0;
}

static int leave_section(struct model_parser *p)
{
    const struct model_section *s = p->section;
    if (!s)
        return 0;
    for (size_t i = 0; i < s->n_keys; i++)
        if (s->keys[i].required && !model_was_seen(p, s->keys[i].name))
            return model_fail(p, p->section_line, s->keys[i].name,
                              "missing in section [%s]; add `%s = VALUE  # source`", p->header, s->keys[i].name);
    return s->leave ? s->leave(p) : 0;
}

static const struct model_section *find_section(const char *name)
{
    for (size_t i = 0; i < model_n_sections; i++)
        if (strcmp(model_sections[i].name, name) == 0)
            return &model_sections[i];
    return NULL;
}

static int unknown_section(struct model_parser *p, const char *name)
{
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < model_n_sections && used < sizeof known; i++) {
        int n = snprintf(known + used, sizeof known - used, " %s", model_sections[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return model_fail(p, p->line, name, "no such section; known sections:%s", known);
}

/* Headers are compared as their words with single spaces, so that a duplicate cannot hide behind white space. */
static void model_parse_join(char *out, size_t size, char *words[], size_t n)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++) {
        int k = snprintf(out + used, size - used, "%s%s", i ? " " : "", words[i]);
        used += k > 0 ? (size_t)k : 0;
    }
}

static int model_parse_read_header(struct model_parser *p, char *text)
{
    if (leave_section(p) != 0)
        return -1;
    char *end = strchr(text, ']');
    if (!end)
        return model_fail(p, p->line, text, "the header of a section ends with `]`");
    char *after = model_parse_trimmed(end + 1);
    if (*after && *after != '#')
        return model_fail(p, p->line, text, "after the header of a section only a `# comment` may follow");
    *end = '\0';
    char *words[MODEL_SECTION_WORDS];
    size_t n = model_words(text + 1, words, MODEL_SECTION_WORDS);
    if (n == 0)
        return model_fail(p, p->line, "[]", "the name of the section is missing");
    const struct model_section *s = find_section(words[0]);
    if (!s)
        return unknown_section(p, words[0]);
    if (n > MODEL_SECTION_WORDS)
        return model_fail(p, p->line, words[0], "too many words in the header; it is written %s", s->usage);
    model_parse_join(p->header, sizeof p->header, words, n);
    p->section = s;
    p->section_line = p->line;
    p->instance = p->model;
    if (remember(p, 0, p->header) != 0)
        return -1;
    p->section_number++;
    if (s->enter)
        return s->enter(p, words, n);
    if (n != 1)
        return model_fail(p, p->line, p->header, "this header is written %s", s->usage);
    return 0;
}

/* A source says where a figure comes from: a document's letter at least. */
static bool is_source(const char *text)
{
    for (; *text; text++)
        if (isalpha((unsigned char)*text))
            return true;
    return false;
}

static int unknown_key(struct model_parser *p, const char *key)
{
    const struct model_section *s = p->section;
    char known[260] = "";
    size_t used = 0;
    for (size_t i = 0; i < s->n_keys && used < sizeof known; i++) {
        int n = snprintf(known + used, sizeof known - used, " %s", s->keys[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    if (s->more && used < sizeof known)
        snprintf(known + used, sizeof known - used, " %s", s->more);
    return model_fail(p, p->line, key, "no such key in section [%s]; known keys:%s", p->section->name, known);
}

static int model_parse_read_format(struct model_parser *p, const char *key, char *value)
{
    char *comment = strchr(value, '#');
    if (comment)
        *comment = '\0';
    if (strcmp(key, "format") != 0)
        return model_fail(p, p->line, key, "comes before the first section, where only `format = %s` is allowed",
                          FORMAT_NAME);
    if (p->has_format)
        return model_fail(p, p->line, key, "given twice; remove one");
    if (strcmp(model_parse_trimmed(value), FORMAT_NAME) != 0)
        return model_fail(p, p->line, key, "`%.40s` is not a format that this program reads; it reads %s",
                          model_parse_trimmed(value), FORMAT_NAME);
    p->has_format = true;
    return 0;
}

static int model_parse_read_value(struct model_parser *p, const char *key, char *value)
{
    char *source = strchr(value, '#');
    if (source)
        *source++ = '\0';
    value = model_parse_trimmed(value);
    if (!*value)
        return model_fail(p, p->line, key, "has no value; write `%s = VALUE  # source`", key);
    if (!source || !is_source(source))
        return model_fail(p, p->line, key, "has no source; add `# document, section` or `# assumed: why`");
    if (remember(p, p->section_number, key) != 0)
        return -1;
    const struct model_section *s = p->section;
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i].name, key) == 0)
            return model_store_key(p, &s->keys[i], value);
    if (s->other)
        return s->other(p, key, value);
    return unknown_key(p, key);
}

static int model_parse_read_line(struct model_parser *p, char *line)
{
    char *text = model_parse_trimmed(line);
    if (!*text || *text == '#')
        return 0;
    if (*text == '[')
        return p->has_format
                   ? model_parse_read_header(p, text)
                   : model_fail(p, p->line, "format", "missing; the file begins with `format = %s`", FORMAT_NAME);
    char *equals = strchr(text, '=');
    char *hash = strchr(text, '#');
    if (!equals || (hash && hash < equals)) {
        if (hash)
            *hash = '\0';
        return model_fail(p, p->line, text, "not understood; lines are `[section]`, `key = value  # source`, `# ...`");
    }
    *equals = '\0';
    char *key = model_parse_trimmed(text);
    if (!*key)
        return model_fail(p, p->line, "=", "the key is missing; write `key = value  # source`");
    if (!p->section)
        return model_parse_read_format(p, key, equals + 1);
    return model_parse_read_value(p, key, equals + 1);
}

static int check_bytes(struct model_parser *p, const char *line, size_t n)
{
    bool comment = false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];
        comment = comment || c == '#';
        if ((c < 32 && c != '\t' && c != '\r') || c == 127 || (c > 127 && !comment))
            return model_fail(p, p->line, "(byte)",
                              "byte %zu is %02XH: a model file is ASCII text (comments may be UTF-8)", i + 1, c);
    }
    return 0;
}

static int model_parse_read_lines(struct model_parser *p, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        p->line++;
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - (text + at)) : length - at;
        char line[MODEL_LINE_MAX];
        if (check_bytes(p, text + at, n) != 0)
            return -1;
        if (n >= sizeof line)
            return model_fail(p, p->line, "(line)", "longer than %d characters; break the comment", MODEL_LINE_MAX - 1);
        memcpy(line, text + at, n);
        line[n] = '\0';
        if (model_parse_read_line(p, line) != 0)
            return -1;
        at += n + (end ? 1 : 0);
    }
    return 0;
}

static int check_sections(struct model_parser *p)
{
    if (!p->has_format)
        return model_fail(p, p->line, "format", "missing; the file begins with `format = %s`", FORMAT_NAME);
    if (leave_section(p) != 0)
        return -1;
    for (size_t i = 0; i < model_n_sections; i++) {
        if (!model_sections[i].required)
            continue;
        if (!find_seen(p, 0, model_sections[i].name))
            return model_fail(p, p->line, model_sections[i].name, "section [%s] is missing", model_sections[i].name);
    }
    return 0;
}

static int model_parse_parse(struct model_parser *p, const char *text, size_t length)
{
    if (length == 0)
        return model_fail(p, 0, "(file)", "empty; the file begins with `format = %s`", FORMAT_NAME);
    if (model_parse_read_lines(p, text, length) != 0 || check_sections(p) != 0)
        return -1;
    return model_check(p);
}

int model_parse(const char *text, size_t length, const char *name, struct model *out, struct machine_error *err)
{
    struct model_parser *p = calloc(1, sizeof *p);
    memset(err, 0, sizeof *err);
    if (!p) {
        err->status = MACHINE_FAILED;
        snprintf(err->text, sizeof err->text, "out of memory while reading %.160s", name);
        return MACHINE_FAILED;
    }
    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", name);
    p->file = name;
    p->model = out;
    p->error = err;
    int failed = model_parse_parse(p, text, length);
    free(p);
    return failed ? (int)err->status : MACHINE_OK;
}
