/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of events: reading one, and finding the one of a CPU and the event of a name. */
#include "drivers/events/events.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/data_file.h"
#include "util/path.h"
#include "util/sourced_ini.h"
#include "util/text_list.h"

const char *const events_stalls[EVENTS_STALLS] = {"CYCLE_ACTIVITY.STALLS_L2_MISS", "EXE_ACTIVITY.BOUND_ON_STORES"};

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
static bool range(const char *text, unsigned most, unsigned *lo, unsigned *hi)
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
    if (strchr(words[1], '-') != NULL || !range(words[1], 0xffff, &p->family, &ignored))
        return events_refuse(r, "cpu", "family '%.20s': one number, as in 0x06", words[1]);
    if (!range(words[2], 0xff, &p->model_lo, &p->model_hi))
        return events_refuse(r, "cpu", "models '%.20s': A or A-B, each up to 0xff", words[2]);
    if (strcmp(words[3], "*") != 0 && !range(words[3], 15, &p->stepping_lo, &p->stepping_hi))
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
    if (!range(words[1], 31, &lo, &hi))
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

static int enter_section(struct events_reader *r)
{
    return section_named(r->ini.header)
               ? MACHINE_OK
               : events_refuse(r, r->ini.header, "no such section; known sections: part licence events");
}

static int read_line(struct events_reader *r)
{
    char *key, *value;
    int status = sourced_ini_pair(&r->ini, &key, &value);

    return status == MACHINE_OK ? section_named(r->ini.header)(r, key, value) : status;
}

/* ---- the complete file ---- */

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

/* Checks that need the complete file. */
static int check_whole(struct events_reader *r)
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
            return check_whole(&r);
        int status = item == SOURCED_INI_WRONG     ? MACHINE_BAD_INPUT
                     : item == SOURCED_INI_SECTION ? enter_section(&r)
                                                   : read_line(&r);
        if (status != MACHINE_OK)
            return status;
    }
}

/* ---- which table, which event ---- */

bool events_match(const struct events_table *t, const struct cpu_identity *id, const char *pmu)
{
    if (strcmp(t->pmu, pmu) != 0)
        return false;
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct events_part *p = &t->parts[i];
        if (strcmp(p->vendor, id->vendor) == 0 && p->family == id->family && id->model >= p->model_lo &&
            id->model <= p->model_hi && id->stepping >= p->stepping_lo && id->stepping <= p->stepping_hi)
            return true;
    }
    return false;
}

static int read_table(const char *path, struct events_table *out, struct machine_error *err)
{
    char why[160];
    size_t n;
    FILE *in;

    if (path_read_listed(path, &in, why, sizeof why) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be opened: %s", path, why);
    char *text = data_file_contents(in, path, &n, err);
    fclose(in);
    int status = text != NULL ? events_parse(text, n, path, out, err) : (int)err->status;
    free(text);
    return status;
}

int events_find(const char *data_dir, const struct cpu_identity *id, const char *pmu, struct events_table *out,
                struct machine_error *err)
{
    static const struct data_kind tables = {"event table", "events", ".events", NULL};
    char folder[DATA_PATH_SIZE], path[DATA_PATH_SIZE + 300], **names;
    int status = MACHINE_OK;
    bool found = false;
    size_t n;

    data_folder(data_dir, tables.folder, folder);
    if (access(folder, R_OK | X_OK) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "set CHARACTERIZE_DATA to the directory that contains events/",
                            "no event tables: %.200s: %s", folder, strerror(errno));
    }
    if (data_file_list(data_dir, &tables, &names, &n) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < n && status == MACHINE_OK && !found; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, names[i], tables.suffix);
        status = read_table(path, out, err);
        found = status == MACHINE_OK && events_match(out, id, pmu);
    }
    data_file_list_free(names, n);
    if (status == MACHINE_OK && !found) {
        return machine_fail(err, MACHINE_CANNOT, "", "there is no event table for %s %s%s", id->vendor, id->signature,
                            strcmp(pmu, "cpu_atom") == 0 ? ", efficiency cores" : "");
    }
    return status;
}

/* Returns how many characters of a name are at the start of another, in any case. */
static size_t alike_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] != '\0' && strncasecmp(a, b, n + 1) == 0)
        n++;
    return n;
}

const struct events_entry *events_by_name(const struct events_table *t, const char *name, struct machine_error *err)
{
    size_t best = 0;
    char near[160] = "";

    for (size_t i = 0; i < t->n_entries; i++) {
        if (strcasecmp(t->entries[i].name, name) == 0)
            return &t->entries[i];
        size_t n = alike_start(name, t->entries[i].name);
        best = n > best ? n : best;
    }
    for (size_t i = 0; i < t->n_entries && best >= 3; i++) {
        const char *alike = t->entries[i].name;
        if (alike_start(name, alike) == best && strlen(near) + strlen(alike) + 10 < sizeof near)
            text_list_add(near, sizeof near, " ", near[0] != '\0' ? "%s" : "nearest: %s", alike);
    }
    machine_fail(err, MACHINE_BAD_INPUT, near[0] != '\0' ? near : "a code works, too: --event 0x28:0x08",
                 "no event '%.60s' in the event table of %s", name, t->title);
    return NULL;
}

size_t events_by_select(const struct events_table *t, uint32_t select, struct machine_event *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_entries && n < max; i++) {
        if (event_code_select(t->entries[i].code) == select) {
            snprintf(out[n].name, sizeof out[n].name, "%s", t->entries[i].name);
            out[n++].code = t->entries[i].code;
        }
    }
    return n;
}
