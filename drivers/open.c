/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens the machine that a name stands for. */
#include <stdio.h>
#include <string.h>

#include "drivers/choices.h"
#include "drivers/machine.h"
#include "drivers/model/model.h"
#include "drivers/msr/msr_machine.h"
#include "util/edit_distance.h"
#include "util/text_list.h"

enum { CHOICES = 8 };

/* What can be asked for; without a function, what is not one machine. */
static const struct {
    const char *name;
    int (*open)(struct machine *out, struct machine_error *err);
} openers[] = {
    {"auto", NULL},
    {"timing", machine_open_timing},
    {"perf", machine_open_perf},
    {"msr", machine_open_msr},
    {"helper", machine_open_helper},
    {"model:", NULL},
};
enum { OPENERS = sizeof openers / sizeof *openers };

static const char *open_nearest(const char *spec)
{
    const char *best = NULL;
    unsigned least = 4; /* further away it would be a guess */

    for (size_t i = 0; i < OPENERS; i++)
        if (edit_nearer(spec, strlen(spec), openers[i].name, &least))
            best = openers[i].name;
    return best;
}

/* The shipped model of which it is the name, or a part of that (gold-6130) at least 4 characters long; else "". */
static void open_nearest_model(const char *spec, char *out, size_t size)
{
    enum { PART_LEAST = 4 };
    char **names;
    size_t n;

    out[0] = '\0';
    if (strlen(spec) < PART_LEAST || model_list(NULL, &names, &n) != 0)
        return;
    for (size_t i = 0; i < n && out[0] == '\0'; i++)
        if (strcasestr(names[i], spec) != NULL || edit_distance(spec, strlen(spec), names[i]) <= 2)
            snprintf(out, size, "model:%s", names[i]);
    model_list_free(names, n);
}

static int unknown(const char *spec, struct machine_error *err)
{
    char model[120], remedy[sizeof err->remedy] = "machines";
    open_nearest_model(spec, model, sizeof model);
    const char *near = model[0] != '\0' ? model : open_nearest(spec);

    for (size_t i = 0; i < OPENERS; i++)
        text_list_add(remedy, sizeof remedy, i == 0 ? ": " : ", ", "%s%s", openers[i].name,
                      strcmp(openers[i].name, "model:") == 0 ? "NAME, model:FILE" : "");
    return machine_fail(err, MACHINE_BAD_INPUT, remedy, "unknown machine '%.60s'%s%s%s", spec,
                        near != NULL ? ", perhaps '" : "", near != NULL ? near : "", near != NULL ? "'" : "");
}

static int open_refuse(const struct machine_choice *c, struct machine_error *err)
{
    char remedy[sizeof err->remedy];

    snprintf(remedy, sizeof remedy, "%.120s%s--machine timing or model:NAME work%s", c->remedy,
             c->remedy[0] != '\0' ? "; " : "", strcmp(c->name, "timing") == 0 ? " elsewhere" : "");
    return machine_fail(err, MACHINE_CANNOT, remedy, "machine %s cannot be used: %s", c->name, c->why);
}

/* One that --list machines says can be used. */
static int open_usable(const char *name, struct machine *out, struct machine_error *err)
{
    for (size_t i = 0; i < OPENERS; i++)
        if (openers[i].open != NULL && strcmp(openers[i].name, name) == 0)
            return openers[i].open(out, err);
    return unknown(name, err);
}

/* Counters come with registers where those can be read, too. */
static int open_choice(const char *name, const struct machine_choice *c, size_t n, const struct choice_openers *how,
                       struct machine *out, struct machine_error *err)
{
    const struct machine_choice *registers = choices_find(c, n, "msr");
    int status = how->open(name, out, err);

    if (status == MACHINE_OK && strcmp(name, "perf") == 0 && registers != NULL && registers->usable) {
        status = how->add_registers(out, err);
        if (status != MACHINE_OK)
            out->ops->close(out);
    }
    return status;
}

static int open_by_name(const char *name, const struct machine_choice *c, size_t n, const struct choice_openers *how,
                        struct machine *out, struct machine_error *err)
{
    const struct machine_choice *found = choices_find(c, n, name);

    if (found == NULL)
        return unknown(name, err);
    /* timing states its own reasons */
    bool tried = found->usable || strcmp(name, "timing") == 0;
    return tried ? open_choice(name, c, n, how, out, err) : open_refuse(found, err);
}

/* The best that opens: what is checked beforehand is not all that can be in the way. */
static int open_best(struct machine_choice *c, size_t n, const struct choice_openers *how, struct machine *out,
                     char *told, size_t told_size, struct machine_error *err)
{
    bool tried = false;
    int status = MACHINE_CANNOT;

    for (size_t i = 0; i < n && status != MACHINE_OK; i++) {
        if (c[i].usable) {
            tried = true;
            status = open_choice(c[i].name, c, n, how, out, err);
        }
        if (c[i].usable && status != MACHINE_OK) {
            c[i].usable = false;
            snprintf(c[i].why, sizeof c[i].why, "looked usable, but could not be opened: %.350s", err->text);
        }
    }
    if (told_size > 0)
        choices_tell(c, n, told, told_size);
    if (!tried)
        return n > 0 ? open_refuse(&c[n - 1], err) : unknown("auto", err);
    return status;
}

int open_from_choices(const char *name, struct machine_choice *c, size_t n, const struct choice_openers *how,
                      struct machine *out, char *told, size_t told_size, struct machine_error *err)
{
    if (told_size > 0)
        told[0] = '\0';
    return strcmp(name, "auto") == 0 ? open_best(c, n, how, out, told, told_size, err)
                                     : open_by_name(name, c, n, how, out, err);
}

int machine_open(const char *spec, const char *data_dir, struct machine *out, char *told, size_t told_size,
                 struct machine_error *err)
{
    static const struct choice_openers here = {.open = open_usable, .add_registers = msr_machine_add};
    struct machine_choice c[CHOICES];

    if (told_size > 0)
        told[0] = '\0';
    if (strncmp(spec, "model:", 6) == 0)
        return machine_open_model(spec + 6, data_dir, out, err);
    return open_from_choices(spec, c, machine_choices(c, CHOICES), &here, out, told, told_size, err);
}
