/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a table of events. */
#include "drivers/events/events.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_NAME "characterize-events/1"

enum section { NO_SECTION, PART, LICENSE, EVENTS };

struct events_reader {
    struct events_table *out;
    struct machine_error *err;
    unsigned line;
    enum section section;
    bool format_seen;
    char license_names[EVENTS_LICENSES][EVENTS_NAME_MAX];
    unsigned license_lines[EVENTS_LICENSES];
};

static int events_fail(struct events_reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int events_fail(struct events_reader *r, unsigned line, const char *format, ...)
{
    struct machine_error *e = r->err;
    va_list args;

    memset(e, 0, sizeof *e);
    e->status = MACHINE_BAD_INPUT;
    size_t n = (size_t)snprintf(e->text, sizeof e->text, "%.160s:%u: ", r->out->file, line);
    va_start(args, format);
    vsnprintf(e->text + n, sizeof e->text - n, format, args);
    va_end(args);
    /* what is quoted from the file must not disturb a terminal */
    for (char *c = e->text + n; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return MACHINE_BAD_INPUT;
}

static char *events_trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Splits at blanks. Returns how many words there are; max + 1 = more. */
static size_t events_split(char *text, char *words[], size_t max)
{
    size_t n = 0;

    for (char *save, *word = strtok_r(text, " \t", &save); word != NULL; word = strtok_r(NULL, " \t", &save)) {
        if (n == max)
            return max + 1;
        words[n++] = word;
    }
    return n;
}

/* "A" or "A-B", each up to `most`, decimal or 0x.. */
static bool events_range(const char *text, unsigned most, unsigned *lo, unsigned *hi)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    unsigned long first = strtoul(text, &end, 0), last = first;
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1]))
            return false;
        last = strtoul(end + 1, &end, 0);
    }
    *lo = (unsigned)first;
    *hi = (unsigned)last;
    return *end == '\0' && first <= last && last <= most;
}

/* ---- the sections ---- */

static int read_cpu(struct events_reader *r, char *value)
{
    struct events_table *t = r->out;
    char *words[4];
    unsigned ignored;

    if (events_split(value, words, 4) != 4) {
        return events_fail(
            r, r->line, "cpu: four words are needed: VENDOR FAMILY MODELS STEPPINGS, as in GenuineIntel 0x06 0x55 0-4");
    }
    if (t->n_parts == EVENTS_PARTS_MAX)
        return events_fail(r, r->line, "cpu: more than %d lines", EVENTS_PARTS_MAX);
    struct events_part *p = &t->parts[t->n_parts];
    *p = (struct events_part){.stepping_hi = 15};
    if (strcmp(words[0], "GenuineIntel") != 0 && strcmp(words[0], "AuthenticAMD") != 0)
        return events_fail(r, r->line, "cpu: vendor '%.20s': GenuineIntel or AuthenticAMD", words[0]);
    snprintf(p->vendor, sizeof p->vendor, "%.12s", words[0]);
    if (strchr(words[1], '-') != NULL || !events_range(words[1], 0xffff, &p->family, &ignored))
        return events_fail(r, r->line, "cpu: family '%.20s': one number, as in 0x06", words[1]);
    if (!events_range(words[2], 0xff, &p->model_lo, &p->model_hi))
        return events_fail(r, r->line, "cpu: models '%.20s': A or A-B, each up to 0xff", words[2]);
    if (strcmp(words[3], "*") != 0 && !events_range(words[3], 15, &p->stepping_lo, &p->stepping_hi))
        return events_fail(r, r->line, "cpu: steppings '%.20s': A or A-B, each up to 15, or * for all", words[3]);
    t->n_parts++;
    return MACHINE_OK;
}

static int read_part(struct events_reader *r, const char *key, char *value)
{
    struct events_table *t = r->out;

    if (strcmp(key, "cpu") == 0)
        return read_cpu(r, value);
    if (strcmp(key, "title") == 0) {
        if (t->title[0] != '\0' || strlen(value) >= sizeof t->title)
            return events_fail(r, r->line, "title: %s", t->title[0] != '\0' ? "given twice" : "too long");
        snprintf(t->title, sizeof t->title, "%s", value);
        return MACHINE_OK;
    }
    if (strcmp(key, "pmu") == 0) {
        if (strcmp(value, "cpu_core") != 0 && strcmp(value, "cpu_atom") != 0)
            return events_fail(r, r->line, "pmu: '%.20s': cpu_core or cpu_atom (other parts need no such line)", value);
        snprintf(t->pmu, sizeof t->pmu, "%.15s", value);
        return MACHINE_OK;
    }
    return events_fail(r, r->line, "unknown key '%.40s': [part] has title, cpu and pmu", key);
}

/* "0 1 2": the levels of 64add, 256fma, 512fma; a heavier kernel is at no lower one. */
static int read_levels(struct events_reader *r, const char *value)
{
    int *level = r->out->level_of;

    if (level[0] >= 0)
        return events_fail(r, r->line, "levels: given twice");
    bool good = strlen(value) == 5 && value[1] == ' ' && value[3] == ' ';
    for (int i = 0; i < 3 && good; i++) {
        good = value[2 * i] >= (i > 0 ? value[2 * i - 2] : '0') && value[2 * i] <= '2';
        level[i] = value[2 * i] - '0';
    }
    return good && level[0] == 0 ? MACHINE_OK
                                 : events_fail(r, r->line,
                                               "levels: '%.20s': those of 64add, 256fma and 512fma, each 0 to 2, the "
                                               "first 0 and none below the one before, as in 0 1 2",
                                               value);
}

static int read_license(struct events_reader *r, const char *key, const char *value)
{
    static const char *const keys[EVENTS_LICENSES] = {"lvl0", "lvl1", "lvl2", "throttle"};

    if (strcmp(key, "levels") == 0)
        return read_levels(r, value);

    for (int i = 0; i < EVENTS_LICENSES; i++) {
        if (strcmp(key, keys[i]) != 0)
            continue;
        if (r->license_lines[i] != 0 || strlen(value) >= EVENTS_NAME_MAX)
            return events_fail(r, r->line, "%s: %s", key, r->license_lines[i] != 0 ? "given twice" : "too long");
        snprintf(r->license_names[i], EVENTS_NAME_MAX, "%s", value);
        r->license_lines[i] = r->line;
        return MACHINE_OK;
    }
    return events_fail(r, r->line, "unknown key '%.40s': [licence] has lvl0, lvl1, lvl2, throttle and levels", key);
}

static int index_of(const struct events_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_entries; i++)
        if (strcasecmp(t->entries[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int read_event(struct events_reader *r, const char *key, char *value)
{
    struct events_table *t = r->out;
    char *words[2];
    unsigned lo, hi;

    if (strlen(key) >= EVENTS_NAME_MAX ||
        key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")] != '\0' ||
        !isalpha((unsigned char)key[0])) {
        return events_fail(
            r, r->line, "'%.40s' is not an event name: a letter, then letters, digits, _ and ., fewer than %d in all",
            key, EVENTS_NAME_MAX);
    }
    if (index_of(t, key) >= 0)
        return events_fail(r, r->line, "%s: given twice", key);
    if (t->n_entries == EVENTS_ENTRIES_MAX)
        return events_fail(r, r->line, "more than %d events", EVENTS_ENTRIES_MAX);
    if (events_split(value, words, 2) != 2)
        return events_fail(r, r->line, "%s: two words are needed: EVENT:UMASK and counters, as in 0x28:0x07 0-3", key);
    struct events_entry *e = &t->entries[t->n_entries];
    const char *wrong = event_code_parse(words[0], &e->code);
    if (wrong != NULL)
        return events_fail(r, r->line, "%s: '%.40s' %s", key, words[0], wrong);
    if (!events_range(words[1], 31, &lo, &hi))
        return events_fail(r, r->line, "%s: counters '%.20s': A or A-B, each up to 31", key, words[1]);
    e->counters = (uint32_t)((1ull << (hi + 1)) - (1ull << lo));
    e->line = r->line;
    snprintf(e->name, sizeof e->name, "%s", key);
    t->n_entries++;
    return MACHINE_OK;
}

/* ---- lines ---- */

static int events_read_section(struct events_reader *r, const char *text)
{
    static const char *const names[] = {[PART] = "[part]", [LICENSE] = "[licence]", [EVENTS] = "[events]"};

    for (enum section s = PART; s <= EVENTS; s++) {
        if (strcmp(text, names[s]) == 0) {
            r->section = s;
            return MACHINE_OK;
        }
    }
    return events_fail(r, r->line, "unknown section '%.40s': [part], [licence] or [events]", text);
}

static int events_read_format(struct events_reader *r, const char *key, const char *value)
{
    if (strcmp(key, "format") != 0 || strcmp(value, FORMAT_NAME) != 0)
        return events_fail(r, r->line, "the first line must be `format = %s`", FORMAT_NAME);
    r->format_seen = true;
    return MACHINE_OK;
}

static int events_read_line(struct events_reader *r, char *text)
{
    text = events_trimmed(text);
    if (text[0] == '\0' || text[0] == '#')
        return MACHINE_OK;
    char *source = strchr(text, '#');
    if (source != NULL) {
        *source++ = '\0';
        source = events_trimmed(source);
        text = events_trimmed(text);
    }
    if (text[0] == '[' && r->format_seen)
        return events_read_section(r, text);
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return events_fail(r, r->line, "'%.40s': neither `[section]` nor `key = value  # source`", text);
    *equals = '\0';
    const char *key = events_trimmed(text);
    char *value = events_trimmed(equals + 1);
    if (!r->format_seen)
        return events_read_format(r, key, value);
    if (value[0] == '\0')
        return events_fail(r, r->line, "%.40s: no value", key);
    if (source == NULL || source[0] == '\0')
        return events_fail(r, r->line, "%.40s: no source; add `# DOCUMENT` after it", key);
    switch (r->section) {
    case PART:
        return read_part(r, key, value);
    case LICENSE:
        return read_license(r, key, value);
    case EVENTS:
        return read_event(r, key, value);
    default:
        return events_fail(r, r->line, "%.40s: before the first [section]", key);
    }
}

/* Selects of twelve bits are AMD's alone. */
static int check_selects(struct events_reader *r)
{
    const struct events_table *t = r->out;
    bool intel = false;

    for (size_t i = 0; i < t->n_parts; i++)
        intel = intel || strcmp(t->parts[i].vendor, "AuthenticAMD") != 0;
    for (size_t i = 0; i < t->n_entries && intel; i++) {
        if (event_code_select(t->entries[i].code) > EVENT_SELECT_MAX) {
            return events_fail(r, t->entries[i].line,
                               "%s: event select 0x%x: allowed: 0x00 to 0xff (more on AMD processors only)",
                               t->entries[i].name, event_code_select(t->entries[i].code));
        }
    }
    return MACHINE_OK;
}

/* What only the whole file can tell. */
static int check_whole(struct events_reader *r)
{
    struct events_table *t = r->out;

    if (!r->format_seen || t->title[0] == '\0' || t->n_parts == 0 || t->n_entries == 0) {
        return events_fail(r, r->line, "the file ends without %s",
                           !r->format_seen       ? "format = " FORMAT_NAME
                           : t->title[0] == '\0' ? "a title"
                           : t->n_parts == 0     ? "a cpu"
                                                 : "an event");
    }
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        t->license[i] = r->license_lines[i] != 0 ? index_of(t, r->license_names[i]) : -1;
        if (r->license_lines[i] != 0 && t->license[i] < 0)
            return events_fail(r, r->license_lines[i], "no event '%.60s' in [events]", r->license_names[i]);
    }
    bool all = t->license[0] >= 0 && t->license[1] >= 0 && t->license[2] >= 0;
    if (t->level_of[0] >= 0 && t->license[0] < 0)
        return events_fail(r, r->line, "[licence] has levels, but no events for them");
    bool any = t->license[0] >= 0 || t->license[1] >= 0 || t->license[2] >= 0 || t->license[3] >= 0;
    if (any && !all)
        return events_fail(r, r->line, "[licence] needs all of lvl0, lvl1 and lvl2, or none");
    return check_selects(r);
}

int events_parse(const char *text, size_t length, const char *file, struct events_table *out, struct machine_error *err)
{
    struct events_reader r = {.out = out, .err = err, .line = 1};

    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", file);
    snprintf(out->pmu, sizeof out->pmu, "cpu");
    for (int i = 0; i < 3; i++)
        out->level_of[i] = -1;
    if (strlen(text) != length)
        return events_fail(&r, 1, "NUL byte: not a text file");
    char *copy = strdup(text);
    if (copy == NULL)
        return events_fail(&r, 1, "out of memory");
    int status = MACHINE_OK;
    for (char *at = copy; *at != '\0' && status == MACHINE_OK;) {
        size_t n = strcspn(at, "\n");
        bool last = at[n] == '\0';
        at[n] = '\0';
        status = events_read_line(&r, at);
        at += last ? n : n + 1;
        r.line += !last;
    }
    free(copy);
    return status == MACHINE_OK ? check_whole(&r) : status;
}
