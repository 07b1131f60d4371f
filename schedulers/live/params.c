/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/live/params.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "drivers/events/event_code.h"
#include "schedulers/simulate/params.h"

static const char *text_of(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text != NULL ? text : "";
}

/* Why there is nothing of a table, as the export says; NULL: it does not. */
static const char *why_missing(const json_t *root, const char *table)
{
    size_t i;
    json_t *row, *rows = json_object_get(root, "missing");
    json_array_foreach(rows, i, row) if (strcmp(text_of(row, "table"), table) == 0) return text_of(row, "why");
    return NULL;
}

static int check(const char *path, const json_t *root, bool modelled, const struct cpu_identity *here,
                 struct machine_error *err)
{
    static const char *const keys[] = {"family", "model", "stepping"};
    const unsigned values[] = {here->family, here->model, here->stepping};
    if (strcmp(text_of(root, "format"), "characterize-export/1") != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s is not of format characterize-export/1", path);
    if (!modelled && !json_is_false(json_object_get(root, "modelled")))
        return machine_fail(err, MACHINE_BAD_INPUT, "--modelled takes it all the same",
                            "%s is computed from a model, not measured", path);
    if (json_array_size(json_object_get(root, "frequencies")) == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s has no frequencies: %s", path,
                            why_missing(root, "frequency") != NULL ? why_missing(root, "frequency")
                                                                   : "it does not say why");
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(root, keys[i]);
        if (!json_is_integer(value))
            return machine_fail(err, MACHINE_BAD_INPUT, "export its tables again on this computer",
                                "%s does not say of which processor it is: '%s' is missing", path, keys[i]);
        if (json_integer_value(value) != (json_int_t)values[i])
            return machine_fail(err, MACHINE_BAD_INPUT, "",
                                "%s is of another processor, %s: its %s is %lld, and that of this one, %s, is %u", path,
                                text_of(root, "cpu"), keys[i], (long long)json_integer_value(value), here->signature,
                                values[i]);
    }
    return MACHINE_OK;
}

static void read_events(const json_t *root, struct live_params *out)
{
    static const char *const names[] = {"throttle", "stall_loads", "stall_stores"};
    uint64_t *const codes[] = {&out->throttle_code, &out->stall_code[0], &out->stall_code[1]};
    const char *why = why_missing(root, "umask");
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, "level_events"), i, row)
    {
        const json_int_t level = json_integer_value(json_object_get(row, "level"));
        if (level >= 0 && level < POLICY_LEVELS_MAX)
            out->level_code[level] = event_code_make((unsigned)json_integer_value(json_object_get(row, "event")),
                                                     (unsigned)json_integer_value(json_object_get(row, "umask")));
    }
    json_array_foreach(json_object_get(root, "events"), i,
                       row) for (size_t k = 0; k < 3; k++) if (strcmp(text_of(row, "what"), names[k]) == 0) *
        codes[k] = (uint64_t)json_integer_value(json_object_get(row, "code"));
    snprintf(out->no_levels, sizeof(out->no_levels), "%s", why != NULL ? why : "");
}

static int read_levels(const char *path, const json_t *root, struct live_params *out, struct machine_error *err)
{
    struct sim_params *p;
    const int status = sim_params_read(path, &p, err);
    if (status != MACHINE_OK)
        return status;
    sim_params_turbos(p, &out->turbos);
    sim_params_own_levels(p, out->own_level);
    sim_params_free(p);
    read_events(root, out);
    return MACHINE_OK;
}

int live_params_read(const char *path, bool modelled, bool levels, const struct cpu_identity *here,
                     struct live_params *out, struct machine_error *err)
{
    json_error_t wrong;
    FILE *file = fopen(path, "r");
    memset(out, 0, sizeof(*out));
    if (file == NULL)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "cannot read %s: %s", path, strerror(errno));
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &wrong);
    fclose(file);
    if (root == NULL)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s: line %d: %s", path, wrong.line, wrong.text);
    int status = check(path, root, modelled, here, err);
    if (status == MACHINE_OK) {
        snprintf(out->cpu, sizeof(out->cpu), "%s", text_of(root, "cpu"));
        out->modelled = !json_is_false(json_object_get(root, "modelled"));
        out->levels = (int)json_integer_value(json_object_get(root, "levels"));
        status = levels ? read_levels(path, root, out, err) : MACHINE_OK;
    }
    json_decref(root);
    return status;
}
