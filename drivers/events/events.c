/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a table of events. */
#include "drivers/events/events.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sourced_ini.h"

struct events_reader {
    struct sourced_ini ini;
    struct events_table *out;
    char license_names[EVENTS_LICENSES][EVENTS_NAME_MAX];
    unsigned license_lines[EVENTS_LICENSES];
};
/* Refuses what stands in a line: (line, key, format, ...) as sourced_ini_fail() takes them. */
#define events_fail(r, ...) sourced_ini_fail(&(r)->ini, __VA_ARGS__)
/* The same of the present line. */
#define events_refuse(r, ...) events_fail(r, (r)->ini.line, __VA_ARGS__)

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

bool events_amd(const char *vendor)
{
    return strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;
}

/* ---- the sections ---- */

static int read_cpu(struct events_reader *r, char *value)
{
    struct events_table *t = r->out;
    char *words[4];
    unsigned ignored;

    if (sourced_ini_words(value, words, 4) != 4) {
        return events_refuse(r, "cpu",
                             "four words are needed: VENDOR FAMILY MODELS STEPPINGS, as in GenuineIntel 0x06 0x55 0-4");
    }
    if (t->n_parts == EVENTS_PARTS_MAX)
        return events_refuse(r, "cpu", "more than %d lines", EVENTS_PARTS_MAX);
    struct events_part *p = &t->parts[t->n_parts];
    *p = (struct events_part){.stepping_hi = 15};
    if (strcmp(words[0], "GenuineIntel") != 0 && strcmp(words[0], "AuthenticAMD") != 0)
        return events_refuse(r, "cpu", "vendor '%.20s': GenuineIntel or AuthenticAMD", words[0]);
    snprintf(p->vendor, sizeof p->vendor, "%.12s", words[0]);
    if (strchr(words[1], '-') != NULL || !events_range(words[1], 0xffff, &p->family, &ignored))
        return events_refuse(r, "cpu", "family '%.20s': one number, as in 0x06", words[1]);
    if (!events_range(words[2], 0xff, &p->model_lo, &p->model_hi))
        return events_refuse(r, "cpu", "models '%.20s': A or A-B, each up to 0xff", words[2]);
    if (strcmp(words[3], "*") != 0 && !events_range(words[3], 15, &p->stepping_lo, &p->stepping_hi))
        return events_refuse(r, "cpu", "steppings '%.20s': A or A-B, each up to 15, or * for all", words[3]);
    t->n_parts++;
    return MACHINE_OK;
}

static int read_part(struct events_reader *r, const char *key, char *value)
{
    struct events_table *t = r->out;

    if (strcmp(key, "cpu") == 0) /* as often as there are kinds of them */
        return read_cpu(r, value);
    if (sourced_ini_once(&r->ini, key) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    if (strcmp(key, "title") == 0) {
        if (strlen(value) >= sizeof t->title)
            return events_refuse(r, key, "longer than %zu characters", sizeof t->title - 1);
        snprintf(t->title, sizeof t->title, "%s", value);
        return MACHINE_OK;
    }
    if (strcmp(key, "pmu") == 0) {
        if (strcmp(value, "cpu_core") != 0 && strcmp(value, "cpu_atom") != 0)
            return events_refuse(r, key, "'%.20s': cpu_core or cpu_atom (other parts need no such line)", value);
        snprintf(t->pmu, sizeof t->pmu, "%.15s", value);
        return MACHINE_OK;
    }
    return events_refuse(r, key, "no such key in section [part]; known keys: title cpu pmu");
}

/* "0 1 2": the levels of 64add, 256fma, 512fma; a heavier kernel is at no lower one. */
static int read_levels(struct events_reader *r, const char *value)
{
    int *level = r->out->level_of;

    bool good = strlen(value) == 5 && value[1] == ' ' && value[3] == ' ';
    for (int i = 0; i < 3 && good; i++) {
        good = value[2 * i] >= (i > 0 ? value[2 * i - 2] : '0') && value[2 * i] <= '2';
        level[i] = value[2 * i] - '0';
    }
    return good && level[0] == 0 ? MACHINE_OK
                                 : events_refuse(r, "levels",
                                                 "'%.20s': those of 64add, 256fma and 512fma, each 0 to 2, the "
                                                 "first 0 and none below the one before, as in 0 1 2",
                                                 value);
}

static int read_license(struct events_reader *r, const char *key, char *value)
{
    static const char *const keys[EVENTS_LICENSES] = {"lvl0", "lvl1", "lvl2", "throttle"};

    if (sourced_ini_once(&r->ini, key) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    if (strcmp(key, "levels") == 0)
        return read_levels(r, value);
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        if (strcmp(key, keys[i]) != 0)
            continue;
        if (strlen(value) >= EVENTS_NAME_MAX)
            return events_refuse(r, key, "longer than %d characters", EVENTS_NAME_MAX - 1);
        snprintf(r->license_names[i], EVENTS_NAME_MAX, "%s", value);
        r->license_lines[i] = r->ini.line;
        return MACHINE_OK;
    }
    return events_refuse(r, key, "no such key in section [licence]; known keys: lvl0 lvl1 lvl2 throttle levels");
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
        return events_refuse(r, key, "not an event name: a letter, then letters, digits, _ and ., fewer than %d in all",
                             EVENTS_NAME_MAX);
    }
    int before = index_of(t, key);
    if (before >= 0)
        return sourced_ini_twice(&r->ini, key, t->entries[before].line);
    if (t->n_entries == EVENTS_ENTRIES_MAX)
        return events_refuse(r, key, "more than %d events", EVENTS_ENTRIES_MAX);
    if (sourced_ini_words(value, words, 2) != 2)
        return events_refuse(r, key, "two words are needed: EVENT:UMASK and counters, as in 0x28:0x07 0-3");
    struct events_entry *e = &t->entries[t->n_entries];
    const char *wrong = event_code_parse(words[0], &e->code);
    if (wrong != NULL)
        return events_refuse(r, key, "'%.40s' %s", words[0], wrong);
    if (!events_range(words[1], 31, &lo, &hi))
        return events_refuse(r, key, "counters '%.20s': A or A-B, each up to 31", words[1]);
    e->counters = (uint32_t)((1ull << (hi + 1)) - (1ull << lo));
    e->line = r->ini.line;
    snprintf(e->name, sizeof e->name, "%s", key);
    t->n_entries++;
    return MACHINE_OK;
}

typedef int events_section(struct events_reader *r, const char *key, char *value);

/* Which section it is; NULL: there is none of that name. */
static events_section *section_named(const char *name)
{
    return strcmp(name, "part") == 0      ? read_part
           : strcmp(name, "licence") == 0 ? read_license
           : strcmp(name, "events") == 0  ? read_event
                                          : NULL;
}

static int events_enter_section(struct events_reader *r)
{
    return section_named(r->ini.header)
               ? MACHINE_OK
               : events_refuse(r, r->ini.header, "no such section; known sections: part licence events");
}

static int events_read_line(struct events_reader *r)
{
    char *key, *value;
    int status = sourced_ini_pair(&r->ini, &key, &value);

    return status == MACHINE_OK ? section_named(r->ini.header)(r, key, value) : status;
}

/* ---- the whole file ---- */

/* Selects of twelve bits are AMD's alone. */
static int check_selects(struct events_reader *r)
{
    const struct events_table *t = r->out;
    bool intel = false;

    for (size_t i = 0; i < t->n_parts; i++)
        intel = intel || !events_amd(t->parts[i].vendor);
    for (size_t i = 0; i < t->n_entries && intel; i++) {
        if (event_code_select(t->entries[i].code) > EVENT_SELECT_MAX) {
            return events_fail(r, t->entries[i].line, t->entries[i].name,
                               "event select 0x%x: allowed: 0x00 to 0xff (more on AMD processors only)",
                               event_code_select(t->entries[i].code));
        }
    }
    return MACHINE_OK;
}

/* What only the whole file can tell. */
static int events_check_whole(struct events_reader *r)
{
    struct events_table *t = r->out;

    if (t->title[0] == '\0' || t->n_parts == 0 || t->n_entries == 0)
        return events_refuse(r, NULL, "the file ends without %s",
                             t->title[0] == '\0' ? "a title"
                             : t->n_parts == 0   ? "a cpu"
                                                 : "an event");
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        t->license[i] = r->license_lines[i] != 0 ? index_of(t, r->license_names[i]) : -1;
        if (r->license_lines[i] != 0 && t->license[i] < 0)
            return events_fail(r, r->license_lines[i], NULL, "no event '%.60s' in [events]", r->license_names[i]);
    }
    bool all = t->license[0] >= 0 && t->license[1] >= 0 && t->license[2] >= 0;
    if (t->level_of[0] >= 0 && t->license[0] < 0)
        return events_refuse(r, NULL, "[licence] has levels, but no events for them");
    bool any = t->license[0] >= 0 || t->license[1] >= 0 || t->license[2] >= 0 || t->license[3] >= 0;
    if (any && !all)
        return events_refuse(r, NULL, "[licence] needs all of lvl0, lvl1 and lvl2, or none");
    return check_selects(r);
}

int events_parse(const char *text, size_t length, const char *file, struct events_table *out, struct machine_error *err)
{
    struct events_reader r = {.out = out};

    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", file);
    snprintf(out->pmu, sizeof out->pmu, "cpu");
    for (int i = 0; i < 3; i++)
        out->level_of[i] = -1;
    sourced_ini_begin(&r.ini, text, length, out->file, "characterize-events/1", false, err);
    for (;;) {
        enum sourced_ini_item item = sourced_ini_next(&r.ini);
        if (item == SOURCED_INI_END)
            return events_check_whole(&r);
        int status = item == SOURCED_INI_WRONG     ? MACHINE_BAD_INPUT
                     : item == SOURCED_INI_SECTION ? events_enter_section(&r)
                                                   : events_read_line(&r);
        if (status != MACHINE_OK)
            return status;
    }
}
