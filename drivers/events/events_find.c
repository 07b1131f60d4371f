/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which table of events belongs to a CPU, and which event to a name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/data_file.h"
#include "drivers/events/events.h"
#include "util/path.h"
#include "util/text_list.h"

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

static int events_find_read_table(const char *path, struct events_table *out, struct machine_error *err)
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
        status = events_find_read_table(path, out, err);
        found = status == MACHINE_OK && events_match(out, id, pmu);
    }
    data_file_list_free(names, n);
    if (status == MACHINE_OK && !found) {
        return machine_fail(err, MACHINE_CANNOT, "", "there is no event table for %s %s%s", id->vendor, id->signature,
                            strcmp(pmu, "cpu_atom") == 0 ? ", efficiency cores" : "");
    }
    return status;
}

/* Of the characters of a name, how many are at the start of another, in any case. */
static size_t events_find_alike(const char *a, const char *b)
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
        size_t n = events_find_alike(name, t->entries[i].name);
        best = n > best ? n : best;
    }
    for (size_t i = 0; i < t->n_entries && best >= 3; i++) {
        const char *alike = t->entries[i].name;
        if (events_find_alike(name, alike) == best && strlen(near) + strlen(alike) + 10 < sizeof near)
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
