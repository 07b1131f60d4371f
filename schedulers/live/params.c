/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/live/params.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text != NULL ? text : "";
}

/* Why there are no frequencies, as the export says. */
static const char *why_missing(const json_t *root)
{
    size_t i;
    json_t *row, *rows = json_object_get(root, "missing");
    json_array_foreach(rows, i, row) if (strcmp(text_of(row, "table"), "frequency") == 0) return text_of(row, "why");
    return "it does not say why";
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
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s has no frequencies: %s", path, why_missing(root));
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

int live_params_read(const char *path, bool modelled, const struct cpu_identity *here, struct live_params *out,
                     struct machine_error *err)
{
    json_error_t wrong;
    FILE *file = fopen(path, "r");
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
    }
    json_decref(root);
    return status;
}
