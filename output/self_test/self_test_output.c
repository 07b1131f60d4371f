/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A self-test as text, as JSON, and as a bundle for a stranger. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/pack.h"
#include "output/document/document.h"
#include "output/self_test/host_facts.h"
#include "output/self_test/self_test.h"
#include "util/error.h"
#include "util/json_lines.h"
#include "util/list.h"
#include "util/path.h"
#include "util/text_list.h"

/* ---- text ---- */

static void put_line(struct document *d, const struct self_test_line *l)
{
    char name[60], text[1200] = "";
    const bool judged = l->verdict != SELF_TEST_CANNOT;
    snprintf(name, sizeof name, "%-7s %-17s", self_test_word(l->verdict), l->name);
    text_list_add(text, sizeof text, "", "%s", l->text);
    if (judged && !isnan(l->lo) && !isnan(l->hi))
        text_list_add(text, sizeof text, " ", "(bounds %.6g to %.6g %s)", l->lo, l->hi, l->unit);
    else if (judged && !isnan(l->hi))
        text_list_add(text, sizeof text, " ", "(at most %.6g %s)", l->hi, l->unit);
    else if (judged && !isnan(l->lo))
        text_list_add(text, sizeof text, " ", "(at least %.6g %s)", l->lo, l->unit);
    text_list_add(text, sizeof text, l->text[0] ? ": " : " ", "%s", l->reason);
    text_list_add(text, sizeof text, "; ", "%s%s", l->remedy[0] ? "remedy: " : "", l->remedy);
    document_fact(d, name, "%s", *text ? text : "-");
}

void self_test_text_print(FILE *out, const struct self_test_readings *r, const struct self_test_lines *l,
                          const struct self_test_lines *others, bool replayed)
{
    struct document d;
    unsigned disturbed = 0;
    size_t kept = 0;
    for (size_t i = 0; i < r->n_stretches; i++) {
        disturbed += r->stretch[i].disturbed;
        kept += r->stretch[i].n;
    }
    document_begin(&d, "Self-test", NULL,
                   r->modelled ? "MODELLED: computed from a model, not measured on a processor" : NULL);
    d.records = true;
    document_fact(&d, "CPU", "%s", r->cpu);
    document_fact(&d, "Machine", "%s, on CPU %d%s", r->machine, r->cpu_number,
                  replayed ? "; judged from the readings of a bundle" : "");
    document_fact(&d, "Source", "%s", r->source);
    document_fact(&d, "Notes", "%s", r->notes);
    document_fact(&d, "Repetitions", "%zu used, %u disturbed and repeated", kept, disturbed);
    document_section(&d, DOCUMENT_EVERYWHERE, NULL, NULL);
    for (size_t i = 0; i < l->n; i++)
        put_line(&d, &l->line[i]);
    if (others != NULL && others->n > 0)
        document_note(&d, "Second opinions");
    for (size_t i = 0; others != NULL && i < others->n; i++)
        put_line(&d, &others->line[i]);
    document_note(&d, "%zu pass, %zu fail, %zu cannot", self_test_count(l, SELF_TEST_PASS),
                  self_test_count(l, SELF_TEST_FAIL), self_test_count(l, SELF_TEST_CANNOT));
    document_print(out, false, &d);
    document_free(&d);
}

/* ---- JSON ---- */

static json_t *lines_array(const struct self_test_lines *l, bool *failed)
{
    static const struct json_member members[] = {
        JSON_MEMBER(self_test_line, value, MEMBER_REAL),  JSON_MEMBER(self_test_line, unit, MEMBER_STRING),
        JSON_MEMBER(self_test_line, lo, MEMBER_REAL),     JSON_MEMBER(self_test_line, hi, MEMBER_REAL),
        JSON_MEMBER(self_test_line, text, MEMBER_CHARS),  JSON_MEMBER(self_test_line, reason, MEMBER_CHARS),
        JSON_MEMBER(self_test_line, remedy, MEMBER_CHARS)};
    json_t *array = json_array();
    for (size_t i = 0; l && i < l->n; i++) {
        json_t *o = json_pack("{s:s, s:s}", "name", l->line[i].name, "verdict", self_test_word(l->line[i].verdict));
        json_members_put(o, JSON_MEMBERS(members), &l->line[i], failed);
        json_lines_push(array, o, failed);
    }
    return array;
}

json_t *self_test_lines_json(const struct self_test_readings *r, const struct self_test_lines *l,
                             const struct self_test_lines *others)
{
    bool failed = false;
    json_t *root = json_pack("{s:s, s:o, s:i, s:i, s:i, s:o, s:o}", "format", "characterize-self-test/1", "machine",
                             self_test_machine_json(r, &failed), "pass", (int)self_test_count(l, SELF_TEST_PASS),
                             "fail", (int)self_test_count(l, SELF_TEST_FAIL), "cannot",
                             (int)self_test_count(l, SELF_TEST_CANNOT), "lines", lines_array(l, &failed),
                             "second_opinions", lines_array(others, &failed));
    if (!failed)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- bundles ---- */

/* Takes over `text`. Returns 0, or -1: out of memory. */
static int take(struct self_test_bundle *b, const char *folder, const char *name, char *text, size_t size)
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
static int add(struct self_test_bundle *b, const char *name, json_t *json, size_t flags)
{
    char *text = json ? json_dumps(json, flags | JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    return take(b, "", name, text, text ? strlen(text) : 0);
}

static int add_file(void *data, const char *path, const char *bytes, size_t size, bool read_only)
{
    struct self_test_bundle *b = data;
    size_t n = b->n;
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    int status = take(b, ARCHIVE_SKIPPED, path, copy, size);
    if (b->n > n)
        b->member[n].read_only = read_only;
    return status;
}

int self_test_bundle_make(struct self_test_bundle *b, const char *root, const json_t *self_test,
                          const struct self_test_readings *r)
{
    char sys[300], proc[300];
    snprintf(sys, sizeof sys, "%s/sys", root);
    snprintf(proc, sizeof proc, "%s/proc", root);
    *b = (struct self_test_bundle){.n = 0};
    bool made = add(b, "self-test.json", json_incref((json_t *)(uintptr_t)self_test),
                    JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                add(b, "readings.json", self_test_readings_json(r), JSON_COMPACT) == 0 &&
                add(b, "host.json", host_facts_json(sys, proc), JSON_INDENT(1)) == 0 &&
                (r->modelled || environment_pack(root, r->cpu_number, add_file, b) == 0);
    return made ? 0 : -1;
}

void self_test_bundle_free(struct self_test_bundle *b)
{
    archive_free(b->member, b->n);
    free(b->member);
    *b = (struct self_test_bundle){.n = 0};
}

int self_test_bundle_print(FILE *out, const struct self_test_bundle *b)
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

int self_test_bundle_read(const char *path, struct self_test_readings *out, char *why, size_t why_size)
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
