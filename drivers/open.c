/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens the machine that a name stands for.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/choices.h"
#include "drivers/machine.h"

enum { CHOICES = 8 };

static const char *const names[] = { "auto", "timing", "perf", "msr", "helper", "model:" };

/* Edit distance (Levenshtein); names are short. */
static size_t edits(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    size_t row[LONGEST + 1];
    size_t n = strnlen(b, LONGEST);

    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[n];
}

static const char *nearest(const char *spec)
{
    const char *best = names[0];

    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        if (edits(spec, names[i]) < edits(spec, best)) {
            best = names[i];
        }
    }
    return edits(spec, best) <= 3 ? best : NULL;
}

static int unknown(const char *spec, struct machine_error *err)
{
    const char *near = nearest(spec);

    memset(err, 0, sizeof *err);
    err->status = MACHINE_BAD_INPUT;
    snprintf(err->text, sizeof err->text, "unknown machine \"%.60s\"%s%s%s", spec, near != NULL ? ", perhaps \"" : "",
             near != NULL ? near : "", near != NULL ? "\"" : "");
    snprintf(err->remedy, sizeof err->remedy, "machines: auto, timing, perf, msr, helper, model:NAME, model:FILE");
    return MACHINE_BAD_INPUT;
}

static int refuse(const struct machine_choice *c, struct machine_error *err)
{
    memset(err, 0, sizeof *err);
    err->status = MACHINE_CANNOT;
    snprintf(err->text, sizeof err->text, "machine %s cannot be used: %s", c->name, c->why);
    snprintf(err->remedy, sizeof err->remedy, "%.120s%s--machine timing or model:NAME work%s", c->remedy,
             c->remedy[0] != '\0' ? "; " : "", strcmp(c->name, "timing") == 0 ? " elsewhere" : "");
    return MACHINE_CANNOT;
}

static int open_by_name(const char *name, const struct machine_choice *c, size_t n, struct machine *out,
                        struct machine_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(c[i].name, name) == 0) {
            if (strcmp(name, "helper") == 0 && c[i].usable) {
                return machine_open_helper(out, err);
            }
            /* timing states its own reasons; the others cannot be opened by this version */
            return strcmp(name, "timing") == 0 ? machine_open_timing(out, err) : refuse(&c[i], err);
        }
    }
    return unknown(name, err);
}

int machine_open(const char *spec, const char *data_dir, struct machine *out, char *told, size_t told_size,
                 struct machine_error *err)
{
    struct machine_choice c[CHOICES];

    if (told_size > 0) {
        told[0] = '\0';
    }
    if (strncmp(spec, "model:", 6) == 0) {
        return machine_open_model(spec + 6, data_dir, out, err);
    }
    size_t n = machine_choices(c, CHOICES);
    if (strcmp(spec, "auto") != 0) {
        return open_by_name(spec, c, n, out, err);
    }
    if (told_size > 0) {
        choices_tell(c, n, told, told_size);
    }
    for (size_t i = 0; i < n; i++) {
        if (c[i].usable) {
            return open_by_name(c[i].name, c, n, out, err);
        }
    }
    return n > 0 ? refuse(&c[n - 1], err) : unknown(spec, err);
}
