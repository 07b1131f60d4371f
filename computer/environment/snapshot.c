/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings under which a result was measured, as JSON, as a line, and two lines compared. */
#include "computer/environment/environment.h"
#include "computer/environment/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/plain_text.h"
#include "util/text_list.h"

enum { VALUE_SIZE = 160, MEMBERS = 12 };

/* ---- what the members are ---- */

/* A fact, or "" where it is not known. A semicolon would end the member in the line. */
static void copy_value(const char *text, char out[VALUE_SIZE])
{
    plain_text(text, out, VALUE_SIZE);
    for (char *at = strchr(out, ';'); at != NULL; at = strchr(at, ';'))
        *at = ',';
}

static const char *fact_text(const struct environment *e, enum environment_fact which)
{
    return e->fact[which].error == 0 ? e->fact[which].text : "";
}

/* "2.1 2024-03-01": firmware writes dates as 03/01/2024 (SMBIOS 3.0, table "BIOS Information", offset 08H). */
static void bios_value(const struct environment *e, char out[VALUE_SIZE])
{
    char text[VALUE_SIZE], date[32], rest;
    unsigned day, month, year;
    const char *version = fact_text(e, ENV_BIOS_VERSION), *given = fact_text(e, ENV_BIOS_DATE);
    if (sscanf(given, "%2u/%2u/%4u%c", &month, &day, &year, &rest) == 3)
        snprintf(date, sizeof date, "%04u-%02u-%02u", year, month, day);
    else
        snprintf(date, sizeof date, "%.31s", given);
    snprintf(text, sizeof text, "%.100s%s%s", version, *version && *date ? " " : "", date);
    copy_value(text, out);
}

static const char *smt_value(const struct environment *e)
{
    const char *control = fact_text(e, ENV_SMT_CONTROL), *active = fact_text(e, ENV_SMT_ACTIVE);
    if (strcmp(control, "forceoff") == 0)
        return "off";
    if (strcmp(control, "notimplemented") == 0)
        return "notsupported";
    if (*control != '\0')
        return control;
    return strcmp(active, "1") == 0 ? "on" : strcmp(active, "0") == 0 ? "off" : "";
}

static const char *turbo_value(const struct environment *e)
{
    const char *no = fact_text(e, ENV_NO_TURBO), *boost = fact_text(e, ENV_POLICY_BOOST);
    if (*no != '\0')
        return strcmp(no, "0") == 0 ? "on" : "off";
    if (*boost == '\0')
        boost = fact_text(e, ENV_BOOST);
    return *boost == '\0' ? "" : strcmp(boost, "0") == 0 ? "off" : "on";
}

static const char *hypervisor_value(const struct environment *e)
{
    if (e->hypervisor_name[0] != '\0')
        return e->hypervisor_name;
    if (!e->cpuinfo_known)
        return "";
    return e->hypervisor ? "unnamed" : "none";
}

/* "yes", "no", or "" where the list is not readable. A kernel that cannot do it has no such list. */
static const char *member_of(const struct environment *e, enum environment_fact list, const struct cpu_mask *mask)
{
    if (e->fact[list].error != 0 && (e->fact[list].error != ENOENT || e->fact[ENV_ONLINE].error != 0))
        return "";
    return cpu_mask_has(mask, e->cpu) ? "yes" : "no";
}

struct snapshot_member {
    const char *name;  /* in JSON */
    const char *title; /* in the line */
    bool yes_no;
    char value[VALUE_SIZE];
};

/* All members in their order. */
static void snapshot_members(const struct environment *e, struct snapshot_member out[MEMBERS])
{
    char bios[VALUE_SIZE];
    bios_value(e, bios);
    const struct {
        const char *name, *title, *value;
        bool yes_no;
    } members[MEMBERS] = {
        {"kernel", "kernel", fact_text(e, ENV_RELEASE), false},
        {"microcode", "microcode", e->microcode, false},
        {"bios", "BIOS", bios, false},
        {"smt", "SMT", smt_value(e), false},
        {"governor", "governor", fact_text(e, ENV_GOVERNOR), false},
        {"driver", "driver", fact_text(e, ENV_DRIVER), false},
        {"turbo", "turbo", turbo_value(e), false},
        {"epp", "EPP", fact_text(e, ENV_EPP), false},
        {"hypervisor", "hypervisor", hypervisor_value(e), false},
        {"mitigations", "mitigations", e->mitigations, false},
        {"isolated", "isolated", member_of(e, ENV_ISOLATED, &e->isolated), true},
        {"nohz_full", "nohz_full", member_of(e, ENV_NOHZ_FULL, &e->nohz_full), true},
    };
    for (size_t i = 0; i < MEMBERS; i++) {
        out[i] = (struct snapshot_member){members[i].name, members[i].title, members[i].yes_no, ""};
        copy_value(members[i].value, out[i].value);
    }
}

/* ---- in JSON, in a line ---- */

static json_t *member_json(const struct snapshot_member *m)
{
    if (m->value[0] == '\0')
        return json_null();
    return m->yes_no ? json_boolean(strcmp(m->value, "yes") == 0) : json_string(m->value);
}

json_t *snapshot_json(const struct environment *e)
{
    struct snapshot_member members[MEMBERS];
    json_t *out = json_object();
    snapshot_members(e, members);
    for (size_t i = 0; i < MEMBERS && out != NULL; i++)
        if (json_object_set_new(out, members[i].name, member_json(&members[i])) != 0) {
            json_decref(out);
            out = NULL;
        }
    return out;
}

void snapshot_line(const struct environment *e, char *out, size_t size)
{
    struct snapshot_member members[MEMBERS];
    snapshot_members(e, members);
    out[0] = '\0';
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].value[0] != '\0')
            text_list_add(out, size, "; ", "%s %s", members[i].title, members[i].value);
}

/* ---- compared ---- */

/* A member of a line: "SMT on". */
struct line_part {
    const char *at;
    size_t title, length; /* of its first word; of all */
};

static bool next_part(const char **line, struct line_part *out)
{
    const char *at = *line + strspn(*line, "; ");
    out->at = at;
    out->length = strcspn(at, ";");
    out->title = strcspn(at, " ;");
    *line = at + out->length;
    return out->length > 0;
}

static bool find_part(const char *line, const struct line_part *wanted, struct line_part *out)
{
    while (next_part(&line, out))
        if (out->title == wanted->title && strncmp(out->at, wanted->at, out->title) == 0)
            return true;
    return false;
}

/* The value for a person; "unknown" where the line does not have it. */
static int value_length(const struct line_part *p, bool found, const char **value)
{
    bool any = found && p->length > p->title;
    *value = any ? p->at + p->title + 1 : "unknown";
    return any ? (int)(p->length - p->title - 1) : (int)strlen(*value);
}

bool snapshot_differs(const char *here, const char *there, char *out, size_t size)
{
    struct line_part ours, theirs;
    const char *a, *b;
    out[0] = '\0';
    if (*here == '\0' || *there == '\0')
        return false;
    for (const char *line = here; next_part(&line, &ours);) {
        bool found = find_part(there, &ours, &theirs);
        int length_a = value_length(&ours, true, &a), length_b = value_length(&theirs, found, &b);
        if (length_a != length_b || strncmp(a, b, (size_t)length_a) != 0)
            text_list_add(out, size, "; ", "%.*s %.*s, there %.*s", (int)ours.title, ours.at, length_a, a, length_b, b);
    }
    for (const char *line = there; next_part(&line, &theirs);)
        if (!find_part(here, &theirs, &ours)) {
            int length_b = value_length(&theirs, true, &b);
            text_list_add(out, size, "; ", "%.*s unknown, there %.*s", (int)theirs.title, theirs.at, length_b, b);
        }
    return out[0] != '\0';
}

/* ---- taken ---- */

void snapshot_take(int cpu, struct environment *out)
{
    environment_read_facts("", cpu < 0 ? cpu_default("/sys") : cpu, out);
}

void snapshot_take_line(int cpu, char *out, size_t size)
{
    struct environment e;
    snapshot_take(cpu, &e);
    snapshot_line(&e, out, size);
}
