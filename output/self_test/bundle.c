/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/self_test/self_test_output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/pack.h"
#include "output/self_test/host_facts.h"
#include "util/list.h"
#include "util/path.h"
#include "util/error.h"

/* Takes over `text`. Returns 0, or -1: out of memory. */
static int bundle_take(struct bundle *b, const char *folder, const char *name, char *text, size_t size)
{
    struct archive_member *member = text && list_room(&b->member, b->n, sizeof *b->member) ? &b->member[b->n] : NULL;
    if (!member) {
        free(text);
        return -1;
    }
    int length = snprintf(member->name, sizeof member->name, "%s%s", folder, name);
    if (length >= (int)sizeof member->name) {
        free(text); /* no such name is known */
        return 0;
    }
    member->text = text;
    member->size = size;
    member->read_only = false;
    b->n++;
    return 0;
}

/* Takes over the reference. Returns 0, or -1: out of memory. */
static int bundle_add(struct bundle *b, const char *name, json_t *json, size_t flags)
{
    char *text = json ? json_dumps(json, flags | JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    return bundle_take(b, "", name, text, text ? strlen(text) : 0);
}

static int bundle_add_file(void *data, const char *path, const char *bytes, size_t size, bool read_only)
{
    struct bundle *b = data;
    size_t n = b->n;
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    int status = bundle_take(b, ARCHIVE_SKIPPED, path, copy, size);
    if (b->n > n)
        b->member[n].read_only = read_only;
    return status;
}

int bundle_make(struct bundle *b, const char *root, const json_t *self_test, const struct self_test_readings *r)
{
    char sys[300], proc[300];
    snprintf(sys, sizeof sys, "%s/sys", root);
    snprintf(proc, sizeof proc, "%s/proc", root);
    *b = (struct bundle){.n = 0};
    bool made = bundle_add(b, "self-test.json", json_incref((json_t *)(uintptr_t)self_test),
                           JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                bundle_add(b, "readings.json", self_test_readings_json(r), JSON_COMPACT) == 0 &&
                bundle_add(b, "host.json", host_facts_json(sys, proc), JSON_INDENT(1)) == 0 &&
                (r->modelled || environment_pack(root, r->cpu_number, bundle_add_file, b) == 0);
    return made ? 0 : -1;
}

void bundle_free(struct bundle *b)
{
    archive_free(b->member, b->n);
    free(b->member);
    *b = (struct bundle){.n = 0};
}

int bundle_print(FILE *out, const struct bundle *b)
{
    return archive_write(out, b->member, b->n);
}

static int read_members(const struct archive_member *members, size_t n, struct self_test_readings *out, char *why,
                        size_t why_size)
{
    char reason[300];
    json_error_t error;
    const struct archive_member *readings = archive_find(members, n, "readings.json");
    if (!readings)
        return error_line(why, why_size, "it contains no readings.json");
    json_t *json = json_loadb(readings->text, readings->size, JSON_REJECT_DUPLICATES, &error);
    int status = json ? self_test_readings_read(json, out, reason, sizeof reason) : -1;
    if (!json)
        snprintf(why, why_size, "readings.json:%d:%d: %.200s", error.line, error.column, error.text);
    else if (status != 0)
        snprintf(why, why_size, "readings.json: %s", reason);
    json_decref(json);
    return status;
}

int bundle_read(const char *path, struct self_test_readings *out, char *why, size_t why_size)
{
    struct archive_member members[ARCHIVE_MEMBERS_MAX];
    size_t n = 0;
    char reason[300];
    FILE *in;
    if (path_read_named(path, &in, reason, sizeof reason) != 0)
        return error_line(why, why_size, "not a regular file that can be read: %s", reason);
    int status = archive_read(in, members, &n, why, why_size);
    (void)fclose(in);
    if (status == 0)
        status = read_members(members, n, out, why, why_size);
    archive_free(members, n);
    return status == 0 ? 0 : -1;
}
