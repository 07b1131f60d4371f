/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of files whose figures have sources. */
#include "util/sourced_ini.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_WORDS_MAX = 16 };

int sourced_ini_fail(struct sourced_ini *r, unsigned line, const char *key, const char *format, ...)
{
    struct machine_error *e = r->err;
    va_list args;
    memset(e, 0, sizeof *e);
    e->status = MACHINE_BAD_INPUT;
    size_t n = (size_t)(line ? snprintf(e->text, sizeof e->text, "%.160s:%u: ", r->file, line)
                             : snprintf(e->text, sizeof e->text, "%.160s: ", r->file));
    const size_t quoted = n;
    if (key)
        n += (size_t)snprintf(e->text + n, sizeof e->text - n, "%.64s: ", key);
    va_start(args, format);
    vsnprintf(e->text + n, sizeof e->text - n, format, args);
    va_end(args);
    /* quoted text of the file must not disturb a terminal */
    for (char *c = e->text + quoted; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return MACHINE_BAD_INPUT;
}

char *sourced_ini_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

size_t sourced_ini_words(char *text, char *words[], size_t max)
{
    static const char blanks[] = " \t\n\v\f\r";
    size_t n = 0;
    char *rest;
    for (char *word = strtok_r(text, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        if (n == max)
            return max + 1;
        words[n++] = word;
    }
    return n;
}

/* ---- what was given ---- */

static const struct sourced_ini_seen *find_seen(const struct sourced_ini *r, unsigned section, const char *key)
{
    for (size_t i = 0; i < r->n_seen; i++)
        if (r->seen[i].section == section && strcmp(r->seen[i].key, key) == 0)
            return &r->seen[i];
    return NULL;
}

static int remember(struct sourced_ini *r, unsigned section, const char *key)
{
    if (strlen(key) >= SOURCED_INI_KEY_MAX)
        return sourced_ini_fail(r, r->line, key, "too long; keys and headers have at most %d characters",
                                SOURCED_INI_KEY_MAX - 1);
    if (r->n_seen == SOURCED_INI_SEEN_MAX)
        return sourced_ini_fail(r, r->line, key, "more than %d entries; a file needs far fewer", SOURCED_INI_SEEN_MAX);
    struct sourced_ini_seen *s = &r->seen[r->n_seen++];
    s->section = section;
    s->line = r->line;
    snprintf(s->key, sizeof s->key, "%s", key);
    return MACHINE_OK;
}

int sourced_ini_twice(struct sourced_ini *r, const char *key, unsigned first_line)
{
    return sourced_ini_fail(r, r->line, key, "given twice, first in line %u; remove one", first_line);
}

int sourced_ini_once(struct sourced_ini *r, const char *key)
{
    const struct sourced_ini_seen *before = find_seen(r, r->section, key);
    return before ? sourced_ini_twice(r, key, before->line) : remember(r, r->section, key);
}

unsigned sourced_ini_has(const struct sourced_ini *r, unsigned section, const char *key)
{
    const struct sourced_ini_seen *seen = find_seen(r, section, key);
    return seen ? seen->line : 0;
}

unsigned sourced_ini_line(const struct sourced_ini *r, const char *header, const char *key)
{
    const struct sourced_ini_seen *section = find_seen(r, 0, header);
    unsigned line = section ? sourced_ini_has(r, 1 + (unsigned)(section - r->seen), key) : 0;
    return line || !section ? line : section->line;
}

/* ---- lines ---- */

static int check_bytes(struct sourced_ini *r, const char *line, size_t n)
{
    bool comment = false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];
        comment = comment || c == '#';
        bool odd = (c < 32 && c != '\t' && c != '\r') || c == 127 || (c > 127 && !comment);
        if (c == 0 || (odd && r->ascii))
            return sourced_ini_fail(r, r->line, "(byte)", "byte %zu is %02XH: such a file is %s", i + 1, c,
                                    r->ascii ? "ASCII text (comments may be UTF-8)" : "text");
    }
    return MACHINE_OK;
}

/* Sections are told apart by the words of their headers, so that a duplicate cannot hide after white space. */
static int read_header(struct sourced_ini *r, char *text)
{
    char *words[HEADER_WORDS_MAX], *end = strchr(text, ']');
    if (!end)
        return sourced_ini_fail(r, r->line, text, "the header of a section ends with ']'");
    const char *after = sourced_ini_trim(end + 1);
    if (*after && *after != '#')
        return sourced_ini_fail(r, r->line, text, "after the header of a section only a '# comment' may follow");
    *end = '\0';
    size_t n = sourced_ini_words(text + 1, words, HEADER_WORDS_MAX), used = 0;
    if (n == 0)
        return sourced_ini_fail(r, r->line, "[]", "the name of the section is missing");
    if (n > HEADER_WORDS_MAX)
        return sourced_ini_fail(r, r->line, words[0], "too many words in the header");
    for (size_t i = 0; i < n; i++) /* they fit: the line did */
        used += (size_t)snprintf(r->header + used, sizeof r->header - used, "%s%s", i ? " " : "", words[i]);
    r->header_line = r->line;
    const struct sourced_ini_seen *before = find_seen(r, 0, r->header);
    r->header_before = before ? before->line : 0;
    r->section = 1 + (unsigned)(before ? (size_t)(before - r->seen) : r->n_seen);
    return before ? MACHINE_OK : remember(r, 0, r->header);
}

int sourced_ini_pair(struct sourced_ini *r, char **key, char **value)
{
    char *equals = strchr(r->text, '=');
    *equals = '\0'; /* there is one: sourced_ini_next() has looked */
    *key = sourced_ini_trim(r->text);
    *value = sourced_ini_trim(equals + 1);
    if (!**key)
        return sourced_ini_fail(r, r->line, "=", "the key is missing; write 'key = value  # source'");
    if (!**value)
        return sourced_ini_fail(r, r->line, *key, "has no value; write '%.40s = VALUE  # source'", *key);
    return MACHINE_OK;
}

/* Before the first section. */
static int read_format(struct sourced_ini *r)
{
    char *key, *value;
    if (sourced_ini_pair(r, &key, &value) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    if (strcmp(key, "format") != 0)
        return sourced_ini_fail(r, r->line, key, "comes before the first section, where only 'format = %s' is allowed",
                                r->format);
    if (r->format_seen)
        return sourced_ini_fail(r, r->line, key, "given twice; remove one");
    if (strcmp(value, r->format) != 0)
        return sourced_ini_fail(r, r->line, key, "'%.40s' is not a format that this program reads; it reads %s", value,
                                r->format);
    r->format_seen = true;
    return MACHINE_OK;
}

/* A source says where a figure comes from: a document's letter at least. */
static bool is_source(const char *text)
{
    for (; *text; text++)
        if (isalpha((unsigned char)*text))
            return true;
    return false;
}

/* Not a comment, not a header. */
static int read_plain(struct sourced_ini *r, char *text)
{
    char *hash = strchr(text, '#');
    if (hash)
        *hash = '\0';
    r->text = sourced_ini_trim(text);
    r->source = hash ? sourced_ini_trim(hash + 1) : NULL;
    const char *equals = strchr(r->text, '=');
    if (!equals)
        return sourced_ini_fail(r, r->line, r->text,
                                "not understood; lines are '[section]', 'key = value  # source', '# ...'");
    if (!r->section)
        return read_format(r);
    if (r->source && is_source(r->source))
        return MACHINE_OK;
    r->text[equals - r->text] = '\0';
    return sourced_ini_fail(r, r->line, sourced_ini_trim(r->text),
                            "has no source; add '# document, section' or '# assumed: why'");
}

/* Takes the next line into the reader's room, trimmed. NULL after filling *err. */
static char *take_line(struct sourced_ini *r)
{
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    size_t n = (size_t)((end ? end : r->end) - r->at);
    r->line++;
    if (check_bytes(r, r->at, n) != MACHINE_OK)
        return NULL;
    if (n >= sizeof r->room) {
        sourced_ini_fail(r, r->line, "(line)", "longer than %zu characters; break the comment", sizeof r->room - 1);
        return NULL;
    }
    memcpy(r->room, r->at, n);
    r->room[n] = '\0';
    r->at += n + (end != NULL);
    return sourced_ini_trim(r->room);
}

void sourced_ini_begin(struct sourced_ini *r, const char *text, size_t length, const char *file, const char *format,
                       bool ascii, struct machine_error *err)
{
    *r = (struct sourced_ini){
        .at = text, .end = text + length, .file = file, .format = format, .ascii = ascii, .err = err};
}

enum sourced_ini_item sourced_ini_next(struct sourced_ini *r)
{
    while (r->at < r->end) {
        char *text = take_line(r);
        if (!text)
            return SOURCED_INI_WRONG;
        if (!*text || *text == '#')
            continue;
        if (*text != '[') {
            if (read_plain(r, text) != MACHINE_OK)
                return SOURCED_INI_WRONG;
            if (r->section)
                return SOURCED_INI_LINE;
            continue;
        }
        if (!r->format_seen)
            break;
        return read_header(r, text) == MACHINE_OK ? SOURCED_INI_SECTION : SOURCED_INI_WRONG;
    }
    if (r->format_seen)
        return SOURCED_INI_END;
    if (r->line)
        sourced_ini_fail(r, r->line, "format", "missing; the file begins with 'format = %s'", r->format);
    else
        sourced_ini_fail(r, 0, NULL, "empty; it begins with 'format = %s'", r->format);
    return SOURCED_INI_WRONG;
}
