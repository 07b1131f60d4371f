/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "tests/support/guest_score.h"

static double number_or(const json_t *o, const char *key, double otherwise)
{
    const json_t *n = json_object_get(o, key);
    return json_is_number(n) ? json_number_value(n) : otherwise;
}

static int read_truth(const json_t *o, struct guest_truth *t)
{
    const char *kind = json_string_value(json_object_get(o, "kind"));
    int k = 0;
    while (kind && k < GUEST_KINDS && strcmp(kind, guest_kind_name((enum guest_kind)k)) != 0)
        k++;
    if (!kind || k == GUEST_KINDS)
        return -1;
    *t = (struct guest_truth){.kind = (enum guest_kind)k,
                              .ratio = number_or(o, "ratio", 1),
                              .d1_us = number_or(o, "d1", NAN),
                              .d1b_us = number_or(o, "d1b", NAN),
                              .halt_us = number_or(o, "halt", 0),
                              .low = number_or(o, "low", 1),
                              .tau_us = number_or(o, "tau", NAN),
                              .cold_us = number_or(o, "cold", 0),
                              .back_us = number_or(o, "back", NAN),
                              .idle = number_or(o, "idle", 0)};
    snprintf(t->about, sizeof t->about, "%s: ratio %.2f, until %.2f or %.2f us, halt %.2f us, step %.3f", kind,
             t->ratio, t->d1_us, t->d1b_us, t->halt_us, t->low);
    return 0;
}

static int read_case(const char *folder, const char *file, const json_t *about, struct trace *t,
                     struct guest_truth *truth, char *name, size_t size)
{
    char path[512];
    struct trace_error error;
    if (read_truth(about, truth)) {
        snprintf(name, size, "%s: of no known kind", file);
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "r");
    int bad = in ? trace_read_csv(in, t, &error) : -1;
    snprintf(name, size, "%s%s%.200s", file, bad ? ": " : "", !bad ? "" : in ? error.text : "cannot be opened");
    if (in)
        fclose(in);
    return bad ? -1 : 1;
}

int guest_case(const char *folder, size_t index, struct trace *t, struct guest_truth *truth, char *name, size_t size)
{
    char path[512];
    json_error_t error;
    snprintf(path, sizeof path, "%s/truth.json", folder);
    json_t *all = json_load_file(path, 0, &error);
    if (!all) {
        snprintf(name, size, "%s: %s", path, error.text);
        return -1;
    }
    void *member = json_object_iter(all);
    while (member && index--)
        member = json_object_iter_next(all, member);
    int found = 0;
    if (member)
        found = read_case(folder, json_object_iter_key(member), json_object_iter_value(member), t, truth, name, size);
    json_decref(all);
    return found;
}
