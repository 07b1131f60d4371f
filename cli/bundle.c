/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "util/archive.h"
#include "util/atomic_file.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "drivers/host_facts.h"
#include "util/path.h"

enum { BUNDLE_BYTES = 2000000, WHY_SIZE = 1000 };

int bundle_check(const char *path)
{
    char why[WHY_SIZE];
    if (strcmp(path, "-") == 0) {
        complain("--bundle: name a file, as in --bundle self-test.tar.gz");
        return BAD_USAGE;
    }
    if (atomic_check(path, BUNDLE_BYTES, why, sizeof(why)) != 0) {
        complain("%s", why);
        return FAILED;
    }
    return DONE;
}

struct members {
    struct archive_member member[ARCHIVE_MEMBERS_MAX];
    size_t n;
};

/* Takes over the reference. Returns 0, or -1: out of memory. */
static int bundle_add(struct members *m, const char *name, json_t *json, size_t flags)
{
    struct archive_member *member = &m->member[m->n];
    char *text = json != NULL ? json_dumps(json, flags | JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    if (text == NULL)
        return -1;
    snprintf(member->name, sizeof(member->name), "%s", name);
    member->text = text;
    member->size = strlen(text);
    m->n++;
    return 0;
}

static int print_archive(FILE *stream, const void *data)
{
    const struct members *m = data;
    return archive_write(stream, m->member, m->n);
}

int bundle_write(const char *path, const json_t *self_test, const struct self_test_readings *r)
{
    struct members members = {.n = 0};
    int status = FAILED;
    if (bundle_add(&members, "self-test.json", json_incref((json_t *)(uintptr_t)self_test),
                   JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0 ||
        bundle_add(&members, "readings.json", self_test_readings_json(r), JSON_COMPACT) != 0 ||
        bundle_add(&members, "host.json", host_facts_json("/sys", "/proc"), JSON_INDENT(1)) != 0)
        complain("out of memory");
    else
        status = file_write(path, print_archive, &members);
    archive_free(members.member, members.n);
    return status;
}

static int bundle_refuse(const char *path, const char *what, const char *why)
{
    complain("%s: %s%s; it must be a file that --self-test --bundle wrote", path, what, why);
    return BAD_USAGE;
}

static int read_members(const char *path, const struct members *m, struct self_test_readings *out)
{
    char why[400];
    json_error_t error;
    const struct archive_member *readings = archive_find(m->member, m->n, "readings.json");
    if (readings == NULL)
        return bundle_refuse(path, "it contains no readings.json", "");
    json_t *json = json_loadb(readings->text, readings->size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) {
        snprintf(why, sizeof(why), "%d:%d: %.200s", error.line, error.column, error.text);
        return bundle_refuse(path, "readings.json:", why);
    }
    int status = self_test_readings_read(json, out, why, sizeof(why));
    json_decref(json);
    return status == 0 ? DONE : bundle_refuse(path, "readings.json: ", why);
}

int bundle_read(const char *path, struct self_test_readings *out)
{
    struct members members = {.n = 0};
    char why[400];
    FILE *in;
    if (path_read_named(path, &in, why, sizeof(why)) != 0)
        return bundle_refuse(path, "not a regular file that can be read: ", why);
    int status = archive_read(in, members.member, &members.n, why, sizeof(why)) == 0 ? DONE
                                                                                     : bundle_refuse(path, why, "");
    (void)fclose(in);
    if (status == DONE)
        status = read_members(path, &members, out);
    archive_free(members.member, members.n);
    return status;
}
